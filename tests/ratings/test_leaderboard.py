from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textbook_boards import TEAMS, baseball, board, pudding, style_rows

from ratings.board_options import LeaderboardOptions
from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError, NoVotesError, UnknownCompetitorError
from ratings.leaderboard import fit_leaderboard
from ratings.tables import leaderboard_table

QUICK = LeaderboardOptions(bootstrap=0)
ROW = np.arange(240)


def by_competitor(fit):
    return sorted(fit.standings, key=lambda s: s.competitor)


def ratings_of(fit):
    return [s.rating for s in by_competitor(fit)]


def test_baseball_with_ranks_and_intervals():
    fit = fit_leaderboard(baseball(), QUICK)
    first = fit.standings[0]
    assert TEAMS[first.competitor] == "Milwaukee"
    assert first.rating == pytest.approx(1092.2707859558795, abs=1e-5)
    assert first.standard_error == pytest.approx(36.072338048509835, abs=1e-5)
    assert first.lower == pytest.approx(first.rating - 1.959963984540054 * first.standard_error, abs=1e-4)
    assert (first.wins, first.losses, first.ties, first.battles) == (50, 28, 0, 78)
    assert (first.rank_lower, first.rank_upper, first.tied_first) == (1, 6, True)
    assert fit.check.engine == "choix"
    assert fit.check.largest_difference < 1e-3
    assert fit.n_votes == 273
    assert "independent votes" in fit.warnings[0]


def test_the_bootstrap_agrees_with_the_sandwich_where_votes_are_independent():
    fit = fit_leaderboard(baseball(), LeaderboardOptions(bootstrap=2000, interval="bootstrap"))
    for s in fit.standings:
        assert (s.upper - s.lower) / 2 == pytest.approx(1.96 * s.standard_error, rel=0.1)
        assert (s.lower, s.upper) == (s.bootstrap_lower, s.bootstrap_upper)


def test_percentile_ends_straddle_the_rating():
    fit = fit_leaderboard(baseball(), LeaderboardOptions(bootstrap=500, interval="percentile"))
    assert all(s.lower < s.rating < s.upper for s in fit.standings)
    assert fit.standings[0].upper + fit.standings[0].lower != pytest.approx(2 * fit.standings[0].rating)


def test_an_anchor_moves_all_ratings_and_no_width():
    plain = fit_leaderboard(baseball(), QUICK)
    anchored = fit_leaderboard(baseball(), replace(QUICK, anchor=3, anchor_rating=1200))
    assert by_competitor(anchored)[3].rating == 1200
    move = 1200 - by_competitor(plain)[3].rating
    for one, other in zip(by_competitor(plain), by_competitor(anchored), strict=True):
        assert other.rating - one.rating == pytest.approx(move, abs=1e-5)
        assert other.upper - other.lower == pytest.approx(one.upper - one.lower, abs=1e-5)


def test_policies_decide_what_a_draw_is():
    pairs = [(0, 1, 20, 10, 8), (1, 2, 15, 12, 5), (2, 0, 9, 14, 6)]
    comparisons = board(3, pairs)
    outcome = comparisons.outcome.copy()
    outcome[np.flatnonzero(outcome == 2)[::2]] = 3  # every other tie was "both bad"
    mixed = Comparisons.of(3, comparisons.a, comparisons.b, outcome)
    half = fit_leaderboard(mixed, QUICK)
    assert half.standings == fit_leaderboard(comparisons, QUICK).standings
    dropped = fit_leaderboard(mixed, replace(QUICK, both_bad="drop"))
    assert dropped.n_dropped == (outcome == 3).sum()
    assert dropped.n_votes + dropped.n_dropped == half.n_votes
    assert any("left out by the policies" in w for w in dropped.warnings)


def test_davidson_is_a_board_with_the_odds_of_a_tie():
    fit = fit_leaderboard(pudding(), replace(QUICK, ties="davidson"))
    assert fit.tie_odds == pytest.approx(0.7468229876542896, abs=1e-6)
    expected = [969.3282522702775, 1007.5881890537548, 995.9032014992346, 999.7540392038786]
    assert ratings_of(fit)[:4] == pytest.approx(expected, abs=1e-5)
    assert fit.coefficients[-1].name == "log ν"
    assert all(s.lower < s.rating < s.upper for s in fit.standings)


