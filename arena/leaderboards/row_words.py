"""What a board's rows are called: votes of people, judgments of judges."""

from __future__ import annotations

import re

_VOTES = re.compile(r"(?<!\()\bvote(s?)\b")
"""Not the name of a value, as in "%(votes)s"."""


def in_rows(words: str, judged: bool) -> str:
    """A sentence about votes, before its values are put in: on boards of judges it is about judgments."""
    return _VOTES.sub(r"judgment\1", words) if judged else words
