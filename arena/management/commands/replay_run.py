from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.counted import counted
from arena.judging.models import JudgeRun
from arena.judging.replay import replay

SHOWN = 20


class Command(BaseCommand):
    help = "Make a run's judgments again from its recorded replies, without network, and compare them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=int, metavar="ID")

    def handle(self, *args: object, **options) -> None:
        run = JudgeRun.objects.filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"no run {options['run']}; the page of judge runs lists them")
        try:
            found = replay(run)
        except ValueError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{counted(found.judgments, 'finding')} from "
            f"{counted(found.replies, 'recorded reply', 'recorded replies')}; "
            f"{counted(found.without_reply, 'call')} ended without one, {found.unresolved} are still open."
        )
        for difference in found.differences[:SHOWN]:
            self.stdout.write(
                f"{difference.where}, {difference.what}: stored {difference.stored!r}, "
                f"now {difference.again!r}"
            )
        if found.differences:
            raise CommandError(
                f"{counted(len(found.differences), 'difference')}: the rules for reading have changed"
            )
        self.stdout.write("The same.")
