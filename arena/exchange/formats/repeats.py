"""Rows that stand twice in a file. What was seen is kept as digests: a file of any length fits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from arena.counted import counted
from arena.exchange.formats.problems import Problem, Report
from arena.exchange.formats.rows import AnyRow, ResponseRow


def without_repeats(rows: Iterator[AnyRow], report: Report, first_counts: bool = False) -> Iterator[AnyRow]:
    """Passes the first of equal rows on; one key with two contents is an error that names both lines."""
    seen: dict[bytes, tuple[int, bytes]] = {}
    repeats: list[tuple[int, int]] = []
    for row in rows:
        if row.key is None:
            yield row
            continue
        told = (row.line, digest_of(row))
        first = seen.setdefault(digest(row.key), told)
        if first is told:
            yield row
        elif first_counts or first[1] == told[1]:
            report.skipped += 1
            repeats.append((row.line, first[0]))
        else:
            hint = "; number them in a column sample" if isinstance(row, ResponseRow) else ""
            report.error(
                Problem(f"{row.name} is already on line {first[0]} with other contents{hint}", row.line)
            )
    if repeats:
        listed = ", ".join(f"{line} (as {first})" for line, first in repeats[:5])
        more = ", …" if len(repeats) > 5 else ""
        why = "votes on a battle that has one already" if first_counts else "exact repeats"
        report.notice(f"{counted(len(repeats), 'row')} skipped as {why}: line {listed}{more}")


def digest(plain: object) -> bytes:
    return hashlib.blake2b(repr(plain).encode(), digest_size=16).digest()


def digest_of(row: AnyRow) -> bytes:
    """Of everything in the row but its line."""
    return digest([value for name, value in vars(row).items() if name != "line"])
