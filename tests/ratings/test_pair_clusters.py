"""Effective clusters of all differences at once, against those of one contrast after the other."""

import numpy as np
import pytest
from textbook_boards import style_rows

from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.clusters import effective_for
from ratings.compare import contrast_of, effective_clusters_of, effective_clusters_of_pairs
from ratings.pair_clusters import clusters_of_pairs
from ratings.simulate import VoteModel, simulate_votes

OPTIONS = LeaderboardOptions(bootstrap=0, check=False)


def one_by_one(board, dimension, first, second):
    contrasts = np.stack([contrast_of(board, i, j) for i, j in zip(first, second, strict=True)], axis=1)
    return effective_for(board.scores, board.fit.bread, dimension.labels, dimension.count, contrasts)


def simulated(models=12, votes=4000, **more):
    truth = VoteModel(tuple(np.linspace(-1, 1, models)), tie=0.5, **more)
    return simulate_votes(truth, votes, seed=3).as_comparisons()


def test_every_difference_has_the_clusters_that_its_own_contrast_has():
    board = fit_board(simulated(raters=60, rater_zipf=1.0, rater_sd=0.5, prompts=80, prompt_sd=0.5), OPTIONS)
    first, second = np.triu_indices(12, 1)
    for dimension in board.covariance.dimensions:
        found = board.pair_clusters[dimension.name]
        assert found.exact
        expected = one_by_one(board, dimension, first, second)
        np.testing.assert_allclose(found.effective[first, second], expected, rtol=1e-10)
        np.testing.assert_allclose(found.effective, found.effective.T, rtol=1e-10)
    least = effective_clusters_of_pairs(board, first, second)
    assert least[5] == pytest.approx(effective_clusters_of(board, contrast_of(board, first[5], second[5])))


def test_under_style_control_too():
    votes = style_rows(rater=np.arange(240) % 24, prompt=7 * np.arange(240) % 40)
    board = fit_board(votes, LeaderboardOptions(bootstrap=0, check=False, style=True))
    assert board.fit.covariate_names
    k = board.fit.n_competitors
    first, second = np.triu_indices(k, 1)
    for dimension in board.covariance.dimensions:
        expected = one_by_one(board, dimension, first, second)
        found = board.pair_clusters[dimension.name].effective[first, second]
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_on_large_boards_they_are_near_it():
    board = fit_board(simulated(40, 20_000, raters=150, rater_zipf=0.7, prompts=300), OPTIONS)
    first, second = np.triu_indices(40, 1)
    for d in board.covariance.dimensions:
        exact, near = (
            clusters_of_pairs(board.scores, board.fit.bread, d.labels, d.count, most=most)
            for most in (10**12, 0)
        )
        assert (exact.exact, near.exact) == (True, False)
        ratio = near.effective[first, second] / exact.effective[first, second]
        assert ratio.min() > 0.95
        assert ratio.max() < 1.1
