from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError

from arena.counted import counted
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_campaign import bring_back
from arena.raters.models import Team


class Command(BaseCommand):
    help = "Brings back an export of a campaign: all of it, or nothing. Its checksums are checked first."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("source", type=Path, help="the folder or the .zip that export_campaign wrote")
        parser.add_argument("--campaign", default="", help="another address for it")

    def handle(self, *, source: Path, campaign: str, **_options):
        if not source.exists():
            raise CommandError(f"There is no {source}.")
        try:
            brought = bring_back(source, Team.default(), campaign)
        except RefusedError as refused:
            raise CommandError(f"{refused.problem}\nNothing was imported.") from refused
        except IntegrityError as error:
            raise CommandError(
                f"Some of these rows are here already ({error}). Nothing was imported."
            ) from error
        self.stdout.write(
            self.style.SUCCESS(f"“{brought.slug}” imported: {counted(brought.battles.count(), 'battle')}.")
        )
