import itertools
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.corpus import render as module
from arena.corpus.render import render, render_turns

_TAG_NAMES = (
    "p br hr h3 h4 h5 h6 em strong s code pre span div a ul ol li blockquote table thead tbody tr th td "
    "details summary math mrow mi mo mn ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover "
    "munderover mtable mtr mtd mstyle mpadded menclose"
)
TAGS = set(_TAG_NAMES.split())
NEVER = {"style", "id", "name", "src", "srcset", "action", "formaction", "background", "poster", "xlink:href"}


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def assert_harmless(html: str) -> None:
    for tag, attributes in Page(html).tags:
        assert tag in TAGS, tag
        for name, value in attributes.items():
            assert name not in NEVER and not name.startswith("on"), (tag, name)
            if name == "href":
                assert tag == "a" and re.match("(https?://|mailto:)", value, re.I), value
    for link in Page(html).of("a"):
        assert link["rel"] == "noopener noreferrer nofollow ugc"


HOSTILE = [
    "<script>pwned()</script>after",
    "<img src=x onerror=pwned()>",
    '<a href="javascript:pwned()" onclick=pwned()>x</a>',
    "[a](javascript:pwned())",
    "[a](JaVaScRiPt:pwned())",
    "[a](&#106;avascript:pwned())",
    "[a](data:text/html;base64,AAAA)",
    "[a](vbscript:x) <javascript:pwned()>",
    "[a](//evil.test/x) [b](/vote) [c](vote?winner=a)",
    "![x](http://evil.test/p.png)",
    "![x](http://evil.test/p.png \"t' onload='pwned()\")",
    '[x](http://evil.test/" onmouseover="pwned())',
    '[x](<http://evil.test/" onmouseover="pwned()>)',
    '[x](http://evil.test "t\\" autofocus onfocus=pwned() \\"")',
    "</textarea></pre></div><svg/onload=pwned()>",
    "<style>*{display:none}</style><iframe src=//evil.test></iframe>",
    "<form action=/vote><button name=outcome>A</button></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=pwned()>",
    "$\\text{<img src=x onerror=pwned()>}$",
    "$\\text{&lt;img src=x onerror=pwned()&gt;}$",
    "$\\href{javascript:pwned()}{x}$ $\\style{color:red}{x}$ $\\class{link}{x}$",
    "$\\unicode{x3c}script$",
    "```html\n<script>pwned()</script>\n```",
    '```" onclick=pwned()\ncode\n```',
    "```<script>\ncode\n```",
    "`<script>`",
    "<details open ontoggle=pwned()>",
    "<think><script>pwned()</script></think>ok",
    "</details></summary><script>pwned()</script>",
    "<base href=//evil.test><link rel=prefetch href=//evil.test><meta http-equiv=refresh content=0>",
    "| <script> | b |\n|---|---|\n| <img src=x onerror=pwned()> | $\\text{<b>}$ |",
    "<svg><animate onbegin=pwned()>",
    "<noscript><p title='</noscript><img src=x onerror=pwned()>'>",
    "<!--><img src=x onerror=pwned()>-->",
    "<x:y> <http://a b> <![CDATA[<script>]]>",
    "{{ 7*7 }} {% csrf_token %}",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_survives(text):
    assert_harmless(render(text))


@pytest.mark.parametrize("text", [text for text in HOSTILE if not re.search(r"[$`]|think|\(<", text)])
def test_raw_html_is_shown_as_typed(text):
    shown = Page(render(text)).text
    for word in re.findall(r"<(\w+)", text):
        assert word in shown


@given(st.text())
def test_any_text_is_harmless(text):
    assert_harmless(render(text))


_MARKS = (
    "# ## - * + 1. 2) > >> ``` ~~~ ` ** __ ~~ | |-|-| --- === [ ]( ]: ) ![ < > </ <b> <think> </think> $ $$ "
    '\\( \\) \\[ \\] \\frac{a}{b} \\text{ } \\ & &lt; &#60; http://a.b javascript: [x] word سلام 🙂 x=1 "'
)
MARKS = st.sampled_from([*_MARKS.split(), "\n", "\n\n", "\t", " ", "[ ]"])


@given(st.lists(MARKS, max_size=60).map("".join))
def test_any_markup_is_harmless(text):
    assert_harmless(render(text))


@given(st.lists(st.one_of(MARKS, st.just("\n"), st.just(" ")), max_size=60).map(" ".join))
def test_no_word_vanishes(text):
    html = render(text)
    shown = Page(html).text + " ".join(str(v) for _, a in Page(html).tags for v in a.values())
    for word in ("word", "سلام", "🙂", "javascript:"):
        assert shown.count(word) >= text.count(word)


@given(st.from_regex(r"[A-Za-zé؀-ۿ][^\n\r\0]{0,60}", fullmatch=True))
def test_the_short_way_for_plain_lines_renders_like_the_long_way(text):
    short = render(text)
    assert short == module._render_part(text) or not module._PLAIN.fullmatch(text)


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("# a\n## b\n### c\n## d", "3 4 5 4"),
        ("## a\n### b\n## c", "3 4 3"),
        ("### a\n# b\n## c", "3 3 4"),
        ("# a\n### b\n#### c\n### d\n## e", "3 4 5 4 4"),
        ("#### a\n## b\n### c\n#### d", "3 3 4 5"),
        ("# a\n## b\n### c\n#### d\n##### e\n###### f", "3 4 5 6 6 6"),
        ("> ### a\n\n- #### b\n\nc\n-", "3 4 3"),
        ("<think>## a\n### b</think>\n### c", "3 4 3"),
    ],
)
def test_headings_are_as_deep_as_they_lie_and_as_large_as_they_were_meant(text, levels):
    found = [(tag, attributes) for tag, attributes in Page(render(text)).tags if re.fullmatch("h[1-6]", tag)]
    assert " ".join(tag[1] for tag, _attributes in found) == levels
    assert all(re.match("heading-[1-6]", attributes["class"]) for _tag, attributes in found)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12))
