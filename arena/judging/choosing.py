"""Which battles a run judges: those there are, or every pair of responses to a prompt."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from random import Random
from typing import Any, Literal, NamedTuple, get_args

from django.db import transaction
from django.db.models import BooleanField, Count, ExpressionWrapper, F, Q, QuerySet
from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.campaigns.opening import drawable_responses
from arena.corpus.models import Prompt, Response
from arena.judging.models import Judge, Judgment, Rubric

Which = Literal["voted", "all", "fewest", "pairs"]
WHICH: tuple[str, ...] = get_args(Which)
# Why a battle is left out, said of one or several.
REASONS = {
    "repeated": "the same pair of responses again",
    "without_texts": "recorded without texts",
    "redacted": "with a redacted text",
    "leaking": "with a response that says who wrote it, which the campaign leaves out",
    "unlooked": "with a response that nobody has looked through for leaks yet",
    "internal": "internal, where the endpoint isn't",
    "identical": "of two identical responses",
    "without_reference": "of a prompt without a reference",
}

PairKey = tuple[int, frozenset[int]]
_CHUNK = 500
_REDACTED = (
    Q(prompt__tombstone__isnull=False)
    | Q(response_a__tombstone__isnull=False)
    | Q(response_b__tombstone__isnull=False)
)


@dataclass(frozen=True)
class NewPair:
    """Two responses to a prompt that have no battle yet."""

    prompt: int
    response_a: int
    response_b: int
    competitor_a: int
    competitor_b: int

    @property
    def key(self) -> PairKey:
        return self.prompt, frozenset((self.response_a, self.response_b))


# A battle's id, or a pair for which one is made at the start of a run.
Entry = int | NewPair
Counted = tuple[int, Entry]


class CannotPlanError(ValueError):
    """Nothing was planned; the message says why and what to do."""


@dataclass(frozen=True)
class Choice:
    """Battles to judge, one for each distinct unordered pair of responses, and why the others are out."""

    battles: tuple[Entry, ...]
    repeated: int
    without_texts: int
    redacted: int
    leaking: int
    unlooked: int
    internal: int
    identical: int
    without_reference: int
    over_limit: int

    @property
    def new(self) -> int:
        """Pairs that have no battle yet: a start makes one."""
        return sum(isinstance(entry, NewPair) for entry in self.battles)

    def left_out(self) -> list[tuple[int, str]]:
        """How many for each reason that there is, and the reason."""
        counts = [(getattr(self, name), words) for name, words in REASONS.items()]
        return [(count, words) for count, words in counts if count]


@dataclass(frozen=True)
class Bar:
    """What keeps a battle from the judges of a run."""

    internal: bool
    without_reference: bool
    leaks: Mapping[str, str]  # what was found in a response -> why it is out

    @classmethod
    def of(cls, judges: Sequence[Judge], campaign: Campaign, which: str) -> Bar:
        modes = {judge.rubric.mode for judge in judges if judge.rubric}
        inside = all(judge.endpoint and judge.endpoint.is_internal for judge in judges)
        return cls(
            internal=not inside,
            without_reference=Rubric.Mode.REFERENCE in modes,
            leaks=_leaks_out(campaign.leak_policy, which),
        )

    def of_leaks(self, *found: str) -> str:
        """The reason that one of the responses gives, a leak before a look that is still to come."""
        reasons = {self.leaks.get(leak, "") for leak in found}
        return next((reason for reason in ("leaking", "unlooked") if reason in reasons), "")


def _leaks_out(leak_policy: str, which: str) -> dict[str, str]:
    """As for raters. Where leaks are masked, a battle that is there already is masked when it's judged."""
    if leak_policy == Campaign.LeakPolicy.EXCLUDE:
        return {Response.Leak.FOUND: "leaking", Response.Leak.UNCHECKED: "unlooked"}
    if leak_policy == Campaign.LeakPolicy.MASK and which == "pairs":
        return {Response.Leak.UNCHECKED: "unlooked"}
    return {}


