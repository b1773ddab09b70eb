"""One number for all rows of a board: the same rows give the same."""

import hashlib

from ratings.comparisons import Comparisons


def digest(comparisons: Comparisons) -> str:
    """sha256 over all that a fit sees, as little-endian numbers, column by column under its name."""
    sha = hashlib.sha256(f"competitors:{comparisons.n_competitors}\n".encode())
    for name in ("a", "b", "outcome", "rater", "prompt", "covariates"):
        column = getattr(comparisons, name)
        sha.update(f"{name}:{'none' if column is None else column.shape}\n".encode())
        if column is not None:
            sha.update(column.astype("<f8" if name == "covariates" else "<i8").tobytes())
    return sha.hexdigest()
