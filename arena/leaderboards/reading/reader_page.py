"""Battles to be read, with texts, votes, notes and what readers found; and why people voted as they did."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F

from arena.battles.models import Battle, BattleNote, Outcome
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, Response
from arena.judging.models import Judgment
from arena.leaderboards.reading.reading_models import Reading
from arena.leaderboards.reading.response_pairs import PairOfResponses
from arena.spreadsheet_text import escape

OUTCOME_WORDS = dict(Outcome.choices) | dict(Judgment.Outcome.choices)


@dataclass(frozen=True)
class Side:
    letter: str
    competitor: Competitor
    response: Response
    won: int
    reading: Reading | None


@dataclass(frozen=True)
class Said:
    """A rater's words, which call the sides as that rater saw them."""

    note: BattleNote
    a: str
    b: str


@dataclass(frozen=True)
class Shown:
    battle: Battle
    prompt: Prompt
    sides: tuple[Side, ...]
    people: list[tuple[str, int]]
    judges: list[tuple[str, int]]
    notes: list[Said]
    influence: str


def shown(pairs: Sequence[PairOfResponses], reader: Any) -> list[Shown]:
    """One page of pairs with everything they need, in a fixed number of queries."""
    prompts = Prompt.objects.in_bulk([pair.prompt for pair in pairs])
    responses = Response.objects.in_bulk([r for pair in pairs for r in pair.responses])
    competitors = Competitor.objects.in_bulk([c for pair in pairs for c in pair.competitors])
    battles = Battle.objects.in_bulk([pair.battle for pair in pairs])
    readings = {
        (reading.battle_id, reading.side): reading
        for reading in Reading.objects.filter(battle__in=battles, reader=reader)
    }
    notes = _notes(pairs)
    return [
        Shown(
            battle=battles[pair.battle],
            prompt=prompts[pair.prompt],
            sides=tuple(_sides(pair, battles[pair.battle], competitors, responses, readings)),
            people=_told(pair.people, pair, competitors),
            judges=_told(pair.judges, pair, competitors),
            notes=notes[pair.prompt, *pair.responses],
            influence=pair.influence_words,
        )
        for pair in pairs
    ]


def _sides(
    pair: PairOfResponses,
    battle: Battle,
    competitors: Mapping[int, Competitor],
    responses: Mapping[int, Response],
    readings: Mapping[tuple[int, str], Reading],
) -> Iterator[Side]:
    """As the first battle of the pair showed them."""
    for letter, competitor, response in (
        ("a", battle.competitor_a_id, battle.response_a_id),
        ("b", battle.competitor_b_id, battle.response_b_id),
    ):
        won = pair.won_by(competitor)
        reading = readings.get((battle.pk, letter))
        yield Side(letter, competitors[competitor], responses[response or 0], won, reading)


def _told(
    outcomes: Counter[str], pair: PairOfResponses, competitors: Mapping[int, Competitor]
) -> list[tuple[str, int]]:
    """A model by its name: a and b are others in the pair than on the page."""
    models = zip((Outcome.MODEL_A, Outcome.MODEL_B), pair.competitors, strict=True)
    words = OUTCOME_WORDS | {side.value: competitors[competitor].name for side, competitor in models}
    return [(str(words[outcome]), count) for outcome, count in outcomes.most_common()]


def _notes(pairs: Sequence[PairOfResponses]) -> dict[tuple[int, ...], list[Said]]:
    """What raters said of these pairs, in whichever battle of them."""
    found: dict[tuple[int, ...], list[Said]] = defaultdict(list)
    kinds = (BattleNote.Kind.COMMENT, BattleNote.Kind.FLAG)
    prompts = {pair.prompt for pair in pairs}
    rows = BattleNote.objects.filter(battle__prompt__in=prompts, kind__in=kinds).select_related(
        "battle__competitor_a", "battle__competitor_b"
    )
    for note in rows.order_by("pk"):
        battle = note.battle
        if battle.prompt_id and battle.response_a_id and battle.response_b_id:
            low, high = sorted((battle.response_a_id, battle.response_b_id))
            said = Said(note, battle.competitor_a.name, battle.competitor_b.name)
            found[battle.prompt_id, low, high].append(said)
    return found