def test_style_control_moves_the_first_place_and_says_how_far():
    fit = fit_leaderboard(style_rows(), replace(QUICK, style=True))
    expected = [1078.3398005527542, 1033.4326894751453, 995.3589526753732, 892.8685572967272]
    assert ratings_of(fit) == pytest.approx(expected, abs=1e-5)
    assert fit.standings[0].competitor == 0  # second on the plain board
    shifts = [s.style_shift for s in by_competitor(fit)]
    assert shifts == pytest.approx([1061.3496 - 1078.3398, 1078.7142 - 1033.4327, -34.1262, 5.8349], abs=1e-3)
    assert all(s.style_shift_lower < s.style_shift < s.style_shift_upper for s in fit.standings)
    adjusted = [s.style_shift_adjusted for s in fit.standings]
    own = [s.style_shift_lower > 0 or s.style_shift_upper < 0 for s in fit.standings]
    assert min(adjusted) > 0 and max(adjusted) <= 1
    assert all(alone or p >= 0.05 for alone, p in zip(own, adjusted, strict=True))
    length = fit.coefficients[0]
    assert length.estimate == pytest.approx(0.18362796947499693, abs=1e-8)
    assert length.points == pytest.approx(31.899445546435974, abs=1e-5)
    assert length.scale == pytest.approx(0.3525183851378791, abs=1e-8)
    assert length.per_doubling == pytest.approx(length.points / 3 / length.scale, abs=1e-4)
    assert fit.check.engine == "scipy L-BFGS"
    assert fit.check.largest_difference < 0.01


def test_a_covariate_without_variation_or_that_repeats_is_dropped_aloud():
    rows = style_rows()
    z = np.column_stack([rows.covariates[:, 0], np.zeros(240), rows.covariates[:, 0] * 0.5])
    fit = fit_leaderboard(rows.with_covariates(z, ["length", "emoji", "words"]), replace(QUICK, style=True))
    assert [c.name for c in fit.coefficients] == ["words"] or [c.name for c in fit.coefficients] == ["length"]
    assert any("leaves out emoji: no two responses differ" in w for w in fit.warnings)
    (left,) = {"length", "words"} - {c.name for c in fit.coefficients}
    (kept,) = {"length", "words"} - {left}
    said = f"Style control leaves out {left}: here it can't be told apart from {kept} and which models fought"
    assert f"{said} (wholly)." in fit.warnings


def test_a_covariate_that_only_names_the_model_leaves_the_plain_board():
    rows = style_rows()
    long_winded = np.where(rows.a == 0, 1.0, 0.0) - np.where(rows.b == 0, 1.0, 0.0)
    fit = fit_leaderboard(rows.with_covariates(long_winded[:, None], ["length"]), replace(QUICK, style=True))
    assert fit.coefficients == ()
    assert any("this board is the plain one" in w for w in fit.warnings)
    assert ratings_of(fit)[0] == pytest.approx(1061.3496203471864, abs=1e-5)


def test_clusters_that_are_known_are_used_and_named():
    rows = style_rows(rater=ROW % 24, prompt=7 * ROW % 40)
    fit = fit_leaderboard(rows, replace(QUICK, style=True))
    assert fit.method == "cluster-robust (CR3) by rater and prompt"
    assert fit.effective_clusters == pytest.approx(24)
    assert (fit.n_raters, fit.n_prompts) == (24, 40)
    one = fit_leaderboard(rows, replace(QUICK, style=True, cluster=("rater",)))
    assert one.standings[0].standard_error == pytest.approx(19.13326797, abs=1e-5)
    iid = fit_leaderboard(rows, replace(QUICK, style=True, interval="iid"))
    assert iid.standings[0].standard_error == pytest.approx(23.90790448133999, abs=1e-5)
    assert "independent" in iid.method


