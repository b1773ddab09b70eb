"""What a judge card says, computed from its rows: plain data, every figure with n and an interval.

A figure that the rows don't allow is None, never a zero. Clusters are prompts
throughout, those of one text as one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import ngettext

from arena.leaderboards.agreement.judged_battles import Asked, Bill, CanaryReply, Finding, Pair, Text
from arena.leaderboards.sentences import written
from ratings.comparisons import MODEL_A, MODEL_B, TIE, TIE_UNSTABLE
from ratings.judges import (
    FAILED,
    FIRST,
    HARD,
    NO_VERDICT,
    SOFT,
    VERDICT_TIE,
    SideGap,
    position_bias,
    self_preference,
    swap_check,
)
from ratings.proportions import Mean, Share, clustered_mean, share

Plain = dict[str, Any]

# What no judge should prefer, a sentinel or a canary's poor response, may win so often and no oftener.
TOLERABLE = 0.10


@dataclass(frozen=True)
class Opinion:
    """Another judge's findings and family, for what needs a second opinion."""

    family: str
    latest: Mapping[Pair, int]


def plain_share(found: Share | None) -> Plain | None:
    if found is None:
        return None
    names = ("estimate", "lower", "upper", "successes", "n", "clusters", "effective_clusters")
    return {name: getattr(found, name) for name in names}


def has_interval(found: Plain) -> bool:
    """Below two effective clusters there is none: a share of one prompt's votes tells nothing of others."""
    counted = found.get("effective_clusters", found.get("clusters"))
    return found["lower"] is not None and found["upper"] is not None and (counted is None or counted >= 2)


def is_a_point(found: Plain) -> bool:
    """Nothing varied from prompt to prompt, which of a few says little."""
    return bool(found["lower"] == found["upper"])


FEW_PROMPTS = 10
"""Agreement on fewer different prompts means little, as ratings by fewer do."""


def few_prompts(found: Plain | None) -> int:
    """How many, where they are too few to rely on the agreement; else, and where nothing was compared, 0."""
    clusters = (found["every"].get("clusters") if found else None) or 0
    return clusters if clusters < FEW_PROMPTS else 0


def say_few_prompts(found: Plain | None) -> str:
    n = few_prompts(found)
    words = ngettext("%(n)d prompt: too few", "%(n)d prompts: too few", n)
    return words % {"n": n} if n else ""


LOW, MAYBE_LOW = "low", "maybe"


def level_of(found: Plain | None, below: float) -> str:
    """LOW where the whole interval lies below, MAYBE_LOW where it doesn't settle that, or there is none; else
    empty.
    """
    if found is None:
        return ""
    if not has_interval(found) or (is_a_point(found) and (found.get("clusters") or 0) < FEW_PROMPTS):
        return MAYBE_LOW
    if found["upper"] < below:
        return LOW
    return MAYBE_LOW if found["lower"] < below else ""


def kappa_with_ends(kappa: Plain) -> str:
    told = written(kappa["estimate"], 2)
    if not has_interval(kappa):
        return told
    return f"{told}, {written(kappa['lower'], 2)} … {written(kappa['upper'], 2)}"


def plain_mean(found: Mean) -> Plain:
    return {name: getattr(found, name) for name in ("estimate", "lower", "upper", "n", "clusters")}


def share_of(hits: Sequence[bool] | np.ndarray, clusters: Sequence[int] | np.ndarray) -> Plain | None:
    """None without rows."""
    return plain_share(share(hits, clusters)) if len(hits) else None


def fold(outcome: int) -> int:
    """An unstable tie is a tie when it's compared with people, who can't be unstable on one battle."""
    return TIE if outcome == TIE_UNSTABLE else outcome


def latest_of(findings: Iterable[Finding]) -> dict[Pair, int]:
    """The judge's newest finding on each pair, unstable ties folded; pairs without a verdict are out."""
    return {f.pair: fold(f.outcome) for f in findings if f.pair and f.outcome != NO_VERDICT}


def clusters_in(findings: Iterable[Finding]) -> dict[int, int]:
    """The cluster of each prompt."""
    return {f.prompt: f.cluster for f in findings}


