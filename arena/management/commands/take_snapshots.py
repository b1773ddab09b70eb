from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet

from arena.campaigns.models import Campaign
from arena.counted import counted
from arena.leaderboards.charts.drawing import draw_missing
from arena.leaderboards.fitting.snapshots import do_round
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import request_snapshots


class Command(BaseCommand):
    help = "Fit the leaderboards of all campaigns, or of one, now and in this process."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--campaign", metavar="SLUG", help="only this campaign")
        parser.add_argument(
            "--no-charts", action="store_true", help="leave the charts to the worker's next sweep"
        )

    def handle(self, *args: object, **options: Any) -> None:
        failed = 0
        for campaign in chosen(options["campaign"]):
            runs = request_snapshots(campaign)
            do_round(runs)
            for run in runs:
                self.stdout.write(describe(run))
                failed += run.state == SnapshotRun.State.FAILED
        if not options["no_charts"]:
            draw_missing()
        if failed:
            raise CommandError(f"{failed} of the snapshots failed; the boards show their last ones")


def chosen(slug: str | None) -> QuerySet[Campaign]:
    campaigns = Campaign.objects.order_by("pk")
    if slug is None:
        return campaigns
    found = campaigns.filter(slug=slug)
    if not found:
        known = ", ".join(campaigns.values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"no campaign {slug!r}; there are: {known}")
    return found


def describe(run: SnapshotRun) -> str:
    """One line: "joust-overall: snapshot 3, 600 votes, 5 models"."""
    slug = run.leaderboard.slug
    if run.snapshot is None:
        return f"{slug}: {run.get_state_display()}{'. ' + run.reason if run.reason else ''}"
    counts, rows = run.snapshot.counts, "judgment" if run.leaderboard.is_judged else "vote"
    votes, models = counted(counts["votes"], rows), counted(counts["competitors"], "model")
    return f"{slug}: snapshot {run.snapshot.pk}, {votes}, {models}"
