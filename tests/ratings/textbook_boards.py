"""Textbook boards as Comparisons."""

import csv
from pathlib import Path

import numpy as np

from ratings.comparisons import Comparisons

GOLDEN = Path(__file__).parent / "golden"

# Agresti (2002), Categorical Data Analysis, table 10.10: American League East, 1987
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")

# Davidson (1970), example 2: six brands of pudding; i, j, i preferred, j preferred, tied
PUDDING = [
    (1, 2, 19, 22, 16), (1, 3, 16, 19, 12), (2, 3, 19, 19, 10), (1, 4, 18, 23, 13), (2, 4, 23, 19, 9),
    (3, 4, 19, 20, 15), (1, 5, 13, 19, 18), (2, 5, 16, 20, 12), (3, 5, 16, 15, 17), (4, 5, 17, 14, 16),
    (1, 6, 18, 21, 12), (2, 6, 22, 20, 12), (3, 6, 13, 18, 10), (4, 6, 14, 19, 18), (5, 6, 11, 21, 12),
]  # fmt: skip


def board(n_competitors, pairs, **columns):
    """Rows (a, b, wins of a, wins of b, ties) as single votes."""
    counts = [(a, b, (*rest, 0)[:3]) for a, b, *rest in pairs]
    votes = [(a, b, o) for a, b, ns in counts for o, n in enumerate(ns) for _ in range(n)]
    a, b, outcome = (np.array(column, dtype=np.int64) for column in zip(*votes, strict=True))
    return Comparisons.of(n_competitors, a, b, outcome, **columns)


def baseball(**columns):
    """Side a plays at home."""
    with (GOLDEN / "baseball.csv").open() as file:
        rows = list(csv.DictReader(file))
    games = [
        (TEAMS.index(r["home"]), TEAMS.index(r["away"]), int(r["home_wins"]), int(r["away_wins"]))
        for r in rows
    ]
    return board(7, games, **columns)


def pudding():
    return board(6, [(i - 1, j - 1, *rest) for i, j, *rest in PUDDING])


def citations():
    """Stigler (1994): cited by row, citing column; a citation is a win of the cited journal."""
    cited = [[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]]
    return board(4, [(i, j, cited[i][j], cited[j][i]) for i in range(4) for j in range(i + 1, 4)])


def style_rows(**columns):
    """240 invented votes with counts of tokens, headings, list items and bold runs; d = (a − b)/(a + b)."""
    data = np.genfromtxt(GOLDEN / "style_rows.csv", delimiter=",", skip_header=1)
    a, b, y = data[:, 0].astype(int), data[:, 1].astype(int), data[:, -1]
    x, z = data[:, 2:10:2], data[:, 3:10:2]
    total = np.where(x + z > 0, x + z, 1)
    outcome = np.select([y == 1, y == 0], [0, 1], 2)
    names = ("length", "headers", "lists", "bold")
    return Comparisons.of(4, a, b, outcome, covariates=(x - z) / total, covariate_names=names, **columns)
