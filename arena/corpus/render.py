"""Markdown to HTML that may be shown to anyone: made once, at import, alike for both sides.

What a response can do on a page ends here. Raw HTML and unknown tags are shown as typed, images become a
line of text (fetching one would tell its server who looks at which battle), a link's words aren't
clickable but a small arrow behind them is, and no style, id, form or event attribute exists. Markdown
that would make text disappear (link definitions, table cells beyond the header's) is shown as typed
instead.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from arena.corpus.code_colours import CLASSES, colour
from arena.corpus.reasoning import split_reasoning
from arena.corpus.render_math import add_math, formula

RENDERER_VERSION = 4

# Limits that keep the cost of any text under about half a second; beyond them it is shown as typed.
MAX_MARKDOWN = 100_000  # characters
MAX_BRACKETS = 20_000  # "[": each may begin a link, and all of them are looked at again for each "!["
MAX_IMAGES = 4_000
MAX_NESTING = 40  # quotes and lists within each other; the parser drops the text beyond
MAX_MATH_SCAN = 20_000_000  # characters looked at if no formula's beginning had an end

_BLOCKS = frozenset(("p", "h3", "h4", "h5", "h6", "li", "blockquote", "td", "th"))
_DELIMITERS = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_PLAIN = re.compile(r"[^\W\d_][^\x00-\x1f\x7f-\xa0\\`*_\[\]<>&$~|]*")


def render(text: str) -> str:
    """Sanitised HTML of one text. `RENDERER_VERSION` changes when this output does."""
    if _PLAIN.fullmatch(text):  # one line without marks: most prompts
        return f'<p dir="auto">{text.strip()}</p>\n'
    parts = [(reasoning, _render_part(part)) for reasoning, part in split_reasoning(text)]
    return "".join(
        f'<details class="reasoning"><summary>Reasoning</summary>\n{html}</details>\n' if reasoning else html
        for reasoning, html in parts
    )


def render_turns(messages: Sequence[dict[str, str]]) -> str:
    """A prompt of one turn as its text; of several, each in its own block with its role."""
    if len(messages) == 1:
        return render(messages[0]["content"])
    return "".join(
        f'<div class="turn" data-role="{escape(turn["role"])}">\n{render(turn["content"])}</div>\n'
        for turn in messages
    )


def _render_part(text: str) -> str:
    if _too_costly(text):
        return _as_typed(text)
    scan = len(text) * (text.count("$$") + text.count("\\["))
    md = _MARKDOWN if scan <= MAX_MATH_SCAN else _MARKDOWN_WITHOUT_MATH
    env: dict[str, Any] = {}
    tokens = md.parse(text, env)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return _as_typed(text)
    return _sanitise(md.renderer.render(tokens, md.options, env))


def _too_costly(text: str) -> bool:
    return len(text) > MAX_MARKDOWN or text.count("[") > MAX_BRACKETS or text.count("![") > MAX_IMAGES


def _as_typed(text: str) -> str:
    return _sanitise(f'<pre class="as-typed" dir="auto" tabindex="0">{escape(text, quote=False)}</pre>\n')


def _sanitise(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        tag_attribute_values=_ATTRIBUTE_VALUES,
        allowed_classes=_CLASSES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow ugc",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        url_relative="deny",
        clean_content_tags=set(),
    )


_MATH_TAGS = (
    "math mrow mi mo mn ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover "
    "mtable mtr mtd mstyle mpadded menclose"
)
_TEXT_TAGS = (
    "p br hr h3 h4 h5 h6 em strong s code pre span div a ul ol li blockquote table thead tbody tr th td "
    "details summary"
)
_TAGS = {*_MATH_TAGS.split(), *_TEXT_TAGS.split()}
_ATTRIBUTES = {
    "a": {"href", "title", "aria-label"},
    "ol": {"start"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "form", "separator", "movablelimits", "accent"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mspace": {"width"},
    "mfrac": {"linethickness"},
    "menclose": {"notation"},
    "mover": {"accent"},
    "munder": {"accentunder"},
    "mtable": {"columnalign", "rowlines", "columnlines", "displaystyle", "rowspacing", "columnspacing"},
    "mtd": {"columnalign"},
}
_DIRECTIONS = {"auto", "ltr"}
_ATTRIBUTE_VALUES = {
    **{
        tag: {"dir": _DIRECTIONS}
        for tag in ("p", "h3", "h4", "h5", "h6", "li", "blockquote", "td", "th", "span")
    },
    **{tag: {"dir": _DIRECTIONS, "tabindex": {"0"}} for tag in ("pre", "div")},
    "code": {"dir": _DIRECTIONS},
    "math": {"display": {"block", "inline"}},
}
_CLASSES = {
    "span": {"link", "image"} | CLASSES,
    "div": {"code-block", "code-info", "table-scroll", "math-display"},
    "pre": {"as-typed"},
    "code": {"math-source"},
    "a": {"link-out"},
    "li": {"task-item"},
    **{tag: {f"heading-{n}" for n in range(1, 7)} for tag in ("h3", "h4", "h5", "h6")},
    **{tag: {"align-left", "align-center", "align-right"} for tag in ("td", "th")},
}


def _markdown(*, math: bool) -> MarkdownIt:
    # breaks: a haiku keeps its lines. reference: a definition such as `[Ann]: hello` would vanish from
    # the page.
    md = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": MAX_NESTING})
    md.enable(["table", "strikethrough"]).disable("reference")
    md.block.ruler.at("table", _table_that_fits, {"alt": ["paragraph", "reference"]})
    md.core.ruler.push("blocks", _dress_blocks)
    md.inline.ruler.before("emphasis", "multiplication", _multiplication)
    md.validateLink = lambda url: url.lower().startswith(("http://", "https://", "mailto:"))  # type: ignore[method-assign]
    if math:
        add_math(md)
    for name in ("link_open", "link_close", "image", "fence", "table_open", "table_close"):
        md.add_render_rule(name, globals()[f"_{name}"])
    for name in ("math_inline", "math_inline_double", "math_block"):
        md.add_render_rule(name, _math)
    return md


def _table_that_fits(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The library drops the cells that go beyond the header's; such a table is shown as typed."""
    tokens = len(state.tokens)
    if not table(state, start, end, silent):
        return False
    if silent:
        return True
    columns = sum(token.type == "th_open" for token in state.tokens[tokens:])
    for number in range(start + 2, state.line):
        line = state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()
        if len(escapedSplit(line.removeprefix("|").removesuffix("|"))) > columns:
            del state.tokens[tokens:]
            state.line = start
            return False
    return True


