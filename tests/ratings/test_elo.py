"""Online Elo and how much of it is owed to the order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratings.comparisons import Comparisons, Policies
from ratings.elo import elo_path, online_elo
from ratings.errors import BadOptionError, BadValueError, NoVotesError
from ratings.simulate import VoteModel, simulate_votes

FIVE = Comparisons.of(3, [0, 1, 2, 0, 0], [1, 2, 0, 1, 2], ["model_a", "tie", "model_a", "model_b", "tie"])


def test_five_votes_at_k_four():
    elo = online_elo(FIVE)
    assert elo.ratings == pytest.approx([998.0001984155047, 1000.0228926734785, 1001.9769089110168], abs=1e-9)
    assert elo.votes == 5


def test_points_are_neither_made_nor_lost():
    votes = simulate_votes(VoteModel((0.5, 0, -0.5), tie=0.4), 500, seed=0).as_comparisons()
    elo = online_elo(votes, permutations=5, start=1200)
    assert elo.ratings.mean() == pytest.approx(1200)


def test_the_band_holds_what_shuffled_replays_give():
    votes = simulate_votes(VoteModel((0.5, 0, -0.5)), 120, seed=1).as_comparisons()
    elo = online_elo(votes, permutations=30, seed=3, k=20)
    rng = np.random.default_rng(3)
    finals = [online_elo(votes.select(rng.permutation(120)), permutations=1, k=20).ratings for _ in range(30)]
    assert elo.lower == pytest.approx(np.quantile(finals, 0.025, axis=0), abs=1e-9)
    assert elo.upper == pytest.approx(np.quantile(finals, 0.975, axis=0), abs=1e-9)


def test_a_competitor_that_improved_ends_above_its_band():
    early = Comparisons.of(2, [0] * 80, [1] * 80, ["model_b"] * 60 + ["model_a"] * 20)
    late = Comparisons.of(2, [0] * 80, [1] * 80, ["model_a"] * 60 + ["model_b"] * 20)
    both = Comparisons.of(
        2, np.r_[early.a, late.a], np.r_[early.b, late.b], np.r_[early.outcome[::-1], late.outcome[::-1]]
    )
    elo = online_elo(both, k=30)
    assert not elo.lower[0] <= elo.ratings[0] <= elo.upper[0]


def test_dropped_ties_move_nothing():
    drop = Policies(ties="drop")
    decisive = FIVE.select(FIVE.outcome < 2)
    assert online_elo(FIVE, drop).ratings == pytest.approx(online_elo(decisive).ratings, abs=1e-12)
    assert online_elo(FIVE, drop).votes == 3


@settings(max_examples=25, deadline=None)
@given(st.lists(st.booleans(), min_size=60, max_size=60), st.permutations(range(4)))
def test_sides_and_ids_never_change_a_rating(flips, renamed):
    votes = simulate_votes(VoteModel((0.6, 0.2, 0.0, -0.8), tie=0.5), 60, seed=4).as_comparisons()
    names = np.array(renamed)
    other = votes.swap_sides(np.array(flips))
    other = Comparisons.of(4, names[other.a], names[other.b], other.outcome)
    first, second = online_elo(votes, permutations=10), online_elo(other, permutations=10)
    assert second.ratings[names] == pytest.approx(first.ratings, abs=1e-9)
    assert second.upper[names] == pytest.approx(first.upper, abs=1e-9)


def test_batches_of_orders_give_the_same_band(monkeypatch):
    votes = simulate_votes(VoteModel((0.5, 0, -0.5)), 50, seed=5).as_comparisons()
    whole = online_elo(votes, permutations=11)
    monkeypatch.setattr("ratings.elo.SHUFFLE_BYTES", 4 * 50 * 3)
    assert np.array_equal(online_elo(votes, permutations=11).upper, whole.upper)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: online_elo(FIVE, k=0), BadOptionError),
        (lambda: online_elo(FIVE, permutations=0), BadOptionError),
        (lambda: online_elo(FIVE, confidence=2), BadOptionError),
        (lambda: online_elo(FIVE.select(FIVE.outcome == 2), Policies(ties="drop")), NoVotesError),
    ],
)
def test_nothing_to_play_is_refused(call, error):
    with pytest.raises(error):
        call()


def test_the_path_ends_where_the_replay_does_and_begins_at_the_start():
    rng = np.random.default_rng(3)
    a = rng.integers(4, size=60)
    votes = Comparisons.of(4, a, (a + 1 + rng.integers(3, size=60)) % 4, rng.integers(4, size=60))
    policies = Policies(ties="drop")
    path = elo_path(votes, [0, 20, 60, 60], policies)
    assert path[0].tolist() == [1000.0] * 4
    np.testing.assert_allclose(path[2], online_elo(votes, policies, permutations=1).ratings)
    np.testing.assert_allclose(
        path[1], online_elo(votes.select(np.arange(20)), policies, permutations=1).ratings
    )
    assert path[3].tolist() == path[2].tolist()


@pytest.mark.parametrize("moments", [[3, 2], [61], [-1]])
def test_moments_that_fall_or_lie_outside_are_refused(moments):
    votes = Comparisons.of(2, np.zeros(60, int), np.ones(60, int), np.zeros(60, int))
    with pytest.raises(BadValueError):
        elo_path(votes, moments)