@pytest.mark.parametrize("style", [False, True])
def test_cluster_bootstrap_agrees_with_the_robust_interval(style):
    rows = style_rows(rater=ROW % 24)
    options = LeaderboardOptions(style=style, interval="bootstrap", bootstrap=1000)
    fit = fit_leaderboard(rows, options)
    for s in fit.standings:
        robust = 2.07 * s.standard_error
        assert (s.upper - s.lower) / 2 == pytest.approx(robust, rel=0.2)


def test_two_way_bootstrap_never_falls_below_one_way():
    rows = style_rows(rater=ROW % 24, prompt=7 * ROW % 40).with_covariates(None, [])
    options = LeaderboardOptions(bootstrap=400)
    both = fit_leaderboard(rows, options)
    one = fit_leaderboard(rows, replace(options, cluster=("rater",)))
    for s, t in zip(by_competitor(both), by_competitor(one), strict=True):
        assert s.bootstrap_upper - s.bootstrap_lower > 0.98 * (t.bootstrap_upper - t.bootstrap_lower)


def test_few_raters_are_said_aloud():
    comparisons = replace(baseball(), rater=np.arange(273, dtype=np.int32) % 4)
    fit = fit_leaderboard(comparisons, QUICK)
    assert any(w.startswith("Too few raters: 4") for w in fit.warnings)
    assert all(s.too_few_raters and s.provisional for s in fit.standings)


def test_too_few_prompts_are_not_called_raters():
    many = np.arange(273, dtype=np.int32) % 60
    comparisons = replace(baseball(), rater=many, prompt=np.where(many < 40, 0, many % 5).astype(np.int32))
    fit = fit_leaderboard(comparisons, QUICK)
    assert any(w.startswith("Too few prompts: 5, worth") for w in fit.warnings)
    assert not any("Too few raters" in w for w in fit.warnings)
    assert all(s.too_few_prompts and not s.too_few_raters and s.provisional for s in fit.standings)
    assert "too few prompts" in leaderboard_table(fit, TEAMS)


def test_a_single_judge_is_conditional():
    comparisons = replace(baseball(), rater=np.zeros(273, dtype=np.int32))
    fit = fit_leaderboard(comparisons, QUICK)
    assert any("conditional on this rater" in w for w in fit.warnings)


def test_groups_without_a_battle_between_them_share_no_rank():
    comparisons = board(5, [(0, 1, 30, 20), (2, 3, 25, 25)])
    fit = fit_leaderboard(comparisons, QUICK)
    assert fit.n_components == 2
    assert [s.component for s in by_competitor(fit)] == [0, 0, 1, 1, 2]
    assert by_competitor(fit)[2].rank_lower == 1
    assert by_competitor(fit)[4].rating is None
    assert fit.check is None
    assert any("2 groups" in w for w in fit.warnings)
    assert any("1 model has no vote" in w for w in fit.warnings)


def test_who_never_lost_gets_a_finite_rating_with_one_bound():
    pairs = [(a, b, 20, 15) for a in range(3) for b in range(a)] + [(3, 0, 40, 0)]
    fit = fit_leaderboard(board(4, pairs), LeaderboardOptions(bootstrap=200))
    star = by_competitor(fit)[3]
    assert star.unbounded_above
    assert star.provisional
    assert star.upper is None
    assert star.bootstrap_upper is None
    assert 1000 < star.lower < star.rating < 3000
    others = by_competitor(fit)[:3]
    assert all(s.lower < s.rating < s.upper for s in others)
    assert any("one-sided bound" in w for w in fit.warnings)


def test_resamples_without_a_maximum_are_held_and_counted():
    pairs = [(a, b, 20, 15) for a in range(3) for b in range(a)] + [(3, 0, 40, 1)]
    fit = fit_leaderboard(board(4, pairs), LeaderboardOptions(bootstrap=300))
    assert any("nothing but wins, or nothing but losses" in w for w in fit.warnings)
    star = by_competitor(fit)[3]
    assert star.bootstrap_upper < 5000


