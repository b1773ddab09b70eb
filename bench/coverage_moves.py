"""Do the 95 % intervals of moves between a board and the board of its hard prompts cover 95 %?

    python -m bench.coverage_moves --repetitions 1000 --workers 2 [--only third,moved] [--json OUT]

Each repetition draws votes on hard and other prompts (ratings.simulate) by the same raters and asks of
`ratings.rating_moves.fit_moves`: does each interval hold the move of what the two fits tend to? How often
does it exclude zero, and how often do the two boards' own intervals not meet, the coarser sign of a move?
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bench.coverage import SIX, TWENTY
from bench.coverage_studies import run
from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.comparisons import Comparisons
from ratings.rating_moves import RatingMoves, fit_moves
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.simulate import VoteModel, pseudo_true_mixture, pseudo_true_strengths, simulate_votes
from ratings.uncertainty import critical_values

OPTIONS = LeaderboardOptions(bootstrap=0, check=False)
MOVES = 0.05
"""Log-odds from which on a model counts as one that moves: 9 points."""

SWAPPED_ENDS = (0.25, 0.0, 0.0, 0.0, 0.0, -0.25)


@dataclass(frozen=True)
class Scenario:
    """A truth, how many votes are drawn from it, how many of its prompts are hard.

    moved (K,): added to the strengths on hard prompts · apart: every other rater votes on hard ones alone ·
    known: what votes know of where they come from.
    """

    name: str
    words: str
    model: VoteModel
    votes: int
    hard: int
    moved: tuple[float, ...] = ()
    apart: bool = False
    known: tuple[str, ...] = ("rater", "prompt")

    @property
    def on_hard(self) -> VoteModel:
        moved = self.moved or (0.0,) * len(self.model.strengths)
        strengths = tuple(s + m for s, m in zip(self.model.strengths, moved, strict=True))
        return replace(self.model, strengths=strengths)


def _two(raters: int, prompts: int, sd: float, **more: object) -> dict:
    return {"tie": 0.7, "raters": raters, "rater_sd": sd, "prompts": prompts, "prompt_sd": sd, **more}


SMALL = VoteModel(SIX, **_two(30, 60, 0.6))
CROWD = VoteModel(TWENTY, **_two(300, 250, 0.5, rater_zipf=1.0))

SCENARIOS = [
    Scenario("independent", "6 models, no tastes", VoteModel(SIX, tie=0.7, prompts=90), 2000, 30, known=()),
    Scenario("third", "6 models, 30 raters x 60 prompts, 20 hard", SMALL, 2000, 20),
    Scenario("moved", "the same, two models 43 points off on hard ones", SMALL, 2000, 20, SWAPPED_ENDS),
    Scenario("few", "the same, 12 of 60 hard, none off", SMALL, 2000, 12),
    Scenario("five", "the same, 5 of 60 hard", SMALL, 2000, 5),
    Scenario("most", "the same, 48 of 60 hard", SMALL, 2000, 48),
    Scenario("apart", "the same, 20 hard, half the raters see no others", SMALL, 2000, 20, apart=True),
    Scenario(
        "raters",
        "6 models, 15 raters, prompts unknown, a third hard",
        VoteModel(SIX, tie=0.7, raters=15, rater_sd=0.7, prompts=90),
        2000,
        30,
        known=("rater",),
    ),
    Scenario(
        "prompts",
        "6 models, 60 prompts, raters unknown, 20 hard",
        VoteModel(SIX, tie=0.7, prompts=60, prompt_sd=0.7),
        2000,
        20,
        known=("prompt",),
    ),
    Scenario("Zipf", "20 models, 300 raters by Zipf x 250 prompts, 80 hard", CROWD, 5000, 80),
    Scenario(
        "panel",
        "20 models, 25 raters x 250 prompts, 80 hard",
        VoteModel(TWENTY, **_two(25, 250, 0.6)),
        5000,
        80,
    ),
]


def draw(scenario: Scenario, seed: int) -> tuple[Comparisons, np.ndarray]:
    """Votes, and which of them are about hard prompts (n,). Both truths share raters, prompts and tastes."""
    votes = simulate_votes(scenario.model, scenario.votes, seed=seed)
    on_hard = simulate_votes(scenario.on_hard, scenario.votes, seed=seed)
    hard = votes.prompt < scenario.hard
    rows = votes.as_comparisons()
    rows = replace(rows, outcome=np.where(hard, on_hard.outcome, votes.outcome))
    if scenario.apart:
        kept = hard | (rows.rater % 2 == 0)
        rows, hard = rows.select(kept), hard[kept]
    known = {name: getattr(rows, name) if name in scenario.known else None for name in ("rater", "prompt")}
    return replace(rows, **known), hard


def truth_of(scenario: Scenario) -> np.ndarray:
    """Log-odds (K,) by which the fits tend to differ."""
    share = scenario.hard / scenario.model.prompts
    if scenario.apart:
        share = share / (share + (1 - share) / 2)
    whole = pseudo_true_mixture((scenario.on_hard, scenario.model), (share, 1 - share))
    return pseudo_true_strengths(scenario.on_hard) - whole


@dataclass(frozen=True)
class Repetition:
    """Of each competitor (K,), NaN without interval: covered, half-width in points, is zero excluded; do the
    boards' own intervals not meet."""

    covered: np.ndarray
    width: np.ndarray
    settled: np.ndarray
    apart: np.ndarray


