"""Simulated votes have the truth they were asked for."""

import numpy as np
import pytest
from scipy.special import expit

from ratings.comparisons import BOTH_BAD, MODEL_A, MODEL_B, TIE, Policies, tally
from ratings.errors import BadOptionError, IncomparableError
from ratings.simulate import (
    StyleFeature,
    VoteModel,
    pseudo_true_strengths,
    simulate_votes,
)
from ratings.style import relative_differences, scale_covariates

FULL = VoteModel(
    strengths=(0.6, 0.1, -0.2, -0.5),
    tie=0.7,
    both_bad_share=0.3,
    both_bad_slope=0.5,
    position=0.1,
    raters=12,
    rater_sd=0.5,
    rater_zipf=1.0,
    prompts=40,
    prompt_sd=0.4,
    style=(StyleFeature("words", 0.25, lean=(0.3, 0.0, 0.0, -0.3)), StyleFeature("bold", 0.0, typical=2.0)),
)


def frequencies(votes):
    return np.bincount(votes.outcome, minlength=4) / len(votes)


def test_the_same_seed_gives_the_same_votes_and_another_seed_others():
    first, again, other = (simulate_votes(FULL, 500, seed=seed) for seed in (3, 3, 4))
    for name in ("a", "b", "outcome", "rater", "prompt", "covariates", "counts_a", "counts_b"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name
    assert not np.array_equal(first.outcome, other.outcome)


def test_the_arrays_are_read_only():
    votes = simulate_votes(FULL, 20, seed=0)
    with pytest.raises(ValueError, match="read-only"):
        votes.outcome[0] = 1


def test_votes_become_comparisons_with_their_raters_prompts_and_covariates():
    votes = simulate_votes(FULL, 200, seed=1)
    comparisons = votes.as_comparisons()
    assert comparisons.n_competitors == 4
    assert comparisons.covariate_names == ("words", "bold")
    assert np.array_equal(comparisons.covariates, votes.covariates)
    assert np.array_equal(comparisons.rater, votes.rater)
    assert tally(comparisons, Policies()).counts.sum() == 200
    assert simulate_votes(VoteModel((0, 0)), 5, seed=0).as_comparisons().rater is None


def test_turning_an_effect_off_leaves_pairs_raters_and_prompts_as_they_were():
    plain = VoteModel(strengths=FULL.strengths, raters=12, rater_zipf=1.0, prompts=40)
    rich, bare = simulate_votes(FULL, 300, seed=5), simulate_votes(plain, 300, seed=5)
    for name in ("a", "b", "rater", "prompt"):
        assert np.array_equal(getattr(rich, name), getattr(bare, name)), name


def test_two_competitors_win_tie_and_lose_as_davidson_says():
    theta, tie = 0.8, 0.7
    votes = simulate_votes(VoteModel(strengths=(theta / 2, -theta / 2), tie=tie), 40_000, seed=1)
    total = np.exp(theta / 2) + np.exp(-theta / 2) + tie
    stronger = np.where(votes.a == 0, votes.outcome == MODEL_A, votes.outcome == MODEL_B)
    assert abs(stronger.mean() - np.exp(theta / 2) / total) < 0.01
    assert abs(frequencies(votes)[TIE] - tie / total) < 0.01
    assert frequencies(votes)[BOTH_BAD] == 0


def test_without_ties_every_vote_is_decisive_even_at_extreme_strengths():
    votes = simulate_votes(VoteModel(strengths=(400.0, -400.0)), 200, seed=1)
    assert set(votes.outcome) <= {MODEL_A, MODEL_B}
    assert np.all((votes.outcome == MODEL_A) == (votes.a == 0))


def test_position_effect_favours_the_side_shown_first():
    votes = simulate_votes(VoteModel(strengths=(0.0, 0.0), position=0.5), 20_000, seed=2)
    assert abs(frequencies(votes)[MODEL_A] - expit(0.5)) < 0.012


def test_both_bad_takes_its_share_of_the_ties_and_more_from_weak_pairs():
    strengths = (1.0, 1.0, -1.0, -1.0)
    model = VoteModel(strengths=strengths, tie=2.0, both_bad_share=0.4, both_bad_slope=1.0)
    votes = simulate_votes(model, 30_000, seed=3)
    level = (np.take(strengths, votes.a) + np.take(strengths, votes.b)) / 2
    drawn = votes.outcome >= TIE
    for height in (-1.0, 0.0, 1.0):
        share = np.mean(votes.outcome[drawn & (level == height)] == BOTH_BAD)
        assert abs(share - expit(np.log(0.4 / 0.6) - height)) < 0.03


def test_votes_per_rater_follow_zipf():
    votes = simulate_votes(VoteModel(strengths=(0, 0), raters=5, rater_zipf=1.0), 20_000, seed=4)
    expected = 1 / np.arange(1, 6)
    assert np.allclose(np.bincount(votes.rater) / 20_000, expected / expected.sum(), atol=0.012)


def test_taste_makes_votes_of_one_rater_alike():
    model = VoteModel(strengths=(0.0, 0.0), raters=200, rater_sd=1.0)
    votes = simulate_votes(model, 20_000, seed=5)
    first = np.where(votes.a == 0, votes.outcome == MODEL_A, votes.outcome == MODEL_B)
    share = np.bincount(votes.rater, first) / np.bincount(votes.rater)
    assert share.std() > 0.2  # independent votes would give 0.05


def test_raters_keep_their_taste_over_rounds_that_share_its_seed():
    model = VoteModel(strengths=(0.0, 0.0), raters=40, rater_sd=2.0)

    def shares(seed, taste_seed):
        votes = simulate_votes(model, 8_000, seed=seed, taste_seed=taste_seed)
        first = np.where(votes.a == 0, votes.outcome == MODEL_A, votes.outcome == MODEL_B)
        return np.bincount(votes.rater, first, 40) / np.bincount(votes.rater, minlength=40)

    assert np.corrcoef(shares(1, 9), shares(2, 9))[0, 1] > 0.95
    assert abs(np.corrcoef(shares(1, 9), shares(2, 8))[0, 1]) < 0.6
    assert np.array_equal(shares(3, 3), shares(3, None))


def test_only_given_pairs_meet_and_at_their_propensities():
    model = VoteModel(strengths=(0, 0, 0), pairs=((0, 1), (1, 2)), propensities=(0.8, 0.2))
    votes = simulate_votes(model, 10_000, seed=6)
    pair = np.minimum(votes.a, votes.b)
    assert abs(np.mean(pair == 0) - 0.8) < 0.02
    assert set(zip(np.minimum(votes.a, votes.b), np.maximum(votes.a, votes.b), strict=True)) == {
        (0, 1),
        (1, 2),
    }
    assert np.array_equal(votes.propensity, np.where(pair == 0, 0.8, 0.2))
    assert abs(np.mean(votes.a < votes.b) - 0.5) < 0.02


def test_a_panel_keeps_a_competitors_battles_to_its_raters():
    votes = simulate_votes(VoteModel(strengths=(0, 0, 0), raters=30, panels={2: (4, 7)}), 3_000, seed=7)
    with_panel = (votes.a == 2) | (votes.b == 2)
    assert set(votes.rater[with_panel]) == {4, 7}
    assert len(set(votes.rater[~with_panel])) == 30


def test_covariates_are_scaled_antisymmetric_and_lean_as_told():
    votes = simulate_votes(FULL, 5_000, seed=8)
    assert np.allclose(np.mean(votes.covariates**2, axis=0), 1.0)
    assert np.array_equal(
        scale_covariates(relative_differences(votes.counts_b, votes.counts_a), "relative").z,
        -votes.covariates,
    )
    words = np.r_[votes.counts_a[votes.a == 0, 0], votes.counts_b[votes.b == 0, 0]]
    assert abs(np.log(words).mean() - (np.log(200) + 0.3)) < 0.05


def test_pseudo_truth_is_the_truth_when_votes_are_pure_bradley_terry():
    model = VoteModel(strengths=(0.9, 0.1, -1.0))
    assert np.allclose(pseudo_true_strengths(model), model.strengths, atol=1e-9)


def test_pseudo_truth_shrinks_with_taste_as_the_marginal_win_rate_does():
    model = VoteModel(strengths=(0.5, -0.5), tie=0.6, position=0.4, raters=20_000, rater_sd=0.7)
    gap = np.ptp(pseudo_true_strengths(model))
    votes = simulate_votes(model, 400_000, seed=9)
    side = np.where(votes.a == 0, 1, -1)
    score = 0.5 + side * ((votes.outcome == MODEL_A) * 0.5 - (votes.outcome == MODEL_B) * 0.5)
    assert abs(expit(gap) - score.mean()) < 0.003
    assert gap < 0.8


def test_pseudo_truth_of_a_perfect_cycle_is_level():
    effects = ((0.0, 1.0, -1.0), (-1.0, 0.0, 1.0), (1.0, -1.0, 0.0))
    model = VoteModel(strengths=(0, 0, 0), pair_effects=effects)
    assert np.allclose(pseudo_true_strengths(model), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strengths": (1.0,)}, "two finite"),
        ({"strengths": (1.0, np.nan)}, "two finite"),
        ({"tie": -1.0}, "tie must"),
        ({"both_bad_share": 1.0}, "both_bad_share"),
        ({"rater_sd": 0.3}, "number of raters"),
        ({"prompt_sd": 0.3}, "number of prompts"),
        ({"style": (StyleFeature("words", 0.1, lean=(1.0,)),)}, "'words' has 1 leanings for 2"),
        ({"panels": {0: (3,)}, "raters": 2}, "panel of competitor 0"),
        ({"pairs": ((0, 0),)}, "two different"),
        ({"pairs": ((0, 2),)}, "two different"),
        ({"pairs": ((0, 1), (1, 0))}, "named twice"),
        ({"propensities": (0.5, 0.5)}, "2 propensities for 1 pairs"),
        ({"propensities": (0.5,)}, "sum to 1"),
        ({"pair_effects": ((0.0, 1.0), (1.0, 0.0))}, "antisymmetric"),
    ],
)
def test_a_model_that_contradicts_itself_is_refused_by_name(wrong, message):
    with pytest.raises(BadOptionError, match=message):
        simulate_votes(VoteModel(**({"strengths": (0.0, 0.0)} | wrong)), 10, seed=0)


def test_no_votes_and_unconnected_or_styled_truths_are_refused():
    with pytest.raises(BadOptionError, match="at least 1"):
        simulate_votes(FULL, 0, seed=0)
    with pytest.raises(IncomparableError, match="don't connect"):
        pseudo_true_strengths(VoteModel(strengths=(0, 1, 0, 1), pairs=((0, 1), (2, 3))))
    with pytest.raises(BadOptionError, match="without style"):
        pseudo_true_strengths(FULL)
