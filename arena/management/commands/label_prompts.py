from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.corpus import label_asking, label_planning, tasks
from arena.corpus.label_models import LabelRun
from arena.corpus.models import PromptSet
from arena.counted import counted
from arena.endpoints.models import Endpoint
from arena.management.runs_of_calls import check_ending, dollars, newest_set, work_off


class Command(BaseCommand):
    help = "Let an LLM label the prompts of a set whose seven criteria aren't all known."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--set", required=True, metavar="NAME", help="the prompt set; its newest version")
        parser.add_argument("--endpoint", required=True, metavar="NAME", help="of the set's team")
        parser.add_argument("--budget", type=dollars, metavar="DOLLARS", help="never exceeded")
        parser.add_argument("--here", action="store_true", help="work the run off now, in this process")

    def handle(self, *args: object, **options) -> None:
        prompt_set = newest_set(options["set"])
        endpoint = self.endpoint(prompt_set, options["endpoint"])
        try:
            run = label_planning.plan_run(prompt_set, endpoint, options["budget"])
        except label_planning.CannotLabelError as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(
            f"Run {run.pk}: {counted(run.label_calls.count(), 'prompt')} to label by {endpoint.name}."
        )
        if options["here"]:
            self.work_off(run)
        else:
            tasks.enqueue(run)

    def endpoint(self, prompt_set: PromptSet, name: str) -> Endpoint:
        askable = label_planning.askable_endpoints(prompt_set)
        found = askable.filter(name=name).first()
        if found is None:
            known = ", ".join(askable.values_list("name", flat=True)) or "none yet"
            raise CommandError(f"no endpoint {name!r} can be asked about this set; there are: {known}")
        return found

    def work_off(self, run: LabelRun) -> None:
        work_off(run, [label_asking.ASKER])
        progress = label_planning.read_progress(run)
        why = "".join(f", {count} {kind}" for kind, count in progress.failures.items())
        self.stdout.write(f"Run {run.pk}: {progress.labelled} labelled, {progress.failed} failed{why}.")
        check_ending(run)