def repeat(scenario: Scenario, truth: np.ndarray, seed: int) -> Repetition:
    """One simulated campaign against the truth."""
    votes, hard = draw(scenario, seed)
    moves = fit_moves(votes, np.ones(len(votes), dtype=bool), hard, OPTIONS)
    wanted = POINTS_PER_LOG_ODDS * (truth - truth[moves.members].mean())
    given = ~np.isnan(moves.lower)
    covered = np.where(given, (moves.lower <= wanted) & (wanted <= moves.upper), np.nan)
    settled = np.where(given, (moves.lower > 0) | (moves.upper < 0), np.nan)
    return Repetition(covered, (moves.upper - moves.lower) / 2, settled, _apart(votes, hard, moves, given))


def _apart(votes: Comparisons, hard: np.ndarray, moves: RatingMoves, given: np.ndarray) -> np.ndarray:
    reach = np.zeros(len(given))
    for rows in (votes, votes.select(hard)):
        board = fit_board(rows, OPTIONS)
        own = critical_values(board.covariance.degrees, OPTIONS.confidence) * board.covariance.deviations
        reach += POINTS_PER_LOG_ODDS * own[np.argsort(board.order)]
    return np.where(given, np.abs(moves.move) > reach, np.nan)


def study(scenario: Scenario, repetitions: int, *, seed: int = 0) -> dict:
    """The scenario's row of the table."""
    truth = truth_of(scenario)
    runs = [repeat(scenario, truth, 1_000_003 * seed + i) for i in range(repetitions)]
    covered = np.array([r.covered for r in runs])
    moving = np.abs(truth) > MOVES
    return {
        "scenario": scenario.name,
        "words": scenario.words,
        "votes": scenario.votes,
        "repetitions": repetitions,
        "coverage": float(np.nanmean(covered)),
        "worst_model": float(np.nanmin(np.nanmean(covered, axis=0))),
        "half_width": float(np.nanmedian([r.width for r in runs])),
        "interval_given": float((~np.isnan(covered)).mean()),
        "marked": _shares([r.settled for r in runs], moving),
        "apart": _shares([r.apart for r in runs], moving),
    }


def _shares(marks: list[np.ndarray], moving: np.ndarray) -> list[float | None]:
    """Of those that don't move, and of those that do."""
    table = np.array(marks)
    return [float(np.nanmean(table[:, who])) if who.any() else None for who in (~moving, moving)]


def table(rows: list[dict]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| scenario | | votes | coverage | worst model | half-width | interval given"
        " | marked: still, moving | boards' intervals apart: still, moving |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        shares = [", ".join("" if n is None else f"{n:.3f}" for n in r[each]) for each in ("marked", "apart")]
        numbers = [f"{r[each]:.3f}" for each in ("coverage", "worst_model")]
        numbers += [f"{r['half_width']:.0f}", f"{r['interval_given']:.0%}"]
        lines.append(f"| {' | '.join([r['scenario'], r['words'], str(r['votes']), *numbers, *shares])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, SCENARIOS, study, table, repetitions=1000)
