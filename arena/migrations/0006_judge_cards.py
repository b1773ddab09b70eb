import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0005_a_battle_is_skipped_once'),
    ]

    operations = [
        migrations.CreateModel(
            name='JudgeCard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('figures', models.JSONField()),
                ('seen', models.JSONField(help_text='what was there when it was computed; other rows make it due')),
                ('code_version', models.CharField(max_length=64)),
                ('computed_at', models.DateTimeField()),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judge_cards', to='arena.campaign')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cards', to='arena.judge')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.AddConstraint(
            model_name='judgecard',
            constraint=models.UniqueConstraint(fields=('campaign', 'judge'), name='one_card_per_campaign_and_judge'),
        ),
    ]
