import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.corpus.style_counts import StyleCounts, count_style


def markdown(text: str) -> tuple[int, int, int]:
    counts = count_style(text)
    return counts.headings, counts.list_items, counts.bold


def test_a_text_with_everything_is_counted_part_by_part():
    text = "# Title\n\nSome **bold** words 🙂.\n\n- one\n- two\n\n```py\n# no heading\n```\n"
    assert count_style(text) == StyleCounts(
        characters=69, words=15, headings=1, list_items=2, bold=1, code_blocks=1, emoji=1
    )


def test_an_empty_text_counts_nothing():
    assert count_style("") == StyleCounts(0, 0, 0, 0, 0, 0, 0)


# What the published style control counts on these, computed with its own functions.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# H1\n\ntext **bold** and __also__\n\n- a\n* b\n+ c\n1. one\n2. two\n   3. nested\n", (1, 6, 2)),
        ("```python\n# not a header\n- not a list\n**no**\n```\n###### H6\n#nospace\n**a\nb**\n", (1, 0, 0)),
        ("***d***", (0, 0, 1)),
        ("１. full width", (0, 1, 0)),
        ("Setext\n======\n\n<h1>tag</h1> <b>bold</b>", (0, 0, 0)),
        ("####### seven", (0, 0, 0)),
        ("# a\r\n- b\r\n**c**\r\n", (1, 1, 1)),
        ("\n\n\n   - after blank lines", (0, 1, 0)),
        ("> - quoted", (0, 0, 0)),
        ("__init__", (0, 0, 1)),
        ("-\n-\n", (0, 2, 0)),
    ],
)
def test_ordinary_markdown_counts_as_in_the_published_style_control(text, expected):
    assert markdown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* * *\n- - -\n***\n---", (0, 0, 0)),
        ("```sh\n# use `ls`\n- no\n```\nafter", (0, 0, 0)),
        ("~~~\n# no\n~~~\n# yes", (1, 0, 0)),
        ("# yes\n```\n# never closed", (1, 0, 0)),
        ("````\n```\n# still inside\n````\n- out", (0, 1, 0)),
        ("1) one\n2) two", (0, 2, 0)),
        ("snake__case__name and my__bold__", (0, 0, 0)),
    ],
)
def test_where_no_reader_sees_markup_none_is_counted(text, expected):
    assert markdown(text) == expected


@pytest.mark.parametrize(
    ("text", "emoji"),
    [
        ("👩🏽‍🔬 👨‍👩‍👧", 2),
        ("🇫🇷🇩🇪", 2),
        ("❤️ but ❤ is text", 1),
        ("1️⃣ 2 # *", 1),
        ("© ™ ↔ 漢字", 0),
        ("🙂🙂🙂", 3),
    ],
)
def test_an_emoji_built_of_several_code_points_is_one(text, emoji):
    assert count_style(text).emoji == emoji


@given(st.text())
def test_any_text_has_its_length_and_words(text):
    counts = count_style(text)
    assert counts.characters == len(text)
    assert counts.words == len(text.split())


@given(st.lists(st.sampled_from(["# h", "- i", "**b**", "text", "", "* * *", "1) x"]), max_size=20))
def test_counts_of_paragraphs_add_up(blocks):
    whole = markdown("\n\n".join(blocks))
    assert (
        whole == tuple(map(sum, zip(*map(markdown, blocks), strict=True))) if blocks else whole == (0, 0, 0)
    )


@given(st.text(alphabet="#-*_` \n1.)~ab"))
def test_code_hides_its_markup(text):
    fence = "`" * 60
    assert markdown(f"{fence}\n{text}\n{fence}\n") == (0, 0, 0)
