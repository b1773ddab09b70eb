"""A file's text line by line, and what a text may not hold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOBase
from typing import Any

from arena.exchange.formats.problems import UNSTORABLE, RefusedError

# Characters. A file of one endless line must not fill the memory of whoever looks at its beginning.
MAX_LINE = 8 * 1024 * 1024
LINE_END = re.compile(r"\r\n|\r|\n")

HOW_IN_EXCEL = 'save the sheet as "CSV UTF-8 (comma delimited)"'
HOW_TO_SAVE = f"save it as UTF-8 (in Excel, {HOW_IN_EXCEL})"


@dataclass(frozen=True)
class Row:
    line: int
    values: dict[str, Any]


def lines(text: TextIOBase) -> Iterator[str]:
    number = 0
    while line := text.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE and not line.endswith(("\r", "\n")):
            raise RefusedError(f"a line is longer than {MAX_LINE:,} characters", number)
        yield line


def unstorable(text: str) -> str | None:
    """Why a text can't be kept, or None. Databases take neither U+0000 nor half a surrogate pair."""
    found = UNSTORABLE.search(text)
    if found is None:
        return None
    code = ord(found[0])
    if code == 0:
        return "holds the character U+0000, which can't be stored; remove it"
    if 0xDC80 <= code <= 0xDCFF:  # how undecodable bytes come through `surrogateescape`
        return f"byte 0x{code - 0xDC00:02X} isn't UTF-8; {HOW_TO_SAVE}"
    return f"holds half of a surrogate pair (U+{code:04X}), which is no character; remove it"