def choose_battles(
    campaign: Campaign, judges: Sequence[Judge], which: str, limit: int | None = None, seed: int = 0
) -> Choice:
    """In an order drawn with `seed`, so a limit takes a random part; `fewest`, `pairs`: fewest first."""
    if which not in WHICH:
        raise CannotPlanError(f"battles to judge are one of {', '.join(WHICH)}, not {which!r}")
    bar = Bar.of(judges, campaign, which)
    if which == "pairs":
        found, left_out = _all_pairs(campaign, judges, bar)
    else:
        found, left_out = _battles(campaign, judges, which, bar)
    Random(seed).shuffle(found)
    if which in ("fewest", "pairs"):
        found.sort(key=lambda counted: counted[0])
    battles = tuple(entry for _, entry in found)
    kept = battles if limit is None else battles[:limit]
    return Choice(kept, over_limit=len(battles) - len(kept), **left_out)


def _battles(
    campaign: Campaign, judges: Sequence[Judge], which: str, bar: Bar
) -> tuple[list[Counted], dict[str, int]]:
    left_out = dict.fromkeys(REASONS, 0)
    seen: dict[PairKey, Counted] = {}
    for row in _rows(campaign, judges, which):
        reason = _left_out(row, seen, bar)
        if reason:
            left_out[reason] += 1
        else:
            seen[_pair(row)] = (row["judgment_count"], row["pk"])
    return list(seen.values()), left_out


def _all_pairs(campaign: Campaign, judges: Sequence[Judge], bar: Bar) -> tuple[list[Counted], dict[str, int]]:
    """Every two responses to a prompt that may be drawn; a pair that has battles stands for its first."""
    left_out = dict.fromkeys(REASONS, 0)
    known: dict[PairKey, Counted] = {}
    for row in _rows(campaign, judges, "all"):
        count, battle = known.get(_pair(row), (0, row["pk"]))
        known[_pair(row)] = (count + row["judgment_count"], battle)
    found: list[Counted] = []
    for a, b in _drawable_pairs(campaign):
        if leak := bar.of_leaks(a.leak, b.leak):
            left_out[leak] += 1
        elif a.text_hash == b.text_hash:
            left_out["identical"] += 1
        elif a.is_internal and bar.internal:
            left_out["internal"] += 1
        elif not a.reference and bar.without_reference:
            left_out["without_reference"] += 1
        else:
            new = NewPair(a.prompt, a.response, b.response, a.competitor, b.competitor)
            found.append(known.get((a.prompt, frozenset((a.response, b.response))), (0, new)))
    return found, left_out


class _Text(NamedTuple):
    prompt: int
    response: int
    competitor: int
    text_hash: str
    leak: str
    is_internal: bool
    reference: str


def _drawable_pairs(campaign: Campaign) -> Iterator[tuple[_Text, _Text]]:
    columns = (
        "prompt_id",
        "pk",
        "competitor_id",
        "text_hash",
        "leak",
        "prompt__prompt_set__is_internal",
        "prompt__reference",
    )
    there = drawable_responses(campaign, Campaign.LeakPolicy.FLAG)  # leaks are counted, not passed over
    rows = there.order_by("prompt_id", "pk").values_list(*columns)
    for _, of_prompt in groupby((_Text(*row) for row in rows.iterator()), key=lambda text: text.prompt):
        for a, b in combinations(of_prompt, 2):
            if a.competitor != b.competitor:
                yield a, b


