"""Labels of hardness from a file: a prompt's id and any of the labels. All rows or none.

An empty cell leaves what is known as it is; a file never makes a label unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext as _

from arena.corpus.label_models import LabelChange
from arena.corpus.labels import LABELS, set_labels
from arena.corpus.models import PromptSet
from arena.exchange.formats.cells import CellError, Cells
from arena.exchange.formats.columns import fold
from arena.exchange.formats.lines import Row
from arena.exchange.formats.problems import Problem, RefusedError, Report
from arena.exchange.formats.rows import ID
from arena.exchange.formats.tables import open_table

_ID = "id"
_NAMES = {"id": _ID, "prompt_id": _ID, "hard": "is_hard", **{name: name for name in LABELS}}
Labels = dict[int, dict[str, bool]]


@dataclass(frozen=True)
class Check:
    """What the file would set, by prompt, or what is wrong with it."""

    labels: Labels
    errors: tuple[Problem, ...]
    error_count: int

    @property
    def is_sound(self) -> bool:
        return not self.error_count


def check(prompt_set: PromptSet, source: Path | bytes, name: str) -> Check:
    """Raises RefusedError for a file that can't be read as a whole."""
    prompts = dict(prompt_set.prompts.values_list("external_id", "pk"))
    report, labels = Report(), Labels()
    lines: dict[int, int] = {}
    for row in open_table(source, name).rows():
        if isinstance(row, Problem):
            report.error(row)
            continue
        try:
            external_id, found = _read(row)
            if external_id not in prompts:
                raise CellError(
                    _ID, _("“%(set)s” holds no prompt %(id)r") % {"set": prompt_set, "id": external_id}
                )
            prompt = prompts[external_id]
            if prompt in lines:
                raise CellError(_ID, _("stands on line %(line)s already") % {"line": lines[prompt]})
        except CellError as error:
            report.error(Problem(error.reason, row.line, error.column))
            continue
        lines[prompt] = row.line
        labels[prompt] = found
    if not lines and not report.error_count:
        raise RefusedError(_("the file has no rows"))
    return Check(labels, tuple(report.errors), report.error_count)


def _read(row: Row) -> tuple[str, dict[str, bool]]:
    columns = {_NAMES[fold(header)]: header for header in row.values if fold(header) in _NAMES}
    if _ID not in columns or len(columns) < 2:
        raise RefusedError(
            _("a column id and at least one label are needed (%(labels)s); found: %(found)s")
            % {"labels": ", ".join(["hard", *LABELS[1:]]), "found": ", ".join(row.values) or _("none")},
            row.line,
        )
    cells = Cells({name: row.values[header] for name, header in columns.items()})
    said = {name: cells.flag(name) for name in columns if name != _ID}
    return cells.required(_ID, ID), {name: flag for name, flag in said.items() if flag is not None}


def apply(checked: Check, by: str) -> int:
    """How many prompts have other labels now."""
    if not checked.is_sound:
        raise ValueError("a file with errors sets no label")
    return set_labels(checked.labels, source=LabelChange.Source.FILE, by=by)
