from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.corpus import generate, generation_planning, tasks
from arena.corpus.generation_forms import MOST_SAMPLES
from arena.corpus.generation_models import GenerationRun
from arena.corpus.generation_progress import read_progress
from arena.corpus.models import Competitor, PromptSet
from arena.corpus.names import name_key
from arena.counted import counted
from arena.endpoints.forms import MOST_CALLS
from arena.management.runs_of_calls import check_ending, dollars, newest_set, whole, work_off


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
        prompt_set = newest_set(options["set"])
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
        responses, models = counted(run.calls().count(), "response"), counted(len(competitors), "model")
        self.stdout.write(f"Run {run.pk}: {responses} by {models} planned.")
        if options["here"]:
            self.work_off(run)
        else:
            tasks.enqueue(run)

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
        work_off(run, [generate.ASKER])
        progress = read_progress(run)
        self.stdout.write(f"Run {run.pk}: {counted(progress.written, 'response')}, {progress.failed} failed.")
        check_ending(run)
