from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from arena.campaigns.models import Campaign
from arena.counted import counted
from arena.exchange import wording
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_campaign import MOST_UNPACKED
from arena.exchange.imports import OvertakenError, finish, new_record, plan_import
from arena.exchange.shifts import StoppedError
from arena.raters.models import Team


class Command(BaseCommand):
    help = "Brings back an export of a campaign: all of it, or nothing. Its checksums are checked first."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("source", type=Path, help="the folder or the .zip that export_campaign wrote")
        parser.add_argument("--campaign", default="", help="another address for it")
        parser.add_argument(
            "--unpacked-gb",
            type=int,
            default=MOST_UNPACKED >> 30,
            help="what a .zip may hold unpacked (default: %(default)s)",
        )

    def handle(self, *, source: Path, campaign: str, unpacked_gb: int, **_options):
        if not source.exists():
            raise CommandError(f"There is no {source}.")
        most = unpacked_gb << 30
        plan = plan_import("campaign", Team.default(), campaign, source, source.name, most_unpacked=most)
        for notice in [*plan.notices, *wording.personal(plan.personal)]:
            self.stdout.write(f"{source.name}: {notice}")
        if not plan.is_sound:
            raise CommandError(f"{plan.errors[0]}\nNothing was imported.")
        try:
            finish(new_record(plan), plan)
        except (OvertakenError, StoppedError, RefusedError) as error:
            raise CommandError(f"{error or 'The import was cancelled.'}\nNothing was imported.") from error
        battles = Campaign.objects.get(slug=plan.target).battles.count()
        self.stdout.write(self.style.SUCCESS(f"“{plan.target}” imported: {counted(battles, 'battle')}."))
