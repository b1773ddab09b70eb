"""Words that look different in each encoding, for a person to choose by."""

from __future__ import annotations

import re
from pathlib import Path

_HEAD = 256 * 1024
_WORDS = 6
_ODD = re.compile(rb"[^\s,;\t|\"']*[\x80-\xff][^\s,;\t|\"']*")
_EIGHT_BIT = ("cp1252", "iso8859-15", "mac-roman")


def odd_words(source: Path) -> dict[str, list[str]]:
    """By encoding, the first words with characters beyond ASCII; nothing if the beginning is UTF-8."""
    with source.open("rb") as file:
        head = file.read(_HEAD)
    try:
        head[: head.rfind(b"\n") + 1 or len(head)].decode()
    except UnicodeDecodeError:
        if b"\0" in head:
            return {}
        found = list(dict.fromkeys(word[0][:60] for word in _ODD.finditer(head)))[:_WORDS]
        decoded = {name: [word.decode(name, "replace") for word in found] for name in _EIGHT_BIT}
        return {name: words for name, words in decoded.items() if "\ufffd" not in "".join(words)}
    return {}
