"""A judge beside people: on the same pairs, what people say among each other, and two judges that can't read.

One row per pair and vote: the judge's newest finding against that vote. People against people is one row per
pair and two of its voters. Against the majority: one row per pair with a strict majority of at least three.
`clusters` tells the cluster of each prompt: those of one text are one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from arena.leaderboards.agreement.judge_figures import Plain, plain_gap, plain_share, share_of
from arena.leaderboards.agreement.judged_battles import Ballot, Pair, Text
from ratings.agreement import AMBIGUOUS_BELOW, agreement
from ratings.clustered_kappa import clustered_kappa
from ratings.comparisons import MODEL_A, MODEL_B, TIE
from ratings.errors import BadValueError
from ratings.judges import verbosity_gap

LEAST_FOR_MAJORITY = 3
MOST_NAMED = 4
_CATEGORIES = 3  # one response, the other, a tie
SIDES = (MODEL_A, MODEL_B)
"""The lower response and the higher: by the order of lines in some file, which no agreement may hang on."""

Row = tuple[Pair, int, int]


def agreement_figures(
    latest: Mapping[Pair, int],
    ballots: Sequence[Ballot],
    texts: Mapping[int, Text],
    categories: Mapping[int, str],
    clusters: Mapping[int, int],
    names: Mapping[int, str],
) -> Plain | None:
    """None when no vote stands on a pair that the judge decided. `names`: of raters."""
    shared = [ballot for ballot in ballots if ballot.pair in latest]
    if not shared:
        return None
    judged: list[Row] = [(b.pair, latest[b.pair], b.outcome) for b in shared]
    by_pair = first_votes(shared)
    longer = [(b.pair, _longer(b.pair, texts), b.outcome) for b in shared]
    first = [(b.pair, MODEL_A if b.a_first else MODEL_B, b.outcome) for b in shared]
    people = people_rows(by_pair)
    return {
        "votes": compare(judged, clusters),
        "majority": compare(majority_rows(latest, by_pair), clusters),
        "people": compare(people, clusters, symmetric=True),
        "each_two": _each_two(by_pair, clusters, names),
        "longer": compare(longer, clusters),
        "first": compare(first, clusters),
        "battles": len(by_pair),
        "raters": len({b.rater for b in shared}),
        "simulated": sum(b.simulated for b in shared),
        "ambiguous_below": AMBIGUOUS_BELOW,
        "categories": _by_category(judged, people, categories, clusters),
    }


def first_votes(ballots: Iterable[Ballot]) -> dict[Pair, dict[int, int]]:
    """Outcome by pair and rater; of one who saw a pair twice the first vote counts."""
    found: dict[Pair, dict[int, int]] = defaultdict(dict)
    for ballot in ballots:
        found[ballot.pair].setdefault(ballot.rater, ballot.outcome)
    return found


def people_rows(by_pair: Mapping[Pair, Mapping[int, int]]) -> list[Row]:
    return [
        (pair, one, other)
        for pair, votes in by_pair.items()
        for one, other in combinations(votes.values(), 2)
    ]


def _each_two(
    by_pair: Mapping[Pair, Mapping[int, int]], clusters: Mapping[int, int], names: Mapping[int, str]
) -> list[Plain]:
    """Every two of a few people by name, with Cohen's kappa; empty for two alone, or for many."""
    raters = sorted({rater for votes in by_pair.values() for rater in votes}, key=lambda one: names[one])
    if not 2 < len(raters) <= MOST_NAMED:
        return []
    found = []
    for one, other in combinations(raters, 2):
        rows = [
            (pair, votes[one], votes[other])
            for pair, votes in by_pair.items()
            if {one, other} <= votes.keys()
        ]
        if (agreed := compare(rows, clusters)) is not None:
            found.append(agreed | {"names": [names[one], names[other]]})
    return found


