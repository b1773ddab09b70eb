"""Votes and judgments as `ratings.Comparisons`: which rows a leaderboard counts, and which it leaves out.

Rows are streamed as plain integers in the order of their battles; no vote becomes an object. Raters and
prompts are numbered by first appearance in that order, so that an export brought into another database, where
every id is another, gives the same arrays, and with them the same resamples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Case, F, IntegerField, Max, Q, QuerySet, Value, When
from django.db.models.expressions import Col
from django.db.models.functions import Coalesce
from django.utils import timezone
from numpy.typing import NDArray

from arena.battles import exclusions
from arena.battles.models import Battle, Outcome, Vote
from arena.corpus.hardness import hardness_at
from arena.corpus.models import HARD_AT_LEAST, Prompt, Response
from arena.judging.models import Judgment
from arena.leaderboards.fitting import judged_rows
from arena.leaderboards.fitting.lookups import (
    LOOKUP_CHUNK,
    UNKNOWN,
    as_number,
    distinct,
    fetch,
    lookup,
    numbered,
    of_each,
)
from arena.leaderboards.fitting.part_rows import in_part
from arena.leaderboards.fitting.prompt_texts import prompt_clusters
from arena.leaderboards.fitting.row_digest import digest
from arena.leaderboards.fitting.whole_board import WholeBoard
from arena.leaderboards.models import Leaderboard
from arena.raters.models import Rater
from arena.settled import settled
from ratings.comparisons import OUTCOMES, TIE_UNSTABLE, UNSTABLE_A, UNSTABLE_B, Comparisons

Columns = dict[str, NDArray[np.int64]]

UNSTABLE = (TIE_UNSTABLE, UNSTABLE_A, UNSTABLE_B)
STYLE = ("length", "headings", "list_items", "bold")

# How a stored outcome enters the fit.
VOTE_OUTCOMES = {name: name for name in Outcome.values}
EXCLUDED = {exclusions.BY_HAND: "excluded_by_hand", exclusions.UNBLINDED: "excluded_unblinded"}


@dataclass(frozen=True)
class Cutoff:
    """Rows dated after `at`, or numbered after `last_id`, are not in.

    The number is what a replay rests on: an import may bring old dates at any time. Boards that combine
    people's votes with a judge's number both. A prompt is hard by its labels at that time, from
    `hard_at_least` of the seven criteria.
    """

    at: datetime
    last_id: int
    last_judgment_id: int = 0
    hard_at_least: int = HARD_AT_LEAST


@dataclass(frozen=True, eq=False)
class BoardRows:
    """What a fit gets: competitor number i of the comparisons has the id `competitors[i]`.

    category: of each row's prompt, as a place in `categories` ("" among them); UNKNOWN without a prompt.
    whole: of a board of hard prompts, the rows of all prompts, where moves are asked for.
    """

    comparisons: Comparisons
    competitors: tuple[int, ...]
    digest: str
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    length_unit: str
    categories: tuple[str, ...]
    category: NDArray[np.int64]
    whole: WholeBoard | None = field(default=None, kw_only=True)


def cutoff_now(leaderboard: Leaderboard) -> Cutoff:
    """Nothing can appear before it any more; raises UnsettledError while that can't be said."""
    return settled(lambda: _noted_down(leaderboard))


def _noted_down(leaderboard: Leaderboard) -> Cutoff:
    """The time comes last: no vote that the number takes in is dated after it."""
    last_id = _last(Judgment if leaderboard.is_judged else Vote)
    last_judgment_id = _last(Judgment) if leaderboard.source == Leaderboard.Source.COMBINED else 0
    return Cutoff(timezone.now(), last_id, last_judgment_id, leaderboard.campaign.hard_at_least)


def _last(model: type[Vote] | type[Judgment]) -> int:
    return model._default_manager.aggregate(last=Max("pk"))["last"] or 0


