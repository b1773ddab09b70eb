from collections.abc import Sequence

from arena.corpus.models import HARD_AT_LEAST


def is_hard(given: bool | None, criteria: Sequence[bool | None]) -> bool | None:
    """What was said outright counts; else the criteria decide as soon as the unknown ones can't change it."""
    if given is not None:
        return given
    met, failed = criteria.count(True), criteria.count(False)
    if met >= HARD_AT_LEAST:
        return True
    return False if len(criteria) - failed < HARD_AT_LEAST else None
