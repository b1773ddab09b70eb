"""Do 95 % intervals cover 95 %? Simulated boards with known truth, one table row per scenario.

    python -m bench.coverage --repetitions 500 --workers 2 [--only A,H] [--json OUT]

Each repetition draws votes from a model (ratings.simulate), fits the board as `fit_leaderboard` does by
default (cluster-robust where raters or prompts are known, else the sandwich) and asks: does each interval
hold the strength the fit tends to, less the board's reference mean? Do all rank sets hold the true ranks at
once?
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bench.coverage_studies import run
from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Comparisons
from ratings.ranks import joint_critical_value, pair_critical_values, rank_sets
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.simulate import StyleFeature, VoteModel, pseudo_true_strengths, simulate_votes
from ratings.uncertainty import critical_values
from ratings.vote_weights import inverse_propensity_weights

CONFIDENCE = 0.95
RANK_DRAWS = 2000
TWENTY = tuple(np.linspace(-0.8, 0.8, 20))
SIX = tuple(np.linspace(-0.6, 0.6, 6))


@dataclass(frozen=True)
class Scenario:
    """A truth, how many votes are drawn from it, and who is looked at (None: everyone); the
    others then have a row of their own."""

    name: str
    words: str
    model: VoteModel
    votes: int
    watched: int | None = None
    draw: Callable[[Scenario, int], Comparisons] | None = None
    style: bool = False


@dataclass(frozen=True)
class Repetition:
    """covered, width (points) per competitor, NaN where no interval was given; joint: all rank sets."""

    covered: np.ndarray
    width: np.ndarray
    joint: bool
    effective: float


def _new_model(panel: int) -> VoteModel:
    return VoteModel((*SIX, 0.2), tie=0.7, raters=30, rater_sd=0.7, panels={6: tuple(range(panel))})


def _adaptive(scenario: Scenario, seed: int, *, weighted: bool) -> Comparisons:
    """Ten rounds; from the second on 80 % of the draws go to the three closest pairs, 20 % to all."""
    k, per_round = len(scenario.model.strengths), scenario.votes // 10
    pairs = tuple((i, j) for i in range(k) for j in range(i + 1, k))
    model, parts = replace(scenario.model, pairs=pairs), []
    for number in range(10):
        votes = simulate_votes(model, per_round, seed=seed * 10 + number, taste_seed=seed)
        parts.append(votes)
        theta = fit_bradley_terry(_joined(parts)).strengths
        gap = np.array([abs(theta[i] - theta[j]) for i, j in pairs])
        chance = np.full(len(pairs), 0.2 / len(pairs))
        chance[np.argsort(gap)[:3]] += 0.8 / 3
        model = replace(model, propensities=tuple(chance / chance.sum()))
    joined = _joined(parts)
    if not weighted:
        return joined
    propensity = np.concatenate([part.propensity for part in parts])
    return inverse_propensity_weights(propensity, cap=None).applied_to(joined)


def _joined(parts: list) -> Comparisons:
    columns = {
        name: np.concatenate([getattr(p, name) for p in parts]) for name in ("a", "b", "outcome", "rater")
    }
    return Comparisons.of(len(parts[0].model.strengths), **columns)


def _colluding(scenario: Scenario, seed: int) -> Comparisons:
    """8 % of the votes come from two raters who always prefer competitor 0 where it stands to choose."""
    votes = simulate_votes(scenario.model, scenario.votes, seed=seed).as_comparisons()
    rng = np.random.default_rng([seed, 8])
    bought = rng.random(len(votes)) < 0.08
    outcome, rater = votes.outcome.copy(), votes.rater.copy()
    rater[bought] = scenario.model.raters + rng.integers(2, size=int(bought.sum()))
    outcome[bought & (votes.a == 0)] = 0
    outcome[bought & (votes.b == 0)] = 1
    return replace(votes, outcome=outcome, rater=rater)


IDS_OF_A_TEXT = 6


def _texts(scenario: Scenario, seed: int, *, by_id: bool) -> Comparisons:
    """The model's prompts are texts: text t is asked in proportion to (t + 1)^-0.7, under six ids."""
    votes = simulate_votes(scenario.model, 8 * scenario.votes, seed=seed).as_comparisons()
    rng = np.random.default_rng([seed, 9])
    asked = np.flatnonzero(rng.random(len(votes)) < (votes.prompt + 1.0) ** -0.7)[: scenario.votes]
    votes = votes.select(asked)
    if not by_id:
        return votes
    ids = IDS_OF_A_TEXT * votes.prompt + rng.integers(IDS_OF_A_TEXT, size=len(votes)).astype(np.int32)
    return replace(votes, prompt=ids)


