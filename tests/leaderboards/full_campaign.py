"""A campaign that has something to show on every page of figures, and the addresses of those pages."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from urllib.parse import urlencode

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.battles.models import Battle, BattleNote, Exclusion, Vote
from arena.campaigns.admission import SESSION_KEY
from arena.campaigns.models import Campaign
from arena.corpus.label_models import LabelCall, LabelRun, SpotCheck
from arena.corpus.models import HARD_CRITERIA, Competitor, Response
from arena.endpoints.models import Call, Endpoint
from arena.judging import calibration
from arena.judging.calibration_models import Measurement
from arena.judging.models import Judge, JudgeRun, Judgment, Probe, Rubric
from arena.leaderboards.agreement import campaign_agreement, judge_card, judge_run_figures
from arena.leaderboards.charts import drawing
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.reading.reading_models import Reading
from tests.leaderboards.plans_by_hand import DRAFT, write_and_freeze

CRITERIA = [{"name": name, "description": "?", "low": 1, "high": 5} for name in ("facts", "tone", "use")]
WORDINGS = ("Sage", "Oracle", "Augur")


def fill(small, cast, cast_vote, carol: Client) -> None:
    """Planned, voted on, two snapshots of each board and one of a part, judged, calibrated, read."""
    Battle.objects.update(kind="regular", rater=None)  # as if given out here
    plan(carol)
    describe(small, cast)
    for number in range(2):
        for board in ensure_leaderboards(small.campaign):
            if not board.judge_id:
                take_snapshot(board)
        prompt, alice = small.prompts[number], cast.alice_rater
        cast_vote(small, prompt, "Ember", "Fjord", "model_a", alice, kind="regular")
    take_a_part(small.campaign)
    read_a_battle(small, cast)
    judge_by_length(small)
    campaign_agreement.compute(small.campaign)


def overall(campaign: Campaign) -> Leaderboard:
    return campaign.leaderboards.get(slug=f"{campaign.slug}-overall")


def draw_charts(campaign: Campaign) -> None:
    drawing.draw(overall(campaign).snapshots.first())


def plan(carol: Client) -> None:
    """As if frozen before the first vote; then another is drafted."""
    write_and_freeze(carol)
    before = timezone.now() - timedelta(days=2)
    Campaign.objects.update(created_at=before)
    AnalysisPlan.objects.update(created_at=before, frozen_at=before)
    assert (
        carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | {"raters": "30"}).status_code == 302
    )


def describe(small, cast) -> None:
    """Prices, a sentinel, a vote left out, and labels of an LLM's that a person has checked."""
    for number, competitor in enumerate(small.competitors, start=1):
        Response.objects.filter(competitor=competitor).update(cost_usd=f"0.00{number}")
    Competitor.objects.filter(name="Inlet").update(role=Competitor.Role.SENTINEL)
    vote = Vote.objects.filter(battle__campaign=small.campaign).first()
    Exclusion.objects.create(
        campaign=small.campaign, vote=vote, rule="by_hand", reason="a slip", since=timezone.now()
    )
    endpoint = an_endpoint(small.campaign)
    run = LabelRun.objects.create(prompt_set=small.prompt_set, endpoint=endpoint)
    for number, prompt in enumerate(small.prompts[:8]):
        said = {name: (number + place) % 3 > 0 for place, name in enumerate(HARD_CRITERIA)}
        LabelCall.objects.create(run=run, prompt=prompt, criteria=said, call=answered(endpoint, f"l{number}"))
        SpotCheck.objects.create(
            prompt=prompt, checked_by=cast.carol, criteria=said | {"creativity": number % 2 > 0}
        )


def an_endpoint(campaign: Campaign) -> Endpoint:
    fields = {"base_url": "https://llm.invalid/v1", "model_id": "m"}
    return Endpoint.objects.get_or_create(team=campaign.team, name="LLM", defaults=fields)[0]


def answered(endpoint: Endpoint, name: str) -> Call:
    return Call.objects.create(
        key=hashlib.sha256(name.encode()).hexdigest(), endpoint=endpoint, state="parsed"
    )


def take_a_part(campaign: Campaign) -> None:
    part = {"category": "writing", "last_day": "2999-12-31"}
    take_snapshot(Leaderboard.objects.create(campaign=campaign, slug="joust-part", name="Part", part=part))


def read_a_battle(small, cast) -> None:
    vote = Vote.objects.filter(battle__campaign=small.campaign, outcome="model_a").first()
    Reading.objects.create(battle=vote.battle, reader=cast.ravi, side="b", failure="wrong")
    BattleNote.objects.create(battle=vote.battle, rater=vote.rater, kind="reason", text="clear")