@dataclass(frozen=True, eq=False)
class Read:
    """Rows as they were stored, one column per field, and how many are left out for each reason."""

    columns: Columns
    left_out: dict[str, int]
    cutoff: Cutoff


def read_rows(leaderboard: Leaderboard, cutoff: Cutoff) -> BoardRows:
    """Every row the leaderboard counts up to the cutoff; the same rows give the same digest."""
    return assemble(leaderboard, read_columns(leaderboard, cutoff))


def read_columns(leaderboard: Leaderboard, cutoff: Cutoff) -> Read:
    return narrowed(leaderboard, read_source(leaderboard, cutoff))


def read_source(leaderboard: Leaderboard, cutoff: Cutoff) -> Read:
    """All rows of the leaderboard's source, whichever prompts it counts: siblings can share them."""
    if leaderboard.source == Leaderboard.Source.RATERS:
        columns, left_out = _votes(leaderboard, cutoff)
    elif leaderboard.source == Leaderboard.Source.PANEL:
        columns, left_out = _panel(leaderboard, cutoff)
    else:
        columns, left_out = _judgments(leaderboard, cutoff)
    return Read(columns, left_out, cutoff)


def narrowed(leaderboard: Leaderboard, read: Read) -> Read:
    """The rows that this leaderboard counts."""
    columns, left_out = read.columns, dict(read.left_out)
    if leaderboard.part:
        columns = _keep(columns, in_part(leaderboard, columns), left_out, "not_in_part")
    if leaderboard.subset == Leaderboard.Subset.HARD:
        prompts = distinct(columns["prompt"])
        columns = _keep_hard(columns, prompts, _hardness(prompts, read.cutoff), left_out)
    if leaderboard.style_control:
        columns = _keep(
            columns, (columns["response_a"] >= 0) & (columns["response_b"] >= 0), left_out, "no_response"
        )
    return Read(columns, left_out, read.cutoff)


def _rows_of(leaderboard: Leaderboard) -> QuerySet[Any]:
    """All votes or judgments that could count, before any cutoff. Gold battles are never rated."""
    if leaderboard.source == Leaderboard.Source.RATERS:
        return Vote.objects.filter(battle__campaign=leaderboard.campaign_id).rated()
    judgments = Judgment.objects.filter(run__campaign=leaderboard.campaign_id)
    judgments = judgments.exclude(battle__kind=Battle.Kind.GOLD)
    if leaderboard.source == Leaderboard.Source.PANEL:
        return judgments
    if leaderboard.judge_id is None:
        raise ValueError(f"leaderboard {leaderboard.slug} has the source judge and names none")
    return judgments.filter(judge=leaderboard.judge_id)


def _votes(leaderboard: Leaderboard, cutoff: Cutoff) -> tuple[Columns, dict[str, int]]:
    """One pass over all votes: each comes with what becomes of it, for a count apart costs as much again."""
    votes = Vote.objects.filter(battle__campaign=leaderboard.campaign_id, pk__lte=cutoff.last_id)
    rows = votes.exclude(battle__kind=Battle.Kind.GOLD)
    excluded = exclusions.in_force(leaderboard.campaign_id, cutoff.at)
    columns = _stream(rows, _code_of(VOTE_OUTCOMES), F("rater_id"), _fate(cutoff, excluded))
    fate = columns.pop("fate")
    left_out = {reason: int((fate == place).sum()) for place, reason in enumerate(FATES) if reason}
    if (fate == EXCLUDED_ROW).any():
        standing = _standing(_rows_of(leaderboard).filter(pk__lte=cutoff.last_id), cutoff)
        for rule, count in exclusions.counts_by_rule(standing, leaderboard.campaign_id, cutoff.at).items():
            reason = EXCLUDED.get(rule, "excluded_by_check")
            left_out[reason] = left_out.get(reason, 0) + count
    return {name: column[fate == COUNTED] for name, column in columns.items()}, left_out


