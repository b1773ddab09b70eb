"""Which of the three boards aren't there, and why: said once, where one chooses among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from arena.leaderboards.boards.board_rows import Column
from arena.leaderboards.models import Leaderboard


@dataclass(frozen=True)
class Absent:
    """name, heading: of the board, empty where none has the name that was asked for."""

    name: str
    heading: str
    words: str
    failed: bool = False
    is_asked: bool = False


def absent_of(columns: Sequence[Column], kind: str, asked: str, shown: Column) -> list[Absent]:
    """kind: whose boards they are, as a leaderboard has it · asked: the name in the address, if any."""
    if asked and asked not in {column.board.name for column in columns}:
        words = _("There is no board of the name asked for. Shown is “%(shown)s”.")
        return [Absent("", "", words % {"shown": shown.board.title}), *_absent(columns, kind, "", shown)]
    told = list(_absent(columns, kind, asked, shown))
    return sorted(told, key=lambda one: not one.is_asked)


def _absent(columns: Sequence[Column], kind: str, asked: str, shown: Column) -> Iterator[Absent]:
    for column in columns:
        is_asked = column.board.name == asked
        if column.snapshot is not None or not (column.leaderboard or is_asked):
            continue
        words = _("No board “%(board)s” yet. %(reason)s")
        if is_asked:
            words = _("There is no board “%(board)s”, so that “%(shown)s” is shown. %(reason)s")
        told = {
            "board": column.board.title,
            "shown": shown.board.title,
            "reason": _reason(column, kind),
        }
        yield Absent(column.board.name, column.heading, (words % told).strip(), column.failed, is_asked)


def _reason(column: Column, kind: str) -> str:
    if column.leaderboard is None:
        # One that others may see is as one that doesn't exist.
        is_combined = kind == Leaderboard.Source.COMBINED and column.board.style_control
        return _("Boards of people combined with judges have no style control.") if is_combined else ""
    if column.failed:
        return _("The last attempt failed: %(reason)s") % {"reason": column.reason}
    return column.reason or _("No snapshot of it has been taken.")
