"""Why a feature of style isn't controlled for: the true reason as data, and in words."""

from dataclasses import replace

import numpy as np
import pytest

from ratings.board import PLAIN_AFTER_ALL, fit_board
from ratings.board_options import LeaderboardOptions
from ratings.comparisons import Comparisons
from ratings.simulate import VoteModel, simulate_votes
from ratings.style_left_out import LeftOut, Why, together

OPTIONS = LeaderboardOptions(style=True, bootstrap=0, check=False)


def votes_with(n: int = 600, **features) -> Comparisons:
    """Votes on five models, with these features: of each vote (n,), or of each model (5,) and constant."""
    votes = simulate_votes(VoteModel((0.5, 0.3, 0.1, 0.0, -0.4), tie=0.3), n, seed=4).as_comparisons()
    z = [
        feature[votes.a] - feature[votes.b] if len(feature) == 5 else feature for feature in features.values()
    ]
    return votes.with_covariates(np.stack(z, axis=1), list(features))


def left_out_of(votes: Comparisons) -> tuple[LeftOut, ...]:
    return fit_board(votes, OPTIONS).left_out


CONSTANT = np.array([0.1, 0.5, 0.2, 0.4, 0.9])


def drawn(n: int = 600, seed: int = 1):
    return np.random.default_rng(seed).normal(0, 0.3, n)


def test_where_each_model_writes_with_one_constant_style_the_models_are_the_reason():
    board = fit_board(votes_with(length=CONSTANT, bold=CONSTANT[::-1]), OPTIONS)
    assert {(one.why, one.features) for one in board.left_out} == {
        (Why.MODELS, ("length",)),
        (Why.MODELS, ("bold",)),
    }
    assert all(one.inflation == np.inf for one in board.left_out)
    assert board.fit is board.plain
    assert PLAIN_AFTER_ALL in board.notes
    (both,) = together(board.left_out)
    assert set(both.features) == {"length", "bold"}
    assert "which models fought tells them already" in both.sentence()
    assert "each model writes with one constant style (wholly)." in both.sentence()


def test_nearly_constant_styles_name_the_models_and_how_far():
    nearly = votes_with(length=CONSTANT)
    noisy = nearly.with_covariates(nearly.covariates + drawn()[:, None] / 10, ["length"])
    (one,) = left_out_of(noisy)
    assert one.why is Why.MODELS
    assert 10 < one.inflation < np.inf
    assert f"(nearly; variance inflation {one.inflation:.3g})" in one.sentence()


def test_a_feature_that_repeats_another_names_the_one_that_stays():
    z = drawn()
    board = fit_board(votes_with(length=z, words=2 * z, bold=drawn(seed=2)), OPTIONS)
    (one,) = board.left_out
    assert one.why is Why.FEATURES
    assert one.features in {("length",), ("words",)}
    assert one.beside == board.fit.covariate_names
    assert PLAIN_AFTER_ALL not in board.notes
    assert f"told apart from {one.beside[0]} and bold and which models fought (wholly)" in one.sentence()


def test_what_repeats_another_and_the_models_alike_is_told_of_the_models():
    assert {one.why for one in left_out_of(votes_with(length=CONSTANT, words=2 * CONSTANT))} == {Why.MODELS}


def test_responses_that_never_differ_are_the_reason():
    (one, other) = left_out_of(votes_with(length=np.zeros(600), bold=np.zeros(600)))
    assert one == LeftOut(Why.SAME, ("length",), 600)
    assert one.sentence() == "Style control leaves out length: no two responses differ in it."
    (both,) = together((one, other))
    assert both.sentence() == "Style control leaves out length and bold: no two responses differ in them."


def test_too_few_votes_are_the_reason():
    votes = votes_with(15, length=drawn(15), list_items=drawn(15, 2))
    (one,) = (one for one in left_out_of(votes) if one.why is Why.FEW_VOTES)
    assert one == LeftOut(Why.FEW_VOTES, ("list_items",), 15, needed=20)
    assert one.sentence() == "Style control leaves out list items: not enough data, 15 votes, 20 needed."


def test_a_feature_that_hardly_ever_differs_says_in_how_many_votes_it_does():
    votes = votes_with(length=drawn(), headings=np.zeros(600))
    won = np.flatnonzero(votes.outcome == 0)[:4]
    z = votes.covariates.copy()
    z[won, 1] = 1.0
    (one,) = left_out_of(votes.with_covariates(z, ["length", "headings"]))
    assert one == LeftOut(Why.NO_LIMIT, ("headings",), 600, differing=4)
    assert one.sentence() == (
        "Style control leaves out headings: responses differ in it in 4 of 600 votes, and these set no limit"
        " to what style is worth, for none contradicts it."
    )


@pytest.mark.parametrize("feature", [CONSTANT, np.zeros(600)])
def test_the_position_is_no_feature_and_stays(feature):
    board = fit_board(votes_with(length=feature), replace(OPTIONS, position=True))
    assert [one.features for one in board.left_out] == [("length",)]
    assert board.fit.covariate_names == ("position",)
