from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0040_hard_moves'),
    ]

    operations = [
        migrations.AddField(
            model_name='promptset',
            name='edits',
            field=models.PositiveIntegerField(default=0, editable=False, help_text='how often the text of one of its prompts was changed'),
        ),
    ]
