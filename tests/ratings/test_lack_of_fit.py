"""Where one strength per competitor doesn't describe the votes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ratings.comparisons import Comparisons, Policies
from ratings.errors import BadOptionError, NoVotesError
from ratings.lack_of_fit import cyclic_share, pair_deviance, supported_cycles
from ratings.proportions import wilson_interval
from ratings.simulate import VoteModel, simulate_votes

TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
# Wins of the row's team at home (below the diagonal: away) over the column's, Agresti (1990), table 10.4.
HOME = """
- 4-3 4-2 4-3 6-1 4-2 6-0
3-3 - 4-2 4-3 6-0 6-1 4-3
2-5 4-3 - 2-4 4-3 4-2 6-0
3-3 5-1 2-5 - 4-3 4-2 6-1
5-1 2-5 3-3 4-2 - 5-2 6-0
2-5 3-3 3-4 4-3 4-2 - 2-4
2-5 1-5 1-6 2-4 1-6 3-4 -
"""


def votes_of(*cells):
    """Comparisons from (a, b, wins of a, wins of b)."""
    rows = [(a, b, o) for a, b, wins, losses in cells for o in [0] * wins + [1] * losses]
    a, b, outcome = np.array(rows).T
    return Comparisons.of(int(max(a.max(), b.max())) + 1, a, b, outcome)


def perfect_cycle(wins=7, losses=3):
    return votes_of((0, 1, wins, losses), (1, 2, wins, losses), (2, 0, wins, losses))


def test_a_perfect_cycle_fits_no_strengths():
    fit = pair_deviance(perfect_cycle())
    assert fit.deviance == pytest.approx(4.936972710303108, abs=1e-9)
    assert fit.degrees == 1
    assert fit.p_unscaled == pytest.approx(0.026288039878912203, abs=1e-10)
    assert fit.dispersion == pytest.approx(30 / 28)
    assert fit.p == pytest.approx(stats.chi2.sf(4.936972710303108 * 28 / 30, 1), abs=1e-9)
    assert cyclic_share(perfect_cycle()).share == pytest.approx(1.0)


def test_baseball_by_pair_and_venue_has_agrestis_deviance():
    games = [line.split() for line in HOME.split("\n") if line]
    played = [
        (i, j, *map(int, games[i][j].split("-"))) for i in range(7) for j in range(7) if games[i][j] != "-"
    ]
    season = votes_of(*played)
    fit = pair_deviance(season)
    # Agresti's 44.05 on 36 degrees counts each pair at both venues; venues within a pair add the difference.
    within = 0.0
    for i in range(7):
        for j in range(i + 1, 7):
            wins = np.array([int(games[i][j].split("-")[0]), int(games[j][i].split("-")[1])])
            lost = np.array([int(games[i][j].split("-")[1]), int(games[j][i].split("-")[0])])
            within += stats.chi2_contingency(
                [wins, lost], lambda_="log-likelihood", correction=False
            ).statistic
    assert fit.deviance + within == pytest.approx(44.05346122857377, abs=1e-8)
    assert fit.degrees + 21 == 36


def test_a_tree_of_pairs_fits_exactly_and_can_not_be_tested():
    fit = pair_deviance(votes_of((0, 1, 3, 1), (1, 2, 3, 1)))
    assert fit.deviance == pytest.approx(0.0, abs=1e-12)
    assert fit.degrees == 0
    assert fit.p is None


def test_true_strengths_are_rejected_as_often_as_promised_with_and_without_ties():
    for tie in (0.0, 1.0):
        model = VoteModel(strengths=(0.4, 0.2, 0.0, -0.2, -0.4), tie=tie)
        p = [pair_deviance(simulate_votes(model, 600, seed=s).as_comparisons()).p for s in range(1000, 1200)]
        assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.085
        assert 0.14 <= np.mean(np.array(p) < 0.2) <= 0.27


def test_ties_make_the_bare_deviance_too_small():
    votes = simulate_votes(VoteModel((0.3, 0.0, -0.3), tie=2.0), 2000, seed=1).as_comparisons()
    fit = pair_deviance(votes)
    assert fit.dispersion < 0.7
    assert fit.p < fit.p_unscaled


def test_residuals_point_at_the_pair_that_surprises():
    votes = votes_of(
        (0, 1, 60, 40), (0, 2, 60, 40), (1, 2, 50, 50), (0, 3, 20, 80), (1, 3, 55, 45), (2, 3, 55, 45)
    )
    fit = pair_deviance(votes)
    worst = int(np.argmax(np.abs(fit.residual)))
    assert (fit.low[worst], fit.high[worst]) == (0, 3)
    assert fit.residual[worst] < 0
    assert np.sum(fit.residual**2) == pytest.approx(fit.deviance / fit.dispersion)


def test_only_cycles_beyond_doubt_are_reported():
    assert len(supported_cycles(perfect_cycle(7, 3)).cycles) == 0
    found = supported_cycles(perfect_cycle(70, 30))
    assert found.cycles.tolist() == [[0, 1, 2]]
    assert sorted(map(tuple, found.edges.tolist())) == [(0, 1), (1, 2), (2, 0)]
    assert len(supported_cycles(perfect_cycle(70, 30), design_effect=4).cycles) == 0


def test_edges_are_those_whose_wilson_interval_clears_one_half():
    votes = votes_of((0, 1, 31, 19), (1, 2, 34, 16), (0, 2, 36, 14), (2, 3, 40, 10))
    edges = {tuple(e) for e in supported_cycles(votes).edges.tolist()}
    expected = set()
    for a, b, wins in ((0, 1, 31), (1, 2, 34), (0, 2, 36), (2, 3, 40)):
        if wilson_interval(wins, 50, confidence=1 - 0.05 / 4)[0] > 0.5:
            expected.add((a, b))
    assert edges == expected
    assert 0 < len(expected) < 4


def test_every_cycle_of_a_larger_board_is_found_once():
    effects = np.sign(np.subtract.outer(np.arange(5), np.arange(5))) * 1.0
    effects[0, 4], effects[4, 0] = 1.0, -1.0
    cells = [(i, j, 300, 100) if effects[i, j] > 0 else (j, i, 300, 100) for i in range(5) for j in range(i)]
    found = supported_cycles(votes_of(*cells)).cycles
    assert sorted(map(tuple, found.tolist())) == [(0, 4, 1), (0, 4, 2), (0, 4, 3)]


def test_true_strengths_hardly_ever_show_a_supported_cycle():
    model = VoteModel(strengths=(0.05, 0.0, -0.05))
    hits = [
        len(supported_cycles(simulate_votes(model, 900, seed=s).as_comparisons()).cycles) for s in range(100)
    ]
    assert sum(hits) == 0


def test_cyclic_share_is_what_chance_leaves_when_strengths_are_true():
    model = VoteModel(strengths=(0.6, 0.3, 0.0, -0.3, -0.6), tie=0.5)
    shares = [cyclic_share(simulate_votes(model, 3000, seed=s).as_comparisons()) for s in range(60)]
    ratio = np.mean([s.residual for s in shares]) / np.mean([s.expected * s.total for s in shares])
    assert 0.75 < ratio < 1.25
    cyclic = VoteModel((0.0,) * 3, pair_effects=((0, 0.8, -0.8), (-0.8, 0, 0.8), (0.8, -0.8, 0)))
    assert cyclic_share(simulate_votes(cyclic, 3000, seed=1).as_comparisons()).share > 0.95


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.permutations(range(4)))
def test_sides_order_and_names_change_nothing(seed, names):
    votes = simulate_votes(VoteModel((0.5, 0.2, 0.0, -0.5), tie=0.4), 400, seed=2).as_comparisons()
    rng = np.random.default_rng(seed)
    renamed = np.array(names)
    other = votes.select(rng.permutation(400)).swap_sides(rng.random(400) < 0.5)
    other = Comparisons.of(4, renamed[other.a], renamed[other.b], other.outcome)
    assert pair_deviance(other).deviance == pytest.approx(pair_deviance(votes).deviance, abs=1e-8)
    assert cyclic_share(other).share == pytest.approx(cyclic_share(votes).share, abs=1e-9)
    edges = renamed[supported_cycles(votes).edges]
    assert sorted(map(tuple, edges)) == sorted(map(tuple, supported_cycles(other).edges))


def test_a_spotless_record_still_has_a_finite_deviance():
    fit = pair_deviance(votes_of((0, 1, 5, 0), (0, 2, 4, 0), (1, 2, 3, 2)))
    assert 0 < fit.deviance < np.inf


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: pair_deviance(Comparisons.of(2, [0], [1], [0], weight=[2.0])), BadOptionError),
        (lambda: pair_deviance(Comparisons.of(2, [0], [1], [2]), Policies(ties="drop")), NoVotesError),
        (lambda: supported_cycles(perfect_cycle(), design_effect=0.5), BadOptionError),
        (lambda: supported_cycles(perfect_cycle(), confidence=1.0), BadOptionError),
    ],
)
def test_what_can_not_be_tested_is_refused(call, error):
    with pytest.raises(error):
        call()