def _taste(raters: int, sd: float, **more: object) -> dict:
    return {"tie": 0.7, "raters": raters, "rater_sd": sd, **more}


def _prompts(prompts: int, sd: float, **more: object) -> dict:
    return {"tie": 0.7, "prompts": prompts, "prompt_sd": sd, **more}


CYCLE = tuple(tuple(0.4 * ((j - i) % 6 == 1) - 0.4 * ((i - j) % 6 == 1) for j in range(6)) for i in range(6))
STYLE = (
    StyleFeature("length", 0.3, lean=tuple(np.linspace(-0.4, 0.4, 6))),
    StyleFeature("lists", 0.1, typical=5.0),
)

SCENARIOS = [
    Scenario("A", "independent votes, no ties", VoteModel(TWENTY), 5000),
    Scenario("B", "independent votes, ties", VoteModel(TWENTY, tie=0.7), 5000),
    Scenario("C", "250 prompts, sd 0.7", VoteModel(TWENTY, **_prompts(250, 0.7)), 5000),
    Scenario("D", "100 raters, sd 0.7", VoteModel(TWENTY, **_taste(100, 0.7)), 5000),
    Scenario(
        "E", "300 raters, Zipf votes, sd 0.7", VoteModel(TWENTY, **_taste(300, 0.7, rater_zipf=1.0)), 5000
    ),
    Scenario(
        "F",
        "250 prompts x 100 raters, sd 0.5 each",
        VoteModel(TWENTY, **_taste(100, 0.5, prompts=250, prompt_sd=0.5)),
        5000,
    ),
    Scenario("G", "25 raters, sd 0.7", VoteModel(TWENTY, **_taste(25, 0.7)), 5000),
    Scenario("H", "6 models, 15 raters, sd 0.7", VoteModel(SIX, **_taste(15, 0.7)), 2000),
    Scenario("I", "6 models, 60 prompts, sd 0.7", VoteModel(SIX, **_prompts(60, 0.7)), 2000),
    Scenario(
        "J",
        "6 models, 60 prompts x 30 raters, sd 0.6 each",
        VoteModel(SIX, **_taste(30, 0.6, prompts=60, prompt_sd=0.6)),
        2000,
    ),
    *(
        Scenario(
            name,
            words,
            VoteModel(SIX, **_taste(30, 0.6, prompts=60, prompt_sd=0.6)),
            2000,
            draw=partial(_texts, by_id=by_id),
        )
        for name, words, by_id in (
            ("texts", "as J, 60 uneven texts under six ids each, by text", False),
            ("texts by id", "the same, by id, as if each were a text of its own", True),
        )
    ),
    Scenario("equal", "20 equal models, 25 raters, sd 0.7", VoteModel((0.0,) * 20, **_taste(25, 0.7)), 5000),
    *(
        Scenario(f"new {n}", f"a new model judged by {n} of 30 raters", _new_model(n), 3000, watched=6)
        for n in (1, 2, 3, 5)
    ),
    Scenario(
        "adaptive",
        "6 models in a cycle of effects, pairs drawn adaptively, unweighted",
        VoteModel(SIX, **_taste(30, 0.7), pair_effects=CYCLE),
        3000,
        draw=partial(_adaptive, weighted=False),
    ),
    Scenario(
        "adaptive IPW",
        "the same, weighted by logged propensities",
        VoteModel(SIX, **_taste(30, 0.7), pair_effects=CYCLE),
        3000,
        draw=partial(_adaptive, weighted=True),
    ),
    Scenario(
        "style",
        "6 models, 30 raters, style control",
        VoteModel(SIX, **_taste(30, 0.5), style=STYLE),
        3000,
        style=True,
    ),
    Scenario(
        "collusion",
        "8 % of votes from 2 raters who push one model",
        VoteModel(SIX, **_taste(30, 0.5)),
        3000,
        draw=_colluding,
    ),
]


def truth_of(scenario: Scenario) -> np.ndarray:
    """What the fit tends to, mean 0 (K,). With style: two million votes by 200,000 raters, fitted."""
    if scenario.style:
        crowd = replace(scenario.model, raters=200_000)
        votes = simulate_votes(crowd, 2_000_000, seed=99).as_comparisons()
        return fit_bradley_terry(votes).strengths
    theta = pseudo_true_strengths(scenario.model)
    return theta - theta.mean()


