"""Standings as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io

from arena.leaderboards.models import Snapshot

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

COLUMNS = (
    "rank_lower",
    "rank_upper",
    "tied_first",
    "model",
    "organisation",
    "rating",
    "lower",
    "upper",
    "bootstrap_lower",
    "bootstrap_upper",
    "bootstrap_resamples",
    "battles",
    "wins",
    "losses",
    "ties",
    "component",
    "flags",
    "shift",
    "shift_lower",
    "shift_upper",
    "leaderboard",
    "snapshot",
    "cutoff",
    "simulated_votes",
)


def as_csv(snapshot: Snapshot) -> str:
    """One line per standing; each says which snapshot it is from and how many votes were simulated."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    origin = (
        snapshot.leaderboard.slug,
        snapshot.pk,
        snapshot.cutoff.isoformat(),
        snapshot.counts["simulated"],
    )
    for s in snapshot.standings.select_related("competitor"):
        names = (neutralise(s.competitor.name), neutralise(s.competitor.organisation))
        counts = (s.battles, s.wins, s.losses, s.ties, s.component, " ".join(s.flags))
        shift = (s.shift, s.shift_lower, s.shift_upper)
        ranks = (s.rank_lower, s.rank_upper, s.tied_first)
        resampled = (s.bootstrap_lower, s.bootstrap_upper, snapshot.options["bootstrap"])
        writer.writerow((*ranks, *names, s.rating, s.lower, s.upper, *resampled, *counts, *shift, *origin))
    return text.getvalue()


def neutralise(text: str) -> str:
    """A spreadsheet runs a cell that begins like a formula; behind an apostrophe it's text."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
