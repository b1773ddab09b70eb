"""A pandas frame of names, in the canonical columns of a votes file, as Comparisons and the names behind the
ids.

Columns: model_a, model_b, winner; optionally judge (or rater), prompt_text (or prompt_id), weight,
<covariate>_a and <covariate>_b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ratings.comparisons import OUTCOMES, Comparisons
from ratings.errors import BadOptionError, BadValueError, SelfBattleError, ShapeError, UnknownOutcomeError
from ratings.style import Transform, relative_differences

WINNER_ALIASES = {"tie (bothbad)": "both_bad"}
"""Spellings other arenas use in their `winner` column."""

CLUSTER_COLUMNS = {"judge": "rater", "rater": "rater", "prompt_text": "prompt", "prompt_id": "prompt"}
"""Columns that say how votes cluster, and the dimension each stands for; of two names the first counts."""


@dataclass(frozen=True, eq=False)
class NamedComparisons:
    """Comparisons, and the competitors' names by id, in alphabetical order."""

    comparisons: Comparisons
    names: tuple[str, ...]

    def id_of(self, name: str) -> int:
        """The id of a competitor; raises with the nearest names if there is none."""
        if name not in self.names:
            near = get_close_matches(name, self.names, 8, 0.5) or self.names[:8]
            more = " …" if len(near) < len(self.names) else ""
            raise ShapeError(f"no competitor is called {name!r}", todo=f"there are {', '.join(near)}{more}")
        return self.names.index(name)


def comparisons_from_frame(
    frame: pd.DataFrame,
    *,
    style: Sequence[str] = (),
    style_transform: Transform = "relative",
    cluster: Sequence[str] | None = None,
) -> NamedComparisons:
    """A frame of votes as NamedComparisons.

    style: covariates by name, each from its two columns · cluster: columns to take raters and prompts from;
    None: those there are. Raises a RatingsError with the 0-based row of the first value that can't be used.
    """
    _require(frame, ["model_a", "model_b", "winner", *(f"{s}_{side}" for s in style for side in "ab")])
    a, b, names = _competitors(frame["model_a"], frame["model_b"])
    if (a == b).any():
        row = int(np.argmax(a == b))
        raise SelfBattleError(f"{names[a[row]]} fights itself", row=row, todo="leave such votes out")
    columns = _cluster_columns(frame, cluster)
    counts = [(_counts(frame[f"{s}_a"]), _counts(frame[f"{s}_b"])) for s in style]
    differences = [relative_differences(x, y, style_transform) for x, y in counts]
    comparisons = Comparisons.of(
        len(names),
        a,
        b,
        _outcomes(frame["winner"]),
        weight=numbers(frame["weight"]) if "weight" in frame.columns else None,
        covariates=np.stack(differences, axis=1) if differences else None,
        covariate_names=tuple(style),
        **{dimension: _ids(frame[column]) for column, dimension in columns.items()},
    )
    return NamedComparisons(comparisons, names)


def _require(frame: pd.DataFrame, wanted: Sequence[str]) -> None:
    missing = [column for column in wanted if column not in frame.columns]
    if missing:
        raise ShapeError(
            f"column {missing[0]!r} is missing",
            todo=f"there are {', '.join(map(str, frame.columns)) or 'none'}",
        )


def _cluster_columns(frame: pd.DataFrame, cluster: Sequence[str] | None) -> dict[str, str]:
    if cluster is None:
        present = [c for c in CLUSTER_COLUMNS if c in frame.columns]
        first = {CLUSTER_COLUMNS[c]: c for c in reversed(present)}
        return {column: dimension for dimension, column in first.items()}
    _require(frame, cluster)
    unknown = [c for c in cluster if c not in CLUSTER_COLUMNS]
    if unknown:
        raise ShapeError(f"can't cluster by {unknown[0]!r}", todo=f"use {', '.join(CLUSTER_COLUMNS)}")
    for dimension in set(CLUSTER_COLUMNS.values()):
        named = [c for c in CLUSTER_COLUMNS if c in cluster and CLUSTER_COLUMNS[c] == dimension]
        if len(named) > 1:
            raise BadOptionError(f"{' and '.join(named)} both say which {dimension}", todo="cluster by one")
    return {c: CLUSTER_COLUMNS[c] for c in cluster}


