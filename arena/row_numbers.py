"""Numbers of rows as addresses and forms bring them: what can be one, and nothing else."""

from __future__ import annotations

import re

# Eighteen digits fit every column that holds a number of a row.
LARGEST = 10**18 - 1
_NUMBER = re.compile("[0-9]{1,18}")


def as_id(text: str) -> int | None:
    """The number, or None. `str.isdecimal` also takes digits of other scripts, and thousands of them,
    which `int` refuses to read."""
    return int(text) if _NUMBER.fullmatch(text) else None
