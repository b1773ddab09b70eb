from hashlib import sha256

from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.leaderboards.fitting.code_version import code_version
from arena.leaderboards.fitting.snapshots import differences, keep_pairs, replay
from arena.leaderboards.models import Snapshot


class Command(BaseCommand):
    help = "Fit a snapshot's votes again under its stored options, and compare the results byte by byte."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", type=int, help="number of the snapshot")

    def handle(self, *args: object, **options: int) -> None:
        snapshot = Snapshot.objects.filter(pk=options["id"]).select_related("leaderboard").first()
        if snapshot is None:
            raise CommandError(f"no snapshot {options['id']}; a board's page names its snapshots' numbers")
        stored, again = replay(snapshot)
        before, after = (sha256(computed.canonical()).hexdigest() for computed in (stored, again))
        self.stdout.write(f"stored   {before}  by {snapshot.code_version}")
        self.stdout.write(f"replayed {after}  by {code_version()}")
        if before == after:
            self.stdout.write(f"snapshot {snapshot.pk} replays to the same bytes")
            if keep_pairs(snapshot, again):
                self.stdout.write("its pairs are stored again, for it is the final look of its analysis plan")
            return
        raise CommandError(explain(snapshot, differences(stored, again)))


def explain(snapshot: Snapshot, parts: list[str]) -> str:
    if "vote_digest" in parts:
        cause = "the rows it was fitted on have changed since (votes, prompts or style counts)"
    elif snapshot.code_version != code_version():
        cause = f"it was computed by other code: {snapshot.code_version}"
    else:
        cause = "the same rows and the same code gave another result: please report this"
    return f"snapshot {snapshot.pk} replays differently in {', '.join(parts)}: {cause}"
