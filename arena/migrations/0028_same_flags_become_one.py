from django.db import migrations
from django.db.models import Min


def keep_the_first(apps, schema_editor):
    """Of flags on one battle in the same words; two clicks at once could make two."""
    notes = apps.get_model("arena", "BattleNote").objects.filter(kind="flag")
    first = notes.values("battle", "text").annotate(first=Min("pk")).values("first")
    notes.exclude(pk__in=list(first.values_list("first", flat=True))).delete()


class Migration(migrations.Migration):
    dependencies = [("arena", "0027_turn_of_calls_and_end_of_runs")]

    operations = [migrations.RunPython(keep_the_first, migrations.RunPython.noop)]