def _multiplication(state: StateInline, silent: bool) -> bool:
    """`2*3*4` would lose its signs to emphasis."""
    around = state.src[max(state.pos - 1, 0) : state.pos + 2]
    if len(around) < 3 or around[1] != "*" or not (around[0] + around[2]).isalnum() or not around.isascii():
        return False
    if not silent:
        state.pending += "*"
    state.pos += 1
    return True


def _dress_blocks(state: StateCore) -> None:
    """Directions per block, headings below the page's own, alignment by class, check boxes as characters."""
    item: Token | None = None
    outline: list[str] = []
    _unname_empty_headers(state.tokens)
    for token in state.tokens:
        if token.type == "heading_open":
            token.attrSet("class", f"heading-{token.tag[1]}")
            outline = [*(above for above in outline if above < token.tag), token.tag]
        if token.type in ("heading_open", "heading_close"):
            # As deep as it lies, whatever its sign: a text that begins with "##" skips no level of the page.
            token.tag = f"h{min(len(outline) + 2, 6)}"
        if token.nesting == 1 and token.tag in _BLOCKS:
            token.attrSet("dir", "auto")
            if align := token.attrs.pop("style", None):
                token.attrSet("class", "align-" + str(align).removeprefix("text-align:"))
        if token.type == "list_item_open":
            item = token
        elif token.type == "inline":
            if item is not None:
                _check_box(item, token)
            item = None


def _unname_empty_headers(tokens: Sequence[Token]) -> None:
    """A header without words names no column: the empty corner of a table is a cell like any other."""
    for opened, words, closed in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opened.type == "th_open" and not words.content.strip():
            opened.tag = closed.tag = "td"


def _check_box(item: Token, inline: Token) -> None:
    first = inline.children[0] if inline.children else None
    if first is None or first.type != "text":
        return
    box = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}.get(first.content[:4])
    if box:
        item.attrSet("class", "task-item")
        first.content = box + first.content[4:]


def _link_open(_renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    return '<span class="link">'


def _link_close(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    opening = next(token for token in reversed(tokens[:index]) if token.type == "link_open")
    url = str(opening.attrs["href"])
    title = f"{opening.attrs['title']} · {url}" if opening.attrs.get("title") else url
    attributes = f'href="{escape(url)}" title="{escape(title)}" aria-label="{escape(url)}"'
    return f'</span><a class="link-out" {attributes}>↗</a>'


def _image(_renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    token = tokens[index]
    words = filter(None, (token.content, str(token.attrs.get("title", "")), str(token.attrs["src"])))
    return f'<span class="image" dir="auto">[Image: {escape(" · ".join(words), quote=False)}]</span>'


def _fence(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]
) -> str:
    token = tokens[index]
    info = token.info.strip()
    label = f'<div class="code-info" dir="ltr">{escape(info, quote=False)}</div>' if info else ""
    code = colour(token.content, info.split()[0] if info else "", env)
    return f'<div class="code-block">{label}<pre dir="ltr" tabindex="0"><code>{code}</code></pre></div>\n'


def _table_open(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    return '<div class="table-scroll" tabindex="0"><table>\n'


def _table_close(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    return "</table></div>\n"


def _math(_renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    token = tokens[index]
    opening, display = token.markup, token.type != "math_inline"
    html = formula(token.content.strip(), opening, _DELIMITERS[opening], display=display)
    return f'<div class="math-display">{html}</div>\n' if token.type == "math_block" else html


_MARKDOWN = _markdown(math=True)
_MARKDOWN_WITHOUT_MATH = _markdown(math=False)
