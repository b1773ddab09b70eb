"""How far an LLM's labels agree with those of people who didn't see them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Labels = Mapping[str, bool]


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
        return 100 * (self.both + self.neither) / self.n if self.n else None

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
