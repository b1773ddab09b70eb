"""Judgments as rows of a fit: one judge's, or a panel's."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

import numpy as np
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from numpy.typing import NDArray

from arena.judging import panel
from arena.judging.models import Judge, Judgment
from ratings.comparisons import OUTCOMES

Columns = dict[str, NDArray[np.int64]]

# A win undone by the verbosity rule was decided to be a tie.
OF_JUDGE = {
    name: "tie" if name == Judgment.Outcome.TIE_VERBOSE else name
    for name in Judgment.Outcome.values
    if name != Judgment.Outcome.NO_VERDICT
}
# Judges without a majority disagree as two orders do: the same policy says what becomes of both.
OF_PANEL = {"model_a": "model_a", "model_b": "model_b", "tie": "tie", "tie_split": "tie_unstable"}
LEAST_HEARD = 2
_SIDES = {"model_a": "model_b", "model_b": "model_a"}
NO_VERDICT = Judgment.Outcome.NO_VERDICT
_PLACES = Judgment.Outcome.values
# The same told from the other side.
_SWAPPED = [_PLACES.index(_SIDES.get(name, name)) for name in _PLACES]


def judge_code(leaning: bool, unknown: int) -> Case:
    """Codes of OUTCOMES. With `leaning` a soft flip keeps its side, for boards that count it ¾ and ¼."""
    kept = [When(outcome=name, then=OUTCOMES.index(fitted)) for name, fitted in OF_JUDGE.items()]
    sides = [
        When(outcome=Judgment.Outcome.TIE_UNSTABLE, leaning=side, then=OUTCOMES.index(fitted))
        for side, fitted in (("model_a", "unstable_a"), ("model_b", "unstable_b"))
    ]
    return Case(*(sides if leaning else ()), *kept, default=unknown, output_field=IntegerField())


def panel_code(unknown: int, at: datetime) -> Case:
    """Places in Judgment.Outcome for `decide_panel`. What had no verdict at that time is one kind: an open
    judgment may fail, and a failed one be asked again.
    """
    none = Value(_PLACES.index(NO_VERDICT))
    open_ = When(Q(outcome__in=("", NO_VERDICT)) | Q(resolved_at=None) | Q(resolved_at__gt=at), then=none)
    whens = [When(outcome=name, then=Value(place)) for place, name in enumerate(_PLACES)]
    return Case(open_, *whens, default=unknown, output_field=IntegerField())


def of_panel(asked: QuerySet[Judgment], heard: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Those of the panel's judges: every judge, but of several with one model only the newest that was heard.

    Wordings of a rubric on one model are one opinion, and would outvote the others.
    """
    newest: dict[str, int] = {}
    for some in (asked, heard):
        judges = Judge.objects.filter(pk__in=some.order_by().values("judge")).order_by("pk")
        newest |= {judge.voice: judge.pk for judge in judges.only("endpoint", "recorded_model")}
    return asked.filter(judge__in=newest.values())


def decide_panel(columns: Columns) -> tuple[Columns, dict[str, int]]:
    """One row a pair of responses, as the battle of its first verdict shows it; each judge may have another.

    Without a quorum: pairs on which there is a verdict, but too few.

    `columns` by battle and row, `rater` the judge, outcomes as `panel_code` has them.
    """
    asked: dict[Subject, dict[int, tuple[bool, int, int]]] = defaultdict(dict)
    first: dict[Subject, int] = {}
    names = ("pk", "battle", "prompt", "response_a", "response_b", "rater", "outcome")
    for place, row in enumerate(zip(*(columns[name].tolist() for name in names), strict=True)):
        pk, battle, prompt, a, b, judge, outcome = row
        subject = _subject(battle, prompt, a, b)
        is_heard = _PLACES[outcome] != NO_VERDICT
        if is_heard and a != columns["response_a"][first.setdefault(subject, place)]:
            outcome = _SWAPPED[outcome]
        # A judge asked again speaks by its latest verdict.
        told = (is_heard, pk, outcome)
        asked[subject][judge] = max(asked[subject].get(judge, told), told)
    kept: list[int] = []
    outcomes: list[int] = []
    for subject, found in asked.items():
        decided = _decide([_PLACES[code] for _is_heard, _pk, code in found.values()])
        if decided in OF_PANEL:
            kept.append(first[subject])
            outcomes.append(OUTCOMES.index(OF_PANEL[decided]))
    rows = np.array(kept, dtype=np.int64)
    decided_columns = {name: column[rows] for name, column in columns.items()}
    decided_columns["outcome"] = np.array(outcomes, dtype=np.int64)
    decided_columns["rater"] = np.zeros(len(rows), dtype=np.int64)
    return decided_columns, {"no_quorum": len(first) - len(kept)}


Subject = tuple[int, int, int]


def _subject(battle: int, prompt: int, a: int, b: int) -> Subject:
    """What is judged: two responses in no order or, where a file named none, the battle alone."""
    return (prompt, min(a, b), max(a, b)) if a > 0 and b > 0 else (-battle, 0, 0)


def _decide(outcomes: list[str]) -> str:
    """A panel is two or more: what one judge alone found stands on its own board."""
    heard = sum(outcome != Judgment.Outcome.NO_VERDICT for outcome in outcomes)
    return panel.decide(outcomes) if heard >= LEAST_HEARD else "no_verdict"
