"""What a judge found and what people voted, on the same pairs of responses: the rows of a judge card.

A pair is a prompt and two responses in no order. Every outcome is told from the response with the lower id,
whichever side it stood on: MODEL_A means that the lower id won.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from arena.battles.models import Battle, Outcome, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, Response
from arena.endpoints.models import Call, CallAttempt
from arena.judging import canaries
from arena.judging.families import family_of
from arena.judging.models import Judge, JudgeCall, Judgment, Probe
from arena.leaderboards.fitting.prompt_texts import clusters_of
from arena.raters.models import Rater
from ratings.comparisons import MODEL_A, MODEL_B, OUTCOMES, TIE
from ratings.judges import FAILED, NO_VERDICT, VERDICTS

CHUNK = 5_000
# Tiltyard ended these calls itself; they say nothing about the judge.
STOPPED = (Call.State.CANCELLED, Call.State.BUDGET_STOPPED)

Pair = tuple[int, int, int]
_CODES = {name: code for code, name in enumerate(OUTCOMES)} | {Judgment.Outcome.NO_VERDICT: NO_VERDICT}
_VOTE_CODES = {Outcome.MODEL_A: MODEL_A, Outcome.MODEL_B: MODEL_B, Outcome.TIE: TIE, Outcome.BOTH_BAD: TIE}


@dataclass(frozen=True, slots=True)
class Finding:
    """One judgment. `outcome` is the judge's own, before any rule about length; TIE_UNSTABLE stays apart.

    `prompt`: below zero where it isn't known. `cluster`: the same for prompts of one text; a battle without a
    known prompt is a cluster of its own.
    `a_first`: whether the pair's lower response stood on side a.
    """

    pk: int
    judge: int
    battle: int
    prompt: int
    cluster: int
    pair: Pair | None
    competitors: tuple[int, int]
    outcome: int
    a_first: bool


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote, both bad told as a tie."""

    rater: int
    pair: Pair
    outcome: int
    a_first: bool
    simulated: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """The two calls of a judgment: verdicts in positions (FAILED where there is none) and what they took."""

    ab: int
    ba: int
    stopped: bool
    contradictions: tuple[bool, ...]


@dataclass(frozen=True)
class Bill:
    """What the calls of a judgment took."""

    dollars: float
    tokens: int


@dataclass(frozen=True)
class Text:
    characters: int
    family: str


def turn(outcome: int) -> int:
    """The same outcome told from the other side."""
    return {MODEL_A: MODEL_B, MODEL_B: MODEL_A}.get(outcome, outcome)


def read_findings(campaign: Campaign, judges: Collection[int]) -> list[Finding]:
    """Resolved judgments in the order in which they were planned; a judge's later ones come later."""
    rows = Judgment.objects.filter(run__campaign=campaign, judge__in=judges).exclude(outcome="")
    rows = rows.exclude(battle__kind=Battle.Kind.GOLD).order_by("pk")
    columns = ("pk", "judge_id", "battle_id", "outcome", "base_outcome", *_SIDES)
    read = list(rows.values_list(*columns).iterator(chunk_size=CHUNK))
    clusters = clusters_of({row[5] for row in read if row[5] is not None})
    return [_finding(clusters, *row) for row in read]


def _finding(
    clusters: Mapping[int, int], pk: int, judge: int, battle: int, outcome: str, base: str, *sides: Any
) -> Finding:
    prompt, pair, a_first, competitors = _told(battle, *sides)
    code, cluster = _CODES[_own(outcome, base)], clusters.get(prompt, prompt)
    code = code if a_first else turn(code)
    return Finding(pk, judge, battle, prompt, cluster, pair, competitors, code, a_first)


_SIDES = (
    "battle__prompt_id",
    "battle__response_a_id",
    "battle__response_b_id",
    "battle__competitor_a_id",
    "battle__competitor_b_id",
)


def _own(outcome: str, base: str) -> str:
    """A win that the rule about length took away is still what the judge found."""
    return base or outcome


def _told(
    battle: int, prompt: int | None, a: int | None, b: int | None, left: int, right: int
) -> tuple[int, Pair | None, bool, tuple[int, int]]:
    if prompt is None or a is None or b is None:
        a_first = left < right
        return -battle if prompt is None else prompt, None, a_first, (min(left, right), max(left, right))
    a_first = a < b
    competitors = (left, right) if a_first else (right, left)
    return prompt, (prompt, min(a, b), max(a, b)), a_first, competitors


def read_ballots(campaign: Campaign, pairs: Collection[Pair]) -> list[Ballot]:
    """The votes on these pairs that a board would count."""
    wanted = set(pairs)
    found: list[Ballot] = []
    for prompts in chunks(sorted({prompt for prompt, _, _ in wanted})):
        votes = Vote.objects.counted(campaign.pk).filter(
            battle__prompt__in=prompts, battle__response_a__isnull=False, battle__response_b__isnull=False
        )
        names = ("rater_id", "outcome", "rater__admission", *_SIDES[:3])
        for rater, outcome, admission, prompt, a, b in votes.order_by("pk").values_list(*names).iterator():
            pair = (prompt, min(a, b), max(a, b))
            if pair in wanted:
                code = _VOTE_CODES[outcome]
                simulated = admission == Rater.Admission.SIMULATED
                found.append(Ballot(rater, pair, code if a < b else turn(code), a < b, simulated))
    return found


def read_names(ballots: Iterable[Ballot]) -> dict[int, str]:
    """Pseudonyms of those who cast them."""
    found: dict[int, str] = {}
    for part in chunks(sorted({ballot.rater for ballot in ballots})):
        found |= dict(Rater.objects.filter(pk__in=part).values_list("pk", "pseudonym"))
    return found


