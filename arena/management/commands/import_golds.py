from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.battles import golds
from arena.campaigns.models import Campaign
from arena.counted import counted
from arena.exchange import gold_file


class Command(BaseCommand):
    help = (
        "Add golds to a campaign from a file (CSV, TSV, JSON, JSONL, Parquet): "
        "prompt_id, first, second, expected and, if you like, kind."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--campaign", required=True, metavar="SLUG")

    def handle(self, *args: object, **options) -> None:
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(
                f"no campaign {options['campaign']}; the page of campaigns shows their addresses"
            )
        try:
            data = options["file"].read_bytes()
        except OSError as error:
            raise CommandError(f"{options['file']} can't be read: {error.strerror}") from None
        try:
            added = golds.add(campaign, gold_file.read(campaign, data, options["file"].name), None)
        except golds.NotGoldError as error:
            raise CommandError("\n".join([*error.args[0], "nothing was added"])) from None
        self.stdout.write(f"{counted(len(added), 'gold')} added; gold_share says how often golds come")