def test_no_outline_skips_a_level(signs):
    text = "\n\n".join(f"{'#' * sign} of {sign}" for sign in signs)
    levels = [
        2,
        *(int(tag[1]) for tag, _attributes in Page(render(text)).tags if re.fullmatch("h[1-6]", tag)),
    ]
    assert all(deeper - level <= 1 for level, deeper in itertools.pairwise(levels))
    assert len(levels) == 1 + len(signs)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Why is the sky red?", '<p dir="auto">Why is the sky red?</p>\n'),
        ("one\ntwo", '<p dir="auto">one<br>\ntwo</p>\n'),
        ("**b** *i* ~~s~~ `c`", "<strong>b</strong> <em>i</em> <s>s</s> <code>c</code>"),
        ("# Title", '<h3 class="heading-1" dir="auto">Title</h3>'),
        ("###### Small", '<h3 class="heading-6" dir="auto">Small</h3>'),
        ("3. c\n4. d", '<ol start="3">'),
        (
            "- [ ] todo\n- [x] done",
            '<li dir="auto" class="task-item">☐ todo</li>\n<li dir="auto" class="task-item">☑ done',
        ),
        ("> quoted", '<blockquote dir="auto">\n<p dir="auto">quoted</p>'),
        ("|a|b|\n|-|-:|\n|1|2|", '<td dir="auto" class="align-right">2</td>'),
        (
            "```python\nx = 1\n```",
            '<div class="code-info" dir="ltr">python</div><pre dir="ltr" tabindex="0"><code>',
        ),
        ("```python\nx = 1\n```", '<span class="hl-n">x</span>'),
        ("```klingon\n<x>\n```", "<code>&lt;x&gt;\n</code>"),
        ("$x^2$", '<math display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'),
        ("\\(y\\)", '<math display="inline"><mrow><mi>y</mi></mrow></math>'),
        ("$$\nx\n= y\n$$", '<div class="math-display"><math display="block">'),
        ("\\[\nx\n\\]", '<div class="math-display"><math display="block">'),
        ("$\\nosuchthing{x}$", '<code class="math-source" dir="ltr">$\\nosuchthing{x}$</code>'),
        ("[x](http://a.test)", '<span class="link">x</span><a class="link-out" href="http://a.test"'),
        (
            "![cat](http://a.test/c.png)",
            '<span class="image" dir="auto">[Image: cat · http://a.test/c.png]</span>',
        ),
    ],
)
def test_markdown_becomes(text, html):
    assert html in render(text)


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5, or $10 for two.",
        "$5 (or €4) and 7 US$ is what I have",
        "between $5-$10",
        "US$5 and A$7",
        "a $20/month plan, while the pro one is 50$",
        "2*3*4 = 24",
        "[Ann]: hello",
        "[1]: note\n\nSee [1].",
        "{{ 7*7 }} ${7*7}",
        "a <think> tag, and </think> too",
        "<tags> and <T> and vector<int>",
    ],
)
def test_what_only_looks_like_markup_is_shown_as_typed(text):
    page = Page(render(text))
    assert " ".join(page.text.split()) == " ".join(text.split())
    assert not page.of("math") and not page.of("details") and not page.of("em")


