"""One task of `ratings`, measured from arrays in memory: python -m bench.engine_ours TASK FOLDER."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.measure import measured
from bench.votes import COVARIATES, read
from ratings.bootstrap_large import (
    bootstrap_large,
    sample_clusters,
    sample_votes,
    sums_of_cells,
    sums_of_rows,
)
from ratings.bradley_terry import Fit, PairLikelihood, fit_likelihood, fit_rows
from ratings.cluster_runs import consecutive
from ratings.comparisons import OUTCOMES, Comparisons, Policies, tally
from ratings.rows import Rows, sort_rows
from ratings.uncertainty import robust_covariance, tally_sandwich, vote_scores

HALF = Policies()


def plain(votes: Comparisons) -> Fit:
    """Strengths with their sandwich, from integer ids."""
    cells = tally(votes, HALF)
    fit = fit_likelihood(PairLikelihood(cells), cells, HALF)
    tally_sandwich(cells, fit)
    return fit


def style(votes: Comparisons, rows: Rows | None = None, dimensions: tuple[str, ...] = ()) -> None:
    """Strengths, coefficients and sandwich: sorting included unless `rows` are kept sorted."""
    cells = tally(votes, HALF)
    start = fit_likelihood(PairLikelihood(cells), cells, HALF)
    rows = rows or sort_rows(votes, HALF)
    robust_covariance(votes, rows, fit_rows(rows, cells, start), dimensions, cells)


def resample_plain(votes: Comparisons, by: str | None, resamples: int) -> Callable[[], object]:
    """Resamples of a fitted plain board."""
    cells = tally(votes, HALF)
    fit = fit_likelihood(PairLikelihood(cells), cells, HALF)

    def work() -> object:
        sums = sums_of_cells(cells, fit)
        if by is None:
            return bootstrap_large(
                fit, sums, sample_votes(sums, fit.n_competitors), resamples=resamples, seed=0
            )
        rows = sort_rows(votes.with_covariates(None, ()), HALF)
        labels, count = consecutive(getattr(votes, by)[rows.source])
        sample = sample_clusters(vote_scores(rows, fit), sums, labels, count)
        return bootstrap_large(fit, sums, sample, resamples=resamples, seed=0)

    return work


def resample_style(votes: Comparisons, by: str | None, resamples: int) -> Callable[[], object]:
    """Resamples of a fitted board with covariates."""
    cells = tally(votes, HALF)
    rows = sort_rows(votes, HALF)
    fit = fit_rows(rows, cells, fit_likelihood(PairLikelihood(cells), cells, HALF))

    def work() -> object:
        scores = vote_scores(rows, fit)
        sums = sums_of_rows(scores)
        sample = sample_votes(sums, fit.n_competitors)
        if by is not None:
            sample = sample_clusters(scores, sums, *consecutive(getattr(votes, by)[rows.source]))
        return bootstrap_large(fit, sums, sample, resamples=resamples, seed=0)

    return work


def from_names(votes: Comparisons) -> Callable[[], object]:
    """A frame of names as comparisons."""
    import pandas as pd

    from ratings.frames import comparisons_from_frame

    names = np.array([f"model {i:03d}" for i in range(votes.n_competitors)], dtype=object)
    words = np.array(OUTCOMES, dtype=object)
    columns = {"model_a": names[votes.a], "model_b": names[votes.b], "winner": words[votes.outcome]}
    frame = pd.DataFrame(columns)
    return lambda: comparisons_from_frame(frame)


def task(name: str, votes: Comparisons) -> Callable[[], object]:
    """The work of a task, everything it may take for granted done."""
    if name == "style sorted":
        rows, bare = sort_rows(votes, HALF), votes.with_covariates(None, ())
        return lambda: style(bare, rows)
    works: dict[str, Callable[[], Callable[[], object]]] = {
        "plain": lambda: lambda: plain(votes),
        "style": lambda: lambda: style(votes),
        "two-way": lambda: lambda: style(votes, dimensions=("rater", "prompt")),
        "resamples": lambda: resample_plain(votes, None, 1000),
        "resamples by rater": lambda: resample_plain(votes, "rater", 1000),
        "style resamples 100": lambda: resample_style(votes, None, 100),
        "style resamples": lambda: resample_style(votes, None, 1000),
        "style resamples by rater": lambda: resample_style(votes, "rater", 1000),
        "names": lambda: from_names(votes),
    }
    return works[name]()


def main() -> None:
    """Measure the task named on the command line."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    a, b, outcome = read(folder, "a", "b", "outcome")
    k = int(max(a.max(), b.max())) + 1
    # peak memory shall count what the task needs, as for the other engines
    z = read(folder, "z")[0] if "style" in name or name == "two-way" else None
    rater, prompt = read(folder, "rater", "prompt") if "by" in name or name == "two-way" else (None, None)
    votes = Comparisons(k, a, b, outcome, None, z, COVARIATES if z is not None else (), rater, prompt)
    work = task(name, votes)
    del votes, z  # rows that are kept sorted need them no more
    measured(work)


if __name__ == "__main__":
    main()
