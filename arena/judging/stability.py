"""How often a judge contradicted itself when the order was changed, where that is known.

Findings from a file say who won. Whether both orders were asked is known only if the file says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from arena.judging.models import JudgeRun, Judgment


@dataclass(frozen=True)
class Stability:
    """Of the judgments with a verdict whose two orders are known to have been held against each other."""

    unstable: int
    compared: int

    @property
    def share(self) -> float:
        return self.unstable / self.compared


def stability_of(run: JudgeRun) -> Stability | None:
    return _read(**run.judgments.aggregate(**_counts("")))


def with_stability_counts(runs: QuerySet[JudgeRun]) -> QuerySet[JudgeRun]:
    return runs.annotate(**_counts("judgments__"))


def told_of_each(runs: Iterable[JudgeRun]) -> list[JudgeRun]:
    """Of `with_stability_counts`: each has its `stability`, None where it isn't known."""
    found = list(runs)
    for run in found:
        run.stability = _read(**{name: getattr(run, name) for name in _counts("")})  # type: ignore[attr-defined]
    return found


def _counts(of: str) -> dict[str, Count]:
    verdict = ~Q(**{f"{of}outcome__in": ("", Judgment.Outcome.NO_VERDICT)})
    unstable = Q(**{f"{of}outcome": Judgment.Outcome.TIE_UNSTABLE})
    no_flip = Q(**{f"{of}flip": ""})
    which = {
        "verdicts": verdict,
        "marked": verdict & ~no_flip,
        "unstable": unstable,
        "unmarked_unstable": unstable & no_flip,
    }
    return {name: Count(f"{of}pk", filter=said, distinct=True) for name, said in which.items()}


def _read(verdicts: int, marked: int, unstable: int, unmarked_unstable: int) -> Stability | None:
    """A file that tells ties of two orders apart asked both, though it doesn't mark each row."""
    compared = verdicts if unmarked_unstable else marked
    return Stability(unstable, compared) if compared else None


def is_known(judgments: QuerySet[Judgment]) -> bool:
    """Of a judge's findings, whether any says how its two orders came out."""
    return judgments.filter(~Q(flip="") | Q(outcome=Judgment.Outcome.TIE_UNSTABLE)).exists()
