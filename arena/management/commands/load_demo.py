from django.core.management.base import BaseCommand, CommandError

from arena.counted import counted
from arena.leaderboards.run_models import SnapshotRun
from arena.operation import demo


class Command(BaseCommand):
    help = "Loads the demo campaign: invented models, and simulated votes. Does nothing where it is already."

    def handle(self, **_):
        if demo.is_loaded():
            self.stdout.write("The demo campaign is here already.")
            return
        try:
            campaign = demo.load()
        except demo.DemoRefusedError as error:
            raise CommandError(f"{error}\nNothing was loaded.") from error
        self.stdout.write(f"Demo campaign loaded: {counted(campaign.battles.count(), 'simulated vote')}.")
        for run in demo.take_snapshots(campaign):
            if run.state != SnapshotRun.State.PUBLISHED:
                self.stderr.write(f"{run.leaderboard.name}: no board yet ({run.state}: {run.reason})")