# What becomes of a vote, and under which reason it is left out; a repeat taken back is told nowhere.
COUNTED, RETRACTED, LATE, REPEATED, NOWHERE, EXCLUDED_ROW = range(6)
FATES = ("", "retracted", "after_cutoff", "repeated", "", "")


def _fate(cutoff: Cutoff, excluded: Q | None) -> Case:
    retracted, late = Q(retraction__at__lte=cutoff.at), Q(voted_at__gt=cutoff.at)
    repeat = Q(battle__kind=Battle.Kind.REPEAT)
    fates = [(repeat & (retracted | late), NOWHERE), (repeat, REPEATED), (retracted, RETRACTED), (late, LATE)]
    if excluded is not None:
        fates.append((excluded, EXCLUDED_ROW))
    whens = [When(condition, then=Value(fate)) for condition, fate in fates]
    return Case(*whens, default=Value(COUNTED), output_field=IntegerField())


def _standing(rows: Any, cutoff: Cutoff) -> Any:
    # exclude(retraction__at__lte=…) would put a subquery under every row.
    return rows.filter(Q(retraction=None) | Q(retraction__at__gt=cutoff.at), voted_at__lte=cutoff.at)


def _judgments(leaderboard: Leaderboard, cutoff: Cutoff) -> tuple[Columns, dict[str, int]]:
    """One judgment a battle: asked again, a judge's latest verdict counts, for it has no more to say."""
    rows = _rows_of(leaderboard).filter(pk__lte=cutoff.last_id)
    resolved = rows.exclude(outcome="").filter(resolved_at__lte=cutoff.at)
    decided = resolved.exclude(outcome=Judgment.Outcome.NO_VERDICT)
    left_out = {
        "unresolved": rows.count() - resolved.count(),
        "no_verdict": resolved.filter(outcome=Judgment.Outcome.NO_VERDICT).count(),
    }
    average = leaderboard.policies.get("unstable") == "average"
    columns = _stream(decided, judged_rows.judge_code(average, UNKNOWN), Value(leaderboard.judge_id))
    battle = columns["battle"]
    latest = np.append(battle[1:] != battle[:-1], True)[: len(battle)]
    return _keep(columns, latest, left_out, "superseded"), left_out


def _panel(leaderboard: Leaderboard, cutoff: Cutoff) -> tuple[Columns, dict[str, int]]:
    """One row a battle: what most of its judges found."""
    rows = _rows_of(leaderboard).filter(pk__lte=cutoff.last_id)
    resolved = rows.exclude(outcome="").filter(resolved_at__lte=cutoff.at)
    heard = resolved.exclude(outcome=Judgment.Outcome.NO_VERDICT)
    asked = judged_rows.of_panel(rows, heard)
    columns = _stream(asked, judged_rows.panel_code(UNKNOWN, cutoff.at), F("judge_id"))
    decided, left_out = judged_rows.decide_panel(columns)
    not_yet = {
        "unresolved": rows.count() - resolved.count(),
        "no_verdict": resolved.count() - heard.count(),
    }
    return decided, not_yet | left_out


def _stream(rows: QuerySet[Any], code: Case, rater: Any, fate: Case | None = None) -> Columns:
    """One column per field, by battle and then by row, however the database hands them out."""
    fields = {
        "pk": F("pk"),
        "battle": F("battle_id"),
        "a": F("battle__competitor_a_id"),
        "b": F("battle__competitor_b_id"),
        "outcome": code,
        "rater": rater,
        "prompt": Coalesce(F("battle__prompt_id"), UNKNOWN),
        "response_a": Coalesce(F("battle__response_a_id"), UNKNOWN),
        "response_b": Coalesce(F("battle__response_b_id"), UNKNOWN),
    } | ({} if fate is None else {"fate": fate})
    wanted = _by_battle(rows).values_list(*fields.values())
    table = fetch(wanted, len(fields))
    table = table[np.lexsort((table[:, 0], table[:, 1]))]
    columns = {name: np.ascontiguousarray(table[:, place]) for place, name in enumerate(fields)}
    unknown = columns["outcome"] == UNKNOWN
    if unknown.any():
        battle = columns["battle"][np.argmax(unknown)]
        raise ValueError(f"battle {battle} has an outcome that no board knows; repair that row")
    return columns


