from django.db import migrations

# Order, the verdict that isn't the tie, and the side it means.
SIDES = (
    ("ab", "first", "model_a"),
    ("ab", "second", "model_b"),
    ("ba", "first", "model_b"),
    ("ba", "second", "model_a"),
)


def tell(apps, schema_editor):
    judgments = apps.get_model("arena", "Judgment").objects
    calls = apps.get_model("arena", "JudgeCall").objects
    for order, verdict, side in SIDES:
        said = calls.filter(order=order, verdict=verdict, judgment__flip="soft", judgment__leaning="")
        judgments.filter(pk__in=said.values("judgment")).update(leaning=side)


class Migration(migrations.Migration):
    dependencies = [("arena", "0021_exports_in_the_background")]

    operations = [migrations.RunPython(tell, migrations.RunPython.noop)]