def _rows(campaign: Campaign, judges: Sequence[Judge], which: str) -> Iterator[dict[str, Any]]:
    battles: QuerySet[Battle] = Battle.objects.filter(campaign=campaign).exclude(kind=Battle.Kind.GOLD)
    if which == "voted":
        battles = battles.filter(vote__isnull=False, vote__retraction=None)
    judged = Q(judgments__judge__in=judges) & ~Q(judgments__outcome__in=["", Judgment.Outcome.NO_VERDICT])
    columns = battles.order_by("pk").annotate(
        judgment_count=Count("judgments", filter=judged),
        is_internal=F("prompt__prompt_set__is_internal"),
        hash_a=F("response_a__text_hash"),
        hash_b=F("response_b__text_hash"),
        leak_a=F("response_a__leak"),
        leak_b=F("response_b__leak"),
        reference=F("prompt__reference"),
        is_redacted=ExpressionWrapper(_REDACTED, output_field=BooleanField()),
    )
    ids = ("pk", "prompt_id", "response_a_id", "response_b_id")
    told = (
        "judgment_count",
        "is_redacted",
        "is_internal",
        "hash_a",
        "hash_b",
        "leak_a",
        "leak_b",
        "reference",
    )
    return columns.values(*ids, *told).iterator(chunk_size=2000)


def _pair(row: dict[str, Any]) -> PairKey:
    return row["prompt_id"], frozenset((row["response_a_id"], row["response_b_id"]))


def _left_out(row: dict[str, Any], seen: dict[Any, Any], bar: Bar) -> str:
    if not (row["prompt_id"] and row["response_a_id"] and row["response_b_id"]):
        return "without_texts"
    if row["is_redacted"]:
        return "redacted"
    if leak := bar.of_leaks(row["leak_a"], row["leak_b"]):
        return leak
    if _pair(row) in seen:
        return "repeated"
    if row["hash_a"] == row["hash_b"]:
        return "identical"
    if row["is_internal"] and bar.internal:
        return "internal"
    return "without_reference" if bar.without_reference and not row["reference"] else ""


def unsaved_battles(pairs: Iterable[NewPair]) -> list[Battle]:
    """With their texts, to see what they would take; never stored."""
    wanted = list(pairs)
    prompts = Prompt.objects.in_bulk([pair.prompt for pair in wanted])
    texts = Response.objects.in_bulk([r for pair in wanted for r in (pair.response_a, pair.response_b)])
    return [
        Battle(
            prompt=prompts[pair.prompt],
            response_a=texts[pair.response_a],
            response_b=texts[pair.response_b],
        )
        for pair in wanted
    ]


def create_missing(campaign: Campaign, entries: Sequence[Entry]) -> list[int]:
    """The entries as battles, in their order; a pair gets one battle however many runs ask for it."""
    new = [entry for entry in entries if isinstance(entry, NewPair)]
    made: dict[PairKey, int] = {}
    for start in range(0, len(new), _CHUNK):
        made |= _create(campaign, new[start : start + _CHUNK])
    return [made[entry.key] if isinstance(entry, NewPair) else entry for entry in entries]


def _create(campaign: Campaign, pairs: Sequence[NewPair]) -> dict[PairKey, int]:
    with transaction.atomic():
        # Two starts at once: the second waits here, then finds the battles of the first.
        campaign.hold()
        battles = Battle.objects.filter(campaign=campaign, prompt__in={pair.prompt for pair in pairs})
        battles = battles.exclude(kind=Battle.Kind.GOLD).order_by("-pk")
        rows = battles.values_list("prompt_id", "response_a_id", "response_b_id", "pk")
        there: dict[PairKey, int] = {
            (prompt, frozenset((a, b))): pk for prompt, a, b, pk in rows if prompt and a and b
        }
        missing = [pair for pair in pairs if pair.key not in there]
        made = Battle.objects.bulk_create(_battle(campaign, pair) for pair in missing)
        return there | {pair.key: battle.pk for pair, battle in zip(missing, made, strict=True)}


def _battle(campaign: Campaign, pair: NewPair) -> Battle:
    """Of no rater; a coin decides who is a."""
    sides = [(pair.response_a, pair.competitor_a), (pair.response_b, pair.competitor_b)]
    if secrets.randbits(1):
        sides.reverse()
    (response_a, competitor_a), (response_b, competitor_b) = sides
    return Battle(
        campaign=campaign,
        prompt_id=pair.prompt,
        response_a_id=response_a,
        response_b_id=response_b,
        competitor_a_id=competitor_a,
        competitor_b_id=competitor_b,
        drawn_at=timezone.now(),
    )
