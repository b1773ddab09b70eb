from django.db import migrations, models


CHOICES = [('exclude', 'left out'), ('warn', 'judged and counted'), ('allow', 'judged like any other')]
HELP = "battles in which a response comes from the judge's own family"


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0006_judge_cards'),
    ]

    operations = [
        # Runs planned before there was a policy left nobody out.
        migrations.AddField(
            model_name='judgerun',
            name='family_policy',
            field=models.CharField(choices=CHOICES, default='allow', help_text=HELP, max_length=8),
        ),
        migrations.AlterField(
            model_name='judgerun',
            name='family_policy',
            field=models.CharField(choices=CHOICES, default='exclude', help_text=HELP, max_length=8),
        ),
        migrations.AddField(
            model_name='judgerun',
            name='own_family_pairs',
            field=models.PositiveIntegerField(default=0, help_text='judge and battle of one family: left out, or warned of, by the policy'),
        ),
        migrations.AddField(
            model_name='judgerun',
            name='verbosity_rule',
            field=models.BooleanField(default=False, help_text='a winner more than 1.5 times as long as the loser is a tie'),
        ),
    ]
