"""Replies that say which model wrote them: a blind vote about one isn't blind."""

import re
import unicodedata
from functools import lru_cache

_MADE = re.compile(
    r"\b(?:i am|i'm|i was)\b[^.!?\n]{0,80}?"
    r"\b(?:made|trained|developed|created|built|designed) by\s+\w",
    re.IGNORECASE,
)
_SAYS = (
    r"\b(?:i am|i'm|my name is|call me|as|this is)\s+(?:an?\s+|the\s+)?"
    r"(?:(?:ai|large|language|model|assistant|called|named)\s+){0,6}"
)


def gives_itself_away(text: str, names: tuple[str, ...]) -> bool:
    """Whether a reply names a maker of its own, or one of the two models as itself."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    return bool(_MADE.search(plain)) or any(_pattern(name).search(plain) for name in names)


@lru_cache(maxsize=1000)
def _pattern(name: str) -> re.Pattern[str]:
    parts = re.findall(r"\w+", unicodedata.normalize("NFKC", name))
    spelled = r"[\W_]*".join(map(re.escape, parts)) or r"(?!)"
    return re.compile(rf"{_SAYS}{spelled}\b", re.IGNORECASE)
