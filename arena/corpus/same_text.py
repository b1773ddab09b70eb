"""Whether two prompts say the same: what is asked twice is no second question."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any


def text_key(messages: Sequence[Mapping[str, str]]) -> str:
    """The same for texts that differ in case, spaces or the form of a letter alone."""
    sha = sha256()
    for turn in messages:
        words = unicodedata.normalize("NFKC", turn["content"]).casefold().split()
        sha.update(f"{turn['role']}:{' '.join(words)}\0".encode(errors="surrogatepass"))
    return sha.hexdigest()


def key_of(messages: Sequence[Mapping[str, str]], tombstone: Mapping[str, Any] | None) -> str:
    """Of a prompt: a redacted one keeps the key of its words, or is a text of its own where none was kept."""
    if tombstone is None:
        return text_key(messages)
    return str(tombstone.get("text_key", tombstone["sha256"]))
