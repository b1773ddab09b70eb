"""How few votes a fitted board's first place hangs on: found with few refits, and true of a fit from zero."""

from dataclasses import replace

import numpy as np
import pytest

from ratings import influence_of_rows
from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError, IncomparableError, RatingsError
from ratings.influence import flips_first
from ratings.influence_of_rows import flips_first_of
from ratings.simulate import StyleFeature, VoteModel, simulate_votes
from ratings.style import scale_covariates

PLAIN = LeaderboardOptions(bootstrap=0, check=False)
STYLED = replace(PLAIN, style=True)


def styled_votes(seed: int, n: int, models: int = 6, **fields) -> Comparisons:
    """Votes whose first two models are 0.04 apart, with two features that models lean to."""
    rng = np.random.default_rng(seed)
    strengths = -np.sort(-rng.normal(0, 0.3, models))
    strengths[0] = strengths[1] + 0.04
    length = StyleFeature("length", 0.3, lean=tuple(rng.normal(0, 0.3, models)))
    style = (length, StyleFeature("headings", 0.1, typical=3.0))
    return simulate_votes(
        VoteModel(tuple(strengths), tie=0.4, style=style, **fields), n, seed=seed
    ).as_comparisons()


def scaled(votes: Comparisons) -> Comparisons:
    return replace(votes, covariates=scale_covariates(votes.covariates, "relative").z)


def first_without(votes: Comparisons, dropped) -> int:
    """The leader of a fit from zero without these rows."""
    fit = fit_bradley_terry(votes.select(np.setdiff1d(np.arange(len(votes)), dropped)))
    return int(np.argmax(np.where(fit.graph.fought, fit.strengths, -np.inf)))


@pytest.mark.parametrize(("seed", "n"), [(0, 300), (1, 2000), (2, 2000), (3, 20_000)])
def test_under_style_control_it_is_the_shortest_run_that_full_refits_find(seed, n):
    votes = styled_votes(seed, n)
    found = flips_first_of(fit_board(votes, STYLED), most=0.2)
    expected = flips_first(scaled(votes), challengers=2, most=0.2)
    assert (found.count, found.leader, found.successor) == (
        expected.count,
        expected.leader,
        expected.successor,
    )
    assert found.gap == pytest.approx(expected.gap, abs=1e-6)
    assert found.total == n
    assert first_without(scaled(votes), found.units) == found.successor
    assert first_without(scaled(votes), found.units[:-1]) == found.leader


def test_the_leader_is_that_of_the_board_with_the_features():
    """The longest wins the plain board, and not the styled one."""
    length = StyleFeature("length", 1.0, lean=(0.8, 0.0, -0.2))
    model = VoteModel((0.0, 0.3, 0.1), style=(length,), raters=20)
    votes = simulate_votes(model, 3000, seed=5).as_comparisons()
    assert flips_first_of(fit_board(votes, PLAIN), most=0.5).leader == 0
    assert flips_first_of(fit_board(votes, STYLED), most=0.5).leader == 1


@pytest.mark.parametrize("seed", range(6))
def test_of_a_plain_board_it_is_what_full_refits_find(seed):
    votes = styled_votes(seed, 600, raters=20, prompts=30).with_covariates(None, ())
    found = flips_first_of(fit_board(votes, PLAIN), most=0.1)
    assert found.count == flips_first(votes, challengers=2, most=0.1).count


def test_in_single_precision_too_the_order_is_another_without_these_votes():
    votes = styled_votes(7, 210_000, models=12)
    found = flips_first_of(fit_board(votes, STYLED))
    assert found.count is not None
    assert found.gap_after < 0
    assert first_without(scaled(votes), found.units) == found.successor
    # sums in single precision settle within some votes of the shortest run
    assert first_without(scaled(votes), found.units[:-3]) == found.leader


def test_neither_sides_nor_order_of_rows_change_how_many():
    votes = styled_votes(8, 1500)
    rng = np.random.default_rng(8)
    turned = votes.swap_sides(rng.random(1500) < 0.5).select(rng.permutation(1500))
    counts = [flips_first_of(fit_board(one, STYLED), most=0.1).count for one in (votes, turned)]
    assert counts[0] == counts[1] is not None


def test_where_a_model_is_never_beaten_without_them_another_leads_by_firths_estimate():
    """Boards so sparse that a deletion often leaves a model without a loss."""
    told = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        strengths = tuple(rng.normal(0, 1.5, 5))
        votes = simulate_votes(VoteModel(strengths, tie=0.1, raters=8), 30, seed=seed).as_comparisons()
        try:
            found = flips_first_of(fit_board(votes, PLAIN), most=0.3)
        except RatingsError:
            continue
        if found.count is not None:
            told += 1
            assert first_without(votes, found.units) != found.leader, seed
    assert told > 20


def test_beyond_the_limit_nothing_is_told():
    votes = styled_votes(9, 2000)
    board = fit_board(votes, STYLED)
    count = flips_first_of(board, most=0.2).count
    less = flips_first_of(board, most=(count - 1) / 2000)
    assert (less.count, less.successor, less.gap_after, len(less.units)) == (None, None, None, 0)


@pytest.mark.parametrize("passes", [1, 2, 4])
def test_with_few_passes_over_the_votes_what_is_told_is_true_all_the_same(monkeypatch, passes):
    monkeypatch.setattr(influence_of_rows, "LEAST_PASSES", passes)
    monkeypatch.setattr(influence_of_rows, "ROWS_TO_PASS", 1)
    votes = styled_votes(10, 4000)
    found = flips_first_of(fit_board(votes, STYLED), most=0.2)
    if found.count is not None:
        assert first_without(scaled(votes), found.units) == found.successor != found.leader


def test_what_cannot_be_looked_at_is_refused():
    votes = styled_votes(11, 400).with_covariates(None, ())
    with pytest.raises(BadOptionError, match="ties as an outcome of their own"):
        flips_first_of(fit_board(votes, replace(PLAIN, ties="davidson")))
    with pytest.raises(BadOptionError, match="0 challengers"):
        flips_first_of(fit_board(votes, PLAIN), challengers=0)
    apart = Comparisons.of(
        4, np.array([0, 0, 2, 2] * 5), np.array([1, 1, 3, 3] * 5), np.array([0, 1] * 10), rater=np.arange(20)
    )
    with pytest.raises(IncomparableError):
        flips_first_of(fit_board(apart, PLAIN))