def _competitors(
    a: pd.Series[Any], b: pd.Series[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]:
    (codes_a, names_a), (codes_b, names_b) = _coded(a), _coded(b)
    names = sorted({*names_a, *names_b})
    _require_distinct(names)
    place = {name: i for i, name in enumerate(names)}
    to_a = np.array([place[n] for n in names_a], dtype=np.int32)
    to_b = np.array([place[n] for n in names_b], dtype=np.int32)
    return to_a[codes_a], to_b[codes_b], tuple(names)


def _coded(column: pd.Series[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """Codes (n,) and the distinct names; raises at the first empty one."""
    codes, uniques = pd.factorize(column, use_na_sentinel=True)
    names = [str(name) for name in uniques]
    for i, name in enumerate(names):
        if "\0" in name:
            row = int(np.argmax(codes == i))
            raise BadValueError(
                f"{column.name} holds the character NUL", row=row, todo="save the file as text"
            )
    bad = codes < 0
    if "" in names:
        bad |= codes == names.index("")
    if bad.any():
        raise BadValueError(
            f"{column.name} is empty", row=int(np.argmax(bad)), todo="fill it in or leave the vote out"
        )
    return np.asarray(codes, dtype=np.int64), names


def _require_distinct(names: Sequence[str]) -> None:
    """Names that differ only by white space look like one model and would be two."""
    seen: dict[str, str] = {}
    for name in names:
        bare = " ".join(name.split())
        if bare in seen:
            raise BadValueError(
                f"competitors {seen[bare]!a} and {name!a} differ only by white space", todo="spell them alike"
            )
        seen[bare] = name


def names_of(column: pd.Series[Any]) -> list[str]:
    """The names behind the ids that a rater or prompt column gets: in the order of their first row."""
    return _coded(column)[1]


def _ids(column: pd.Series[Any]) -> NDArray[np.int32]:
    return _coded(column)[0].astype(np.int32)


def texts_of(frame: pd.DataFrame) -> NDArray[np.int32] | None:
    """(n,) the same for prompts of one text; None where the frame doesn't tell."""
    return _ids(frame["prompt_text"]) if "prompt_text" in frame.columns else None


def _outcomes(column: pd.Series[Any]) -> NDArray[np.int8]:
    codes, uniques = pd.factorize(column, use_na_sentinel=False)
    outcomes = [WINNER_ALIASES.get(name, name) for name in uniques]
    for i, outcome in enumerate(outcomes):
        if outcome not in OUTCOMES:
            raise UnknownOutcomeError(
                f"unknown winner {_shown(outcome)}",
                row=int(np.argmax(codes == i)),
                todo=f"use one of {', '.join((*OUTCOMES, *WINNER_ALIASES))}",
            )
    table = np.array([OUTCOMES.index(outcome) for outcome in outcomes], dtype=np.int8)
    return table[codes] if len(table) else np.zeros(0, dtype=np.int8)


def numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """A column (n,) as numbers; raises BadValueError at the first that is none."""
    values = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    bad = np.isnan(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise BadValueError(
            f"{column.name} is {_shown(column.iloc[row])}, not a number", row=row, todo="fill in a number"
        )
    return values


MOST_COUNTED = 1e15
"""Counts above it are none; two of them could add up to infinity."""


def _counts(column: pd.Series[Any]) -> NDArray[np.float64]:
    """A column (n,) of counts of style."""
    values = numbers(column)
    bad = ~((values >= 0) & (values <= MOST_COUNTED))
    if bad.any():
        row = int(np.argmax(bad))
        raise BadValueError(
            f"{column.name} is {values[row]:g}", row=row, todo=f"a count is from 0 to {MOST_COUNTED:g}"
        )
    return values


def _shown(value: Any) -> str:
    """A value of a cell as a message shows it: in a line, and not at length."""
    if value is None or value != value:
        return "empty"
    text = ascii(str(value))
    return text if len(text) <= 60 else f"{text[:57]}…'"
