"""Pairs of responses to one prompt, with what people and judges said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import Count, Min, Q

from arena.battles.models import Battle, Outcome, Vote
from arena.campaigns.models import Campaign
from arena.judging.beside_people import majority
from arena.judging.models import Judgment

_SIDES = (
    "battle__prompt_id",
    "battle__competitor_a_id",
    "battle__competitor_b_id",
    "battle__response_a_id",
    "battle__response_b_id",
)
_TURNED = {Outcome.MODEL_A.value: Outcome.MODEL_B.value, Outcome.MODEL_B.value: Outcome.MODEL_A.value}
_TIES = {Judgment.Outcome.TIE, Judgment.Outcome.TIE_UNSTABLE, Judgment.Outcome.TIE_VERBOSE, Outcome.BOTH_BAD}

Key = tuple[int, int, int]


@dataclass
class PairOfResponses:
    """A prompt and two responses; outcomes are told with the response of the smaller id as side a."""

    prompt: int
    competitors: tuple[int, int]
    responses: tuple[int, int]
    battle: int
    people: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    influence: float = 0.0
    influence_words: str = ""

    def won_by(self, competitor: int, outcomes: Counter[str] | None = None) -> int:
        """Votes for it, or of other outcomes than people's."""
        side = Outcome.MODEL_A if self.competitors[0] == competitor else Outcome.MODEL_B
        return (self.people if outcomes is None else outcomes)[side.value]

    def lost_by(self, competitor: int) -> int:
        other = self.competitors[1] if self.competitors[0] == competitor else self.competitors[0]
        return self.won_by(other)

    def net_loss(self, competitor: int) -> int:
        return self.lost_by(competitor) - self.won_by(competitor)

    @property
    def is_disputed(self) -> bool:
        people, judges = _majority(self.people), _majority(self.judges)
        return people is not None and judges is not None and people != judges


def _majority(outcomes: Mapping[str, int]) -> str | None:
    """What more than half say, all ties told as one; None where nothing has so many."""
    told: Counter[str] = Counter()
    for outcome, count in outcomes.items():
        told["tie" if outcome in _TIES else outcome] += count
    return majority(told)


def pairs_of(
    campaign: Campaign, model: int | None = None, against: int | None = None
) -> list[PairOfResponses]:
    """Every pair of responses with a vote that counts, in the order of their first battles."""
    votes = Vote.objects.counted(campaign.pk).filter(
        _with(model, "battle__") & _with(against, "battle__"),
        battle__prompt__isnull=False,
        battle__response_a__isnull=False,
        battle__response_b__isnull=False,
    )
    found: dict[Key, PairOfResponses] = {}
    rows = votes.order_by().values_list(*_SIDES, "outcome").annotate(n=Count("pk"), first=Min("battle_id"))
    for prompt, left, right, a, b, outcome, n, first in rows.iterator():
        low_first = a < b
        key = (prompt, min(a, b), max(a, b))
        pair = found.get(key)
        if pair is None:
            models = (left, right) if low_first else (right, left)
            pair = found[key] = PairOfResponses(prompt, models, key[1:], first)
        pair.battle = min(pair.battle, first)
        pair.people[outcome if low_first else _TURNED.get(outcome, outcome)] += n
    return sorted(found.values(), key=lambda pair: pair.battle)


def noted_pairs(
    campaign: Campaign, kinds: Iterable[str], model: int | None = None, against: int | None = None
) -> dict[Key, PairOfResponses]:
    """Pairs of responses of which raters said something of these kinds, voted on or not; without votes."""
    battles = Battle.objects.filter(
        _with(model, "") & _with(against, ""),
        campaign=campaign,
        notes__kind__in=kinds,
        prompt__isnull=False,
        response_a__isnull=False,
        response_b__isnull=False,
    )
    sides = ("pk", *(name.removeprefix("battle__") for name in _SIDES))
    found: dict[Key, PairOfResponses] = {}
    for first, prompt, left, right, a, b in battles.order_by("pk").values_list(*sides).iterator():
        models, responses = ((left, right), (a, b)) if a < b else ((right, left), (b, a))
        found.setdefault((prompt, *responses), PairOfResponses(prompt, models, responses, first))
    return found


def _with(competitor: int | None, path: str) -> Q:
    if competitor is None:
        return Q()
    return Q(**{f"{path}competitor_a": competitor}) | Q(**{f"{path}competitor_b": competitor})


def add_judges(campaign: Campaign, pairs: Iterable[PairOfResponses]) -> None:
    """Verdicts of judges on the same pairs."""
    known = {(pair.prompt, *pair.responses): pair for pair in pairs}
    judgments = Judgment.objects.filter(run__campaign=campaign).exclude(
        outcome__in=["", Judgment.Outcome.NO_VERDICT]
    )
    sides = ("battle__prompt_id", "battle__response_a_id", "battle__response_b_id")
    rows = judgments.order_by().filter(battle__response_a__isnull=False, battle__response_b__isnull=False)
    for prompt, a, b, outcome, n in rows.values_list(*sides, "outcome").annotate(n=Count("pk")).iterator():
        pair = known.get((prompt, min(a, b), max(a, b)))
        if pair is not None:
            pair.judges[outcome if a < b else _TURNED.get(outcome, outcome)] += n
