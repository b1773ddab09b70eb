"""Do the 95 % intervals of boards that people and a judge share cover 95 %, and when is the judge used?

    python -m bench.coverage_combined --repetitions 500 --workers 2 [--only good,useless] [--json OUT]

Each repetition draws people's votes and a judge's outcomes on them and on others: the judge says what a
person of average taste would there with a probability, else it guesses, or favours one model. Asked is
whether intervals of the combined board and of people's own (one estimator, CR3) hold what people think, and
how often a judge counts as one who helps: by its p below 0.05, and by a gain of at least 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bench.coverage_studies import run
from ratings.comparisons import Comparisons
from ratings.prediction_powered import HELPS, PredictionPowered, RefusedError, fit_prediction_powered
from ratings.simulate import VoteModel, pseudo_true_strengths, simulate_votes
from ratings.uncertainty import critical_values

FIVE = (0.5, 0.2, 0.0, -0.2, -0.5)
TEN = tuple(np.linspace(-0.7, 0.7, 10))
SMALL_GAIN = 0.05


@dataclass(frozen=True)
class Scenario:
    """copies: how often the judge says what an average person would · favours: whom it prefers otherwise."""

    name: str
    words: str
    model: VoteModel
    people: int
    judged: int
    copies: float
    favours: int | None = None


def _crowd(strengths: tuple[float, ...], raters: int, prompts: int, sd: float) -> VoteModel:
    return VoteModel(strengths, tie=0.5, raters=raters, rater_sd=sd, prompts=prompts, prompt_sd=sd)


USUAL = _crowd(FIVE, 40, 60, 0.4)
SCENARIOS = [
    Scenario("good", "5 models, 40 raters x 60 prompts; judge copies 80 %", USUAL, 600, 4000, 0.8),
    Scenario("weak", "the same, 40 %", USUAL, 600, 4000, 0.4),
    Scenario("few raters", "the same with 15 raters, 80 %", _crowd(FIVE, 15, 60, 0.6), 600, 4000, 0.8),
    Scenario("ten", "10 models, 30 raters x 100 prompts, 60 %", _crowd(TEN, 30, 100, 0.5), 1000, 5000, 0.6),
    Scenario("useless", "as in good, judge guesses", USUAL, 600, 4000, 0.0),
    Scenario("useless 200", "the same, 200 votes by people", USUAL, 200, 4000, 0.0),
    Scenario("useless 3000", "the same, 3,000 votes by people", USUAL, 3000, 6000, 0.0),
    Scenario("biased", "as in good, judge favours one model, else guesses", USUAL, 600, 4000, 0.0, favours=4),
]


def draw(scenario: Scenario, seed: int) -> tuple[Comparisons, np.ndarray, Comparisons]:
    """People's votes, the judge's outcomes on them, and on further battles."""
    n, rng = scenario.people, np.random.default_rng([seed, 3])
    votes = simulate_votes(scenario.model, n + scenario.judged, seed=seed)
    own = rng.integers(2, size=len(votes))
    if scenario.favours is not None:
        own = np.where(votes.a == scenario.favours, 0, np.where(votes.b == scenario.favours, 1, own))
    # the same battles, prompts and accidents, without the taste of whoever voted: a judge can't know that
    typical = simulate_votes(replace(scenario.model, rater_sd=0.0), len(votes), seed=seed)
    judge = np.where(rng.random(len(votes)) < scenario.copies, typical.outcome, own)
    k, rest = len(scenario.model.strengths), slice(n, None)
    further = Comparisons.of(k, votes.a[rest], votes.b[rest], judge[rest], prompt=votes.prompt[rest])
    return votes.as_comparisons().select(np.arange(n)), judge[:n], further


def combine(people: Comparisons, judge: np.ndarray, further: Comparisons) -> PredictionPowered:
    """As boards do: where chance made the mixes of pairs too different, the judge's is weighted."""
    try:
        return fit_prediction_powered(people, judge, further)
    except RefusedError:
        return fit_prediction_powered(people, judge, further, match_pairs=True)


def covered(board: PredictionPowered, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(2, K): whether the combined board's intervals, and people's, hold the truth; and half-widths."""
    of_both = (board.strengths, board.covariance), (board.people, board.people_covariance)
    wanted = truth - board.reference.weights @ truth
    reach = [critical_values(c.degrees, board.confidence) * c.deviations for _s, c in of_both]
    held = [np.abs(s - wanted) <= r for (s, _c), r in zip(of_both, reach, strict=True)]
    return np.where(np.isnan(reach), np.nan, held), np.array(reach)


def study(scenario: Scenario, repetitions: int, *, seed: int = 0) -> dict:
    """The scenario's row of the table."""
    truth, rows = pseudo_true_strengths(scenario.model), []
    for number in range(repetitions):
        board = combine(*draw(scenario, 1_000_003 * seed + number))
        rows.append((*covered(board, truth), board.gain, board.p_help))
    held, reach, gains, p = (np.array(column) for column in zip(*rows, strict=True))
    used = (p < HELPS) & (gains > 0)
    shown = np.where(used[:, None], held[:, 0], held[:, 1])
    return {
        "scenario": scenario.name,
        "words": scenario.words,
        "repetitions": repetitions,
        "combined": float(np.nanmean(held[:, 0])),
        "people": float(np.nanmean(held[:, 1])),
        "shown": float(np.nanmean(shown)),
        "worst_model": float(np.nanmin(np.nanmean(shown, axis=0))),
        "narrower": float(1 - np.nanmean(reach[:, 0]) / np.nanmean(reach[:, 1])),
        "gain": float(np.median(gains)),
        "positive": float((gains > 0).mean()),
        "by_gain": float((gains >= SMALL_GAIN).mean()),
        "by_p": float(used.mean()),
    }


def table(rows: list[dict]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| scenario | | combined | people alone | board shown | worst model | narrower by | median gain"
        " | used: gain > 0, ≥ 5 %, p < .05 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        numbers = [f"{r[name]:.3f}" for name in ("combined", "people", "shown", "worst_model")]
        shares = [f"{r[name]:.0%}" for name in ("narrower", "gain")]
        rules = ", ".join(f"{r[name]:.0%}" for name in ("positive", "by_gain", "by_p"))
        lines.append(f"| {' | '.join([r['scenario'], r['words'], *numbers, *shares, rules])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, SCENARIOS, study, table)
