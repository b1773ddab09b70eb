"""Tables of a snapshot as files: CSV that is safe in a spreadsheet, JSON and Parquet that are exact."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse

from arena.leaderboards.boards.renamed_models import named_then
from arena.leaderboards.boards.snapshot_cautions import cautions_in
from arena.leaderboards.models import Snapshot
from arena.leaderboards.plans.asked_tests import OF_PLAN, about_of, asked_tests, of_plan
from arena.leaderboards.plans.looks import looks_of
from arena.leaderboards.sentences import too_few
from arena.spreadsheet_text import escape

CSV, JSON, PARQUET = "csv", "json", "parquet"
SAID = {CSV: "CSV", JSON: "JSON", PARQUET: "Parquet"}
"""Kinds of files as pages name them."""
MEDIA_TYPES = {
    CSV: "text/csv; charset=utf-8",
    JSON: "application/json",
    PARQUET: "application/vnd.apache.parquet",
}
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """columns: name to kind (text, count, number, flag); each line has a value or None for each."""

    columns: dict[str, str]
    lines: list[Row]


_ORIGIN = {
    "leaderboard": "text",
    "snapshot": "count",
    "cutoff": "text",
    "simulated_votes": "count",
    "plan": "count",
    "plan_frozen_at": "text",
    "plan_sha256": "text",
    "look": "text",
    "votes_cast": "count",
    "planned_votes": "count",
    "too_few": "text",
    "renamed": "text",
}
_STANDINGS = {
    "rank_lower": "count",
    "rank_upper": "count",
    "tied_first": "flag",
    "model": "text",
    "organisation": "text",
    "rating": "number",
    "lower": "number",
    "upper": "number",
    "bootstrap_lower": "number",
    "bootstrap_upper": "number",
    "bootstrap_resamples": "count",
    "battles": "count",
    "wins": "count",
    "losses": "count",
    "ties": "count",
    "component": "count",
    "flags": "text",
    "shift": "number",
    "shift_lower": "number",
    "shift_upper": "number",
    "move": "number",
    "move_lower": "number",
    "move_upper": "number",
}
_PAIRS = {
    "model_a": "text",
    "model_b": "text",
    "verdict": "text",
    "difference": "number",
    "standard_error": "number",
    "lower": "number",
    "upper": "number",
    "p": "number",
    "p_adjusted": "number",
    "equivalence_p": "number",
    "equivalence_adjusted": "number",
    "wins": "count",
    "losses": "count",
    "ties": "count",
}
_OF_PAIRS = _PAIRS | OF_PLAN
_CATEGORIES = {
    "category": "text",
    "model": "text",
    "rating": "number",
    "lower": "number",
    "upper": "number",
    "battles": "count",
    "unbounded": "text",
}
_COEFFICIENTS = {
    "name": "text",
    "estimate": "number",
    "lower": "number",
    "upper": "number",
    "standard_error": "number",
    "points": "number",
    "per_doubling": "number",
    "scale": "number",
    "inflation": "number",
}


_CAUTIONS = {"code": "text", "text": "text"}


def _standings(snapshot: Snapshot) -> Iterator[Row]:
    for s in snapshot.standings.as_listed():
        names = (s.competitor.name, s.competitor.organisation)
        counts = (s.battles, s.wins, s.losses, s.ties, s.component, " ".join(s.flags))
        shift = (s.shift, s.shift_lower, s.shift_upper, s.move, s.move_lower, s.move_upper)
        ranks = (s.rank_lower, s.rank_upper, s.tied_first)
        resampled = (s.bootstrap_lower, s.bootstrap_upper, snapshot.options["bootstrap"])
        yield (*ranks, *names, s.rating, s.lower, s.upper, *resampled, *counts, *shift)


def _pairs(snapshot: Snapshot) -> Iterator[Row]:
    """Values alone: with 250 models there are 31,125, and objects would cost three times the CPU."""
    numbers = [name for name in _PAIRS if name not in ("model_a", "model_b")]
    names = ("first_id", "second_id", "first__name", "second__name")
    tests, is_about = asked_tests(snapshot), about_of(snapshot)
    for first, second, *told in snapshot.pairs.order_by("pk").values_list(*names, *numbers):
        pair = first, second
        yield (*told, *of_plan(is_about(pair), tests.get(pair)))


def _categories(snapshot: Snapshot) -> Iterator[Row]:
    columns = ["competitor__name" if name == "model" else name for name in _CATEGORIES]
    return iter(snapshot.category_ratings.order_by("pk").values_list(*columns))


def _coefficients(snapshot: Snapshot) -> Iterator[Row]:
    for coefficient in snapshot.coefficients:
        yield tuple(coefficient.get(name) for name in _COEFFICIENTS)


def _cautions(snapshot: Snapshot) -> Iterator[Row]:
    for caution in cautions_in(snapshot, list(snapshot.standings.as_listed())).every:
        yield caution.code, caution.text


_TABLES: dict[str, tuple[dict[str, str], Callable[[Snapshot], Iterator[Row]]]] = {
    "standings": (_STANDINGS, _standings),
    "pairs": (_OF_PAIRS, _pairs),
    "categories": (_CATEGORIES, _categories),
    "coefficients": (_COEFFICIENTS, _coefficients),
    "cautions": (_CAUTIONS, _cautions),
}
TABLES = tuple(_TABLES)
# Kept for a leaderboard's newest snapshot alone, pairs also for a registered board's final one.
OF_NEWEST = ("pairs", "categories")


def table_of(snapshot: Snapshot, name: str) -> Table:
    """Each line says which snapshot it is from, how many of its votes were simulated, which analysis plan it
    is registered under, and whether it is an interim look or the final one; without a plan it explores. And
    which are too few to rely on its ranks and verdicts, raters or prompts, where pages mark these; and what
    those of its models that were renamed since were called when it was taken.
    """
    columns, lines = _TABLES[name]
    origin = (
        snapshot.leaderboard.slug,
        snapshot.pk,
        snapshot.cutoff.isoformat(),
        snapshot.counts["simulated"],
        *_registration(snapshot),
        too_few(snapshot),
        named_then(snapshot),
    )
    return Table(columns | _ORIGIN, [without_blanks((*line, *origin)) for line in lines(snapshot)])


def without_blanks(line: Row) -> Row:
    """CSV can't tell a text without a character from none at all, so neither do the others."""
    return tuple(None if value == "" else value for value in line)


