"""The battles two competitors fought with each other: tests that need no model of strengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.comparisons import UNKNOWN, BoardRows
from ratings.board_options import LeaderboardOptions
from ratings.comparisons import OUTCOMES, pair_codes
from ratings.proportions import Mean, clustered_mean, mcnemar, sign_test
from ratings.sequential import e_value, first_decisive_votes

Integers = NDArray[np.integer[Any]]
BOTH_BAD = OUTCOMES.index("both_bad")


@dataclass(frozen=True, eq=False)
class DirectBattles:
    """The votes on one pair that the policies count, from the first one's side (n,).

    score: 1 won, 0 drawn, −1 lost · category: name of each vote's prompt's, None where no prompt is known ·
    rater, prompt: cluster ids, None where the board has none · bet: the vote is its rater's first decisive
    one.
    """

    score: Integers
    both_bad: NDArray[np.bool_]
    category: list[str | None]
    rater: Integers | None
    prompt: Integers | None
    bet: NDArray[np.bool_] | None

    @property
    def total(self) -> int:
        return len(self.score)

    @property
    def wins(self) -> int:
        return int((self.score > 0).sum())

    @property
    def losses(self) -> int:
        return int((self.score < 0).sum())

    @property
    def ties(self) -> int:
        return int((self.score == 0).sum())

    def tests(self, confidence: float) -> dict[str, Any] | None:
        """Sign test, net rate, McNemar on prompts and the e-value; None without a battle."""
        if not self.total:
            return None
        decisive = self.wins + self.losses
        sign = sign_test(self.wins, self.losses, confidence=confidence) if decisive else None
        return {
            "both_bad": int(self.both_bad.sum()),
            "sign": None if sign is None else asdict(sign),
            "net": self.net_rate(confidence),
            "mcnemar": self._mcnemar(),
            "e": self._e_value(),
        }

    def net_rate(self, confidence: float = 0.95) -> dict[str, Any]:
        """Share won less share lost, with the wider of the intervals by prompt and by rater."""
        labels = {"prompt": self.prompt, "rater": self.rater}
        known = {name: ids for name, ids in labels.items() if ids is not None}
        means = {name: clustered_mean(self.score, ids, confidence=confidence) for name, ids in known.items()}
        if not means:
            means = {"": clustered_mean(self.score, confidence=confidence)}
        # Without an error there are too few clusters in this respect: then nothing can be said at all.
        by = max(means, key=lambda name: _error(means[name]))
        mean = means[by]
        # A t interval of few clusters may reach beyond what a rate can be.
        lower, upper = (None if end is None else min(max(end, -1.0), 1.0) for end in (mean.lower, mean.upper))
        ends = {"estimate": mean.estimate, "lower": lower, "upper": upper}
        return ends | {"p": mean.p, "clustered_by": by}

    def _mcnemar(self) -> dict[str, Any] | None:
        """Prompts on which most votes prefer the first, against those on which most prefer the second."""
        known = np.array([name is not None for name in self.category], dtype=bool)
        if self.prompt is None or not known.any():
            return None
        prompts, label = np.unique(self.prompt[known], return_inverse=True)
        net = np.bincount(label, self.score[known], len(prompts))
        test = mcnemar(int((net > 0).sum()), int((net < 0).sum()))
        return {"prompts": len(prompts)} | asdict(test)

    def _e_value(self) -> dict[str, Any] | None:
        """Evidence that stays valid however often one looks: a bet on each rater's first decisive vote."""
        if self.bet is None:
            return None
        won, lost = int((self.score[self.bet] > 0).sum()), int((self.score[self.bet] < 0).sum())
        e = float(e_value(won, lost))
        return {"wins": won, "losses": lost, "e": e if np.isfinite(e) else None}

    def by_category(self) -> list[dict[str, Any]]:
        """Counts and net rate of each category, the one with the most battles first."""
        names = np.array(["" if name is None else name for name in self.category], dtype=object)
        found = []
        for name in dict.fromkeys(names.tolist()):
            part = self.part(np.flatnonzero(names == name))
            counts = {"wins": part.wins, "losses": part.losses, "ties": part.ties}
            found.append({"category": name} | counts | {"net": part.net_rate()})
        return sorted(found, key=lambda one: (-one["wins"] - one["losses"] - one["ties"], one["category"]))

    def part(self, at: Integers) -> DirectBattles:
        def of(values: Any) -> Any:
            return None if values is None else values[at]

        names = [self.category[n] for n in at.tolist()]
        return DirectBattles(
            self.score[at], self.both_bad[at], names, of(self.rater), of(self.prompt), of(self.bet)
        )


@dataclass(frozen=True, eq=False)
class Direct:
    """The direct battles of every pair, cut from one sorted table when asked for."""

    whole: DirectBattles
    slices: Mapping[int, Integers]
    n_competitors: int

    def of(self, first: int, second: int) -> DirectBattles:
        """Of competitor numbers first < second."""
        at = self.slices.get(first * self.n_competitors + second, np.zeros(0, dtype=np.int64))
        return self.whole.part(at)


def battles_by_pair(rows: BoardRows, options: LeaderboardOptions) -> Direct:
    """Every counted vote under its pair, seen from the smaller number's side."""
    comparisons = rows.comparisons
    policies = options.policies
    if policies.unstable == "average":
        # Three quarters of a win are a matter of the fit; between two models a flip is a draw.
        policies = replace(policies, unstable="half")
    half_wins = policies.half_wins()[comparisons.outcome].astype(np.int64)
    side = np.where(comparisons.a < comparisons.b, 1, -1)
    codes = pair_codes(comparisons).astype(np.int64)
    kept = np.flatnonzero(half_wins >= 0)
    kept = kept[np.argsort(codes[kept], kind="stable")]
    names: list[str | None] = [*rows.categories, None]
    category = np.where(rows.category == UNKNOWN, len(rows.categories), rows.category)
    whole = DirectBattles(
        score=(side * (half_wins - 1)),
        both_bad=comparisons.outcome == BOTH_BAD,
        category=[names[number] for number in category.tolist()],
        rater=comparisons.rater,
        prompt=comparisons.prompt,
        bet=_bets(rows),
    )
    found, start = np.unique(codes[kept], return_index=True)
    slices = dict(zip(found.tolist(), np.split(kept, start[1:]), strict=True)) if len(kept) else {}
    return Direct(whole, slices, comparisons.n_competitors)


def _error(mean: Mean) -> float:
    return np.inf if mean.standard_error is None else mean.standard_error


def _bets(rows: BoardRows) -> NDArray[np.bool_] | None:
    if rows.comparisons.rater is None:
        return None
    bet = np.zeros(len(rows.comparisons), dtype=bool)
    bet[first_decisive_votes(rows.comparisons)] = True
    return bet