def judge_by_length(small) -> None:
    """Three wordings of one judge; the first has a card, is measured against labels that are fixed, and has
    scored some responses by themselves."""
    campaign = small.campaign
    judges = [make_wording(campaign, name) for name in WORDINGS]
    labels = calibration.fix_labels(campaign, "First", seed=1)
    battles = list(Battle.objects.filter(calibration_labels__calibration=labels).order_by("pk"))
    run = judged(campaign, judges[:1], battles)
    judged(campaign, judges, battles)
    Measurement.objects.create(
        calibration=labels,
        judge=judges[0],
        part="dev",
        run=run,
        endpoint=judges[0].endpoint,
        rubric_sha256=judges[0].rubric.sha256,
    )
    score_responses(small, judges[0])
    judge_run_figures.compute_due()
    judge_card.compute(campaign, judges[0])


def make_wording(campaign: Campaign, name: str) -> Judge:
    rubric = Rubric.objects.create(
        team=campaign.team, name=name, instructions=name, criteria=CRITERIA, sha256=name.ljust(64, "0")
    )
    return Judge.objects.create(team=campaign.team, name=name, endpoint=an_endpoint(campaign), rubric=rubric)


def judged(campaign: Campaign, judges: list[Judge], battles: list[Battle]) -> JudgeRun:
    run = JudgeRun.objects.create(campaign=campaign, status="completed")
    run.judges.set(judges)
    for place, judge in enumerate(judges):
        for number, battle in enumerate(battles):
            outcome = ("model_a", "model_b", "tie")[(number // (place + 1)) % 3]
            Judgment.objects.create(
                run=run,
                judge=judge,
                battle=battle,
                outcome=outcome,
                base_outcome=outcome,
                resolved_at=timezone.now(),
            )
    return run


def score_responses(small, judge: Judge) -> None:
    run = JudgeRun.objects.create(campaign=small.campaign, kind=JudgeRun.Kind.SCORES, status="completed")
    run.judges.add(judge)
    for number, response in enumerate(small.responses[:15]):
        scores = {one["name"]: 1 + (number * place) % 5 for place, one in enumerate(CRITERIA, start=1)}
        call = answered(judge.endpoint, f"s{number}")
        Probe.objects.create(run=run, judge=judge, response=response, call=call, scores=scores)


def ask_of(small) -> dict[str, str]:
    """What no page can choose by itself."""
    campaign = small.campaign
    return {
        "leaderboard": overall(campaign).slug,
        "judge": str(Judge.objects.get(name=WORDINGS[0]).pk),
        "calibration": str(campaign.calibrations.get().pk),
    }


def runs_of(campaign: Campaign) -> dict[str, JudgeRun]:
    """By the table that each is for."""
    runs = JudgeRun.objects.filter(campaign=campaign)
    wordings = max(runs.exclude(kind=JudgeRun.Kind.SCORES), key=lambda run: run.judges.count())
    return {"judge-scores": runs.get(kind=JudgeRun.Kind.SCORES), "judge-wordings": wordings}


def pages_of(small) -> dict[str, str]:
    campaign = small.campaign
    slug, board, runs = campaign.slug, overall(campaign), runs_of(campaign)

    def of(route: str, /, *also: object, **asked: str) -> str:
        return reverse(route, args=[slug, *also]) + (f"?{urlencode(asked)}" if asked else "")

    return {
        "board": of("board", board="overall"),
        "board of hard prompts": of("board", board="hard", interval="bootstrap", sort="name"),
        "charts": of("board-charts"),
        "charts of style": of("board-charts", board="style"),
        "model": of("board-model", name="Fjord"),
        "compare": of("board-compare", a="Heron", b="Ember"),
        "snapshots": of("snapshot-list", board.slug),
        "diff": of("snapshot-diff", board.slug),
        "snapshot": reverse("snapshot", args=[board.snapshots.first().pk]),
        "parts": of("board-parts"),
        "frozen plan": of("board-plan"),
        "planning": of("campaign-plan", raters="15", votes="40", margin="30", tastes="apart"),
        "analysis plan": of("analysis-plan"),
        "reader": of("battle-reader"),
        "report": of("board-report"),
        "agreement": of("board-agreement"),
        "judge's card": reverse("judge-card", args=[Judge.objects.get(name=WORDINGS[0]).pk]),
        "calibration": reverse("calibration", args=[campaign.calibrations.first().pk]),
        "wordings": reverse("judge-run-wordings", args=[runs["judge-wordings"].pk]),
        "scores": reverse("judge-run", args=[runs["judge-scores"].pk]),
        "spot check": reverse("spot-check", args=[small.prompt_set.pk]),
    }


def publish(campaign: Campaign, visibility: str = "public", status: str = "closed") -> None:
    campaign.leaderboards.update(visibility=visibility)
    Campaign.objects.filter(pk=campaign.pk).update(status=status)


def rating(visitor: Client, campaign: Campaign, rater) -> Client:
    """The same browser as that rater's."""
    session = visitor.session
    session[SESSION_KEY] = {str(campaign.pk): rater.pk}
    session.save()
    return visitor