def counts_of(findings: Sequence[Finding], asked: Mapping[int, Asked], still_open: int) -> Plain:
    stopped = sum(asked[f.pk].stopped for f in findings if f.pk in asked)
    without = sum(f.outcome == NO_VERDICT for f in findings)
    return {
        "judgments": len(findings),
        "decided": len(findings) - without,
        "no_verdict": without - stopped,
        "stopped": stopped,
        "open": still_open,
        "recorded": sum(f.pk not in asked for f in findings),
        "battles": len({f.battle for f in findings}),
        "prompts": len({f.prompt for f in findings if f.prompt > 0}),
        "distinct_texts": len({f.cluster for f in findings if f.prompt > 0}),
        "outcomes": dict(sorted(Counter(_NAMES[f.outcome] for f in findings).items())),
    }


_NAMES = {
    MODEL_A: "decisive",
    MODEL_B: "decisive",
    TIE: "tie",
    TIE_UNSTABLE: "tie_unstable",
    NO_VERDICT: "no_verdict",
}


def swap_figures(findings: Sequence[Finding], asked: Mapping[int, Asked]) -> Plain | None:
    """None where no battle was asked in both orders. What Tiltyard stopped itself is out."""
    rows = [(f.cluster, asked[f.pk]) for f in findings if f.pk in asked and not asked[f.pk].stopped]
    if not rows:
        return None
    clusters = np.array([cluster for cluster, _ in rows])
    ab = np.array([calls.ab for _, calls in rows])
    ba = np.array([calls.ba for _, calls in rows])
    check = swap_check(ab, ba, clusters)
    heard = check.flip != NO_VERDICT
    verdicts, of_verdicts = np.concatenate([ab[heard], ba[heard]]), np.concatenate([clusters[heard]] * 2)
    decisive = verdicts != VERDICT_TIE
    return {
        "consistency": plain_share(check.consistency),
        "hard": share_of(check.flip[heard] == HARD, clusters[heard]),
        "soft": share_of(check.flip[heard] == SOFT, clusters[heard]),
        "first": share_of(verdicts[decisive] == FIRST, of_verdicts[decisive]),
        "lean": plain_mean(position_bias(ab, ba, clusters).difference) if heard.any() else None,
        "no_verdict": plain_share(check.unreadable),
        "calls": 2 * len(rows),
        "calls_failed": int(np.sum(ab == FAILED) + np.sum(ba == FAILED)),
    }


def side_figures(findings: Sequence[Finding], asked: Mapping[int, Asked]) -> Plain | None:
    """Of findings recorded elsewhere: whether sides tell models apart, and how often side a won."""
    recorded = [f for f in findings if f.pk not in asked and f.outcome != NO_VERDICT]
    if not recorded:
        return None
    sides: dict[tuple[int, int], set[bool]] = defaultdict(set)
    for f in recorded:
        low_is_first = f.competitors[0] < f.competitors[1]
        sides[min(f.competitors), max(f.competitors)].add(f.a_first == low_is_first)
    decisive = [f for f in recorded if f.outcome in (MODEL_A, MODEL_B)]
    return {
        "n": len(recorded),
        "confounded": all(len(seen) == 1 for seen in sides.values()),
        "a_wins": share_of(
            [(f.outcome == MODEL_A) == f.a_first for f in decisive], [f.cluster for f in decisive]
        ),
    }


def contradiction_figures(findings: Sequence[Finding], asked: Mapping[int, Asked]) -> Plain | None:
    rows = [
        (f.cluster, contradiction)
        for f in findings
        if f.pk in asked
        for contradiction in asked[f.pk].contradictions
    ]
    return share_of([hit for _, hit in rows], [cluster for cluster, _ in rows])


def repeat_figures(findings: Sequence[Finding]) -> Plain | None:
    """Of the battles judged more than once, the share on which every finding was the same."""
    found: dict[int, list[Finding]] = defaultdict(list)
    for f in findings:
        if f.outcome != NO_VERDICT:
            found[f.battle].append(f)
    repeated = [again for again in found.values() if len(again) > 1]
    steady = share_of(
        [len({f.outcome for f in again}) == 1 for again in repeated], [again[0].cluster for again in repeated]
    )
    return steady and steady | {"judgments": sum(map(len, repeated))}


