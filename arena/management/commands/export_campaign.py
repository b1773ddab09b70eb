from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from arena.campaigns.models import Campaign
from arena.exchange.exports import LAYOUTS, NotExportableError, export


class Command(BaseCommand):
    help = "Writes a campaign into a new folder, or a new .zip: CSV, JSONL and Parquet, README and checksums."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("slug")
        parser.add_argument("--out", type=Path, required=True, help="a new folder, or a name ending in .zip")
        parser.add_argument(
            "--layout",
            choices=LAYOUTS,
            default="whole",
            help="whole: every table; arena_140k: the votes of people as LMArena publishes them",
        )

    def handle(self, *, slug: str, out: Path, layout: str, **_options):
        campaign = Campaign.objects.filter(slug=slug).first()
        if campaign is None:
            raise CommandError(f"There is no campaign “{slug}”.")
        try:
            exported = export(campaign, out, layout)
        except NotExportableError as error:
            raise CommandError(str(error)) from error
        counts = ", ".join(f"{count:,} {name}" for name, count in exported.rows.items() if count)
        self.stdout.write(self.style.SUCCESS(f"“{slug}” exported to {exported.path}: {counts}."))
