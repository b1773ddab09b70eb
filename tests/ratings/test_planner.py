"""How many votes, raters or prompts a question needs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.compare import effective_clusters_of_pairs, shares_of
from ratings.errors import BadOptionError, BadValueError
from ratings.planner import direct_votes_needed, minimum_detectable, new_raters_needed, votes_to_separate
from ratings.scale import POINTS_PER_LOG_ODDS, expected_score
from ratings.simulate import VoteModel, simulate_votes


@pytest.mark.parametrize(
    ("points", "votes"),
    [(5, 37901), (10, 9478), (20, 2372), (30, 1056), (50, 382), (100, 98), (200, 27)],
)
def test_votes_that_separate_two_competitors(points, votes):
    need = votes_to_separate(points)
    assert need.count == votes
    assert str(need) == f"{votes:,} votes"


@pytest.mark.parametrize(
    ("votes", "share", "points"),
    [
        (50, 0.6934665022762233, 141.81901865845904),
        (100, 0.6384342210638646, 98.77153547298377),
        (200, 0.5984682647596431, 69.32850007930578),
        (500, 0.5624977565355614, 43.65620410742566),
        (1000, 0.5442447490568935, 30.825026625553818),
        (5000, 0.5198055284329222, 13.769495361564884),
    ],
)
def test_difference_that_a_number_of_votes_can_show(votes, share, points):
    detectable = minimum_detectable(votes)
    assert detectable.expected_score == pytest.approx(share, abs=1e-10)
    assert detectable.points == pytest.approx(points, abs=1e-8)


@given(
    st.integers(30, 100_000),
    st.floats(1.0, 5.0),
    st.sampled_from([1, 10, 190]),
    st.sampled_from([0, 0.3]),
    st.sampled_from([3, 19, np.inf]),
)
def test_the_two_directions_agree(votes, design_effect, comparisons, ties, degrees):
    options = {"design_effect": design_effect, "comparisons": comparisons, "tie_share": ties}
    options["degrees"] = degrees
    detectable = minimum_detectable(votes, **options)
    if detectable.points is not None:
        assert votes_to_separate(detectable.points, **options).count in (votes, votes + 1)


@pytest.mark.parametrize("ties", [0.0, 0.4])
def test_planned_votes_give_the_promised_power(ties):
    need = votes_to_separate(60, tie_share=ties)
    score = expected_score(60)
    chances = [score - ties / 2, ties, 1 - score - ties / 2]
    won, _tied, lost = np.random.default_rng(0).multinomial(need.count, chances, size=20_000).T
    z = (won - lost) / 2 / np.sqrt(need.count * (1 - ties) / 4)
    assert np.mean(np.abs(z) > norm.isf(0.025)) == pytest.approx(0.8, abs=0.02)


def test_a_handful_of_votes_can_show_nothing():
    assert minimum_detectable(3).points is None
    assert minimum_detectable(60, design_effect=20).points is None


@pytest.mark.parametrize("degrees", [0, -1])
def test_without_degrees_of_freedom_no_number_of_votes_shows_anything(degrees):
    assert minimum_detectable(10_000, degrees=degrees).points is None
    assert not votes_to_separate(400, degrees=degrees).reachable


def test_fewer_degrees_of_freedom_ask_for_larger_differences():
    found = [minimum_detectable(2000, comparisons=21, degrees=n).points for n in (4, 9, 19, 49, np.inf)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == minimum_detectable(2000, comparisons=21).points
    assert found[2] > 1.1 * found[-1]


def test_beyond_the_cap_the_plan_says_not_reachable():
    need = votes_to_separate(0.5, cap=100_000)
    assert need.count is None
    assert not need.reachable
    assert str(need) == "not reachable (over 100,000 votes)"


def test_new_raters_follow_from_the_error_that_the_present_ones_leave():
    more = new_raters_needed(40, standard_error=30, raters=15)  # normal: as if raters were many
    z = norm.isf(0.025) + norm.ppf(0.8)
    assert more.count == int(np.ceil(15 * ((z * 30 / 40) ** 2 - 1)))
    assert new_raters_needed(200, standard_error=30, raters=15).count == 0
    assert not new_raters_needed(1, standard_error=30, raters=15, cap=1000).reachable


def test_new_raters_leave_the_part_of_the_error_that_prompts_cause():
    more = new_raters_needed(40, standard_error=30, raters=15, lasting_error=10)
    z = norm.isf(0.025) + norm.ppf(0.8)
    shrunk = (40 / z) ** 2 - 10**2
    assert more.count == int(np.ceil(15 * ((30**2 - 10**2) / shrunk - 1)))
    # 40 points ask for an error of 14.3: where prompts alone leave 15, no number of raters is enough
    assert not new_raters_needed(40, standard_error=30, raters=15, lasting_error=15).reachable


def test_few_clusters_ask_for_more_by_students_t():
    many = new_raters_needed(40, standard_error=30, raters=15).count
    few = new_raters_needed(40, standard_error=30, raters=15, effective=5.0).count
    times = 1 + few / 15
    reach = t.isf(0.025, 5 * times - 1) + t.ppf(0.8, 5 * times - 1)
    assert reach * 30 / np.sqrt(times) <= 40
    assert many < few
    # the few prompts stay, however many raters come
    held = new_raters_needed(40, standard_error=30, raters=15, effective=5.0, lasting_effective=4.0).count
    assert few < held
    assert not new_raters_needed(40, standard_error=9, raters=15, lasting_effective=1.0).reachable


def test_simulated_boards_with_the_new_raters_find_the_difference_as_often_as_promised():
    strengths = (0.5, 0.0, -0.2, -0.3)
    common = {"tie": 0.5, "rater_sd": 0.8, "prompt_sd": 0.6}
    options = LeaderboardOptions(bootstrap=0, check=False)

    def simulated(raters: int, prompts: int, seed: int):
        model = VoteModel(strengths, raters=raters, prompts=prompts, **common)
        board = fit_board(simulate_votes(model, 30 * raters, seed=seed).as_comparisons(), options)
        return board, *(int(np.flatnonzero(board.order == c)[0]) for c in (0, 1))

    pilots, true = [], []
    for seed in range(60):
        board, i, j = simulated(12, 60, seed)
        share = next(s for s in shares_of(board, np.array([i]), np.array([j])) if s.name == "rater")
        error = POINTS_PER_LOG_ODDS * board.covariance.difference_deviations[i, j]
        pilots.append([error**2, share.lasting_error[0] ** 2, share.effective[0], share.lasting_effective[0]])
        true.append(POINTS_PER_LOG_ODDS * (board.fit.params[i] - board.fit.params[j]))
    variance, lasting, effective, others = np.mean(pilots, axis=0)
    need = new_raters_needed(
        float(np.mean(true)),
        standard_error=float(np.sqrt(variance)),
        raters=12,
        lasting_error=float(np.sqrt(lasting)),
        effective=float(effective),
        lasting_effective=float(others),
    )
    assert need.count > 5
    found = 0
    for seed in range(150):
        board, i, j = simulated(12 + need.count, 60, 1000 + seed)
        at, to = np.array([i]), np.array([j])
        degrees = effective_clusters_of_pairs(board, at, to)[0] - 1
        d, s = board.fit.params[i] - board.fit.params[j], board.covariance.difference_deviations[i, j]
        found += 2 * t.sf(abs(d) / s, degrees) < 0.05
    # 150 tries know a power of 80 % to about six points and a half
    assert 0.72 < found / 150 < 0.9


def test_direct_votes_add_their_information_to_the_boards():
    points, error, deff = 30.0, 20.0, 1.5
    need = direct_votes_needed(points, model_error=error, design_effect=deff)
    p = expected_score(points)
    information = POINTS_PER_LOG_ODDS**2 / error**2 + need.count * p * (1 - p)
    after = np.sqrt(deff / information) * POINTS_PER_LOG_ODDS
    assert points / after == pytest.approx(norm.isf(0.025) + norm.ppf(0.8), rel=1e-3)
    assert direct_votes_needed(300, model_error=20).count == 0


def test_votes_by_the_same_raters_leave_the_part_of_the_error_that_their_tastes_cause():
    points, model, whole, lasting, effective = 40.0, 20.0, 24.0, 9.0, 13.0
    need = direct_votes_needed(
        points,
        model_error=model,
        design_effect=(whole / model) ** 2,
        lasting_error=lasting,
        effective=effective,
    )
    p = expected_score(points)
    reach = t.isf(0.025, 12) + t.ppf(0.8, 12)

    def error_after(votes: int) -> float:
        times = 1 + votes * p * (1 - p) * (model / POINTS_PER_LOG_ODDS) ** 2
        return np.sqrt((whole**2 - lasting**2) / times + lasting**2)

    assert need.count > 0
    assert reach * error_after(need.count) <= points < reach * error_after(need.count - 1)
    # 40 points ask for an error of 13.1 with 13 clusters: where tastes alone leave 14, no number is enough
    common = {"model_error": model, "design_effect": (whole / model) ** 2, "effective": effective}
    assert not direct_votes_needed(points, lasting_error=14.0, **common).reachable
    assert direct_votes_needed(points, lasting_error=12.0, **common).count > need.count
    # tastes and all, the present votes would find it
    assert direct_votes_needed(80.0, lasting_error=14.0, **common).count == 0


def test_what_votes_of_the_same_raters_leave_is_what_they_cause_beyond_single_votes():
    model = VoteModel((0.5, 0.0, -0.2), tie=0.3, rater_sd=0.8, prompt_sd=0.6, raters=12, prompts=20)
    votes, options = simulate_votes(model, 500, seed=3), LeaderboardOptions(bootstrap=0, check=False)
    both = fit_board(votes.as_comparisons(), options).covariance
    cells = both.floors[0] + both.floors[1] - both.matrix
    left = both.matrix - cells
    expected = left[0, 0] + left[1, 1] - 2 * left[0, 1]
    assert both.deviations_of_same_voters[0, 1] ** 2 == pytest.approx(expected) != 0
    one = fit_board(votes.as_comparisons(), replace(options, cluster=("rater",))).covariance
    left = one.matrix - one.independent
    expected = left[0, 0] + left[1, 1] - 2 * left[0, 1]
    assert one.deviations_of_same_voters[0, 1] ** 2 == pytest.approx(expected) != 0
    none = fit_board(votes.as_comparisons(), replace(options, cluster=())).covariance
    assert not none.deviations_of_same_voters.any()


@given(seed=st.integers(0, 10_000), rater_sd=st.floats(0, 1), prompt_sd=st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_new_raters_never_leave_more_than_votes_of_the_same_ones(seed, rater_sd, prompt_sd):
    model = VoteModel(
        (0.5, 0.0, -0.2), tie=0.3, rater_sd=rater_sd, prompt_sd=prompt_sd, raters=12, prompts=20
    )
    votes = simulate_votes(model, 300, seed=seed).as_comparisons()
    covariance = fit_board(votes, LeaderboardOptions(bootstrap=0, check=False)).covariance
    of_same = covariance.deviations_of_same_voters
    for place in range(len(covariance.dimensions)):
        assert (covariance.lasting_deviations(place) <= of_same + 1e-9).all()


def test_simulated_boards_with_the_votes_of_the_same_raters_find_the_difference_as_often_as_promised():
    model = VoteModel((0.5, 0.0), tie=0.5, rater_sd=0.4, prompt_sd=0.3, raters=20, prompts=30)
    options = LeaderboardOptions(bootstrap=0, check=False)

    def simulated(votes: int, seed: int):
        board = fit_board(simulate_votes(model, votes, seed=seed).as_comparisons(), options)
        i, j = (np.flatnonzero(board.order == c) for c in (0, 1))
        difference = float(board.fit.params[i[0]] - board.fit.params[j[0]])
        return board, i[0], j[0], difference, effective_clusters_of_pairs(board, i, j)[0]

    pilots = []
    for seed in range(60):
        board, i, j, difference, effective = simulated(150, seed)
        covariance, bread = board.covariance, board.fit.bread
        model_based = bread[i, i] + bread[j, j] - 2 * bread[i, j]
        whole = covariance.difference_deviations[i, j] ** 2
        lasting = covariance.deviations_of_same_voters[i, j] ** 2
        pilots.append([whole, lasting, model_based, effective, difference])
    whole, lasting, model_based, effective, difference = np.mean(pilots, axis=0)
    points = float(POINTS_PER_LOG_ODDS * difference)
    common = {"model_error": POINTS_PER_LOG_ODDS * float(np.sqrt(model_based))}
    common["design_effect"] = float(whole / model_based)
    need = direct_votes_needed(
        points,
        lasting_error=POINTS_PER_LOG_ODDS * float(np.sqrt(lasting)),
        effective=float(effective),
        **common,
    )
    # were each vote to bring a rater and a prompt of its own, far fewer would do
    assert need.count > 3 * direct_votes_needed(points, **common).count
    found = 0
    for seed in range(150):
        board, i, j, difference, effective = simulated(150 + need.count, 1000 + seed)
        error = board.covariance.difference_deviations[i, j]
        found += 2 * t.sf(abs(difference) / error, effective - 1) < 0.05
    # 150 tries know a power of 80 % to about six points and a half
    assert 0.72 < found / 150 < 0.93


def test_more_comparisons_more_power_or_smaller_differences_cost_more():
    base = votes_to_separate(40).count
    assert votes_to_separate(40, comparisons=10).count > base
    assert votes_to_separate(40, power=0.9).count > base
    assert votes_to_separate(39).count > base
    assert votes_to_separate(40, design_effect=2).count == pytest.approx(2 * base, abs=1)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: votes_to_separate(0), BadValueError),
        (lambda: votes_to_separate(float("inf")), BadValueError),
        (lambda: votes_to_separate(10, power=0.3), BadOptionError),
        (lambda: votes_to_separate(10, confidence=1.0), BadOptionError),
        (lambda: votes_to_separate(10, comparisons=0), BadOptionError),
        (lambda: minimum_detectable(0), BadValueError),
        (lambda: new_raters_needed(10, standard_error=0, raters=4), BadValueError),
        (lambda: direct_votes_needed(10, model_error=-1), BadValueError),
    ],
)
def test_plans_without_meaning_are_refused(call, error):
    with pytest.raises(error):
        call()