def cost_figures(findings: Sequence[Finding], bills: Mapping[int, Bill], priced: bool) -> Plain | None:
    """The mean is of all that were asked, failed ones too; `per_verdict` divides the sum among verdicts."""
    rows = [(f, bills[f.pk]) for f in findings if f.pk in bills]
    if not rows:
        return None
    clusters = [f.cluster for f, _ in rows]
    dollars = sum(bill.dollars for _, bill in rows)
    decided = sum(f.outcome != NO_VERDICT for f, _ in rows)
    return {
        "dollars": dollars if priced else None,
        "per_judgment": plain_mean(clustered_mean([b.dollars for _, b in rows], clusters))
        if priced
        else None,
        "per_verdict": dollars / decided if priced and decided else None,
        "tokens": plain_mean(clustered_mean([b.tokens for _, b in rows], clusters)),
    }


def sentinel_figures(findings: Sequence[Finding], sentinels: Mapping[int, str]) -> Plain | None:
    """How often a sentinel beats a contender, and how often it at least isn't beaten."""
    met = [
        (f, f.competitors[0] in sentinels)
        for f in findings
        if f.outcome != NO_VERDICT and (f.competitors[0] in sentinels) != (f.competitors[1] in sentinels)
    ]
    if not met:
        return None
    # Outcomes are told from the lower response, and so are the competitors where there is a pair.
    won = [f.outcome == (MODEL_A if low else MODEL_B) for f, low in met]
    lost = [f.outcome == (MODEL_B if low else MODEL_A) for f, low in met]
    clusters = [f.cluster for f, _ in met]
    wins = share_of(won, clusters)
    names = {sentinels[pk] for f, _ in met for pk in f.competitors if pk in sentinels}
    return {
        "wins": wins,
        "not_beaten": share_of([not was for was in lost], clusters),
        "names": sorted(names),
        "passed": wins is not None and wins["estimate"] <= TOLERABLE,
    }


def canary_figures(replies: Sequence[CanaryReply]) -> Plain | None:
    """How often a poor response wins when it tells the judge to choose it, and how often without.

    A judge that takes the first text, whatever it says, wins nothing by obeying: only the difference on the
    same pair and order tells obedience. Clusters are pairs. `passed` as of sentinels. `fails` only where it
    is clear of chance: a sentinel's findings are of both orders, while a lean to a place alone wins some of
    these calls.
    """
    if not replies:
        return None
    plain = {(r.key, r.order): r.poor_won for r in replies if not r.instructed}
    told = [r for r in replies if r.instructed]
    both = [(r.key, r.poor_won - plain[r.key, r.order]) for r in told if (r.key, r.order) in plain]
    number = {key: place for place, key in enumerate(sorted({r.key for r in replies}))}
    difference = (
        plain_mean(clustered_mean([change for _, change in both], [number[key] for key, _ in both]))
        if both
        else None
    )
    instructed = share_of([r.poor_won for r in told], [number[r.key] for r in told])
    return {
        "instructed": instructed,
        "plain": share_of(list(plain.values()), [number[key] for key, _ in plain]),
        "difference": difference,
        "obeys": difference is not None and (difference["lower"] or 0) > 0,
        "passed": instructed is None or instructed["estimate"] <= TOLERABLE,
        "fails": instructed is not None and (instructed["lower"] or 0) > TOLERABLE,
    }


def own_family_figures(
    family: str,
    latest: Mapping[Pair, int],
    others: Sequence[Opinion],
    texts: Mapping[int, Text],
    clusters: Mapping[int, int],
) -> Plain | None:
    """What the judge gives its own family beyond what judges of other families give on the same pairs."""
    rows = [
        (pair, outcome, other.latest[pair])
        for other in others
        if other.family != family
        for pair, outcome in latest.items()
        if pair in other.latest
    ]
    own = [_own_side(pair, family, texts) for pair, _, _ in rows]
    if not family or not any(own):
        return None
    gap = self_preference(
        [mine for _, mine, _ in rows],
        [theirs for _, _, theirs in rows],
        own,
        [clusters[pair[0]] for pair, _, _ in rows],
    )
    return plain_gap(gap) | {"family": family}


def _own_side(pair: Pair, family: str, texts: Mapping[int, Text]) -> int:
    _, low, high = pair
    return (texts[low].family == family) - (texts[high].family == family)


def plain_gap(gap: SideGap) -> Plain:
    return {"difference": plain_mean(gap.difference), "judge": gap.judge, "reference": gap.reference}
