"""What the votes of a board are made of."""

from typing import Any

from arena.leaderboards.fitting.comparisons import BoardRows
from ratings.composition import composition


def make_up(rows: BoardRows) -> dict[str, Any]:
    """Told by the competitors' own numbers."""
    found = composition(rows.comparisons)
    return {
        "hub": None if found.hub is None else rows.competitors[found.hub],
        "hub_share": round(found.hub_share, 6),
        "one_sided": round(found.one_sided, 6),
        "differing": dict(zip(rows.comparisons.covariate_names, found.differing, strict=True)),
    }
