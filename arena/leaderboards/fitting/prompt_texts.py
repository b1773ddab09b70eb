"""How many different texts the prompts of a board have: what is asked twice is no second question."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from arena.corpus.models import Prompt
from arena.leaderboards.fitting.lookups import LOOKUP_CHUNK


def count_texts(prompts: NDArray[np.int64]) -> int:
    """Of the prompts with these ids; a redacted one counts as a text of its own."""
    seen: set[bytes] = set()
    redacted = 0
    for start in range(0, len(prompts), LOOKUP_CHUNK):
        part = Prompt.objects.filter(pk__in=prompts[start : start + LOOKUP_CHUNK].tolist()).order_by()
        redacted += part.filter(tombstone__isnull=False).count()
        there = part.filter(tombstone__isnull=True).values_list("messages", flat=True)
        seen.update(digest_of(messages) for messages in there.iterator())
    return len(seen) + redacted


def digest_of(messages: Sequence[Mapping[str, str]]) -> bytes:
    """The same for texts that differ in case, spaces or the form of a letter alone."""
    sha = sha256()
    for turn in messages:
        words = unicodedata.normalize("NFKC", turn["content"]).casefold().split()
        sha.update(f"{turn['role']}:{' '.join(words)}\0".encode(errors="surrogatepass"))
    return sha.digest()
