"""Fenced code as coloured spans, by class names alone.

The lexers are made of regular expressions, and half of them take quadratic time on some repeated
character. Real code repeats itself far less, so what is too long or too monotonous stays black.
"""

import re
from functools import lru_cache
from html import escape
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

MAX_COLOURED = 12_000  # characters of code in one text
_PREFIX = "hl-"
CLASSES = {_PREFIX + short for short in STANDARD_TYPES.values() if short}
_LANGUAGES = (
    "bash sh shell console c c++ cpp c# csharp css diff docker dockerfile go golang haskell html ini java "
    "javascript js json jsx kotlin latex tex lua makefile matlab nginx perl php powershell py python python3 "
    "r ruby rb rust rs scala sql swift toml ts tsx typescript xml yaml yml"
)
_COLOURED = frozenset(_LANGUAGES.split())
_LONG_RUN = re.compile(r"(.)\1{200}|\s{200}", re.DOTALL)
_FORMATTER = HtmlFormatter(nowrap=True, classprefix=_PREFIX)


def colour(code: str, language: str, env: dict[str, Any]) -> str:
    """`env` belongs to one text and counts what was coloured in it so far."""
    language = language.lower()
    total = env.get("coloured", 0) + len(code)
    if language not in _COLOURED or total > MAX_COLOURED or _is_monotonous(code):
        return escape(code, quote=False)
    env["coloured"] = total
    return highlight(code, _lexer(language), _FORMATTER)


def _is_monotonous(code: str) -> bool:
    distinct = len({code[i : i + 3] for i in range(len(code) - 2)})
    return len(code) > 500 and (distinct * 30 < len(code) or _LONG_RUN.search(code) is not None)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer:
    return get_lexer_by_name(language, stripnl=False, ensurenl=False)
