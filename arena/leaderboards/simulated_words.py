"""That votes are simulated, in words: all of them, most of them or some; the same wherever they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


@dataclass(frozen=True)
class Simulated:
    """How many of how many votes are made up; none of them: nothing is said."""

    votes: int
    of: int

    @property
    def all(self) -> bool:
        return self.votes == self.of > 0

    @property
    def most(self) -> bool:
        return 2 * self.votes > self.of

    def say(self, about: str) -> str:
        """about: what all of them say nothing about."""
        if self.all:
            words = ngettext(
                "The one vote here is simulated. It says nothing about %(about)s.",
                "All %(n)s votes here are simulated. They say nothing about %(about)s.",
                self.of,
            )
        elif self.votes:
            words = ngettext(
                "%(n)s of the %(all)s votes here is simulated.",
                "%(n)s of the %(all)s votes here are simulated.",
                self.votes,
            )
        else:
            return ""
        return words % {"n": f"{self.votes:,}", "all": f"{self.of:,}", "about": about}

    @property
    def tag(self) -> str:
        if not self.votes:
            return ""
        if self.all:
            return _("simulated votes")
        return _("mostly simulated votes") if self.most else _("partly simulated votes")

    @property
    def opening(self) -> str:
        """What a sentence begins with."""
        if not self.votes:
            return ""
        if self.all:
            return _("in simulated votes, ")
        return _("in mostly simulated votes, ") if self.most else _("in partly simulated votes, ")

    def say_meaning(self, meaning: str, about: str) -> str:
        """What a finding says about somebody, as far as votes that are made up can say it."""
        if self.all:
            return _("In simulated votes that says nothing about %(about)s.") % {"about": about}
        if self.votes and self.most:
            return _("In mostly simulated votes that says next to nothing about %(about)s.") % {
                "about": about
            }
        if self.votes:
            return _("%(meaning)s Some of these votes are simulated.") % {"meaning": meaning}
        return meaning


def simulated_in(counts: Mapping[str, Any]) -> Simulated:
    """Of a snapshot."""
    return Simulated(counts["simulated"], counts["votes"])