def repeat(scenario: Scenario, truth: np.ndarray, seed: int) -> Repetition:
    """One simulated board against the truth."""
    votes = scenario.draw(scenario, seed) if scenario.draw else None
    if votes is None:
        votes = simulate_votes(scenario.model, scenario.votes, seed=seed).as_comparisons()
    options = LeaderboardOptions(bootstrap=0, check=False, style=scenario.style)
    board = fit_board(votes, options)
    k, covariance = len(truth), board.covariance
    place = np.argsort(board.order)
    error = board.fit.params[:k][place] - (truth - board.reference.weights[place] @ truth)
    reach = (critical_values(covariance.degrees, CONFIDENCE) * covariance.deviations)[:k][place]
    covered = np.where(np.isnan(reach), np.nan, np.abs(error) <= reach)
    return Repetition(covered, POINTS_PER_LOG_ODDS * reach, _joint(board, truth, place), covariance.effective)


def _joint(board, truth: np.ndarray, place: np.ndarray) -> bool:
    k, covariance = len(truth), board.covariance
    critical = joint_critical_value(
        covariance.of_draws[:k, :k], covariance.effective, CONFIDENCE, draws=RANK_DRAWS
    )
    per_pair = pair_critical_values(critical, covariance.effective, covariance.degrees[:k])
    sets = rank_sets(board.fit.params[:k], covariance.difference_deviations[:k, :k], per_pair)
    above = (truth[None, :] > truth[:, None] + 1e-9).sum(axis=1)
    below = (truth[None, :] < truth[:, None] - 1e-9).sum(axis=1)
    return bool((sets.lower[place] <= 1 + above).all() and (sets.upper[place] >= k - below).all())


def study(scenario: Scenario, repetitions: int, *, seed: int = 0) -> dict:
    """The scenario's row of the table."""
    truth, started = truth_of(scenario), time.process_time()
    runs = [repeat(scenario, truth, 1_000_003 * seed + i) for i in range(repetitions)]
    covered, width = np.array([r.covered for r in runs]), np.array([r.width for r in runs])
    watched = np.ones(len(truth), dtype=bool)
    if scenario.watched is not None:
        watched = np.arange(len(truth)) == scenario.watched
    others = None if watched.all() else _covered(covered[:, ~watched], width[:, ~watched])
    return {
        "scenario": scenario.name,
        "words": scenario.words,
        "votes": scenario.votes,
        "repetitions": repetitions,
        **_covered(covered[:, watched], width[:, watched]),
        "others": others,
        "joint_ranks": float(np.mean([r.joint for r in runs])),
        "effective_clusters": float(np.mean([min(r.effective, 1e9) for r in runs])),
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def _covered(covered: np.ndarray, width: np.ndarray) -> dict:
    """Coverage where an interval was given, over repetitions and competitors."""
    given = ~np.isnan(covered)
    per_model = [float(covered[given[:, j], j].mean()) for j in range(covered.shape[1]) if given[:, j].any()]
    return {
        "coverage": float(np.mean(per_model)) if per_model else None,
        "worst_model": min(per_model, default=None),
        "half_width": float(np.nanmedian(width)) if given.any() else None,
        "interval_given": float(given.mean()),
    }


def table(rows: list[dict]) -> str:
    """The rows as a Markdown table."""
    lines = ["| scenario | | votes | coverage | worst model | joint ranks | half-width | interval given |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for r in rows:
        lines.append(_line(r["scenario"], r["words"], str(r["votes"]), r, _number(r["joint_ranks"], 3)))
        if r["others"]:
            lines.append(_line("", "the other models there", "", r["others"], ""))
    return "\n".join(lines)


def _line(name: str, words: str, votes: str, covered: dict, joint: str) -> str:
    shares = [_number(covered[each], 3) for each in ("coverage", "worst_model")]
    cells = [name, words, votes, *shares, joint, _number(covered["half_width"], 0)]
    return f"| {' | '.join(cells)} | {covered['interval_given']:.0%} |"


def _number(value: float | None, decimals: int) -> str:
    return "none" if value is None else f"{value:.{decimals}f}"


if __name__ == "__main__":
    run(__doc__, SCENARIOS, study, table)
