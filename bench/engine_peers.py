"""One task of another engine, in its own environment: python engine_peers.py ENGINE TASK FOLDER
[FASTCHAT_FILE].

Run as a script with the peers' interpreter; it imports nothing of this project but bench/measure.py and
bench/votes.py.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.measure import measured
from bench.votes import COVARIATES, read

WORDS = np.array(["model_a", "model_b", "tie"], dtype=object)
LOG_10 = math.log(10.0)


def fastchat(task: str, folder: Path, file: str):
    """FastChat's functions below its handling of strings: ids and outcomes in, parameters out."""
    spec = importlib.util.spec_from_file_location("rating_systems", file)
    engine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(engine)
    a, b, outcome, z = read(folder, "a", "b", "outcome", "z")
    k = int(max(a.max(), b.max())) + 1
    score = np.array([1.0, 0.0, 0.5])[outcome]
    if task.startswith("style"):
        features = ((z - z.mean(axis=0)) / z.std(axis=0)).astype(np.float64)
        matchups = np.column_stack([a, b])
        rng = np.random.default_rng(0)
        if task == "style":
            return lambda: engine.fit_contextual_bt(matchups, features, score, list(range(k)))
        rows = [rng.integers(0, len(a), len(a)) for _ in range(2)]
        return lambda: [
            engine.fit_contextual_bt(matchups, features, score, list(range(k)), idxs=i) for i in rows
        ]

    def tallied():
        schedule = np.column_stack([a, b, (2 * score).astype(np.int32)])
        rows, counts = np.unique(schedule, return_counts=True, axis=0)
        return rows[:, :2], rows[:, 2] / 2.0, counts.astype(np.float64)

    if task == "plain":
        return lambda: _fit(engine, *tallied(), k)
    matchups, outcomes, counts = tallied()
    drawn = np.random.default_rng(0).multinomial(len(a), counts / counts.sum(), size=10) / len(a)
    return lambda: [engine.fit_bt(matchups, outcomes, w, k, LOG_10, 1e-6) for w in drawn]


def _fit(engine, matchups, outcomes, counts, k):
    return engine.fit_bt(matchups, outcomes, counts, k, LOG_10, 1e-6)


def arena_rank(task: str, folder: Path):
    """arena-rank from a frame, its only input, to ratings with sandwich intervals; compilation included."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset, PairDataset

    a, b, outcome, z = read(folder, "a", "b", "outcome", "z")
    frame = pd.DataFrame({"model_a": a, "model_b": b, "winner": WORDS[outcome]})
    if task == "plain":

        def work():
            data = PairDataset.from_pandas(frame)
            return BradleyTerry(data.n_competitors).compute_ratings_and_cis(data)

        return work
    for j, name in enumerate(COVARIATES):
        frame[name] = z[:, j].astype(np.float64)

    def styled():
        data = ContextualPairDataset.from_pandas(frame, feature_cols=list(COVARIATES), reweighted=False)
        return ContextualBradleyTerry(data.n_competitors, data.n_features).compute_ratings_and_cis(data)

    return styled


def evalica_(task: str, folder: Path):
    """evalica's fit from lists of ids and its own winner values; 10 resamples for the bootstrap."""
    import evalica

    a, b, outcome = read(folder, "a", "b", "outcome")
    winners = np.array([evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw], dtype=object)[
        outcome
    ].tolist()
    xs, ys = a.tolist(), b.tolist()
    if task == "plain":
        return lambda: evalica.bradley_terry(xs, ys, winners)
    return lambda: evalica.bootstrap(
        evalica.bradley_terry, xs, ys, winners, n_resamples=10, bootstrap_method="percentile", random_state=0
    )


def main() -> None:
    """Measure the task named on the command line."""
    engine, task, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if engine == "FastChat":
        work = fastchat(task, folder, sys.argv[4])
    else:
        work = arena_rank(task, folder) if engine == "arena-rank" else evalica_(task, folder)
    measured(work)


if __name__ == "__main__":
    main()