def test_few_votes_are_listed_unranked():
    pairs = [(0, 1, 30, 20), (1, 2, 30, 20), (2, 0, 30, 20), (3, 0, 3, 2)]
    fit = fit_leaderboard(board(4, pairs), QUICK)
    late = by_competitor(fit)[3]
    assert (late.ranked, late.rank_lower, late.provisional) == (False, None, True)
    assert late.rating is not None
    assert any("fewer than 30 votes" in w for w in fit.warnings)


def test_no_votes_and_contradicting_options_raise():
    with pytest.raises(NoVotesError):
        fit_leaderboard(Comparisons.of(3, [], [], []), QUICK)
    with pytest.raises(BadOptionError, match="style control without covariates"):
        fit_leaderboard(baseball(), replace(QUICK, style=True))
    with pytest.raises(BadOptionError, match="no prompt"):
        fit_leaderboard(baseball(), replace(QUICK, cluster=("prompt",)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"ties": "win"},
        {"interval": "credible"},
        {"confidence": 1.0},
        {"bootstrap": 1},
        {"interval": "bootstrap", "bootstrap": 0},
        {"cluster": ("day",)},
        {"seed": -1},
        {"style_transform": "tanh"},
        {"ties": "davidson", "interval": "bootstrap"},
    ],
)
def test_options_outside_their_sets_are_refused(wrong):
    with pytest.raises(BadOptionError):
        LeaderboardOptions(**wrong)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["plain", "style", "raters", "both"]))
def test_row_order_sides_and_names_change_no_byte(seed, kind):
    rng = np.random.default_rng(seed)
    rows = style_rows(**({} if kind in ("plain", "style") else {"rater": ROW % 24}))
    options = LeaderboardOptions(bootstrap=60, style=kind in ("style", "both"), check=False)
    names = rng.permutation(4).astype(np.int32)
    changed = rows.swap_sides(rng.random(240) < 0.5).select(rng.permutation(240))
    renamed = replace(changed, a=names[changed.a], b=names[changed.b])
    if renamed.rater is not None:
        renamed = replace(renamed, rater=rng.permutation(24).astype(np.int32)[renamed.rater])
    original, other = fit_leaderboard(rows, options), fit_leaderboard(renamed, options)
    back = {int(names[i]): i for i in range(4)}
    assert {back[s.competitor]: replace(s, competitor=0) for s in other.standings} == {
        s.competitor: replace(s, competitor=0) for s in original.standings
    }
    assert other.coefficients == original.coefficients


def test_a_flip_of_sides_moves_nothing_under_style_control():
    rows = style_rows()
    longer_first = rows.swap_sides(rows.covariates[:, 0] < 0)
    options = replace(QUICK, style=True)
    one, other = fit_leaderboard(rows, options), fit_leaderboard(longer_first, options)
    assert ratings_of(one) == pytest.approx(ratings_of(other), abs=1e-8)
    fastchat = replace(options, style_transform="fastchat")
    one, other = fit_leaderboard(rows, fastchat), fit_leaderboard(longer_first, fastchat)
    assert (
        np.abs(np.array(ratings_of(one)) - ratings_of(other)).max() > 1
    )  # why centring is refused by default
    assert any("centres the covariates" in w for w in other.warnings)


def test_marginal_rank_sets_lie_within_the_joint_ones():
    fit = fit_leaderboard(baseball(), QUICK)
    for s in fit.standings:
        assert s.rank_lower <= s.rank_marginal_lower <= s.rank_marginal_upper <= s.rank_upper


def test_a_board_says_how_far_other_policies_move_it():
    fit = fit_leaderboard(pudding(), QUICK)
    assert [(m.ties, m.largest_rank_move is not None) for m in fit.policy_moves] == [
        ("drop", True),
        ("davidson", True),
    ]
    assert fit_leaderboard(baseball(), QUICK).policy_moves == ()  # no draw, nothing to decide
    assert fit.as_dict([f"brand {i}" for i in range(6)])["policy_moves"][0]["ties"] == "drop"


def test_an_anchor_off_the_board_is_refused():
    with pytest.raises(UnknownCompetitorError):
        fit_leaderboard(baseball(), replace(QUICK, anchor=7))