@dataclass(frozen=True)
class ReasonLine:
    """Of the votes that a model won, how many gave each reason; and how many of its battles were flagged."""

    name: str
    counts: list[int]
    flags: int


REASONS = {"model": "text", "said": "text", "count": "count"}
FAILURES = {"model": "text", "failure": "text", "count": "count"}
"""Of the tables' files: name to kind; a row for every figure of a page's line, in its order."""
FLAGS = "flags"


def reason_values(reasons: Sequence[str], lines: Sequence[ReasonLine]) -> Iterator[tuple[str, str, int]]:
    for line in lines:
        yield from ((line.name, said, n) for said, n in zip(reasons, line.counts, strict=True))
        yield line.name, FLAGS, line.flags


def reasons_by_model(campaign: Campaign) -> tuple[list[str], list[ReasonLine]]:
    """The reasons given at all, and a line for every model that was given one or flagged."""
    reasons = BattleNote.objects.filter(
        battle__campaign=campaign, kind=BattleNote.Kind.REASON, battle__vote__retraction=None
    )
    won: dict[str, Counter[str]] = defaultdict(Counter)
    for side, outcome in (("a", Outcome.MODEL_A), ("b", Outcome.MODEL_B)):
        rows = reasons.filter(battle__vote__outcome=outcome).order_by()
        name = F(f"battle__competitor_{side}__name")
        for model, reason, n in rows.values_list(name, "text").annotate(n=Count("pk")):
            won[model][reason] += n
    flags: Counter[str] = Counter()
    flagged = BattleNote.objects.filter(battle__campaign=campaign, kind=BattleNote.Kind.FLAG).order_by()
    for side in ("a", "b"):
        name = F(f"battle__competitor_{side}__name")
        flags.update(dict(flagged.values_list(name).annotate(n=Count("battle", distinct=True))))
    given = sorted({reason for counts in won.values() for reason in counts})
    names = sorted(won.keys() | flags.keys())
    return given, [ReasonLine(n, [won[n][reason] for reason in given], flags[n]) for n in names]


@dataclass(frozen=True)
class FailureLine:
    name: str
    counts: list[int]


def failure_values(kinds: Sequence[str], lines: Sequence[FailureLine]) -> Iterator[tuple[str, str, int]]:
    for line in lines:
        yield from ((line.name, kind, n) for kind, n in zip(kinds, line.counts, strict=True))


def failures_by_model(campaign: Campaign) -> tuple[list[str], list[FailureLine], int]:
    """Kinds of failure that readers found, a line per model, and how many battles were read."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    readings = Reading.objects.filter(battle__campaign=campaign)
    for reading in readings.select_related("battle__competitor_a", "battle__competitor_b"):
        found[read_competitor(reading).name][reading.failure] += 1
    used = {failure for counts in found.values() for failure in counts}
    kinds = [kind for kind in Reading.Failure if kind.value in used]
    lines = [FailureLine(name, [found[name][kind.value] for kind in kinds]) for name in sorted(found)]
    return [str(kind.label) for kind in kinds], lines, readings.values("battle").distinct().count()


def read_competitor(reading: Reading) -> Competitor:
    battle = reading.battle
    return battle.competitor_a if reading.side == Reading.Side.A else battle.competitor_b


COLUMNS = (
    "prompt_id",
    "category",
    "prompt",
    "model_a",
    "model_b",
    "response_a",
    "response_b",
    "votes_a",
    "votes_b",
    "ties",
    "both_bad",
    "judges_a",
    "judges_b",
)
"""Votes, and judgments, for the response that stands under a, and under b."""


def csv_rows(pairs: Iterable[PairOfResponses], reader: Any) -> Iterable[Sequence[object]]:
    yield COLUMNS
    pairs = list(pairs)
    for start in range(0, len(pairs), 500):
        part = pairs[start : start + 500]
        for pair, one in zip(part, shown(part, reader), strict=True):
            a, b = one.sides
            texts = (
                one.prompt.external_id,
                one.prompt.category,
                one.prompt.text,
                a.competitor.name,
                b.competitor.name,
                a.response.text,
                b.response.text,
            )
            ties = (pair.people[Outcome.TIE.value], pair.people[Outcome.BOTH_BAD.value])
            judged = (pair.won_by(side.competitor.pk, pair.judges) for side in one.sides)
            yield (*map(escape, texts), a.won, b.won, *ties, *judged)
