"""A board exists, or says that there is too little to make one, whatever the votes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from textbook_boards import board, style_rows

from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Comparisons, Policies, tally
from ratings.connectivity import connectivity
from ratings.errors import NotEnoughDataError, NoVotesError
from ratings.firth import one_sided_bound
from ratings.leaderboard import fit_leaderboard
from ratings.rows import sort_rows
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.separation import unbounded_covariates

QUICK = LeaderboardOptions(bootstrap=0, check=False)


def by_competitor(fit):
    return sorted(fit.standings, key=lambda s: s.competitor)


def test_an_unbeaten_model_whose_rivals_never_met_is_rated_and_bounded():
    fit = fit_leaderboard(board(3, [(0, 1, 20, 0), (0, 2, 20, 0)]), LeaderboardOptions(bootstrap=50))
    first, *others = by_competitor(fit)
    # a tree: each pair is Firth's ln(2·20 + 1) apart
    assert first.rating == pytest.approx(1000 + POINTS_PER_LOG_ODDS * np.log(41) * 2 / 3, abs=1e-4)
    assert first.lower == pytest.approx(1276.505125, abs=1e-4)
    assert (first.upper, first.unbounded_above) == (None, True)
    assert [s.rating for s in others] == pytest.approx([784.962152] * 2, abs=1e-4)
    assert [s.upper for s in others] == pytest.approx([1074.342811] * 2, abs=1e-4)
    assert all(s.lower is None and s.unbounded_below for s in others)


def test_the_bound_of_a_star_is_where_its_own_profile_has_fallen_far_enough():
    """By symmetry the profile is that of one log-odds η twice: 2·(20 log p + ½ log 20 p(1 − p)), θ = 2η/3."""
    comparisons = board(3, [(0, 1, 20, 0), (0, 2, 20, 0)])
    bound = one_sided_bound(tally(comparisons, Policies()), fit_bradley_terry(comparisons), 0, 0.95)
    height = lambda eta: -42 * np.log1p(np.exp(-eta)) - eta  # noqa: E731
    assert height(np.log(41)) - height(1.5 * bound) == pytest.approx(1.3527717, abs=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("rivals", [2, 3, 5])
def test_who_wins_or_loses_all_against_rivals_who_never_met_has_one_bound(rivals, sign):
    pairs = [(0, j, 3, 0) if sign > 0 else (j, 0, 3, 0) for j in range(1, rivals + 1)]
    own = by_competitor(fit_leaderboard(board(rivals + 1, pairs), QUICK))[0]
    tree = POINTS_PER_LOG_ODDS * np.log(7) * rivals / (rivals + 1)
    assert own.rating == pytest.approx(1000 + sign * tree, abs=1e-4)
    inner, none = (own.lower, own.upper) if sign > 0 else (own.upper, own.lower)
    assert none is None
    assert 0 < sign * (own.rating - inner) < 800


def test_a_covariate_that_tells_every_outcome_is_left_out_aloud():
    rows = style_rows()
    told = np.where(rows.outcome == 0, 1.0, np.where(rows.outcome == 1, -1.0, 0.0))
    z = np.column_stack([rows.covariates[:, 0], told])
    fit = fit_leaderboard(rows.with_covariates(z, ["length", "praise"]), replace(QUICK, style=True))
    assert [c.name for c in fit.coefficients] == ["length"]
    assert any("leaves out praise" in w and "contradicts" in w for w in fit.warnings)
    alone = fit_leaderboard(rows.with_covariates(z[:, :1], ["length"]), replace(QUICK, style=True))
    assert by_competitor(fit) == by_competitor(alone)


def test_an_unbeaten_model_leaves_the_coefficient_of_the_others_votes_in_place():
    rows = style_rows()
    star = Comparisons.of(5, [4] * 40, [0, 1, 2, 3] * 10, [0] * 40)
    z = np.vstack([rows.covariates[:, :1], np.tile([[0.4], [-0.2]], (20, 1))])
    both = Comparisons.of(
        5,
        np.concatenate([rows.a, star.a]),
        np.concatenate([rows.b, star.b]),
        np.concatenate([rows.outcome, star.outcome]),
        covariates=z,
        covariate_names=("length",),
    )
    fit = fit_leaderboard(both, replace(QUICK, style=True))
    assert [c.name for c in fit.coefficients] == ["length"]
    assert by_competitor(fit)[4].unbounded_above


def test_votes_that_the_models_alone_explain_say_nothing_of_style():
    rng = np.random.default_rng(3)
    a, b = np.arange(40) % 3, 3 - (np.arange(40) % 2 == 0) * (np.arange(40) % 3 < 2)
    b = np.where(b == a, 3, b)
    chain = Comparisons.of(
        4,
        a,
        b,
        np.where(a < b, 0, 1),
        covariates=rng.uniform(-1, 1, (40, 1)),
        covariate_names=("length",),
    )
    fit = fit_leaderboard(chain, replace(QUICK, style=True))
    assert fit.coefficients == ()
    assert any("leaves out length" in w for w in fit.warnings)
    assert any("this board is the plain one" in w for w in fit.warnings)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_covariate_is_unbounded_exactly_if_no_vote_contradicts_it(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    z = rng.integers(-3, 4, (n, 1)) / 2
    y = rng.integers(0, 2, n)
    votes = Comparisons.of(2, [0] * n, [1] * n, y, covariates=z, covariate_names=("length",))
    if connectivity(tally(votes, Policies())).separated.any():
        return
    lost, won = z[y == 1, 0], z[y == 0, 0]  # one pair: η = θ + γz must order the votes by z
    open_ended = lost.max() <= won.min() or won.max() <= lost.min()
    assert unbounded_covariates(sort_rows(votes, Policies())).tolist() == [open_ended]


@pytest.mark.parametrize("clusters", [{"rater": 1}, {"rater": 1, "prompt": 30}, {"prompt": 1}])
def test_one_rater_is_flagged_as_loudly_as_four(clusters):
    comparisons = board(2, [(0, 1, 18, 12)])
    ids = {name: np.arange(30, dtype=np.int32) % count for name, count in clusters.items()}
    one = fit_leaderboard(replace(comparisons, **ids), QUICK)
    four = fit_leaderboard(replace(comparisons, rater=np.arange(30, dtype=np.int32) % 4), QUICK)
    single = next(name for name, count in clusters.items() if count == 1)
    assert any(f"conditional on this {single}" in w for w in one.warnings)
    assert all(getattr(s, f"too_few_{single}s") and s.provisional for s in one.standings)
    assert all(s.too_few_raters and not s.too_few_prompts and s.provisional for s in four.standings)
    model = POINTS_PER_LOG_ODDS / 2 / np.sqrt(30 * 0.6 * 0.4)
    assert all(s.standard_error > model - 1e-4 for s in one.standings)


@st.composite
def votes(draw):
    """1–60 votes on 2–6 models, any outcomes, raters, prompts and covariates, degenerate ones included."""
    k, n = draw(st.integers(2, 6)), draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    a = rng.integers(0, k, n)
    b = (a + rng.integers(1, k, n)) % k
    kind = draw(st.sampled_from(["any", "ordered", "nearly ordered", "ties"]))
    by_id = (a > b).astype(int)
    outcome = {
        "any": rng.integers(0, 4, n),
        "ordered": by_id,
        "nearly ordered": np.where(rng.random(n) < 0.1, 2, by_id),
        "ties": np.full(n, 2),
    }[kind]
    columns = {
        "counts": rng.integers(-3, 4, n) / 4,
        "constant": np.full(n, 0.5),
        "nothing": np.zeros(n),
        "telling": np.choose(outcome.clip(0, 2), [1.0, -1.0, 0.0]),
        "model": (a == 0).astype(float) - (b == 0),
        "noise": rng.normal(size=n),
    }
    names = draw(st.lists(st.sampled_from(sorted(columns)), max_size=4))
    ids = {
        name: None if count is None else rng.integers(0, count, n).astype(np.int32)
        for name, count in draw(
            st.fixed_dictionaries(dict.fromkeys(("rater", "prompt"), st.sampled_from([None, 1, 4, 30])))
        ).items()
    }
    comparisons = Comparisons.of(k, a, b, outcome, **ids)
    if names:
        z = np.column_stack([columns[name] for name in names])
        comparisons = comparisons.with_covariates(z, [f"{name} {i}" for i, name in enumerate(names)])
    options = LeaderboardOptions(
        bootstrap=draw(st.sampled_from([0, 20])), check=False, style=bool(names), position=draw(st.booleans())
    )
    return comparisons, options, rng.random(n) < 0.5


def _outcome(comparisons, options):
    try:
        return fit_leaderboard(comparisons, options)
    except NotEnoughDataError as error:
        return str(error)


def _numbers(fit):
    for row in (*fit.standings, *fit.coefficients):
        for name in ("rating", "estimate", "standard_error", "lower", "upper", "bootstrap_lower"):
            value = getattr(row, name, None)
            if value is not None:
                yield value


LONE = Comparisons.of(2, [0], [1], [0]).with_covariates([[1.0]], ["words"])


@settings(max_examples=60, deadline=None)
@given(votes())
@example((LONE, LeaderboardOptions(bootstrap=20, style=True), np.array([True])))
@example((board(3, [(0, 1, 20, 0), (0, 2, 20, 0)]), LeaderboardOptions(bootstrap=20), np.arange(40) % 2 == 0))
@example((board(4, [(j, 0, 3, 0) for j in (1, 2, 3)]), QUICK, np.arange(9) % 2 == 0))
def test_any_votes_give_finite_ratings_whichever_side_they_are_listed_on(case):
    comparisons, options, flipped = case
    fit = _outcome(comparisons, options)
    other = _outcome(comparisons.swap_sides(flipped), options)
    if isinstance(fit, str):
        assert other == fit
        return
    assert np.isfinite(list(_numbers(fit))).all()
    assert max(np.abs(list(_numbers(fit)))) < 1e5
    assert all(s.rating is not None for s in fit.standings if s.battles)
    if not options.position:
        rated = [s for s in by_competitor(fit) if s.battles]
        again = [by_competitor(other)[s.competitor].rating for s in rated]
        assert again == pytest.approx([s.rating for s in rated], abs=1e-3, rel=0)


def test_no_vote_is_too_little_and_says_so():
    with pytest.raises(NotEnoughDataError, match="no vote to fit") as raised:
        fit_leaderboard(Comparisons.of(3, [], [], []), QUICK)
    assert isinstance(raised.value, NoVotesError)