def majority_rows(latest: Mapping[Pair, int], by_pair: Mapping[Pair, Mapping[int, int]]) -> list[Row]:
    rows: list[Row] = []
    for pair, votes in by_pair.items():
        (outcome, count), *_ = Counter(votes.values()).most_common(1)
        if len(votes) >= LEAST_FOR_MAJORITY and 2 * count > len(votes):
            rows.append((pair, latest[pair], outcome))
    return rows


def _longer(pair: Pair, texts: Mapping[int, Text]) -> int:
    low, high = (texts[response].characters for response in pair[1:])
    return TIE if low == high else MODEL_A if low > high else MODEL_B


def compare(rows: Sequence[Row], clusters: Mapping[int, int], *, symmetric: bool = False) -> Plain | None:
    """Agreement with all outcomes, where both are decisive, and kappa; None without rows."""
    if not rows:
        return None
    cluster = np.array([clusters[pair[0]] for pair, _, _ in rows])
    one, other = (np.array([row[place] for row in rows]) for place in (1, 2))
    found = agreement(one, other, cluster)
    return {
        "every": plain_share(found.every),
        "decisive": plain_share(found.decisive),
        "kappa": _kappa(one, other, cluster, symmetric),
    }


def _kappa(one: np.ndarray, other: np.ndarray, cluster: np.ndarray, symmetric: bool) -> Plain | None:
    """None where both always say the same one thing: there is nothing beyond chance to agree on."""
    try:
        found = clustered_kappa(one, other, _CATEGORIES, cluster, symmetric=symmetric, sides=SIDES)
    except BadValueError:
        return None
    return {name: getattr(found, name) for name in ("estimate", "lower", "upper", "n", "clusters")}


def _by_category(
    judged: Sequence[Row],
    people: Sequence[Row],
    categories: Mapping[int, str],
    clusters: Mapping[int, int],
) -> list[Plain]:
    """Ordered by name; prompts without a category stand last, under an empty name."""
    names = sorted({categories[pair[0]] for pair, _, _ in judged}, key=lambda name: (not name, name))
    if len(names) < 2:
        return []
    return [
        {
            "category": name,
            "votes": compare([row for row in judged if categories[row[0][0]] == name], clusters),
            "people": compare(
                [row for row in people if categories[row[0][0]] == name], clusters, symmetric=True
            ),
        }
        for name in names
    ]


def length_figures(
    latest: Mapping[Pair, int],
    ballots: Sequence[Ballot],
    texts: Mapping[int, Text],
    clusters: Mapping[int, int],
) -> Plain | None:
    """How often the longer text wins where there is a winner, the judge's wins beside people's."""
    pairs = [pair for pair in latest if _longer(pair, texts) != TIE]
    if not pairs:
        return None
    shared = [b for b in ballots if b.pair in latest and _longer(b.pair, texts) != TIE]
    return {
        "judge": _longer_wins([(pair, latest[pair]) for pair in pairs], texts, clusters),
        "judge_on_shared": _longer_wins([(b.pair, latest[b.pair]) for b in shared], texts, clusters),
        "people": _longer_wins([(b.pair, b.outcome) for b in shared], texts, clusters),
        "gap": _gap(latest, shared, texts, clusters),
    }


def _longer_wins(
    found: Sequence[tuple[Pair, int]], texts: Mapping[int, Text], clusters: Mapping[int, int]
) -> Plain | None:
    decisive = [(pair, outcome) for pair, outcome in found if outcome != TIE]
    return share_of(
        [outcome == _longer(pair, texts) for pair, outcome in decisive],
        [clusters[pair[0]] for pair, _ in decisive],
    )


def _gap(
    latest: Mapping[Pair, int],
    shared: Sequence[Ballot],
    texts: Mapping[int, Text],
    clusters: Mapping[int, int],
) -> Plain | None:
    if not shared:
        return None
    low, high = ([texts[b.pair[side]].characters for b in shared] for side in (1, 2))
    judge, people = [latest[b.pair] for b in shared], [b.outcome for b in shared]
    return plain_gap(verbosity_gap(judge, people, low, high, [clusters[b.pair[0]] for b in shared]))
