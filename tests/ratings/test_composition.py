"""What a board's votes are made of: sides that never change, covariates that hardly differ."""

from __future__ import annotations

import numpy as np
import pytest

from ratings.comparisons import Comparisons
from ratings.composition import composition
from ratings.errors import NoVotesError


def votes(a, b, k: int, **more) -> Comparisons:
    a, b = np.asarray(a), np.asarray(b)
    return Comparisons.of(k, a, b, np.zeros(len(a), dtype=np.int8), **more)


def test_pairs_whose_sides_never_change_are_told_by_their_share_of_the_votes():
    a = [0] * 6 + [1, 2] * 3 + [0] * 4
    b = [1] * 6 + [2, 1] * 3 + [2] * 4
    assert composition(votes(a, b, 3)).one_sided == 6 / 16


def test_flipping_single_rows_to_even_sides_ends_it_and_flipping_all_changes_nothing():
    one_sided = votes([0] * 8, [1] * 8, 2)
    assert (
        composition(one_sided).one_sided == composition(one_sided.swap_sides(np.ones(8, bool))).one_sided == 1
    )
    assert composition(one_sided.swap_sides(np.arange(8) % 2 == 0)).one_sided == 0


def test_votes_in_which_a_covariate_differs_are_counted():
    z = np.array([[0.0, 0.5], [0.0, -0.5], [0.2, 0.0], [0.0, 0.1]])
    found = composition(
        votes([0, 1, 0, 1], [1, 0, 1, 0], 2, covariates=z, covariate_names=("bold", "length"))
    )
    assert found.differing == (1, 3)
    assert composition(votes([0], [1], 2)).differing == ()


def test_no_vote_raises():
    with pytest.raises(NoVotesError):
        composition(votes([], [], 2))
