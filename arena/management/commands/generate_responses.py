import time

from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.corpus import generate, generation_planning, tasks
from arena.corpus.generation_models import GenerationRun
from arena.corpus.generation_progress import read_progress
from arena.corpus.models import Competitor, PromptSet
from arena.corpus.names import name_key
from arena.endpoints.asking import do_one
from arena.endpoints.ledger import Later
from arena.management.commands.run_judges import MOST_CALLS, MOST_SLEEP, dollars, whole

MOST_SAMPLES = 100


class Command(BaseCommand):
    help = "Let models with an endpoint answer the prompts of a set that they haven't answered yet."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--set", required=True, metavar="NAME", help="the prompt set; its newest version")
        parser.add_argument(
            "--model",
            action="append",
            dest="models",
            metavar="NAME",
            help="may be repeated; else every active model of the set's team that has an endpoint",
        )
        parser.add_argument(
            "--samples", type=whole(1, MOST_SAMPLES), default=1, help="responses to each prompt"
        )
        parser.add_argument("--max-calls", type=whole(1, MOST_CALLS), help="so many requests at most")
        parser.add_argument("--budget", type=dollars, metavar="DOLLARS", help="never exceeded")
        parser.add_argument("--here", action="store_true", help="work the run off now, in this process")

    def handle(self, *args: object, **options) -> None:
        prompt_set = self.prompt_set(options["set"])
        competitors = self.competitors(prompt_set, options["models"])
        try:
            run = generation_planning.plan_run(
                prompt_set,
                competitors,
                samples=options["samples"],
                budget_usd=options["budget"],
                max_calls=options["max_calls"],
            )
        except generation_planning.CannotGenerateError as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(
            f"Run {run.pk}: {run.calls().count()} responses by {len(competitors)} models planned."
        )
        if options["here"]:
            self.work_off(run)
        else:
            tasks.enqueue(run)

    def prompt_set(self, name: str) -> PromptSet:
        found = PromptSet.objects.filter(name=name).order_by("-version").first()
        if found is None:
            known = ", ".join(sorted(set(PromptSet.objects.values_list("name", flat=True)))) or "none yet"
            raise CommandError(f"no prompt set {name!r}; there are: {known}")
        return found

    def competitors(self, prompt_set: PromptSet, names: list[str] | None) -> list[Competitor]:
        askable = generation_planning.askable_competitors(prompt_set)
        if not names:
            return list(askable)
        by_key = {name_key(competitor.name): competitor for competitor in askable}
        missing = [name for name in names if name_key(name) not in by_key]
        if missing:
            known = ", ".join(competitor.name for competitor in askable) or "none yet"
            raise CommandError(f"no model {', '.join(missing)} can be asked for this set; there are: {known}")
        return [by_key[key] for key in dict.fromkeys(map(name_key, names))]

    def work_off(self, run: GenerationRun) -> None:
        """One call after another. A consumer that runs beside takes its share."""
        while run.is_open and run.status != GenerationRun.Status.PAUSED:
            waits = [self.serve(endpoint) for endpoint in run.endpoint_ids()]
            generate.ASKER.tidy()
            run.refresh_from_db()
            if run.is_open:
                time.sleep(min(waits, default=0.0))
        progress = read_progress(run)
        self.stdout.write(f"Run {run.pk}: {progress.written} responses, {progress.failed} failed.")
        if run.status != GenerationRun.Status.COMPLETED:
            raise CommandError(f"the run is {run.get_status_display()} {run.status_reason}".rstrip())

    def serve(self, endpoint_id: int) -> float:
        """Work until nothing is due; seconds until something may be."""
        while (found := do_one(endpoint_id, [generate.ASKER])[0]) is not None:
            if isinstance(found, Later):
                return min(found.seconds, MOST_SLEEP)
        return 0.0
