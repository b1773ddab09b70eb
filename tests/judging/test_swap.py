import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.judging.swap import Resolution, apply_verbosity_rule, resolve, to_side

TABLE = [
    # ab, ba, outcome, flip, leaning
    ("first", "second", "model_a", "none", ""),
    ("second", "first", "model_b", "none", ""),
    ("tie", "tie", "tie", "none", ""),
    ("first", "first", "tie_unstable", "hard", ""),
    ("second", "second", "tie_unstable", "hard", ""),
    ("first", "tie", "tie_unstable", "soft", "model_a"),
    ("second", "tie", "tie_unstable", "soft", "model_b"),
    ("tie", "first", "tie_unstable", "soft", "model_b"),
    ("tie", "second", "tie_unstable", "soft", "model_a"),
]


@pytest.mark.parametrize(("ab", "ba", "outcome", "flip", "leaning"), TABLE)
def test_two_orders_become_one_outcome(ab, ba, outcome, flip, leaning):
    assert resolve(ab, ba) == Resolution(outcome, outcome, flip, leaning)


@pytest.mark.parametrize("other", [None, "first", "second", "tie"])
def test_half_a_swap_is_no_verdict(other):
    for orders in ((None, other), (other, None)):
        assert resolve(*orders) == Resolution("no_verdict", "no_verdict", "none")


@pytest.mark.parametrize("position", ["", "a", "model_a", "First", None, "both_bad"])
def test_an_unknown_position_is_refused(position):
    with pytest.raises(ValueError, match="a position is first, second or tie"):
        to_side(position, "ab")


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="an order is ab or ba"):
        to_side("first", "xy")


positions = st.sampled_from(["first", "second", "tie", None])


@given(positions, positions)
def test_exchanging_the_two_responses_mirrors_the_outcome(ab, ba):
    # The same judge on the battle with sides exchanged: what was order ab is order ba then.
    mirror = {"model_a": "model_b", "model_b": "model_a"}
    straight, exchanged = resolve(ab, ba), resolve(ba, ab)
    assert exchanged.outcome == mirror.get(straight.outcome, straight.outcome)
    assert exchanged.flip == straight.flip


def win(side):
    return Resolution(side, side, "none")


@pytest.mark.parametrize(
    ("resolution", "a", "b", "expected"),
    [
        (win("model_a"), 151, 100, Resolution("tie_verbose", "model_a", "none")),
        (win("model_a"), 150, 100, win("model_a")),
        (win("model_b"), 100, 151, Resolution("tie_verbose", "model_b", "none")),
        (win("model_b"), 151, 100, win("model_b")),
        (win("model_a"), 10, 0, win("model_a")),
        (win("model_a"), 0, 0, win("model_a")),
        (win("tie"), 1000, 1, win("tie")),
        (resolve("first", "first"), 1000, 1, resolve("first", "first")),
        (resolve(None, "first"), 1000, 1, resolve(None, "first")),
    ],
)
def test_a_winner_much_longer_than_the_loser_becomes_a_verbose_tie(resolution, a, b, expected):
    assert apply_verbosity_rule(resolution, a, b) == expected


def test_the_factor_of_the_verbosity_rule_can_be_chosen():
    assert apply_verbosity_rule(win("model_a"), 190, 100, factor=2).outcome == "model_a"
    assert apply_verbosity_rule(win("model_a"), 201, 100, factor=2).outcome == "tie_verbose"


@pytest.mark.parametrize(("a", "b", "factor"), [(-1, 1, 1.5), (1, -1, 1.5), (1, 1, 0.9)])
def test_impossible_lengths_and_factors_are_refused(a, b, factor):
    with pytest.raises(ValueError, match="the factor is at least 1"):
        apply_verbosity_rule(win("model_a"), a, b, factor)
