from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from arena.campaigns.models import Campaign
from arena.counted import counted
from arena.endpoints.forms import MOST_CALLS
from arena.judging import choosing, planning, probing, runner, tasks
from arena.judging.errands import takes_one_response
from arena.judging.forms import LARGEST_SEED
from arena.judging.models import Judge, JudgeRun
from arena.judging.progress import Progress, read_progress
from arena.management.runs_of_calls import check_ending, dollars, whole, work_off
from arena.percent import percent

MOST_REPLICATES = 1_000


class Command(BaseCommand):
    help = (
        "Let judges judge a campaign's battles, in both orders: by the consumer, or --here in this process."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="SLUG")
        parser.add_argument(
            "--judge",
            action="append",
            dest="judges",
            metavar="NAME",
            help="may be repeated; else every judge of the campaign's team that can compare two responses",
        )
        parser.add_argument("--battles", choices=choosing.WHICH, default="voted", help="which battles")
        parser.add_argument("--limit", type=whole(1, MOST_CALLS), help="so many battles at most")
        parser.add_argument("--max-calls", type=whole(1, MOST_CALLS), help="so many requests at most")
        parser.add_argument("--budget", type=dollars, metavar="DOLLARS", help="never exceeded")
        parser.add_argument(
            "--replicates",
            type=whole(1, MOST_REPLICATES),
            default=1,
            help="how often each battle is judged",
        )
        parser.add_argument(
            "--seed",
            type=whole(0, LARGEST_SEED),
            default=0,
            help="decides which battles a limit takes",
        )
        parser.add_argument(
            "--family",
            choices=JudgeRun.FamilyPolicy.values,
            default=JudgeRun.FamilyPolicy.EXCLUDE,
            help="what becomes of battles with a response of the judge's own family",
        )
        parser.add_argument(
            "--verbosity-rule",
            action="store_true",
            help="a winner more than 1.5 times as long as the loser is a tie",
        )
        parser.add_argument(
            "--canaries",
            action="store_true",
            help="no battles: pairs of ours, to see whether the judge obeys the texts that it judges",
        )
        parser.add_argument("--here", action="store_true", help="work the run off now, in this process")

    def handle(self, *args: object, **options) -> None:
        campaign = self.campaign(options["campaign"])
        judges = self.judges(campaign, options["judges"])
        try:
            runs = list(self.plan(campaign, judges, options))
        except choosing.CannotPlanError as refusal:
            raise CommandError(str(refusal)) from None
        for run in runs:
            self.stdout.write(
                f"Run {run.pk}: {self.count(run)} by {counted(run.judges.count(), 'judge')} planned."
            )
            if options["here"]:
                self.work_off(run)
            else:
                tasks.enqueue(run)

    def plan(self, campaign: Campaign, judges: list[Judge], options: dict[str, Any]) -> Iterator[JudgeRun]:
        limits = {"budget_usd": options["budget"], "max_calls": options["max_calls"]}
        probing_only = options["canaries"] or any(takes_one_response(judge) for judge in judges)
        if probing_only and (options["replicates"] > 1 or options["verbosity_rule"]):
            raise CommandError("--replicates and --verbosity-rule are for battles: leave them out")
        if options["canaries"]:
            if options["max_calls"] is not None:
                raise CommandError("--canaries takes 40 calls for each judge: leave out --max-calls")
            for judge in judges:
                yield probing.plan_canaries(campaign, judge, budget_usd=options["budget"])
            return
        choice = choosing.choose_battles(
            campaign, judges, options["battles"], options["limit"], options["seed"]
        )
        for count, reason in choice.left_out():
            self.stdout.write(f"Left out: {counted(count, 'battle')} {reason}.")
        if any(takes_one_response(judge) for judge in judges):
            responses = probing.responses_of(choice.battles)
            yield probing.plan_scores(campaign, judges, responses, seed=options["seed"], **limits)
            return
        yield planning.plan_run(
            campaign,
            judges,
            choice.battles,
            seed=options["seed"],
            replicates=options["replicates"],
            family_policy=options["family"],
            verbosity_rule=options["verbosity_rule"],
            **limits,
        )

    def count(self, run: JudgeRun) -> str:
        if run.is_probing:
            return counted(run.probes.count(), "probe")
        return counted(run.judgments.count(), "judgment")

    def campaign(self, slug: str) -> Campaign:
        found = Campaign.objects.filter(slug=slug).first()
        if found is None:
            known = ", ".join(Campaign.objects.order_by("slug").values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"no campaign {slug!r}; there are: {known}")
        return found

    def judges(self, campaign: Campaign, names: list[str] | None) -> list[Judge]:
        own = Judge.objects.filter(team=campaign.team, endpoint__isnull=False, rubric__isnull=False)
        own = own.select_related("endpoint", "rubric").order_by("name")
        if not names:
            return [judge for judge in own if not takes_one_response(judge)]
        missing = sorted(set(names) - set(own.values_list("name", flat=True)))
        if missing:
            known = ", ".join(own.values_list("name", flat=True)) or "none yet"
            raise CommandError(f"no judge {', '.join(missing)}; there are: {known}")
        return list(own.filter(name__in=names))

    def work_off(self, run: JudgeRun) -> None:
        work_off(run, runner.ASKERS)
        self.stdout.write(describe(run, read_progress(run)))
        check_ending(run)


def describe(run: JudgeRun, progress: Progress) -> str:
    if run.is_probing:
        probes = counted(progress.calls, "probe")
        return f"Run {run.pk}: {progress.parsed} of {probes} read, {progress.failed} failed"
    outcomes = ", ".join(
        f"{count} {outcome}" for outcome, count in sorted(progress.outcomes.items()) if outcome
    )
    known = progress.stability
    share = "" if known is None else f"; {percent(known.share, 1)} of those with a verdict are unstable"
    return f"Run {run.pk}: {counted(progress.resolved, 'judgment')} ({outcomes or 'none'}){share}"
