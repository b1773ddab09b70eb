"""Likely personal data in a text: addresses, phone numbers, cards.

A warning and no proof: an address may be an example, a number of many digits may be no card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import phonenumbers

EMAIL, PHONE, CARD = "email", "phone", "card"
LONGEST = 200_000  # characters of one text looked at

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
# A number abroad or at home can't be told apart without its country, so only those that name it count.
_PHONE = re.compile(r"\+\d[\d ()./-]{6,20}\d", re.ASCII)
_CARD = re.compile(r"(?<![\d.,])[3-6]\d{3}(?:[ -]?\d){9,15}(?![\d.,]*\d)", re.ASCII)
_LENGTHS = range(13, 20)


def kinds_in(text: str) -> Iterator[str]:
    """Each kind once."""
    text = text[:LONGEST]
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
