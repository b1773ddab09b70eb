"""People and a judge on one board."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Comparisons, Policies
from ratings.errors import BadOptionError, ShapeError, UnknownOutcomeError
from ratings.prediction_powered import RefusedError, fit_prediction_powered
from ratings.simulate import VoteModel, pseudo_true_strengths, simulate_votes

# Each word is a, b, whether people prefer a, whether the judge does.
LABELLED = (
    "2000 1200 2000 2011 1000 2011 2000 0111 0200 0211 0211 2000 2100 0100 1211 "
    "2000 0201 2100 0211 1211 2111 0100 1000 0211 2000 0211 2100 1011 1000 1011 "
    "1211 1001 1211 2000 2000 2101 2111 1011 1011 2111 1000 0101 2101 0211 2000 "
    "1211 0211 0100 1011 0110 0100 1200 2011 1000 2011 2000 2100 1011 1211 1000 "
)
# Each word is a, b, whether the judge prefers a.
UNLABELLED = (
    "211 100 010 010 200 120 200 100 100 010 100 121 210 021 021 100 200 211 121 101 "
    "011 121 101 101 011 021 200 020 021 021 200 120 121 020 121 201 201 100 210 010 "
    "011 011 011 210 211 021 120 011 200 020 101 011 201 211 201 021 210 011 211 211 "
    "100 120 210 010 021 101 011 210 201 100 020 211 100 020 121 211 011 200 121 200 "
    "201 200 100 121 200 011 021 100 211 200 201 011 020 011 201 100 021 210 121 211 "
    "101 010 200 011 010 211 121 121 020 211 121 200 121 211 201 200 021 200 121 121 "
    "020 121 010 021 200 210 121 200 020 210 020 120 021 120 101 101 121 011 100 201 "
    "100 100 021 100 211 121 010 211 211 101 010 201 011 200 121 100 210 011 010 210 "
    "200 201 010 021 101 201 200 201 121 211 020 021 120 010 201 210 010 011 021 011 "
    "121 121 200 120 210 200 210 021 121 211 210 011 200 200 011 011 020 100 011 010 "
    "021 021 121 021 101 210 021 101 200 021 200 201 011 201 021 200 121 010 010 121 "
    "200 011 120 021 121 011 211 121 201 011 021 011 101 210 121 121 200 011 011 200 "
    "210 010 021 121 201 011 201 121 201 121 101 100 211 120 201 211 010 200 100 010 "
    "011 021 100 010 100 210 201 210 021 021 200 200 200 021 211 101 120 100 101 200 "
    "200 021 200 021 121 121 201 011 120 010 211 101 210 210 021 211 200 210 211 210 "
    "210 210 010 210 201 211 210 210 100 010 010 021 010 201 200 021 121 210 210 121 "
    "210 021 211 211 121 011 021 121 011 010 021 200 120 121 101 200 021 021 121 200 "
    "121 210 210 101 200 210 011 121 011 121 010 211 021 200 200 120 120 211 120 021 "
    "020 120 120 201 021 021 211 201 210 020 120 201 201 101 101 121 021 210 121 121 "
    "210 211 200 021 210 120 120 121 020 210 101 020 210 120 021 100 011 121 210 021 "
)


def digits(text):
    return np.array([[int(c) for c in word] for word in text.split()])


def reference(**options):
    people, judged = digits(LABELLED), digits(UNLABELLED)
    return fit_prediction_powered(
        Comparisons.of(3, people[:, 0], people[:, 1], 1 - people[:, 2]),
        1 - people[:, 3],
        Comparisons.of(3, judged[:, 0], judged[:, 1], 1 - judged[:, 2]),
        least_votes=60,
        **options,
    )


def below_last(board):
    return board.strengths[:2] - board.strengths[2], board.covariance.difference_deviations[:2, 2]


TRUTH = (0.6, 0.3, 0.0, -0.3, -0.6)


def study(seed, *, people=300, judged=3000, prompts=40, prompt_sd=0.5, copies=0.8, ids=True):
    """People's votes and a judge's that copies them most of the time and else favours competitor 4."""
    model = VoteModel(strengths=TRUTH, prompts=prompts, prompt_sd=prompt_sd)
    votes = simulate_votes(model, people + judged, seed=seed)
    rng = np.random.default_rng(seed)
    biased = np.where(votes.a == 4, 0, np.where(votes.b == 4, 1, rng.integers(2, size=len(votes))))
    judge = np.where(rng.random(len(votes)) < copies, votes.outcome, biased)
    asked = votes.as_comparisons()
    if not ids:
        asked = Comparisons.of(5, asked.a, asked.b, asked.outcome)
    mine, rest = np.arange(people), np.arange(people, people + judged)
    others = Comparisons.of(5, asked.a[rest], asked.b[rest], judge[rest], prompt=votes.prompt[rest])
    return asked.select(mine), judge[mine], others


def test_tuned_board_of_the_reference_rows():
    board = reference()
    strengths, errors = below_last(board)
    assert board.lam == pytest.approx(0.6285846, abs=1e-7)
    assert strengths == pytest.approx([0.84001012, 0.78240744], abs=2e-8)
    assert errors == pytest.approx([0.24855758, 0.25405869], abs=1e-8)
    assert board.people_covariance.difference_deviations[:2, 2] == pytest.approx(
        [0.39669067796339935, 0.3856515027220311], abs=1e-8
    )
    assert board.people[:2] - board.people[2] == pytest.approx(
        [0.9285733863602574, 1.0258645846596828], abs=1e-9
    )


def test_point_estimate_at_a_fixed_lam_equals_ppi_py():
    strengths, _ = below_last(reference(lam=0.6158385567696499))
    assert strengths == pytest.approx([0.841435835019573, 0.7868625707436888], abs=1e-9)


@pytest.mark.parametrize(("people", "judged"), [(600, 600), (600, 3000), (2000, 400)])
def test_the_weight_of_a_judgment_is_what_it_moves_against_what_a_vote_moves(people, judged):
    votes, judge, others = study(3, people=people, judged=judged)
    fit = fit_prediction_powered(votes, judge, others, lam=0.4)

    def moved_by_turning(name: str) -> float:
        """How far 0 comes away from 1 when one row that 0 lost to 1 is won."""
        rows = {"people": votes, "judged": others}
        outcome = rows[name].outcome.copy()
        outcome[np.flatnonzero((rows[name].a == 0) & (rows[name].b == 1) & (outcome == 1))[0]] = 0
        rows[name] = replace(rows[name], outcome=outcome)
        turned = fit_prediction_powered(rows["people"], judge, rows["judged"], lam=0.4)
        return float(np.subtract(*(turned.strengths - fit.strengths)[:2]))

    moved = moved_by_turning("judged") / moved_by_turning("people")
    assert moved == pytest.approx(fit.weight, rel=0.03)


def test_lam_of_one_and_of_zero():
    strengths, errors = below_last(reference(lam=1.0))
    assert strengths == pytest.approx([0.8044600552808674, 0.6598122224769266], abs=1e-9)
    assert errors == pytest.approx([0.26655377300850813, 0.28980574789727204], abs=1e-8)
    alone = reference(lam=0.0)
    assert alone.strengths == pytest.approx(alone.people, abs=1e-9)
    assert alone.gain == pytest.approx(0.0, abs=1e-12)


def test_intervals_cover_what_people_think_although_the_judge_is_biased():
    truth = np.array(TRUTH)
    covered, gains, pooled_covered = [], [], []
    for seed in range(40):
        people, judge, judged = study(seed, prompt_sd=0.0, ids=False)
        board = fit_prediction_powered(people, judge, judged)
        gains.append(board.gain)
        covered.append(np.abs(board.strengths - truth) <= board.half_width)
        pooled = fit_bradley_terry(
            Comparisons.of(
                5,
                np.r_[people.a, judged.a],
                np.r_[people.b, judged.b],
                np.r_[people.outcome, judged.outcome],
            )
        ).strengths
        pooled_covered.append(np.abs(pooled - truth) <= board.half_width)
    assert 0.91 <= np.mean(covered) <= 0.99
    assert np.mean(pooled_covered) < 0.85
    assert np.mean(gains) > 0.5


def test_prompts_shared_by_people_and_judge_are_one_cluster():
    covered, independent = [], []
    truth = pseudo_true_strengths(VoteModel(TRUTH, prompts=25, prompt_sd=1.2))
    for seed in range(30):
        board = fit_prediction_powered(*study(seed, judged=1500, prompts=25, prompt_sd=1.2))
        covered.append(np.abs(board.strengths - truth) <= board.half_width)
        sandwich = 1.96 * np.sqrt(np.diag(board.covariance.independent))
        independent.append(np.abs(board.strengths - truth) <= sandwich)
    assert np.mean(covered) > 0.9
    assert np.mean(independent) < np.mean(covered) - 0.05


def test_raters_and_prompts_are_clustered_two_ways():
    model = VoteModel(strengths=TRUTH, raters=30, rater_sd=0.7, prompts=40, prompt_sd=0.4)
    votes = simulate_votes(model, 3400, seed=3).as_comparisons()
    rest = votes.select(np.arange(400, 3400))
    judged = Comparisons.of(5, rest.a, rest.b, rest.outcome, prompt=rest.prompt)
    people = votes.select(np.arange(400))
    board = fit_prediction_powered(people, people.outcome, judged)
    assert [d.name for d in board.covariance.dimensions] == ["rater", "prompt"]
    assert np.all(board.covariance.deviations >= np.sqrt(np.diag(board.covariance.floors[0])) - 1e-12)
    assert 10 <= board.covariance.effective <= 30


def test_a_weight_of_two_is_a_vote_cast_twice():
    people, judge, judged = study(13)
    twice, twice_judged = np.arange(300) % 3 == 0, np.arange(3000) % 4 == 0
    people_rows = np.r_[np.arange(300), np.flatnonzero(twice)]
    judged_rows = np.r_[np.arange(3000), np.flatnonzero(twice_judged)]
    repeated = fit_prediction_powered(
        people.select(people_rows), judge[people_rows], judged.select(judged_rows), lam=0.5
    )
    weighted = fit_prediction_powered(
        replace(people, weight=1.0 + twice), judge, replace(judged, weight=1.0 + twice_judged), lam=0.5
    )
    assert weighted.strengths == pytest.approx(repeated.strengths, abs=1e-9)
    assert weighted.covariance.deviations == pytest.approx(repeated.covariance.deviations, rel=0.05)


def test_a_judge_who_says_the_opposite_is_not_used_at_all():
    people, judge, judged = study(14, copies=1.0, prompt_sd=0.0)
    contrary = replace(judged, outcome=(1 - judged.outcome).astype(np.int8))
    board = fit_prediction_powered(people, 1 - judge, contrary)
    assert board.lam == 0.0
    assert board.strengths == pytest.approx(board.people, abs=1e-9)


def test_a_judge_that_guesses_is_left_aside():
    board = fit_prediction_powered(*study(1, copies=0.0, prompt_sd=0.0))
    assert board.lam < 0.2
    assert -0.05 < board.gain < 0.15


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(5)), st.integers(0, 2**31))
def test_sides_names_and_row_order_change_nothing(names, seed):
    people, judge, judged = study(4, people=150, judged=400)
    expected = fit_prediction_powered(people, judge, judged)
    rng = np.random.default_rng(seed)
    renamed = np.array(names)
    order, other_order = rng.permutation(150), rng.permutation(400)
    flip, other_flip = rng.random(150) < 0.5, rng.random(400) < 0.5
    both = Comparisons.of(5, people.a, people.b, judge)

    def again(votes, order, flip):
        votes = votes.select(order).swap_sides(flip)
        return Comparisons.of(5, renamed[votes.a], renamed[votes.b], votes.outcome, prompt=votes.prompt)

    board = fit_prediction_powered(
        again(people, order, flip),
        both.select(order).swap_sides(flip).outcome,
        again(judged, other_order, other_flip),
    )
    assert board.lam == pytest.approx(expected.lam, abs=1e-9)
    assert board.strengths[renamed] == pytest.approx(expected.strengths, abs=1e-8)
    assert board.half_width[renamed] == pytest.approx(expected.half_width, abs=1e-8)


def test_too_few_votes_and_too_few_prompts_are_refused_with_both_reasons():
    people, judge, judged = study(5, people=60, prompts=6)
    with pytest.raises(RefusedError) as refused:
        fit_prediction_powered(people, judge, judged)
    assert refused.value.reasons[0] == "60 votes by people, fewer than 100"
    assert "5.9 equally busy prompts" in refused.value.reasons[1]


def test_another_pair_mix_is_refused_or_weighted():
    people, judge, judged = study(6, judged=4000)
    rng = np.random.default_rng(0)
    rare = rng.random(len(judged)) < np.where((judged.a == 4) | (judged.b == 4), 1.0, 0.3)
    skewed = judged.select(rare)
    with pytest.raises(RefusedError, match="pairs differ from people's"):
        fit_prediction_powered(people, judge, skewed)
    matched = fit_prediction_powered(people, judge, skewed, match_pairs=True)
    whole = fit_prediction_powered(people, judge, judged)
    assert matched.matched_pairs
    assert np.all(np.abs(matched.strengths - whole.strengths) < 0.7 * whole.half_width)


def test_pairs_the_judge_never_saw_cannot_be_matched():
    people, judge, judged = study(7)
    without = judged.select(~((judged.a == 4) | (judged.b == 4)))
    with pytest.raises(
        RefusedError,
        match="on 4 of the pairs of models that people compared, the judge judged no battle beyond",
    ):
        fit_prediction_powered(people, judge, without, match_pairs=True)


def test_people_who_leave_a_strength_unbounded_are_refused():
    people, judge, judged = study(8)
    one_sided = np.where(people.a == 0, 0, np.where(people.b == 0, 1, people.outcome))
    spotless = Comparisons.of(5, people.a, people.b, one_sided, prompt=people.prompt)
    with pytest.raises(RefusedError, match="unbounded"):
        fit_prediction_powered(spotless, judge, judged)


def test_rows_dropped_for_either_side_are_dropped_for_both():
    people, judge, judged = study(9)
    tied = np.where(np.arange(300) < 30, 4, judge)
    board = fit_prediction_powered(people, tied, judged, Policies(unstable="drop"))
    expected = fit_prediction_powered(people.select(np.arange(30, 300)), judge[30:], judged)
    assert board.votes == 270
    assert board.strengths == pytest.approx(expected.strengths, abs=1e-12)


def test_a_competitor_only_the_judge_saw_gets_no_number_and_moves_nobody():
    people, judge, judged = study(12)
    newcomer = np.arange(60)
    more = Comparisons.of(
        6,
        np.r_[judged.a, np.full(60, 5)],
        np.r_[judged.b, newcomer % 5],
        np.r_[judged.outcome, newcomer % 2],
        prompt=np.r_[judged.prompt, newcomer % 40],
    )
    wider = Comparisons.of(6, people.a, people.b, people.outcome, prompt=people.prompt)
    expected, board = (
        fit_prediction_powered(people, judge, judged),
        fit_prediction_powered(wider, judge, more),
    )
    assert board.strengths[:5] == pytest.approx(expected.strengths, abs=1e-9)
    assert board.half_width[:5] == pytest.approx(expected.half_width, abs=1e-9)
    assert np.isnan(board.half_width[5])
    assert board.left_out == 60


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"lam": 1.5}, BadOptionError),
        ({"policies": Policies(ties="davidson")}, BadOptionError),
        ({"judge_outcome": [0]}, ShapeError),
        ({"judge_outcome": np.full(300, -1)}, UnknownOutcomeError),
        ({"judged": Comparisons.of(4, [0], [1], [0])}, ShapeError),
        ({"confidence": 0.0}, BadOptionError),
    ],
)
def test_options_that_make_no_sense_are_refused(change, error):
    people, judge, judged = study(10)
    arguments = {"people": people, "judge_outcome": judge, "judged": judged} | change
    with pytest.raises(error):
        fit_prediction_powered(**arguments)


def test_covariates_are_refused_rather_than_ignored():
    people, judge, judged = study(11)
    styled = people.with_covariates(np.ones((300, 1)), ["words"])
    with pytest.raises(BadOptionError, match="no covariates"):
        fit_prediction_powered(styled, judge, judged)