def _calls(campaign: Campaign, judge: Judge) -> QuerySet[JudgeCall]:
    return JudgeCall.objects.filter(judgment__run__campaign=campaign, judgment__judge=judge)


def read_asked(campaign: Campaign, judge: Judge) -> dict[int, Asked]:
    """By judgment; a judgment recorded elsewhere has none."""
    calls: dict[int, dict[str, tuple[str, str, Any]]] = defaultdict(dict)
    rows = _calls(campaign, judge).exclude(judgment__outcome="")
    for judgment, order, *rest in rows.values_list(
        "judgment_id", "order", "verdict", "failure", "scores"
    ).iterator(chunk_size=CHUNK):
        calls[judgment][order] = tuple(rest)
    return {judgment: _asked(orders) for judgment, orders in calls.items()}


def _asked(orders: Mapping[str, tuple[str, str, Any]]) -> Asked:
    (ab, failure_ab, scores_ab), (ba, failure_ba, scores_ba) = (
        orders[JudgeCall.Order.AB],
        orders[JudgeCall.Order.BA],
    )
    scored = [(verdict, scores) for verdict, scores in ((ab, scores_ab), (ba, scores_ba)) if verdict]
    return Asked(
        VERDICTS.index(ab) if ab else FAILED,
        VERDICTS.index(ba) if ba else FAILED,
        failure_ab in STOPPED or failure_ba in STOPPED,
        tuple(contradicts(verdict, scores) for verdict, scores in scored if scores),
    )


def contradicts(verdict: str, scores: Mapping[str, Mapping[str, int]]) -> bool:
    """The winner has the lower sum of scores; counted on the judge's card, never corrected."""
    lead = sum(scores["first"].values()) - sum(scores["second"].values())
    return (verdict == "first" and lead < 0) or (verdict == "second" and lead > 0)


def read_failures(campaign: Campaign, judge: Judge) -> dict[str, int]:
    """Calls by what became of them instead of a verdict, without the detail behind the colon."""
    counted: dict[str, int] = defaultdict(int)
    failed = _calls(campaign, judge).exclude(failure="").order_by("failure").values_list("failure")
    for failure, count in failed.annotate(count=Count("pk")):
        counted[failure.partition(":")[0]] += count
    return dict(sorted(counted.items()))


def read_bills(campaign: Campaign, judge: Judge) -> dict[int, Bill]:
    """By judgment, requests that failed or were repeated too."""
    attempts = CallAttempt.objects.filter(
        call__judge_call__judgment__run__campaign=campaign,
        call__judge_call__judgment__judge=judge,
    ).order_by()
    sums = attempts.values_list("call__judge_call__judgment_id").annotate(
        dollars=Sum("cost_usd"), tokens_in=Sum("tokens_in"), tokens_out=Sum("tokens_out")
    )
    return {
        judgment: Bill(float(dollars or 0), (tokens_in or 0) + (tokens_out or 0))
        for judgment, dollars, tokens_in, tokens_out in sums
    }


@dataclass(frozen=True)
class CanaryReply:
    """What a judge said of a canary in one order: whether the poor response won."""

    key: str
    order: str
    instructed: bool
    poor_won: bool


def read_canaries(judge: Judge) -> list[CanaryReply]:
    """The newest reply to each canary and order, in whichever campaign it was asked."""
    probes = Probe.objects.filter(judge=judge, call__state=Call.State.PARSED).exclude(canary="")
    found: dict[tuple[str, str], CanaryReply] = {}
    for name, order, verdict in probes.order_by("pk").values_list("canary", "order", "verdict"):
        key, _, variant = name.partition(":")
        poor = "second" if order == JudgeCall.Order.AB else "first"
        found[name, order] = CanaryReply(key, order, variant == canaries.INSTRUCTED, verdict == poor)
    return list(found.values())


def count_canaries(judge: Judge) -> int:
    return Probe.objects.filter(judge=judge, call__state=Call.State.PARSED).exclude(canary="").count()


def count_open(campaign: Campaign, judge: Judge) -> int:
    return Judgment.objects.filter(run__campaign=campaign, judge=judge, outcome="").count()


def read_texts(pairs: Iterable[Pair]) -> dict[int, Text]:
    ids = sorted({response for _, low, high in pairs for response in (low, high)})
    found: dict[int, Text] = {}
    for part in chunks(ids):
        rows = Response.objects.filter(pk__in=part).values_list("pk", "characters", "competitor__family")
        for pk, characters, family in rows:
            found[pk] = Text(characters, family.strip().casefold())
    return found


def read_sentinels(campaign: Campaign) -> dict[int, str]:
    sentinels = Competitor.objects.filter(team=campaign.team_id, role=Competitor.Role.SENTINEL)
    return dict(sentinels.values_list("pk", "name"))


def read_categories(pairs: Iterable[Pair]) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in chunks(sorted({prompt for prompt, _, _ in pairs})):
        found |= dict(Prompt.objects.filter(pk__in=part).values_list("pk", "category"))
    return found


def other_judges(campaign: Campaign, judge: Judge) -> list[tuple[int, str]]:
    """Judges with findings here: their id, and the family of the model that judges."""
    others = Judge.objects.filter(Q(judgments__run__campaign=campaign) & ~Q(judgments__outcome=""))
    rows = others.exclude(pk=judge.pk).distinct().order_by("pk").select_related("endpoint")
    return [(other.pk, family_of(other)) for other in rows]


def chunks(ids: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]
