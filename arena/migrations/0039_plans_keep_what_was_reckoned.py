from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0038_unranked_models_last'),
    ]

    operations = [
        migrations.AddField(
            model_name='analysisplan',
            name='reckoned',
            field=models.JSONField(blank=True, help_text='what its raters and votes find, and with what that was reckoned, when it was frozen', null=True),
        ),
    ]
