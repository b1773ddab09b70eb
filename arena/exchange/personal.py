"""Likely personal data in the texts of a file, to be pointed out before they are shown to strangers.

A warning and no proof: an address may be an example, a number of many digits may be no card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import phonenumbers

from arena.exchange.formats.rows import AnyRow, PromptRow, ResponseRow, VoteRow

EMAIL, PHONE, CARD = "email", "phone", "card"
PLACES = 5  # shown of each kind
LONGEST = 200_000  # characters of one text looked at

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
# A number abroad or at home can't be told apart without its country, so only those that name it count.
_PHONE = re.compile(r"\+\d[\d ()./-]{6,20}\d", re.ASCII)
_CARD = re.compile(r"(?<![\d.,])[3-6]\d{3}(?:[ -]?\d){9,15}(?![\d.,]*\d)", re.ASCII)
_LENGTHS = range(13, 20)


@dataclass
class Personal:
    """What was found so far."""

    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def look(self, row: AnyRow) -> None:
        for column, text in _texts(row):
            for kind in kinds_in(text[:LONGEST]):
                self.counts[kind] = self.counts.get(kind, 0) + 1
                if len(found := self.places.setdefault(kind, [])) < PLACES:
                    found.append((row.line, column))

    def as_json(self) -> dict[str, dict]:
        return {kind: {"count": count, "places": self.places[kind]} for kind, count in self.counts.items()}


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


def kinds_in(text: str) -> Iterator[str]:
    """Each kind once."""
    if "@" in text and _EMAIL.search(text):
        yield EMAIL
    if "+" in text and any(_is_phone(found[0]) for found in _PHONE.finditer(text)):
        yield PHONE
    if any(_is_card(found[0]) for found in _CARD.finditer(text)):
        yield CARD


def _is_phone(candidate: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(candidate))
    except phonenumbers.NumberParseException:
        return False


def _is_card(candidate: str) -> bool:
    """Luhn's check: every second digit from the right is doubled, its digits added up."""
    digits = [int(digit) for digit in candidate if digit in "0123456789"]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(digits) in _LENGTHS and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
