from __future__ import annotations

import re
from dataclasses import dataclass

from django import forms
from django.http import QueryDict

from arena.battles.models import Outcome
from arena.battles.reasons import Reason

# As the rater's browser laid the two sides out, in which direction the page ran, and whether both responses
# were plain text. Without a script only the last is known.
PLACES = ("wide-ltr", "wide-rtl", "narrow-ltr", "narrow-rtl")
PLAIN = "plain"
LAYOUTS = (*PLACES, *(f"{place}-{PLAIN}" for place in PLACES), PLAIN)
DAY_MS = 24 * 60 * 60 * 1000
LONGEST_DWELL_MS = 30 * DAY_MS


class BallotError(ValueError):
    """What was sent is no ballot; says which field, and what was in it."""


@dataclass(frozen=True)
class Ballot:
    """What a vote sends. Read by hand: a form takes as long as the vote's own statement."""

    outcome: str
    key: str
    dwell_ms: int | None
    layout: str

    @classmethod
    def read(cls, sent: QueryDict) -> Ballot:
        outcome, key, dwell, layout = (
            sent.get(name, "").strip() for name in ("outcome", "key", "dwell_ms", "layout")
        )
        if outcome not in Outcome.values:
            raise BallotError(f"outcome {outcome!r}: use one of {', '.join(Outcome.values)}")
        if not re.fullmatch(r"[\w-]{8,100}", key):
            raise BallotError(f"key {key!r}: use 8 to 100 letters, digits, _ and -")
        if not re.fullmatch(r"[0-9]{0,10}", dwell) or int(dwell or 0) > LONGEST_DWELL_MS:
            raise BallotError(f"dwell_ms {dwell!r}: use whole milliseconds, at most 30 days")
        if layout not in ("", *LAYOUTS):
            raise BallotError(f"layout {layout!r}: use one of {', '.join(LAYOUTS)}")
        return cls(outcome, key, int(dwell) if dwell else None, layout)


class FlagForm(forms.Form):
    text = forms.CharField(max_length=2000, required=False)


class ReasonsForm(forms.Form):
    reasons = forms.MultipleChoiceField(choices=Reason.choices, required=False)
    comment = forms.CharField(max_length=2000, required=False)
