from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0041_edits_of_a_draft'),
    ]

    operations = [
        migrations.AddField(
            model_name='analysisplan',
            name='hard_at_least',
            field=models.PositiveSmallIntegerField(blank=True, editable=False, help_text='of the seven criteria, when it was frozen; unknown of plans from before', null=True),
        ),
    ]
