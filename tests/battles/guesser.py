"""A classifier: boosted decision stumps (SAMME), which find whatever goes with a label by some threshold."""

from __future__ import annotations

import numpy as np

ROUNDS, THRESHOLDS = 60, 12


def held_out_accuracy(rows: np.ndarray, labels: np.ndarray) -> float:
    """How often what was learned from the first half names the label of a row of the second."""
    half = len(labels) // 2
    classes, numbers = np.unique(labels, return_inverse=True)
    told = boosted_votes(rows[:half], numbers[:half], rows[half:], len(classes)).argmax(axis=1)
    return float((told == numbers[half:]).mean())


def boosted_votes(rows: np.ndarray, labels: np.ndarray, unseen: np.ndarray, classes: int) -> np.ndarray:
    weights = np.full(len(labels), 1 / len(labels))
    votes = np.zeros((len(unseen), classes))
    for _ in range(ROUNDS):
        feature, threshold, below, above = best_stump(rows, labels, weights, classes)
        told = np.where(rows[:, feature] <= threshold, below, above)
        error = max(weights[told != labels].sum(), 1e-9)
        say = np.log((1 - error) / error) + np.log(classes - 1)
        if say <= 0:  # no stump is better than guessing
            break
        told_unseen = np.where(unseen[:, feature] <= threshold, below, above)
        votes[np.arange(len(unseen)), told_unseen] += say
        weights = weights * np.exp(say * (told != labels))
        weights /= weights.sum()
    return votes


def best_stump(
    rows: np.ndarray, labels: np.ndarray, weights: np.ndarray, classes: int
) -> tuple[int, float, int, int]:
    by_class = np.stack([weights * (labels == each) for each in range(classes)], axis=1)
    best, chosen = -1.0, (0, 0.0, 0, 0)
    for feature, values in enumerate(rows.T):
        for threshold in np.quantile(values, np.linspace(0, 1, THRESHOLDS + 2)[1:-1]):
            is_below = values <= threshold
            low, high = by_class[is_below].sum(axis=0), by_class[~is_below].sum(axis=0)
            if low.max() + high.max() > best:
                best, chosen = low.max() + high.max(), (feature, threshold, low.argmax(), high.argmax())
    return chosen
