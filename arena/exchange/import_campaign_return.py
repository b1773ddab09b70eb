"""What an export names, while it is being brought back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from django.utils.dateparse import parse_datetime

from arena.battles.gold_models import Gold
from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign, Guide
from arena.corpus.models import Competitor, Prompt, PromptSet
from arena.exchange.formats.cells import CellError
from arena.exchange.formats.problems import RefusedError
from arena.raters.models import Rater, Team

T = TypeVar("T")
Row = dict[str, Any]
SetKey = tuple[str, int]


@dataclass
class Return:
    """What is being brought back, by the names it has in the export."""

    team: Team
    folder: Path
    campaign: Campaign = field(default_factory=Campaign)
    sets: dict[SetKey, PromptSet] = field(default_factory=dict)
    prompts: dict[tuple[Any, ...], Prompt] = field(default_factory=dict)
    models: dict[str, Competitor] = field(default_factory=dict)
    responses: dict[tuple[int, int, int], int] = field(default_factory=dict)
    raters: dict[str, Rater] = field(default_factory=dict)
    guides: dict[int, Guide] = field(default_factory=dict)
    golds: dict[int, Gold] = field(default_factory=dict)
    battles: dict[str, Battle] = field(default_factory=dict)
    votes: dict[str, Vote] = field(default_factory=dict)

    def each(self, table: str, make: Callable[[Row], T]) -> Iterator[T]:
        path = self.folder / "jsonl" / f"{table}.jsonl"
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield make(json.loads(line))
                except CellError as error:
                    raise RefusedError(f"{path.name}: {error.reason}", number, error.column) from error
                except (KeyError, TypeError, ValueError) as error:
                    raise RefusedError(f"{path.name}: {type(error).__name__}: {error}", number) from error

    def response_of(self, row: Row, side: str) -> int | None:
        """Which response of the side's model the row names; none where that isn't known."""
        if row["prompt_id"] is None or row[f"sample_{side}"] is None:
            return None
        prompt, model = self.prompts[prompt_key(row)], self.models[row[f"model_{side}"]]
        return self.responses[prompt.pk, model.pk, row[f"sample_{side}"]]


def prompt_key(row: Row) -> tuple[Any, ...]:
    return row["prompt_set"], row["set_version"], row["prompt_id"]


def moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    found = parse_datetime(text)
    if found is None:
        raise ValueError(f"{text!r} is no time")
    return found
