import numpy as np
import pytest
from textbook_boards import board, pudding

from ratings.comparisons import Comparisons, Policies
from ratings.sensitivity import policy_sensitivity


def test_every_policy_that_matters_is_tried_and_the_asked_one_comes_first():
    boards = policy_sensitivity(pudding())
    assert [b.policies.ties for b in boards] == ["half", "drop", "davidson"]
    assert (boards[0].largest_rank_move, boards[0].largest_rating_move) == (0, 0.0)
    assert boards[1].n_votes == sum(
        (19, 22, 16, 19, 19, 19, 18, 23, 23, 19, 19, 20, 13, 19, 16, 20, 16, 15)
    ) + sum((17, 14, 18, 21, 22, 20, 13, 18, 14, 19, 11, 21))
    assert boards[2].largest_rating_move == pytest.approx(1034.843293942193 - 1025.3598844371809, abs=1e-4)


def test_ranks_that_hang_on_a_policy_move():
    # 0 leads by both-bads that count half; without them 1 leads
    rows = [(0, 2)] * 12 + [(1, 2)] * 12
    outcome = [0] * 4 + [1] * 2 + [3] * 6 + [0] * 7 + [1] * 5
    votes = Comparisons.of(3, *np.array(rows).T, outcome)
    half, drop = policy_sensitivity(votes)
    assert half.ranks.tolist() != drop.ranks.tolist() or half.largest_rating_move < drop.largest_rating_move
    assert drop.policies.both_bad == "drop"
    assert drop.n_votes == 18


def test_a_policy_without_a_board_says_why():
    votes = board(3, [(0, 1, 5, 3, 1), (1, 2, 0, 0, 4)])
    _, drop, davidson = policy_sensitivity(votes, Policies())
    assert drop.ranks is None
    assert "don't connect" in drop.failed
    assert davidson.failed is None