def _by_battle(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Ordered by the battle's own number where its table is joined, which F("battle_id") never names.

    SQLite then reads a campaign's battles as they lie on disk. Left to itself it takes them by rater, and
    looks for each battle and each vote in another place: five times the time at a million votes.
    """
    query, table = rows.query, Battle._meta.db_table
    if query.alias_refcount.get(table):
        return rows.order_by(Col(table, Battle._meta.pk))
    return rows.order_by()


def _code_of(outcomes: Mapping[str, str]) -> Case:
    whens = [When(outcome=stored, then=OUTCOMES.index(fitted)) for stored, fitted in outcomes.items()]
    return Case(*whens, default=UNKNOWN, output_field=IntegerField())


def _keep(columns: Columns, rows: NDArray[np.bool_], left_out: dict[str, int], reason: str) -> Columns:
    left_out[reason] = int(len(rows) - rows.sum())
    return {name: column[rows] for name, column in columns.items()}


def _hardness(prompts: NDArray[np.int64], cutoff: Cutoff) -> NDArray[np.int64]:
    """1, 0 or UNKNOWN, in the order of the sorted ids."""
    found = hardness_at(cutoff.at, prompts.tolist(), cutoff.hard_at_least)
    numbers = {True: 1, False: 0, None: UNKNOWN}
    return np.array([numbers[found[prompt]] for prompt in prompts.tolist()], dtype=np.int64)


def _keep_hard(
    columns: Columns, prompts: NDArray[np.int64], hard: NDArray[np.int64], left_out: dict[str, int]
) -> Columns:
    """Only prompts known to be hard. A prompt nobody has looked at isn't easy: it's counted by name."""
    known = np.where(columns["prompt"] == UNKNOWN, UNKNOWN, of_each(columns["prompt"], prompts, hard))
    columns = _keep(columns, known != UNKNOWN, left_out, "hardness_unknown")
    return _keep(columns, known[known != UNKNOWN] == 1, left_out, "not_hard")


def _style(columns: Columns) -> tuple[NDArray[np.float64], str]:
    """Signed relative differences (a − b)/(a + b), 0 where neither has any; and the unit of length."""
    responses = distinct(columns["response_a"], columns["response_b"])
    names = ["characters", "headings", "list_items", "bold", Coalesce(F("tokens"), UNKNOWN)]
    characters, *rest, tokens = lookup(Response.objects.all(), responses, names)
    unit = "characters" if (tokens == UNKNOWN).any() else "tokens"
    covariates = []
    for counts in (tokens if unit == "tokens" else characters, *rest):
        a = of_each(columns["response_a"], responses, counts)
        b = of_each(columns["response_b"], responses, counts)
        covariates.append(np.divide(a - b, a + b, out=np.zeros(len(a)), where=a + b > 0))
    return np.stack(covariates, axis=1), unit


def assemble(leaderboard: Leaderboard, read: Read, prompt: NDArray[np.int64] | None = None) -> BoardRows:
    """`prompt`: the rows' clusters by prompt where they are known already, for texts are read for them."""
    columns = read.columns
    if prompt is None:
        prompt = prompt_clusters(columns["prompt"])
    covariates, unit = _style(columns) if leaderboard.style_control else (None, "")
    comparisons, competitors = compared(leaderboard, columns, prompt)
    if covariates is not None:
        comparisons = comparisons.with_covariates(covariates, STYLE)
    categories, category = _categories(columns)
    return BoardRows(
        comparisons=comparisons,
        competitors=competitors,
        digest=digest(comparisons),
        counts=_counts(leaderboard, columns, read.cutoff) | {"distinct_texts": _texts(columns, prompt)},
        left_out={reason: count for reason, count in read.left_out.items() if count},
        length_unit=unit,
        categories=categories,
        category=category,
    )


def compared(
    leaderboard: Leaderboard, columns: Columns, prompt: NDArray[np.int64] | None
) -> tuple[Comparisons, tuple[int, ...]]:
    """Rows without covariates, and the ids of their competitors."""
    competitors = distinct(columns["a"], columns["b"])
    comparisons = Comparisons.of(
        max(len(competitors), 1),
        np.searchsorted(competitors, columns["a"]),
        np.searchsorted(competitors, columns["b"]),
        columns["outcome"],
        # A judge is one rater: nothing on its board can be said about another.
        rater=numbered(columns["rater"]) if leaderboard.source == Leaderboard.Source.RATERS else None,
        prompt=prompt,
    )
    return comparisons, tuple(int(pk) for pk in competitors)


def _categories(columns: Columns) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The names of categories, and each row's: UNKNOWN for a row without a prompt."""
    prompts = distinct(columns["prompt"])
    names: dict[int, str] = {}
    for start in range(0, len(prompts), LOOKUP_CHUNK):
        part = prompts[start : start + LOOKUP_CHUNK].tolist()
        names |= dict(Prompt.objects.filter(pk__in=part).values_list("pk", "category"))
    known = tuple(sorted(set(names.values())))
    place = {name: number for number, name in enumerate(known)}
    of_prompt = np.array([place[names[pk]] for pk in prompts.tolist()], dtype=np.int64)
    of_row = of_each(columns["prompt"], prompts, of_prompt)
    return known, np.where(columns["prompt"] == UNKNOWN, UNKNOWN, of_row)


def _texts(columns: Columns, prompt: NDArray[np.int64] | None) -> int:
    return 0 if prompt is None else len(np.unique(prompt[columns["prompt"] != UNKNOWN]))


def _counts(leaderboard: Leaderboard, columns: Columns, cutoff: Cutoff) -> dict[str, int]:
    prompts = distinct(columns["prompt"])
    hard = _hardness(prompts, cutoff)
    responses = distinct(columns["response_a"], columns["response_b"])
    blank = lookup(Response.objects.all(), responses, [as_number("is_blank")])[0] == 1
    about_blank = np.isin(columns["response_a"], responses[blank]) | np.isin(
        columns["response_b"], responses[blank]
    )
    counts = {
        "votes": len(columns["battle"]),
        "raters": len(np.unique(columns["rater"])),
        "prompts": len(prompts),
        "hard_prompts": int((hard == 1).sum()),
        "prompts_of_unknown_hardness": int((hard == UNKNOWN).sum()),
        "hard_at_least": cutoff.hard_at_least,
        "votes_without_prompt": int((columns["prompt"] == UNKNOWN).sum()),
        "votes_about_blank_responses": int(about_blank.sum()),
        "blank_responses": int(blank.sum()),
        "both_bad": int((columns["outcome"] == OUTCOMES.index("both_bad")).sum()),
        "unstable": int(np.isin(columns["outcome"], UNSTABLE).sum()),
    }
    return counts | _simulated(leaderboard, columns)


def _simulated(leaderboard: Leaderboard, columns: Columns) -> dict[str, int]:
    if leaderboard.source != Leaderboard.Source.RATERS:
        return {"simulated": 0}
    raters = distinct(columns["rater"])
    simulated = Case(
        When(admission=Rater.Admission.SIMULATED, then=1), default=0, output_field=IntegerField()
    )
    made_up = raters[lookup(Rater.objects.all(), raters, [simulated])[0] == 1]
    return {"simulated": int(np.isin(columns["rater"], made_up).sum())}
