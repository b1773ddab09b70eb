r"""LaTeX between `$…$`, `$$…$$`, `\(…\)` or `\[…\]` to MathML, and money left alone."""

import re
from collections.abc import Callable
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import Converter
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.dollarmath import dollarmath_plugin

MAX_FORMULA = 2_000  # characters; longer ones are shown as typed
# A macro can double its text at every step, so that forty characters become a terabyte. A link's address
# would become an attribute, which is taken away: its text would vanish.
_MACRO = re.compile(r"\\(?:re|provide)?newcommand|\\(?:[egx]?def|let|DeclareMathOperator|href)(?![A-Za-z])")
_SMALL = re.compile(r"-?\d{0,2}(?:\.\d+)?em")
_MONEY = re.compile(r"\d[^\\^_={}]*?[\s(/–-][^\W\d_]{2,}[^\\^_={}]*$")

InlineRule = Callable[[StateInline, bool], bool]


def add_math(md: MarkdownIt) -> None:
    dollarmath_plugin(
        md,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        allow_blank_lines=False,
        double_inline=True,
    )
    rules = md.inline.ruler
    dollar: InlineRule = next(rule.fn for rule in rules.__rules__ if rule.name == "math_inline")
    rules.at("math_inline", _unless_money(dollar))
    rules.before("escape", "math_brackets", _bracket_inline)
    md.block.ruler.before(
        "fence", "math_brackets", _bracket_block, {"alt": ["paragraph", "blockquote", "list"]}
    )


def formula(latex: str, opening: str, closing: str, *, display: bool) -> str:
    """MathML, or the source in its own delimiters when it can't be converted."""
    tree = _to_mathml(latex, display)
    if tree is None:
        return f'<code class="math-source" dir="ltr">{escape(opening + latex + closing, quote=False)}</code>'
    return tostring(tree, encoding="unicode")


def _to_mathml(latex: str, display: bool) -> Element | None:
    if len(latex) > MAX_FORMULA or _MACRO.search(latex):
        return None
    try:
        tree = Converter(display="block" if display else "inline").convert_to_element(latex)
    except Exception:  # the converter has a dozen error types and lets IndexError and RecursionError through
        return None
    if "\\" in "".join(tree.itertext()):  # a command it doesn't know comes out as its own name
        return None
    for element in tree.iter():
        # It writes entities into its texts and leaves them for a raw serialiser, which would let tags
        # through as well.
        element.text = unescape(element.text) if element.text else None
        if "width" in element.attrib and not _SMALL.fullmatch(element.attrib["width"]):
            del element.attrib["width"]
    del tree.attrib["xmlns"]
    return tree


def _unless_money(dollar: InlineRule) -> InlineRule:
    """`$5 more, or 7 US$` holds no formula, though its dollars pair up."""

    def rule(state: StateInline, silent: bool) -> bool:
        start, tokens = state.pos, len(state.tokens)
        pending = state.pending
        if not dollar(state, silent):
            return False
        if _MONEY.match(state.src, start + 1, state.pos - 1) is None:
            return True
        del state.tokens[tokens:]
        state.pos, state.pending = start, pending
        return False

    return rule


def _bracket_inline(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos : state.pos + 2]
    if opening not in ("\\(", "\\["):
        return False
    closing = "\\)" if opening == "\\(" else "\\]"
    end = state.src.find(closing, state.pos + 2, state.pos + 2 + MAX_FORMULA)
    if end < 0 or not state.src[state.pos + 2 : end].strip():
        return False
    if not silent:
        token = state.push("math_inline" if opening == "\\(" else "math_inline_double", "math", 0)
        token.content, token.markup = state.src[state.pos + 2 : end], opening
    state.pos = end + 2
    return True


def _bracket_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""`\[` that begins a line up to `\]` that ends one, with no blank line between."""
    if state.is_code_block(start) or not _line(state, start).startswith("\\["):
        return False
    lines: list[str] = []
    for number in range(start, end):
        line = _line(state, number)
        if not line or sum(map(len, lines)) > MAX_FORMULA:
            return False
        lines.append(line)
        if line.endswith("\\]") and (number > start or len(line) > 4):
            break
    else:
        return False
    content = "\n".join(lines)[2:-2]
    if "\\]" in content or not content.strip():
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.block, token.content, token.markup, token.map = (
            True,
            content,
            "\\[",
            [start, start + len(lines)],
        )
        state.line = start + len(lines)
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()
