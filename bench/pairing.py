"""How many votes until the top five are told apart, and do intervals of such boards still cover?

    .venv/bin/python -m bench.pairing --campaigns 40 --repetitions 300 [--json OUT]

Twenty models with known ratings (normal, sd 0.6 in log-odds), a fifth of the votes ties. Pairs are drawn as
raters get them, by arena.battles.pairing and with its propensities. A board is fitted every ROUND votes, and
its weights are used until the next, as the worker does it. Against that: every pair equally likely.

separated: the first board on which each of the five best has a rank of its own, in rank sets that hold for
all models at once. Covering: the share of 95 % intervals that hold the strength to which the fit tends when
all pairs are equally likely; raters have tastes of their own, and once preferences are cyclic too.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
from scipy.stats import norm

from arena.battles import pairing
from arena.leaderboards.fitting.pair_weights import weights_of
from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Comparisons, tally
from ratings.pairing import difference_variance
from ratings.ranks import joint_critical_value, rank_sets
from ratings.simulate import VoteModel, pseudo_true_strengths, simulate_votes
from ratings.uncertainty import critical_values, tally_sandwich
from ratings.vote_weights import inverse_propensity_weights

MODELS, TOP = 20, 5
PAIRS = tuple(combinations(range(MODELS), 2))
# As far apart as twenty draws from a normal distribution lie on average.
LADDER = norm.isf((np.arange(MODELS) + 0.5) / MODELS)
TRUTH = VoteModel(strengths=tuple(0.6 * LADDER), tie=0.5, pairs=PAIRS)
ROUND = 500
RANK_DRAWS = 2000
MOST_VOTES = 600_000


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--campaigns", type=int, default=40, help="simulated until the top is separated")
    parser.add_argument("--repetitions", type=int, default=300, help="boards for the coverage")
    parser.add_argument("--votes", type=int, default=6000, help="votes on each of those")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


# --- votes, round by round --------------------------------------------------------------------------------


@dataclass
class Campaign:
    """Votes so far, and what the next pair is drawn by."""

    model: VoteModel
    seed: int
    by_information: bool

    def __post_init__(self) -> None:
        self.counts = dict.fromkeys(PAIRS, 0)
        self.weights: dict[pairing.Pair, float] = {}
        self.parts: list[Comparisons] = []
        self.propensity: list[np.ndarray] = []
        self.random = Random(self.seed)

    def draw(self, votes: int) -> None:
        while votes:
            step = min(self.step, votes)
            part = simulate_votes(
                replace(self.model, propensities=self.chances()),
                step,
                seed=self.random.getrandbits(32),
                taste_seed=self.seed,
            )
            votes -= step
            self.parts.append(part.as_comparisons())
            self.propensity.append(part.propensity)
            for a, b in zip(part.a.tolist(), part.b.tolist(), strict=True):
                self.counts[min(a, b), max(a, b)] += 1

    @property
    def step(self) -> int:
        """One by one while counts decide, all together once only the weights do."""
        if not self.by_information:
            return ROUND
        floor = min(self.counts.values()) < pairing.FLOOR
        return 1 if floor else ROUND

    def chances(self) -> tuple[float, ...]:
        if not self.by_information:
            return ()
        chances = pairing.propensities(PAIRS, self.counts, self.weights)
        return tuple(chances[pair] for pair in PAIRS)

    def rounds(self, most: int) -> Iterator[Comparisons]:
        for _ in range(0, most, ROUND):
            self.draw(ROUND)
            votes = self.votes()
            yield votes
            self.weights = weights_of(fit_bradley_terry(votes))

    def votes(self) -> Comparisons:
        names = ("a", "b", "outcome") + (("rater",) if self.model.raters else ())
        columns = {name: np.concatenate([getattr(part, name) for part in self.parts]) for name in names}
        return Comparisons.of(MODELS, **columns)

    def weighted(self) -> Comparisons:
        weights = inverse_propensity_weights(np.concatenate(self.propensity), cap=None)
        return weights.applied_to(self.votes())


# --- until the top is separated ---------------------------------------------------------------------------


def votes_needed(seed: int, by_information: bool) -> int:
    campaign = Campaign(TRUTH, seed, by_information)
    for votes in campaign.rounds(MOST_VOTES):
        if is_separated(votes):
            return len(votes)
    raise SystemExit(f"seed {seed}: the top isn't separated after {MOST_VOTES} votes")


def is_separated(votes: Comparisons) -> bool:
    fit = fit_bradley_terry(votes)
    covariance = tally_sandwich(tally(votes, fit.policies), fit).matrix[:MODELS, :MODELS]
    deviations = np.sqrt(difference_variance(covariance))
    # The least that the critical value can be spares most boards the simulation of the real one.
    if not settled(fit.strengths, deviations, 1.96):
        return False
    critical = joint_critical_value(covariance, np.inf, draws=RANK_DRAWS)
    return settled(fit.strengths, deviations, critical)


def settled(strengths: np.ndarray, deviations: np.ndarray, critical: float) -> bool:
    ranks = rank_sets(strengths, deviations, critical)
    alone = np.sort(ranks.lower[ranks.lower == ranks.upper])
    return bool(np.isin(np.arange(1, TOP + 1), alone).all())


# --- coverage ---------------------------------------------------------------------------------------------

TASTES = replace(TRUTH, raters=100, rater_sd=0.4)


def cyclic(size: float) -> tuple[tuple[float, ...], ...]:
    """Each model does better than its strength against the next two, and worse against the two before."""
    effects = np.zeros((MODELS, MODELS))
    for i in range(MODELS):
        for step in (1, 2):
            effects[i, (i + step) % MODELS] += size
            effects[(i + step) % MODELS, i] -= size
    return tuple(map(tuple, effects))


SCENARIOS = {
    "raters with tastes": TASTES,
    "and cyclic preferences": replace(TASTES, pair_effects=cyclic(0.3)),
}


def coverage(model: VoteModel, repetitions: int, votes: int) -> dict[str, dict[str, float]]:
    """Per kind of board: share of intervals that hold the truth, mean half width in log-odds."""
    truth = pseudo_true_strengths(model)
    held: dict[str, list[np.ndarray]] = {}
    widths: dict[str, list[float]] = {}
    for seed in range(repetitions):
        boards = {}
        for by_information in (False, True):
            campaign = Campaign(model, 10_000 + seed, by_information)
            *_, last = campaign.rounds(votes)
            boards["by information" if by_information else "uniform"] = last
            if by_information:
                boards["by information, weighted by propensity"] = campaign.weighted()
        for name, board in boards.items():
            inside, half = intervals(board, truth)
            held.setdefault(name, []).append(inside)
            widths.setdefault(name, []).append(half)
    return {
        name: {
            "covered": float(np.mean(rows)),
            "standard error": float(np.std(np.mean(rows, axis=1)) / np.sqrt(len(rows))),
            "half width": float(np.mean(widths[name])),
        }
        for name, rows in held.items()
    }


def intervals(votes: Comparisons, truth: np.ndarray) -> tuple[np.ndarray, float]:
    """Clustered by rater, as the worker computes them."""
    board = fit_board(votes, LeaderboardOptions())
    place = np.argsort(board.order)
    reach = (critical_values(board.covariance.degrees, 0.95) * board.covariance.deviations)[:MODELS][place]
    return np.abs(board.fit.params[:MODELS][place] - truth) <= reach, float(reach.mean())


def separation(campaigns: int) -> dict:
    needed = {
        name: np.array([votes_needed(seed, by_information) for seed in range(campaigns)])
        for name, by_information in (("uniform", False), ("by information", True))
    }
    factors = needed["uniform"] / needed["by information"]
    return {
        "votes, quarters": {
            name: np.percentile(votes, [25, 50, 75]).tolist() for name, votes in needed.items()
        },
        "factor of each campaign, quarters": np.percentile(factors, [25, 50, 75]).round(2).tolist(),
        "smallest and largest factor": [round(float(factors.min()), 2), round(float(factors.max()), 2)],
    }


def main() -> None:
    arguments = read_arguments()
    begun = time.monotonic()
    report: dict = {"arguments": {name: str(value) for name, value in vars(arguments).items()}}
    if arguments.campaigns:
        report["until the top five are separated"] = separation(arguments.campaigns)
        print(json.dumps(report, indent=2), flush=True)
    if arguments.repetitions:
        report["coverage"] = {
            name: coverage(model, arguments.repetitions, arguments.votes) for name, model in SCENARIOS.items()
        }
    report["seconds"] = round(time.monotonic() - begun)
    report["load average after"] = [round(load, 1) for load in os.getloadavg()]
    written = json.dumps(report, indent=2)
    print(written)
    if arguments.json:
        arguments.json.write_text(written + "\n")


if __name__ == "__main__":
    main()
