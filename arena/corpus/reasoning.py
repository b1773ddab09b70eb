"""Find the blocks in which a model thinks aloud before it answers."""

import re
from collections.abc import Iterator

_TAGS = "think|thinking|thought|reasoning"
_OPEN = re.compile(rf"[^\S\n]*<({_TAGS})>", re.IGNORECASE)
_CLOSE = re.compile(rf"</({_TAGS})>", re.IGNORECASE)


def split_reasoning(text: str) -> Iterator[tuple[bool, str]]:
    """(is reasoning, text) in order. A block begins at the very start, or right after the block before it.

    A tag anywhere else is something the response talks about. Templates often put the opening tag into
    the prompt, so a closing tag that stands alone on the first such line ends reasoning that began at the
    start. A block that is never closed isn't folded: all there is would be hidden.
    """
    position = 0
    while position < len(text):
        block = _block_at(text, position)
        if block is None:
            break
        inside, position = block
        if inside.strip():
            yield True, inside
    if position == 0 and (alone := re.search(rf"^[^\S\n]*</(?:{_TAGS})>[^\S\n]*$", text, re.I | re.M)):
        if text[: alone.start()].strip() and "```" not in text[: alone.start()]:
            yield True, text[: alone.start()]
        else:
            alone = None
        position = alone.end() if alone else 0
    rest = text[position:]
    if rest.strip() or position == 0:
        yield False, rest


def _block_at(text: str, position: int) -> tuple[str, int] | None:
    start = position
    while start < len(text) and text[start].isspace():
        start += 1
    opening = _OPEN.match(text, start)
    if opening is None:
        return None
    for closing in _CLOSE.finditer(text, opening.end()):
        if closing[1].lower() == opening[1].lower():
            return text[opening.end() : closing.start()], closing.end()
    return None
