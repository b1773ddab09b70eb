"""Where the marks of a board stand."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena.leaderboards.intervals import MEAN, Estimate, shared_axis

ratings = st.floats(min_value=-500, max_value=2500)
reaches = st.floats(min_value=0, max_value=900)
estimates = st.builds(
    lambda rating, down, up: Estimate(rating, rating - down, rating + up), ratings, reaches, reaches
)


def share(place: str) -> float:
    assert place.endswith("%")
    return float(place[:-1])


@given(st.lists(estimates, max_size=12))
def test_every_mark_lies_on_the_axis_in_the_order_of_its_numbers(shown):
    axis = shared_axis(shown)
    assert axis.low < MEAN < axis.high
    for estimate in shown:
        mark = axis.mark(estimate)
        assert 0 <= share(mark.start) <= share(mark.point) <= share(mark.end) <= 100
        assert mark.cut_start == (estimate.lower < axis.low)
        assert mark.cut_end == (estimate.upper > axis.high)


@given(st.lists(estimates, min_size=1, max_size=12))
def test_ticks_are_few_round_and_on_the_axis(shown):
    axis = shared_axis(shown)
    assume(axis.high - axis.low > 6)
    assert 3 <= len(axis.ticks) <= 7
    for tick in axis.ticks:
        assert axis.low <= int(tick.label.replace("−", "-")) <= axis.high
        assert tick.is_mean == (tick.label == "1000")


def test_one_interval_far_wider_than_the_others_is_cut_and_says_so():
    usual = [Estimate(rating, rating - 20, rating + 20) for rating in (950, 1000, 1050)]
    wide = Estimate(1000, 200, 1900)
    axis = shared_axis([*usual, wide])
    assert axis.high - axis.low < 300
    mark = axis.mark(wide)
    assert (mark.cut_start, mark.cut_end) == (True, True)
    assert not any(axis.mark(e).cut_start or axis.mark(e).cut_end for e in usual)


def test_a_bound_that_doesnt_exist_runs_off_the_axis():
    mark = shared_axis([Estimate(1200, 1100, None)]).mark(Estimate(1200, 1100, None))
    assert (mark.end, mark.cut_start, mark.cut_end) == ("100.00%", False, True)


def test_an_empty_board_still_has_an_axis_around_the_mean():
    axis = shared_axis([])
    assert axis.mean == "50.00%"
    assert axis.share(1e9) == pytest.approx(1.0)
