"""A list of names as people have it: one on each line, or the first column of a CSV file in any dialect."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.campaigns.models import Invite

MOST_NAMES = 5_000
LONGEST_NAME = 120
DELIMITERS = {
    ",": gettext_lazy("comma"),
    ";": gettext_lazy("semicolon"),
    "\t": gettext_lazy("tab"),
    "|": gettext_lazy("bar"),
}


class NamesRefusedError(ValueError):
    """No link was made; args[0] lists what is wrong, with line numbers."""


def read_names(text: str) -> list[str]:
    """Raises NamesRefusedError."""
    problems: list[str] = []
    names: dict[str, int] = {}
    for number, name in _first_cells(text.removeprefix("\ufeff")):
        if not name or (number == 1 and name.casefold() == "name"):
            continue
        if wrong := _wrong_with(name):
            problems.append(_("line %(line)s: %(wrong)s") % {"line": number, "wrong": wrong})
        elif name in names:
            words = _("line %(line)s: “%(name)s” stands in line %(first)s already")
            problems.append(words % {"line": number, "name": name, "first": names[name]})
        names.setdefault(name, number)
    if len(names) > MOST_NAMES:
        words = _("%(count)s names: at most %(most)s at a time")
        problems.append(words % {"count": len(names), "most": MOST_NAMES})
    if not names:
        problems.append(_("There is no name: write one on each line."))
    if problems:
        raise NamesRefusedError(problems)
    return list(names)


def read_name(text: str) -> str:
    """One name. Raises NamesRefusedError."""
    name = text.strip()
    if wrong := _wrong_with(name) if name else _("A name is needed."):
        raise NamesRefusedError([wrong])
    return name


def _wrong_with(name: str) -> str:
    if name == Invite.OTHER_DEVICE:
        return _("that is what links are called that raters make for themselves")
    if not name.isprintable():
        return _("the name holds control characters")
    if len(name) > LONGEST_NAME:
        return _("a name may have at most %(most)s characters") % {"most": LONGEST_NAME}
    return ""


def _first_cells(text: str) -> Iterator[tuple[int, str]]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter_of(text))
    try:
        for number, line in enumerate(lines, start=1):
            yield number, line[0].strip() if line else ""
    except csv.Error as error:
        words = _("line %(line)s: it can't be read as CSV (%(why)s)")
        raise NamesRefusedError([words % {"line": lines.line_num, "why": error}]) from error


def _delimiter_of(text: str) -> str:
    """The one that cuts every line into as many cells as the first. Two that do can't be told apart."""
    rows = {mark: _widths(text, mark) for mark in DELIMITERS}
    cutting = [mark for mark, widths in rows.items() if max(widths, default=0) > 1]
    even = [mark for mark in cutting if len(set(rows[mark])) == 1]
    if not cutting:
        return ","
    if len(even) == 1:
        return even[0]
    listed = ", ".join(str(DELIMITERS[mark]) for mark in even or cutting)
    words = _(
        "It can't be told at which character the lines are cut (%(found)s): give every line as many cells as"
        " the first, or put names that hold such a character into double quotes."
    )
    raise NamesRefusedError([words % {"found": listed}])


def _widths(text: str, delimiter: str) -> list[int]:
    """Cells of each line that isn't empty; none if it can't be cut so."""
    try:
        return [len(line) for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if line]
    except csv.Error:
        return []
