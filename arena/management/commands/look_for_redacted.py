from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.corpus import still_said
from arena.corpus.models import Response
from arena.counted import counted


class Command(BaseCommand):
    help = "Looks for redacted texts that still stand whole elsewhere, where a redaction was broken off."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--take-out", action="store_true", help="take out what is found, and all that quotes it"
        )

    def handle(self, *args: object, take_out: bool, **options: object) -> None:
        looked_at = found = untold = 0
        for row in still_said.redacted():
            if not still_said.can_be_told(row):
                untold += 1
                continue
            looked_at += 1
            text, rows = still_said.still_said(row)
            if not text:
                continue
            found += 1
            self.stdout.write(f"{name_of(row)} still stands in {counted(rows, 'row')} about it.")
            if take_out:
                still_said.take_out(row, text)
                self.stdout.write("Taken out there, and wherever else it was quoted.")
        self.stdout.write(f"Looked for {counted(looked_at, 'redacted text')}; {found} still said.")
        if untold:
            words = "of several turns or with a reference: their hash is over all at once"
            self.stdout.write(f"Not looked for: {counted(untold, 'redacted prompt')} {words}.")
        if found and not take_out:
            raise CommandError("Run it again with --take-out to remove what was found.")


def name_of(row: still_said.Row) -> str:
    if isinstance(row, Response):
        return f"The response of {row.competitor.name} to {row.prompt.external_id} of {row.prompt.prompt_set}"
    return f"Prompt {row.external_id} of {row.prompt_set}"