def _registration(snapshot: Snapshot) -> Row:
    plan, look = snapshot.registered_plan, looks_of([snapshot]).get(snapshot.pk)
    frozen = (
        (plan.version, plan.frozen_at.isoformat(), plan.sha256) if plan and plan.frozen_at else (None,) * 3
    )
    return (*frozen, *((look.kind, look.got, look.planned) if look else (None,) * 3))


def form_of(snapshot: Snapshot, name: str) -> str:
    """What a table is made of beside the snapshot's rows and names: its columns, what models were called; of
    cautions all they say."""
    lines = list(_cautions(snapshot)) if name == "cautions" else []
    return json.dumps([*_TABLES[name][0], *_ORIGIN, *lines, named_then(snapshot)])


def as_file(table: Table, kind: str) -> bytes:
    return _WRITERS[kind](table)


def attached(table: Table, name: str, kind: str) -> HttpResponse:
    """The file as an answer. Raises Http404 for a kind that isn't one."""
    if kind not in MEDIA_TYPES:
        raise Http404
    response = HttpResponse(as_file(table, kind), content_type=MEDIA_TYPES[kind])
    response["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return response


def as_csv(snapshot: Snapshot) -> str:
    return _csv(table_of(snapshot, "standings")).decode()


def _csv(table: Table) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(table.columns)
    for line in table.lines:
        writer.writerow(escape(value) if isinstance(value, str) else value for value in line)
    return text.getvalue().encode()


def _json(table: Table) -> bytes:
    rows = [dict(zip(table.columns, line, strict=True)) for line in table.lines]
    return json.dumps(rows, ensure_ascii=False, allow_nan=False).encode()


def _parquet(table: Table) -> bytes:
    # Arrow takes a second to load, and most web processes never need it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"text": pa.string(), "count": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in table.columns.items()])
    columns = [list(values) for values in zip(*table.lines, strict=True)] or [[] for _name in schema]
    target = io.BytesIO()
    pq.write_table(pa.table(columns, schema=schema), target)
    return target.getvalue()


_WRITERS: dict[str, Callable[[Table], bytes]] = {CSV: _csv, JSON: _json, PARQUET: _parquet}
