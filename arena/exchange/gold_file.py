"""A file of golds, read like every other file: any dialect, any encoding that can be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from arena.battles import golds
from arena.campaigns.models import Campaign
from arena.exchange.formats.columns import fold
from arena.exchange.formats.lines import Row, unstorable
from arena.exchange.formats.problems import RefusedError
from arena.exchange.formats.tables import open_table

_NEEDED = golds.COLUMNS[:-1]


def read(campaign: Campaign, data: bytes, name: str = "") -> list[golds.Row]:
    """With the columns of `golds.COLUMNS`; `kind` may be missing or empty. Raises NotGoldError."""
    wrong: list[str] = []
    rows: list[golds.Row] = []
    try:
        table = open_table(data, name)
        if table.columns:
            _check(table.columns)
        for row in table.rows():
            if not isinstance(row, Row):
                wrong.append(str(row))
            elif found := _read_row(campaign, row, wrong):
                rows.append(found)
    except RefusedError as refused:
        wrong.append(str(refused.problem))
    if wrong or not rows:
        raise golds.NotGoldError(wrong or [_("The file holds no row.")])
    return rows


def _check(columns: tuple[str, ...]) -> None:
    there = {fold(header) for header in columns}
    if missing := [name for name in _NEEDED if name not in there]:
        words = _("Columns are missing: %(names)s. Found: %(found)s.")
        found = ", ".join(header for header in columns if header.strip())
        raise golds.NotGoldError([words % {"names": ", ".join(missing), "found": found}])


def _read_row(campaign: Campaign, row: Row, wrong: list[str]) -> golds.Row | None:
    where = _("line %(n)d: ") % {"n": row.line}
    values: Mapping[str, Any] = {fold(header): value for header, value in row.values.items()}
    odd = [(name, unstorable(str(values[name]))) for name in golds.COLUMNS if name in values]
    told = [where + f"{name}: {reason}" for name, reason in odd if reason]
    if told:
        wrong += told
        return None
    return golds.read_row(campaign, dict(values), wrong, where)
