from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("arena", "0047_imports_ask_whose_votes")]

    operations = [
        migrations.RemoveConstraint(model_name="snapshotrun", name="one_open_run_per_leaderboard"),
        migrations.AddConstraint(
            model_name="snapshotrun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "queued")),
                fields=("leaderboard",),
                name="one_queued_run_per_leaderboard",
            ),
        ),
        migrations.AddConstraint(
            model_name="snapshotrun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "running")),
                fields=("leaderboard",),
                name="one_running_run_per_leaderboard",
            ),
        ),
    ]