def test_a_table_row_with_more_cells_than_the_header_keeps_them():
    assert "extra" in Page(render("|a|b|\n|-|-|\n|1|2|extra|\n")).text


@pytest.mark.parametrize("indent", ["", "> ", "- "])
def test_a_table_that_does_not_fit_is_text_wherever_it_stands(indent):
    page = Page(render(f"{indent}a|b\n{' ' * len(indent) if '-' in indent else indent}-|-\n"))
    assert page.of("table")


def test_code_in_a_fence_is_unchanged():
    code = "def f(x):\n\treturn '<b>' + \"&amp;\"  \n\n\n# ends\n"
    assert Page(render(f"```python\n{code}```")).text == "python" + code + "\n"


@pytest.mark.parametrize(
    ("text", "folded", "shown"),
    [
        ("<think>hm</think>\n\nHello", "hm", "Hello"),
        ("\n <THINK>hm</THINK>Hello", "hm", "Hello"),
        ("<thinking>a</thinking><think>b</think>Hello", "ab", "Hello"),
        ("no opening tag\n</think>\nHello", "no opening tag", "Hello"),
        ("<think>\n\n</think>\nHello", "", "Hello"),
        ("<think>never closed", "", "<think>never closed"),
        ("```\n</think>\n```", "", "</think>"),
        ("Hello <think>later</think>", "", "Hello <think>later</think>"),
    ],
)
def test_reasoning_is_folded_and_what_only_mentions_it_is_not(text, folded, shown):
    html = render(text)
    inside = "".join(re.findall(r"<details.*?</summary>(.*?)</details>", html, re.DOTALL))
    outside = re.sub(r"<details.*?</details>", "", html, flags=re.DOTALL)
    assert "".join(Page(inside).text.split()) == "".join(folded.split())
    assert Page(outside).text.strip() == shown


def test_every_block_finds_its_own_direction():
    page = Page(render("# عنوان\n\nنص عربي\n\n- بند\n\n> اقتباس\n\n|أ|ب|\n|-|-|\n|1|2|\n"))
    for tag in ("h3", "p", "li", "blockquote", "th", "td"):
        assert page.of(tag) and all(attributes["dir"] == "auto" for attributes in page.of(tag))


def test_the_words_of_a_link_cannot_be_clicked():
    assert re.search(r'<span class="link">words</span><a [^>]*>↗</a>', render("[words](https://a.test/x)"))


@pytest.mark.parametrize(
    "text",
    [">" * 100_000, "1. " * 30_000, "[" * 100_000, "![" * 50_000, "*x" * 50_001, "> " * 60 + "deep"],
    ids=["quotes", "lists", "brackets", "images", "long", "nested"],
)
def test_what_would_cost_too_much_is_shown_whole_and_as_typed(text):
    page = Page(render(text))
    assert page.of("pre") == [{"class": "as-typed", "dir": "auto", "tabindex": "0"}]
    assert page.text.strip() == text.strip()


@pytest.mark.parametrize(
    "text",
    ["*a" * 50_000, "$$a\n" * 25_000, "\\(" * 50_000, "`a" * 50_000, "```java\n" + "a " * 50_000],
    ids=["stars", "dollars", "brackets", "ticks", "code"],
)
def test_other_endless_repetitions_lose_nothing(text):
    shown = Page(render(text)).text
    assert shown.count("a") >= text.count("a")


def test_a_formula_that_expands_itself_stays_source():
    page = Page(render("$\\def\\a{xx}\\def\\b{\\a\\a}\\b$"))
    assert not page.of("math") and "\\def" in page.text


def test_turns_are_marked_with_their_roles():
    html = render_turns([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}])
    assert html.count('<div class="turn" data-role="user">') == 1
    assert html.index("Hi") < html.index('data-role="assistant"') < html.index("Yes?")


def test_one_turn_is_just_its_text():
    assert render_turns([{"role": "user", "content": "Hi"}]) == render("Hi")


def test_an_empty_corner_of_a_table_is_a_cell_and_no_header_without_words():
    html = render("| | Ember | Fjord |\n|:-|-|-|\n| speed | 1 | 2 |\n")
    assert html.count("<th ") == 2
    head = html[html.index("<thead>") : html.index("</thead>")]
    assert head.index("<td ") < head.index("<th ")
    assert "></td>" in head
