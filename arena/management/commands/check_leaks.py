from django.core.management.base import BaseCommand, CommandParser
from django.db.models import Count, QuerySet

from arena.corpus import leak_checks
from arena.corpus.models import Response
from arena.counted import counted
from arena.management.runs_of_calls import newest_set


class Command(BaseCommand):
    help = "Look for responses that say who wrote them: those that nobody has looked at yet, or all again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--set", metavar="NAME", help="only responses to its newest version; else all")
        parser.add_argument(
            "--again",
            action="store_true",
            help="look at all of them anew, as after a change of aliases; what was dismissed stays so",
        )

    def handle(self, *args: object, **options) -> None:
        responses = self.responses(options["set"])
        if options["again"]:
            leak_checks.look_again(responses)
        done = leak_checks.check_unchecked(responses)
        counts = dict(responses.values_list("leak").annotate(count=Count("pk")).order_by())
        found, dismissed = counts.get(Response.Leak.FOUND, 0), counts.get(Response.Leak.DISMISSED, 0)
        self.stdout.write(
            f"{counted(done, 'response')} looked at; of {sum(counts.values()):,} in all {found:,} say who "
            f"wrote them ({dismissed:,} more dismissed by an admin)."
        )

    def responses(self, name: str | None) -> QuerySet[Response]:
        if name is None:
            return Response.objects.all()
        return Response.objects.filter(prompt__prompt_set=newest_set(name))
