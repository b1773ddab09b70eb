"""What `ratings` raises: every error says what is wrong, in which row, and what to do about it."""

from __future__ import annotations


class RatingsError(ValueError):
    """Base of all errors of this package.

    `what` says what is wrong, `row` is the 0-based row of the input it was found in (None if no single row is
    to blame), `todo` says what to do.
    """

    def __init__(self, what: str, *, row: int | None = None, todo: str = "") -> None:
        self.what = what
        self.row = row
        self.todo = todo
        where = "" if row is None else f"row {row}: "
        super().__init__(f"{where}{what}{'; ' + todo if todo else ''}")


class ShapeError(RatingsError):
    """Arrays that must have the same number of rows, or a certain shape, don't."""


class UnknownOutcomeError(RatingsError):
    """An outcome outside the closed set `OUTCOMES`."""


class UnknownCompetitorError(RatingsError):
    """A competitor id outside 0 … n_competitors − 1, or a name that isn't on the board."""


class SelfBattleError(RatingsError):
    """A competitor fights itself."""


class BadValueError(RatingsError):
    """A number that is NaN, infinite or out of its range."""


class BadOptionError(RatingsError):
    """An option outside its closed set of values, or options that contradict each other."""


class NotEnoughDataError(RatingsError):
    """The votes don't suffice for what was asked: nothing is wrong with them, more of them would do."""


class NoVotesError(NotEnoughDataError):
    """Nothing to fit: no vote at all, or none left after the policies dropped theirs."""


class NotConvergedError(RatingsError):
    """An iteration that must converge did not."""


class IncomparableError(NotEnoughDataError):
    """Two competitors that no path of battles connects, or that a fit can't tell apart."""
