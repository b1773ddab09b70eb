"""What the votes of a board are made of."""

from dataclasses import asdict
from typing import Any

from arena.leaderboards.fitting.combined import CombinedRows
from arena.leaderboards.fitting.comparisons import BoardRows
from ratings.composition import composition
from ratings.meetings import meetings


def make_up(rows: BoardRows) -> dict[str, Any]:
    """Told by the competitors' own numbers."""
    found = composition(rows.comparisons)
    return {
        "meetings": _meetings(rows),
        "one_sided": round(found.one_sided, 6),
        "differing": dict(zip(rows.comparisons.covariate_names, found.differing, strict=True)),
    }


def _meetings(rows: BoardRows) -> dict[str, Any]:
    """A judge who helps connects models too."""
    judged = (rows.judged,) if isinstance(rows, CombinedRows) else ()
    told = asdict(meetings(rows.comparisons, *judged))
    for one in ("cut", "hub"):
        told[one] = None if told[one] is None else rows.competitors[told[one]]
    for several in ("alone", "through"):
        told[several] = [rows.competitors[one] for one in told[several]]
    return told | {"pieces": list(told["pieces"])}
