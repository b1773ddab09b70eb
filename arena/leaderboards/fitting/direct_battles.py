"""The battles two competitors fought with each other: tests that need no model of strengths.

Worked off for all pairs asked for at once: there may be thousands, of a few votes each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.fitting.comparisons import UNKNOWN, BoardRows
from ratings.board_options import LeaderboardOptions
from ratings.comparisons import OUTCOMES, pair_codes
from ratings.grouped_proportions import Nets, mcnemars, net_rates, sign_tests
from ratings.sequential import e_value, fair_bets

Integers = NDArray[np.int64]
PROMPT_OF_ONE_RATER = "prompt, one rater"
BOTH_BAD = OUTCOMES.index("both_bad")


@dataclass(frozen=True, eq=False)
class DirectBattles:
    """Votes that the policies count (n,), each from the side of its pair's smaller number.

    group: the pair's place among those asked for · score: 1 won, 0 drawn, −1 lost · category: place in
    `names`, votes without a prompt under "" · on_prompt: the prompt is known · rater, prompt: cluster ids,
    None where the board has none · bet: neither its rater nor its prompt bet on the pair before.
    """

    n_groups: int
    group: Integers
    score: Integers
    both_bad: NDArray[np.bool_]
    names: tuple[str, ...]
    category: Integers
    on_prompt: NDArray[np.bool_]
    rater: Integers | None
    prompt: Integers | None
    bet: NDArray[np.bool_] | None

    def counts(self) -> Integers:
        """Wins, losses and ties of each pair's first (pairs, 3)."""
        return _counts(self.group, self.score, self.n_groups)

    def tests(self, confidence: float) -> list[dict[str, Any] | None]:
        """Sign test, net rate, McNemar on prompts and the e-value of each pair; None without a battle."""
        wins, losses, ties = self.counts().T.tolist()
        both_bad = np.bincount(self.group[self.both_bad], minlength=self.n_groups).tolist()
        signs = _signs(wins, losses, confidence)
        nets = self._of_one_rater(self._nets(self.group, self.n_groups, confidence), confidence)
        tests = zip(both_bad, signs, nets, self._mcnemars(), self._e_values(), strict=True)
        names = ("both_bad", "sign", "net", "mcnemar", "e")
        return [
            dict(zip(names, test, strict=True)) if any(battles) else None
            for battles, test in zip(zip(wins, losses, ties, strict=True), tests, strict=True)
        ]

    def _nets(self, group: Integers, n_groups: int, confidence: float) -> Iterator[dict[str, Any]]:
        """Share won less share lost, with intervals by rater and prompt at once, as far as they're known."""
        labels = {"rater": self.rater, "prompt": self.prompt}
        known = {name: ids for name, ids in labels.items() if ids is not None}
        nets = net_rates(self.score, group, n_groups, list(known.values()), confidence=confidence)
        return _told_nets(nets, " and ".join(known))

    def _of_one_rater(self, nets: Iterator[dict[str, Any]], confidence: float) -> Iterator[dict[str, Any]]:
        """Of pairs on which a single rater voted, what is known is how those votes differ by prompt: as on a
        judge's board, such an interval speaks of this one alone.
        """
        if self.rater is None or self.prompt is None or not len(self.rater):
            yield from nets
            return
        width = int(self.rater.max()) + 1
        raters = np.bincount(np.unique(self.group * width + self.rater) // width, minlength=self.n_groups)
        rows = raters[self.group] == 1
        clusters = [self.prompt[rows]]
        by_prompt = net_rates(
            self.score[rows], self.group[rows], self.n_groups, clusters, confidence=confidence
        )
        alone = _told_nets(by_prompt, PROMPT_OF_ONE_RATER)
        for n, net, one in zip(raters.tolist(), nets, alone, strict=True):
            yield one if n == 1 else net

    def _mcnemars(self) -> Iterator[dict[str, Any] | None]:
        """Prompts on which most votes prefer the first, against those on which most prefer the second."""
        if self.prompt is None:
            yield from [None] * self.n_groups
            return
        group, score = self.group[self.on_prompt], self.score[self.on_prompt]
        width = int(self.prompt.max(initial=0)) + 1
        keys, label = np.unique(group * width + self.prompt[self.on_prompt], return_inverse=True)
        net, of = np.bincount(label, score, len(keys)), keys // width
        prompts = np.bincount(of, minlength=self.n_groups).tolist()
        first, second = (np.bincount(of[side], minlength=self.n_groups) for side in (net > 0, net < 0))
        tests = mcnemars(first, second)
        columns = {name: _plain(getattr(tests, name)) for name in MCNEMAR_FIELDS}
        for place, known in enumerate(prompts):
            test = {name: column[place] for name, column in columns.items()}
            yield {"prompts": known} | test if known else None

    def _e_values(self) -> Iterator[dict[str, Any] | None]:
        """Evidence that stays valid however often one looks: one bet per rater and per prompt."""
        if self.bet is None:
            yield from [None] * self.n_groups
            return
        won, lost, _ties = _counts(self.group[self.bet], self.score[self.bet], self.n_groups).T
        e = e_value(won, lost)
        e = np.where(np.isfinite(e), e, np.nan)
        for wins, losses, value in zip(won.tolist(), lost.tolist(), _plain(e), strict=True):
            yield {"wins": wins, "losses": losses, "e": value}

    def by_category(self, confidence: float) -> list[list[dict[str, Any]]]:
        """Of each pair, counts and net rate of each category, the one with the most battles first."""
        keys, group = np.unique(self.group * len(self.names) + self.category, return_inverse=True)
        counts = _counts(group, self.score, len(keys)).tolist()
        found: list[list[dict[str, Any]]] = [[] for _ in range(self.n_groups)]
        for key, three, net in zip(
            keys.tolist(), counts, self._nets(group, len(keys), confidence), strict=True
        ):
            pair, category = divmod(key, len(self.names))
            told = dict(zip(("wins", "losses", "ties"), three, strict=True))
            found[pair].append({"category": self.names[category]} | told | {"net": net})
        for categories in found:
            categories.sort(key=lambda one: (-one["wins"] - one["losses"] - one["ties"], one["category"]))
        return found


MCNEMAR_FIELDS = (
    "only_first",
    "only_second",
    "exact_p",
    "mid_p",
    "chi_squared",
    "chi_squared_p",
    "corrected",
    "corrected_p",
    "p",
    "odds_ratio",
)


def _counts(group: Integers, score: Integers, n_groups: int) -> Integers:
    counts = [np.bincount(group[score == side], minlength=n_groups) for side in (1, -1, 0)]
    return np.stack(counts, axis=1)


def _signs(wins: list[int], losses: list[int], confidence: float) -> Iterator[dict[str, Any] | None]:
    tests = sign_tests(wins, losses, confidence=confidence)
    columns = (_plain(column) for column in (tests.p, tests.share, tests.lower, tests.upper))
    for won, lost, p, share, lower, upper in zip(wins, losses, *columns, strict=True):
        n = won + lost
        ends = {"estimate": share, "lower": lower, "upper": upper, "successes": won, "n": n}
        told = ends | {"effective_n": float(n), "clusters": None, "confidence": confidence}
        yield {"wins": won, "losses": lost, "p": p, "share": told} if n else None


def _told_nets(nets: Nets, clustered_by: str) -> Iterator[dict[str, Any]]:
    columns = (_plain(column) for column in (nets.estimate, nets.lower, nets.upper, nets.p))
    for estimate, lower, upper, p in zip(*columns, strict=True):
        yield {"estimate": estimate, "lower": lower, "upper": upper, "p": p, "clustered_by": clustered_by}


def _plain(values: NDArray[Any]) -> list[Any]:
    """Numbers as Python's, None for NaN."""
    return [None if value != value else value for value in values.tolist()]


@dataclass(frozen=True, eq=False)
class Counted:
    """All votes that the policies count: `kept` (rows of the board, by pair), their pairs and scores."""

    rows: BoardRows
    kept: Integers
    code: Integers
    score: Integers

    def counts(self, first: Integers, second: Integers) -> Integers:
        """Wins, losses and ties (m, 3) of the first in pairs of competitor numbers first < second."""
        asked = self._codes(first, second)
        known, place = np.unique(self.code, return_inverse=True)
        counts = np.vstack([_counts(place, self.score, len(known)), np.zeros((1, 3), dtype=np.int64)])
        at = np.minimum(np.searchsorted(known, asked), max(len(known) - 1, 0))
        met = known[at] == asked if len(known) else np.zeros(len(asked), dtype=bool)
        return counts[np.where(met, at, len(known))]

    def battles(self, first: Integers, second: Integers) -> DirectBattles:
        """The votes on these pairs; groups follow the order of the pairs."""
        asked = self._codes(first, second)
        order = np.argsort(asked)
        at = np.minimum(np.searchsorted(asked[order], self.code), max(len(asked) - 1, 0))
        mine = asked[order][at] == self.code if len(asked) else np.zeros(len(self.code), dtype=bool)
        rows, comparisons = self.kept[mine], self.rows.comparisons
        names, category = self._categories(rows)
        bet = _bets(self.rows)
        rater, prompt = (
            None if ids is None else ids[rows].astype(np.int64)
            for ids in (comparisons.rater, comparisons.prompt)
        )
        return DirectBattles(
            n_groups=len(asked),
            group=order[at[mine]],
            score=self.score[mine],
            both_bad=comparisons.outcome[rows] == BOTH_BAD,
            names=names,
            category=category,
            on_prompt=self.rows.category[rows] != UNKNOWN,
            rater=rater,
            prompt=prompt,
            bet=None if bet is None else bet[rows],
        )

    def _codes(self, first: Integers, second: Integers) -> Integers:
        return first.astype(np.int64) * self.rows.comparisons.n_competitors + second

    def _categories(self, rows: Integers) -> tuple[tuple[str, ...], Integers]:
        names = self.rows.categories
        if "" not in names:
            names = (*names, "")
        category = self.rows.category[rows]
        return names, np.where(category == UNKNOWN, names.index(""), category)


def counted_battles(rows: BoardRows, options: LeaderboardOptions) -> Counted:
    """Every counted vote under its pair, seen from the smaller number's side."""
    comparisons = rows.comparisons
    policies = options.policies
    if policies.unstable == "average":
        # Three quarters of a win are a matter of the fit; between two models a flip is a draw.
        policies = replace(policies, unstable="half")
    half_wins = policies.half_wins()[comparisons.outcome].astype(np.int64)
    kept = np.flatnonzero(half_wins >= 0)
    side = np.where(comparisons.a[kept] < comparisons.b[kept], 1, -1)
    return Counted(rows, kept, pair_codes(comparisons)[kept], side * (half_wins[kept] - 1))


def _bets(rows: BoardRows) -> NDArray[np.bool_] | None:
    if rows.comparisons.rater is None:
        return None
    bet = np.zeros(len(rows.comparisons), dtype=bool)
    bet[fair_bets(rows.comparisons)] = True
    return bet
