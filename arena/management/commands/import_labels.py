from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from arena.counted import counted
from arena.exchange import import_labels
from arena.exchange.formats.problems import RefusedError
from arena.exchange.plans import latest_set
from arena.raters.models import Team


class Command(BaseCommand):
    requires_system_checks = []
    help = "Sets labels of hardness from a file with a column id and any of hard and the seven criteria."

    def add_arguments(self, parser):
        parser.add_argument("file", type=Path)
        parser.add_argument("--set", dest="target", required=True, metavar="NAME", help="its newest version")

    def handle(self, *, file: Path, target: str, **_options):
        if not file.is_file():
            raise CommandError(f"There is no file {file}.")
        prompt_set = latest_set(Team.default(), target)
        if prompt_set is None:
            raise CommandError(f"There is no prompt set “{target}”.")
        try:
            checked = import_labels.check(prompt_set, file, file.name)
        except RefusedError as refusal:
            raise CommandError(f"{file.name}: {refusal.problem}") from refusal
        if not checked.is_sound:
            listed = "\n".join(f"{file.name}: {problem}" for problem in checked.errors)
            raise CommandError(f"{listed}\n{counted(checked.error_count, 'error')}; nothing was changed.")
        changed = import_labels.apply(checked, "")
        self.stdout.write(
            self.style.SUCCESS(f"Labelled otherwise now: {counted(changed, 'prompt')} of “{prompt_set}”.")
        )
