"""How far an LLM's labels agree with those of people who didn't see them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Labels = Mapping[str, bool]
COLUMNS = {
    "n": "count",
    "agree": "number",
    "kappa": "number",
    "both_yes": "count",
    "both_no": "count",
    "llm_only": "count",
    "person_only": "count",
}
"""Of a file: name to kind."""


@dataclass(frozen=True)
class Agreement:
    """Counts of one criterion: both say yes, both no, the LLM alone says yes, the person alone does."""

    both: int
    neither: int
    llm_only: int
    person_only: int

    @property
    def n(self) -> int:
        return self.both + self.neither + self.llm_only + self.person_only

    @property
    def percent(self) -> float | None:
        return None if self.share is None else 100 * self.share

    @property
    def share(self) -> float | None:
        return (self.both + self.neither) / self.n if self.n else None

    @property
    def values(self) -> tuple[int | float | None, ...]:
        counts = self.both, self.neither, self.llm_only, self.person_only
        return self.n, self.share, self.kappa, *counts

    @property
    def kappa(self) -> float | None:
        """Cohen's κ for two raters and two answers; None where one answer is all there is (0/0)."""
        llm, person = self.both + self.llm_only, self.both + self.person_only
        by_chance = llm * (self.n - person) + person * (self.n - llm)
        if not by_chance:
            return None
        return 2 * (self.both * self.neither - self.llm_only * self.person_only) / by_chance


def agreement(pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """Of what the LLM and the person say, in this order."""
    found = list(pairs)
    return Agreement(
        both=found.count((True, True)),
        neither=found.count((False, False)),
        llm_only=found.count((True, False)),
        person_only=found.count((False, True)),
    )
