"""Where votes say too little: no interval rather than a false one, none narrower than the model’s."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textbook_boards import board, style_rows

from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.compare import contrast_of, effective_clusters_of
from ratings.comparisons import Comparisons
from ratings.leaderboard import fit_leaderboard
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.thin_votes import FEW_VOTES, NO_INTERVAL_VOTES

QUICK = LeaderboardOptions(bootstrap=0, check=False)
OUTCOMES = ("model_a", "model_b", "tie", "both_bad")
Z = 1.959963984540054


def modulo(n, k):
    return np.arange(n, dtype=np.int32) % k


@st.composite
def small_boards(draw):
    k, n = draw(st.integers(2, 4)), draw(st.integers(1, 28))
    a = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    step = draw(st.lists(st.integers(1, k - 1), min_size=n, max_size=n))
    outcomes = draw(st.lists(st.sampled_from(OUTCOMES[: draw(st.integers(1, 4))]), min_size=n, max_size=n))
    b = [(one + by) % k for one, by in zip(a, step, strict=True)]

    def clusters():
        ids = st.lists(st.integers(0, 11), min_size=n, max_size=n)
        return draw(st.none() | st.just([0] * n) | st.just(list(range(n))) | ids)

    return Comparisons.of(k, a, b, outcomes, rater=clusters(), prompt=clusters())


@settings(max_examples=150, deadline=None)
@given(small_boards())
def test_with_few_votes_no_interval_is_narrower_than_the_models_own(comparisons):
    fitted, raw = fit_leaderboard(comparisons, QUICK), fit_board(comparisons, QUICK)
    model = dict(zip(raw.order.tolist(), np.sqrt(np.abs(np.diag(raw.fit.bread))), strict=True))
    for s in fitted.standings:
        if s.lower is None or s.upper is None:
            continue
        assert s.effective_votes >= NO_INTERVAL_VOTES
        assert s.effective_votes < FEW_VOTES
        assert s.upper - s.lower >= 2 * Z * POINTS_PER_LOG_ODDS * model[s.competitor] - 1e-4


@settings(max_examples=20, deadline=None)
@given(small_boards())
def test_resampled_intervals_of_few_votes_are_guarded_like_the_robust_ones(comparisons):
    raw = fit_board(comparisons, QUICK)
    model = dict(zip(raw.order.tolist(), np.sqrt(np.abs(np.diag(raw.fit.bread))), strict=True))
    for interval in ("bootstrap", "percentile"):
        options = LeaderboardOptions(bootstrap=20, interval=interval, check=False)
        for s in fit_leaderboard(comparisons, options).standings:
            if s.lower is not None and s.upper is not None:
                width = 2 * Z * POINTS_PER_LOG_ODDS * model[s.competitor]
                assert s.upper - s.lower >= width - 1e-4


@pytest.mark.parametrize("votes", [1, 2, 100])
@pytest.mark.parametrize("clustered", [False, True])
def test_a_board_of_ties_alone_has_no_interval_no_rank_and_says_so(votes, clustered):
    columns = {"rater": modulo(votes, 20), "prompt": modulo(votes, 15)} if clustered else {}
    fitted = fit_leaderboard(board(2, [(0, 1, 0, 0, votes)], **columns), LeaderboardOptions(bootstrap=20))
    for s in fitted.standings:
        assert (s.rating, s.lower, s.upper, s.standard_error) == (1000, None, None, None)
        assert (s.bootstrap_lower, s.bootstrap_upper, s.rank_lower) == (None, None, None)
        assert (s.no_interval, s.ranked, s.provisional, s.tied_first) == (True, False, True, False)
    assert any(w.startswith("2 models have no interval yet") for w in fitted.warnings)


def test_a_competitor_whose_residuals_vanish_has_no_interval_on_a_board_of_others_that_have():
    rows = board(3, [(0, 1, 10, 10), (0, 2, 0, 0, 20), (1, 2, 0, 0, 20)], rater=modulo(60, 20))
    fitted = fit_leaderboard(rows, QUICK)
    by = {s.competitor: s for s in fitted.standings}
    assert by[2].no_interval
    assert by[2].rank_lower is None
    assert by[0].lower < 1000 < by[0].upper
    raw = fit_board(rows, QUICK)
    at = np.flatnonzero(raw.order == 2)[0]
    assert effective_clusters_of(raw, contrast_of(raw, int(at), int(at) - 1)) == 0


def test_a_hundred_ties_and_two_wins_leave_an_interval_as_if_each_tie_were_a_toss():
    fitted = fit_leaderboard(board(2, [(0, 1, 2, 0, 100)]), QUICK)
    model = POINTS_PER_LOG_ODDS * np.sqrt(1 / 102)
    for s in fitted.standings:
        assert not s.no_interval
        assert s.upper - s.lower == pytest.approx(2 * Z * model, rel=0.01)


def test_raters_whose_votes_cancel_dont_make_a_rating_certain():
    rows = board(2, [(0, 1, 40, 40)], rater=np.r_[np.arange(40), np.arange(40)])
    fitted = fit_leaderboard(rows, LeaderboardOptions(bootstrap=50))
    independent = fit_leaderboard(board(2, [(0, 1, 40, 40)]), QUICK)
    for one, other in zip(fitted.standings, independent.standings, strict=True):
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-6)
        assert one.bootstrap_upper - one.bootstrap_lower > 70


def test_plenty_of_votes_keep_the_robust_interval_untouched():
    covariance = fit_board(style_rows(rater=modulo(240, 24)), QUICK).covariance
    robust = np.sqrt(np.diag(covariance.matrix))
    assert covariance.deviations[:4] == pytest.approx(robust[:4], rel=1e-12)
    assert not covariance.leaning.any()


def test_three_votes_that_set_no_bound_still_make_a_board():
    rows = Comparisons.of(3, [0, 1, 2], [1, 2, 0], ["model_a", "tie", "tie"], rater=[0, 1, 2])
    assert [s.rating is not None for s in fit_leaderboard(rows, QUICK).standings] == [True] * 3


# --- style ------------------------------------------------------------------------------------------------

NAMES = ("length", "headings", "list_items", "bold")


@settings(max_examples=60, deadline=None)
@given(small_boards(), st.integers(0, 2**32 - 1))
def test_a_style_board_of_few_votes_ends_in_words_and_never_in_a_singular_matrix(comparisons, seed):
    z = np.random.default_rng(seed).choice([-1.0, 0.0, 0.5, 1.0], size=(len(comparisons), 4))
    fitted = fit_leaderboard(
        comparisons.with_covariates(z, NAMES), LeaderboardOptions(style=True, bootstrap=0, check=False)
    )
    assert len(fitted.coefficients) <= len(comparisons) // 10
    assert any(w.startswith("Style control leaves out") for w in fitted.warnings)
    for s in fitted.standings:
        assert s.style_shift_lower is None or s.effective_votes >= FEW_VOTES


def test_a_feature_that_tells_every_outcome_is_left_out_aloud():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, 60)
    b = (a + rng.integers(1, 3, 60)) % 3
    first = rng.random(60) < 0.5
    tells = np.where(first, 1.0, -1.0) * rng.uniform(0.2, 1, 60)
    rows = Comparisons.of(
        3,
        a,
        b,
        np.where(first, "model_a", "model_b").tolist(),
        covariates=tells[:, None],
        covariate_names=["length"],
    )
    fitted = fit_leaderboard(rows, LeaderboardOptions(style=True, bootstrap=0))
    assert fitted.coefficients == ()
    assert any("leaves out length" in w and "contradict" in w for w in fitted.warnings)


def test_warnings_count_one_as_one():
    fitted = fit_leaderboard(board(4, [(0, 1, 30, 20), (1, 2, 30, 20), (2, 0, 30, 20), (3, 0, 3, 2)]), QUICK)
    assert "1 model with fewer than 30 votes is listed unranked." in fitted.warnings
    silent = fit_leaderboard(board(3, [(0, 1, 30, 20)]), QUICK)
    assert "1 model has no vote and no rating." in silent.warnings
    assert not any("competitor" in w for w in (*fitted.warnings, *silent.warnings))
