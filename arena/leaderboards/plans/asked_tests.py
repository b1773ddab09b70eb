"""Tests of the pairs that a plan asks about, corrected over these alone: what a registered answer rests on.

A snapshot stores tests over all its pairs. Each test's own p-value is among them, so that this is reckoned
when it is asked for, and no number of a snapshot depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.leaderboards.models import Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from ratings.pairwise import adjusted, verdicts_of

DECIMALS = 12
Two = tuple[int, int]
OF_PLAN = {
    "in_plan": "flag",
    "plan_verdict": "text",
    "plan_p_adjusted": "number",
    "plan_equivalence_adjusted": "number",
    "plan_pairs": "count",
}
"""Columns of files of pairs: whether the registered question is about a pair, and its test among those that
the plan names, how many these are; empty where it names none and is about all pairs.
"""


@dataclass(frozen=True)
class AskedTest:
    """together: pairs that the correction allows for, those that can't be tested among them."""

    verdict: str
    p_adjusted: float | None
    equivalence_adjusted: float | None
    together: int


def asks_about(plan: AnalysisPlan, first: int, second: int) -> bool:
    return not plan.pairs or (min(first, second), max(first, second)) in asked_of(plan)


def asked_of(plan: AnalysisPlan) -> set[Two]:
    """Numbers of the models of each pair that it names, the smaller first."""
    return {(min(pair["ids"]), max(pair["ids"])) for pair in plan.pairs}


def asked_tests(snapshot: Snapshot) -> dict[Two, AskedTest]:
    """By the pair's models. None of a snapshot that explores, or whose plan asks about all pairs: there the
    stored tests are the ones.
    """
    plan = snapshot.registered_plan
    if plan is None or not plan.pairs:
        return {}
    asked = asked_of(plan)
    of_models = {pk for pair in asked for pk in pair}
    rows = snapshot.pairs.filter(first__in=of_models, second__in=of_models)
    kept = ("first_id", "second_id", "verdict", "p", "equivalence_p")
    found = {(first, second): told for first, second, *told in rows.values_list(*kept)}
    return _together({pair: found[pair] for pair in asked & found.keys()}, len(asked), snapshot)


def about_of(snapshot: Snapshot) -> Callable[[Two], bool]:
    """Whether the registered question is about a pair, the smaller number first; asked of very many."""
    plan = snapshot.registered_plan
    if plan is None:
        return lambda pair: False
    asked = asked_of(plan)
    return lambda pair: not asked or pair in asked


def of_plan(is_about: bool, test: AskedTest | None) -> tuple[Any, ...]:
    """The values of OF_PLAN of a pair; is_about: by `about_of` · test: of `asked_tests`."""
    if test is None:
        return is_about, None, None, None, None
    return is_about, test.verdict, test.p_adjusted, test.equivalence_adjusted, test.together


def _together(found: dict[Two, list], m: int, snapshot: Snapshot) -> dict[Two, AskedTest]:
    """Of m pairs named beforehand those that can't be tested count as such that show nothing."""
    p, equivalence = (_adjusted([told[at] for told in found.values()], m) for at in (1, 2))
    words = verdicts_of(np.array(p), np.array(equivalence), 1 - float(snapshot.options["confidence"]))
    tests = {}
    for place, (pair, (verdict, own, _own_equivalence)) in enumerate(found.items()):
        tests[pair] = (
            AskedTest(verdict, None, None, m)
            if own is None
            else AskedTest(words[place], p[place], equivalence[place], m)
        )
    return tests


def _adjusted(values: Iterable[float | None], m: int) -> list[float]:
    known = [1.0 if value is None else value for value in values]
    padded = np.array(known + [1.0] * (m - len(known)))
    return [round(value, DECIMALS) for value in adjusted(padded, "holm").tolist()][: len(known)]
