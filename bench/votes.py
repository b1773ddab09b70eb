"""Votes for benchmarks, drawn once into a folder of arrays that every engine reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np

COVARIATES = ("length", "headers", "lists", "bold")
RATERS, PROMPTS = 300, 5000


def write_votes(folder: Path, competitors: int, votes: int, seed: int = 1) -> None:
    """a, b, outcome (0 a, 1 b, 2 tie), z (votes, 4), rater, prompt as .npy; a quarter of the votes tie."""
    rng = np.random.default_rng([seed, competitors, votes])
    strength = rng.normal(0, 0.6, competitors)
    a = rng.integers(0, competitors, votes, dtype=np.int32)
    b = ((a + rng.integers(1, competitors, votes)) % competitors).astype(np.int32)
    gap = strength[a] - strength[b]
    z = rng.normal(0, 0.4, (votes, 4)).astype(np.float32)
    z += (0.05 * gap)[:, None].astype(np.float32)  # stronger ones write a little more
    np.clip(z, -1, 1, out=z)
    eta = gap + z @ np.array([0.5, 0.2, 0.1, 0.1])
    uniform = rng.random(votes)
    won = 0.25 + 0.75 / (1 + np.exp(-eta))
    outcome = np.where(uniform < 0.25, 2, np.where(uniform < won, 0, 1)).astype(np.int8)
    rater = rng.integers(0, RATERS, votes, dtype=np.int32)
    prompt = rng.integers(0, PROMPTS, votes, dtype=np.int32)
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in {"a": a, "b": b, "outcome": outcome, "z": z, "rater": rater, "prompt": prompt}.items():
        np.save(folder / f"{name}.npy", array)


def read(folder: Path, *names: str) -> list[np.ndarray]:
    """Arrays of the folder by name."""
    return [np.load(folder / f"{name}.npy") for name in names]
