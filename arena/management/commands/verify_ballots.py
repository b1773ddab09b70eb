from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.battles.seals import verify
from arena.counted import counted


class Command(BaseCommand):
    help = "Check every vote against its digest and every seal against its votes; name the first bad row."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--expect",
            default="",
            metavar="SHA256",
            help="a seal noted down earlier: it must be in the chain",
        )

    def handle(self, *args: object, **options: str) -> None:
        report = verify(options["expect"].strip().lower())
        if report.fault:
            raise CommandError(f"{report.fault} ({counted(report.votes, 'vote')} read)")
        self.stdout.write(
            f"As they were cast: {counted(report.votes, 'vote')}, under {counted(report.seals, 'seal')}"
        )
        if report.unsealed:
            self.stdout.write(f"{report.unsealed} wait for the next seal")
        if report.newest:
            self.stdout.write(f"newest seal {report.newest}")
            self.stdout.write("note it down elsewhere: --expect finds out whether the chain was made anew")
