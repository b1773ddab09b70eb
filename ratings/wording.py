"""Numbers, names and lists as the sentences of a board say them."""

from __future__ import annotations

from collections.abc import Sequence


def counted(n: int, one: str, many: str) -> str:
    """ "1 model has", "4 models have"."""
    return f"{n:,} {one if n == 1 else many}"


def listed(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def in_words(name: str) -> str:
    """A covariate's name as people read it: "list items" for list_items."""
    return name.replace("_", " ")
