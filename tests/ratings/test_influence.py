"""How few votes, raters or prompts would have to go for another competitor to lead."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Comparisons, Policies
from ratings.errors import BadOptionError, IncomparableError
from ratings.influence import flips_first
from ratings.simulate import StyleFeature, VoteModel, simulate_votes


def votes_of(*cells):
    """Comparisons from (a, b, outcome, how many)."""
    rows = [(a, b, outcome) for a, b, outcome, count in cells for _ in range(count)]
    a, b, outcome = zip(*rows, strict=True)
    return Comparisons.of(1 + max(max(a), max(b)), np.array(a), np.array(b), np.array(outcome))


def leader(votes):
    return int(np.argmax(fit_bradley_terry(votes).strengths))


@pytest.mark.parametrize(("wins", "losses"), [(30, 20), (12, 11), (9, 9)])
def test_two_competitors_change_places_one_vote_after_drawing_level(wins, losses):
    flip = flips_first(votes_of((0, 1, 0, wins), (0, 1, 1, losses)))
    assert flip.count == wins - losses + 1
    assert (flip.leader, flip.successor) == (0, 1)
    assert flip.gap == pytest.approx(np.log(wins / losses), abs=1e-9)
    assert flip.gap_after == pytest.approx(np.log((losses - 1) / losses), abs=1e-9)


def test_the_set_really_flips_and_without_its_last_vote_does_not():
    model = VoteModel(strengths=(0.35, 0.2, 0.0, -0.5), tie=0.4)
    votes = simulate_votes(model, 1200, seed=1).as_comparisons()
    flip = flips_first(votes)
    assert leader(votes) == flip.leader
    assert leader(votes.select(np.setdiff1d(np.arange(1200), flip.units))) == flip.successor
    assert leader(votes.select(np.setdiff1d(np.arange(1200), flip.units[:-1]))) == flip.leader
    assert flip.votes == flip.count == len(flip.units)
    assert flip.share < 0.05


def test_no_smaller_set_exists_on_small_boards():
    rng = np.random.default_rng(2)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for _ in range(4):
        counts = rng.integers(2, 6, size=6) + np.array([1, 0, 1, 0, 0, 0])
        rows = [(*pairs[i // 2], i % 2, int(counts[i])) for i in range(6)]
        whole = votes_of(*rows)
        first = leader(whole)
        removals = sorted(product(*(range(count) for count in counts)), key=sum)
        fewest = next(
            sum(gone)
            for gone in removals
            if leader(votes_of(*[(a, b, o, n - g) for (a, b, o, n), g in zip(rows, gone, strict=True)]))
            != first
        )
        assert fewest <= flips_first(whole).count <= fewest + 1


def test_one_rater_who_made_the_leader_is_found():
    honest = simulate_votes(VoteModel((0.0, 0.1, 0.0), raters=20), 600, seed=3).as_comparisons()
    bought = 60
    votes = Comparisons.of(
        3,
        np.r_[honest.a, np.full(bought, 2)],
        np.r_[honest.b, np.arange(bought) % 2],
        np.r_[honest.outcome, np.zeros(bought, dtype=int)],
        rater=np.r_[honest.rater + 100, np.full(bought, 7)],
    )
    flip = flips_first(votes, unit="rater")
    assert flip.leader == 2
    assert flip.units.tolist() == [7]
    assert (flip.count, flip.total, flip.votes) == (1, 21, bought)


def test_the_nearest_challenger_is_the_one_least_surely_beaten():
    votes = votes_of((0, 1, 0, 520), (0, 1, 1, 480), (0, 2, 0, 3), (0, 2, 1, 2))
    flip = flips_first(votes, challengers=1)
    assert (flip.successor, flip.count) == (2, 2)
    assert flip.gap == pytest.approx(np.log(520 / 480), abs=1e-9)


def test_competitors_without_votes_are_no_rivals():
    votes = votes_of((0, 1, 0, 30), (0, 1, 1, 20))
    roster = Comparisons.of(4, votes.a, votes.b, votes.outcome)
    flip = flips_first(roster)
    assert (flip.leader, flip.successor, flip.count) == (0, 1, 11)
    assert flip.gap == pytest.approx(np.log(1.5), abs=1e-9)


def test_prompts_are_units_too_and_unknown_ones_are_refused():
    votes = simulate_votes(
        VoteModel((0.2, 0.1, 0.0), prompts=40, prompt_sd=1.0), 800, seed=4
    ).as_comparisons()
    flip = flips_first(votes, unit="prompt")
    assert 1 <= flip.count <= 20
    rest = votes.select(~np.isin(votes.prompt, flip.units))
    assert leader(rest) == flip.successor
    with pytest.raises(BadOptionError, match="raters of these votes are unknown"):
        flips_first(votes, unit="rater")


def test_a_leader_nobody_can_dethrone_within_the_limit_is_reported_as_such():
    votes = votes_of((0, 1, 0, 80), (0, 1, 1, 5), (1, 2, 0, 20), (1, 2, 1, 20), (0, 2, 0, 9), (0, 2, 1, 1))
    flip = flips_first(votes, most=0.1)
    assert flip.count is None
    assert flip.share is None
    assert flip.successor is None
    assert flip.votes == 0
    assert flips_first(votes, most=1.0).count > 0.1 * len(votes)


def test_a_leader_who_never_lost_cannot_be_dethroned_by_taking_votes_away():
    votes = votes_of((0, 1, 0, 3), (1, 2, 0, 4), (1, 2, 1, 3), (0, 2, 0, 2))
    assert flips_first(votes, most=1.0).count is None


def test_dropped_outcomes_are_no_units_and_keep_their_row_numbers():
    votes = votes_of((0, 1, 2, 5), (0, 1, 0, 6), (0, 1, 1, 4))
    flip = flips_first(votes, Policies(ties="drop"))
    assert flip.total == 10
    assert flip.units.tolist() == [5, 6, 7]


def test_with_covariates_the_style_board_is_flipped():
    style = (StyleFeature("words", 0.5, lean=(0.4, 0.0, -0.4)),)
    votes = simulate_votes(VoteModel((0.1, 0.05, 0.0), style=style), 900, seed=6).as_comparisons()
    flip = flips_first(votes)
    rest = fit_bradley_terry(votes.select(np.setdiff1d(np.arange(900), flip.units)))
    assert int(np.argmax(rest.strengths)) == flip.successor != flip.leader


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**31), st.permutations(range(4)))
def test_sides_order_and_names_never_change_how_many(seed, names):
    votes = simulate_votes(
        VoteModel((0.3, 0.2, 0.0, -0.3), raters=25, rater_sd=0.5), 300, seed=7
    ).as_comparisons()
    rng = np.random.default_rng(seed)
    renamed = np.array(names)
    other = votes.select(rng.permutation(300)).swap_sides(rng.random(300) < 0.5)
    other = Comparisons.of(4, renamed[other.a], renamed[other.b], other.outcome, rater=other.rater)
    for unit in ("vote", "rater"):
        first, second = flips_first(votes, unit=unit), flips_first(other, unit=unit)
        assert first.count == second.count
        assert renamed[first.successor] == second.successor


@pytest.mark.parametrize("wrong", [{"unit": "judge"}, {"challengers": 0}, {"most": 0.0}])
def test_impossible_options_are_refused(wrong):
    with pytest.raises(BadOptionError):
        flips_first(votes_of((0, 1, 0, 3), (0, 1, 1, 2)), **wrong)


def test_separate_components_are_refused():
    with pytest.raises(IncomparableError):
        flips_first(votes_of((0, 1, 0, 3), (0, 1, 1, 2), (2, 3, 0, 2), (2, 3, 1, 1)))
