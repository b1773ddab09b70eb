from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0048_runs_wait_beside_the_one_at_work'),
    ]

    operations = [
        migrations.AddField(
            model_name='analysisplan',
            name='pairs',
            field=models.JSONField(blank=True, default=list, help_text='of models, that its question is about: a and b as named when written, ids; empty: all', verbose_name='pairs of models'),
        ),
    ]
