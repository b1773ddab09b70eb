"""Likely personal data in the texts of a file, to be pointed out before they are shown to strangers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from arena.corpus.personal import kinds_in
from arena.exchange.formats.rows import AnyRow, PromptRow, ResponseRow, VoteRow

PLACES = 5  # shown of each kind

# Line, column, the row as a spreadsheet numbers it below its header, and the row's own name if it has one.
Place = tuple[int, str, int, str]


@dataclass
class Personal:
    """What was found so far."""

    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[Place]] = field(default_factory=dict)
    rows: int = 0

    def look(self, row: AnyRow) -> None:
        self.rows += 1
        for column, text in _texts(row):
            for kind in kinds_in(text):
                self.counts[kind] = self.counts.get(kind, 0) + 1
                if len(found := self.places.setdefault(kind, [])) < PLACES:
                    found.append((row.line, column, self.rows + 1, _name(row)))

    def as_json(self) -> dict[str, dict]:
        return {kind: {"count": count, "places": self.places[kind]} for kind, count in self.counts.items()}


def _name(row: AnyRow) -> str:
    return row.id if isinstance(row, PromptRow) else row.prompt_id


def _texts(row: AnyRow) -> Iterator[tuple[str, str]]:
    if isinstance(row, PromptRow):
        yield from (("prompt", turn.content) for turn in row.turns)
        yield "reference", row.reference
    elif isinstance(row, ResponseRow):
        yield "response", row.text
    else:
        yield from _texts_of_vote(row)


def _texts_of_vote(row: VoteRow) -> Iterator[tuple[str, str]]:
    yield "rater", row.rater
    if row.texts:
        yield from (("prompt", turn.content) for turn in row.texts.prompt)
        yield "response_a", row.texts.response_a
        yield "response_b", row.texts.response_b
