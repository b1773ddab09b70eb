"""Which of two responses is called the first is an accident of some file: no agreement hangs on it."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from ratings.agreement import cohen_kappa, krippendorff_alpha, named_both_ways
from ratings.clustered_fleiss import clustered_fleiss
from ratings.clustered_kappa import clustered_kappa
from ratings.errors import BadOptionError

SIDES = (0, 1)
TURNED = np.array([1, 0, 2])


@st.composite
def verdicts(draw):
    """Three raters' codes of n units, which units are named the other way round, and the units' clusters."""
    n = draw(st.integers(6, 40))
    codes = np.array(draw(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=n, max_size=n)))
    codes[0], codes[1] = (0, 1, 2), (1, 0, 2)  # something varies
    turned = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    return codes, turned, np.arange(n) // 2


def named_anew(codes, turned):
    return np.where(turned[:, None], TURNED[codes], codes)


def ends(found):
    return [found.estimate, *(end for end in (found.lower, found.upper) if end is not None)]


@settings(max_examples=60, deadline=None)
@given(verdicts())
def test_agreement_is_the_same_however_the_two_responses_are_named(drawn):
    codes, turned, cluster = drawn
    again = named_anew(codes, turned)
    for symmetric in (False, True):
        one, other = (
            clustered_kappa(x[:, 0], x[:, 1], 3, cluster, symmetric=symmetric, sides=SIDES)
            for x in (codes, again)
        )
        assert ends(one) == pytest.approx(ends(other), abs=1e-9)
    one, other = (clustered_fleiss(x, 3, cluster, sides=SIDES) for x in (codes, again))
    assert ends(one) == pytest.approx(ends(other), abs=1e-9)
    one, other = (krippendorff_alpha(x.T, cluster, sides=SIDES) for x in (codes, again))
    assert ends(one) == pytest.approx(ends(other), abs=1e-9)


def test_kappa_named_both_ways_is_that_of_every_battle_counted_once_in_each_order():
    rng = np.random.default_rng(3)
    first = rng.choice(3, size=300, p=(0.7, 0.2, 0.1))
    second = np.where(rng.random(300) < 0.6, first, rng.choice(3, size=300, p=(0.7, 0.2, 0.1)))
    both = cohen_kappa(
        np.bincount(
            np.concatenate([first * 3 + second, TURNED[first] * 3 + TURNED[second]]), minlength=9
        ).reshape(3, 3)
    )
    found = clustered_kappa(first, second, 3, sides=SIDES)
    assert found.estimate == pytest.approx(both.estimate, abs=1e-12)
    assert found.n == 300, "none counts twice"
    # t1 and t2 are the shares of ties: chance agrees on a tie, or on one of two winners.
    ties = (first == 2).mean(), (second == 2).mean()
    chance = ties[0] * ties[1] + (1 - ties[0]) * (1 - ties[1]) / 2
    assert found.estimate == pytest.approx(((first == second).mean() - chance) / (1 - chance), abs=1e-12)
    assert found.estimate > clustered_kappa(first, second, 3).estimate + 0.05, "names alone made that low"


def test_alpha_named_both_ways_has_the_expected_disagreement_of_both():
    ratings = np.array([[0, 0, 0, 1, 2, 0], [0, 0, 1, 1, 2, 2]], dtype=float)
    found = krippendorff_alpha(ratings, sides=SIDES, resamples=1)
    totals = named_both_ways(np.array([6.0, 3.0, 3.0]), SIDES)
    assert totals.tolist() == [4.5, 4.5, 3.0]
    expected = (12**2 - (totals**2).sum()) / 11
    assert found.estimate == pytest.approx(1 - 4 / expected, abs=1e-12)


def test_whoever_always_finds_the_first_better_agrees_on_something():
    alike = np.zeros(12, dtype=int)
    assert clustered_kappa(alike, alike, 3, sides=SIDES).estimate == 1
    assert krippendorff_alpha(np.array([alike, alike], dtype=float), sides=SIDES).estimate == 1


def test_sides_have_no_order_and_no_distance():
    with pytest.raises(BadOptionError, match="ordinal"):
        krippendorff_alpha([[0, 1, 2], [0, 1, 1]], level="ordinal", sides=SIDES)
