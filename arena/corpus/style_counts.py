"""What a response looks like, as numbers: its length and how much Markdown it carries.

The rules are those of the published style control (FastChat's `add_markdown_info`: fenced code removed
first, then headings, list items and bold runs counted wherever a line or a run looks like one), so that
coefficients can be compared. Where those rules count what no reader sees, ours differ:

* fences are read line by line, as CommonMark does: code that holds a back-tick, `~~~` fences and a fence
  that is never closed are code too;
* `* * *` and `- - -` are rules across the page, no list items;
* `1)` begins a list item as `1.` does;
* `snake__case__name` isn't bold, for underscores inside a word don't emphasise; `__init__` by itself is.

The same as theirs: full-width digits number a list, `***d***` is one bold run, and setext headings, HTML,
bold across the end of a line, `#nospace` and seven hashes count nothing. Every pattern is linear in the
length of the text.
"""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"[^\S\n]*(?:(`{3,})[^`\n]*|(~{3,}).*)$")
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)
# `[^\S\n]` and not `\s`, which would run on over blank lines and take quadratic time on many of them.
_ITEM = re.compile(r"^[^\S\n]*(?:[-*+]|\d+[.)])\s", re.MULTILINE)
_RULE = re.compile(r"^[^\S\n]*(?:(?:\*[^\S\n]*){3,}|(?:-[^\S\n]*){3,})$", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|(?<!\w)__[^_\n]+__(?!\w)")
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_KEYCAP = "[0-9#*]\ufe0f?\u20e3"
# Shown as a picture by default, or by a variation selector behind it (Unicode's emoji-data.txt, blocks as
# a whole).
_PICTURE = (
    "(?:[\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff"
    "\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a\U0001f201\U0001f21a\U0001f22f\U0001f232-\U0001f23a"
    "\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab"
    "\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c\u274e"
    "\u2753-\u2755\u2757\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55]"
    "|[\u00a9\u00ae\u203c-\u3299](?=\ufe0f))\ufe0f?[\U0001f3fb-\U0001f3ff]?"
)
_EMOJI = re.compile(f"{_FLAG}|{_KEYCAP}|{_PICTURE}(?:\u200d{_PICTURE})*")


@dataclass(frozen=True)
class StyleCounts:
    characters: int
    words: int
    headings: int
    list_items: int
    bold: int
    code_blocks: int
    emoji: int


def count_style(text: str) -> StyleCounts:
    """Characters are code points, words are what whitespace separates; an emoji built of several is one."""
    prose, code_blocks = _without_fences(text)
    return StyleCounts(
        characters=len(text),
        words=len(text.split()),
        headings=len(_HEADING.findall(prose)),
        list_items=len(_ITEM.findall(_RULE.sub("", prose))),
        bold=len(_BOLD.findall(prose)),
        code_blocks=code_blocks,
        emoji=len(_EMOJI.findall(text)),
    )


def count_by_kind(text: str) -> dict[str, dict[str, int]]:
    """The same headings, list items and bold runs, told apart by level, by numbering and by mark."""
    prose, _code_blocks = _without_fences(text)
    levels = [len(heading.strip()) for heading in _HEADING.findall(prose)]
    items = [item.strip()[0] in "-*+" for item in _ITEM.findall(_RULE.sub("", prose))]
    marks = [run[:2] for run in _BOLD.findall(prose)]
    return {
        "header": {f"h{level}": levels.count(level) for level in range(1, 7)},
        "list": {"ordered": items.count(False), "unordered": items.count(True)},
        "bold": {mark: marks.count(mark) for mark in ("**", "__")},
    }


def _without_fences(text: str) -> tuple[str, int]:
    if "```" not in text and "~~~" not in text:
        return text, 0
    prose: list[str] = []
    blocks, fence = 0, ""
    for line in text.split("\n"):
        if fence:
            mark = line.strip()
            if len(mark) >= len(fence) and not mark.strip(fence[0]):
                fence = ""
        elif opening := _FENCE.match(line.rstrip("\r")):
            fence = opening[1] or opening[2]
            blocks += 1
        else:
            prose.append(line)
    return "\n".join(prose), blocks
