import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.corpus.near_duplicates import COMMON, Pair, near_duplicates, runs_of, within

LETTER = "Please write a short and friendly letter to the neighbours about the noise at night and the dog"
CHINESE = "请给邻居写一封简短而友好的信，说明夜里的噪音和他们家的狗总是在叫的问题"


def found(*texts: str) -> list[tuple[str, str]]:
    pairs = near_duplicates({f"p{number}": text for number, text in enumerate(texts)})
    return [(pair.earlier, pair.later) for pair in pairs]


@pytest.mark.parametrize(
    "other",
    [
        LETTER,
        LETTER.upper() + "!",
        LETTER.replace(" ", "\n\n"),
        LETTER.replace("dog", "cat"),
        LETTER + " please",
        LETTER.replace("friendly", "ｆｒｉｅｎｄｌｙ"),
    ],
)
def test_texts_that_hardly_differ_are_a_pair(other):
    assert found(LETTER, "About something else altogether", other) == [("p0", "p2")]


@pytest.mark.parametrize("other", [LETTER[:40], "", "...", "the dog", LETTER.replace("a", "e"), CHINESE])
def test_texts_that_differ_are_none(other):
    assert found(LETTER, other) == []


@pytest.mark.parametrize(
    ("one", "other"), [("=1+1", "+1+1"), ("=1+1", "-1+1"), ("Is 7*8 odd?", "Is 7-8 odd?")]
)
def test_sums_with_other_signs_are_no_pair(one, other):
    assert found(one, other) == []
    assert found(one, one.replace("1", "1 ").upper()) == [("p0", "p1")]


def test_scripts_without_spaces_are_compared_by_character():
    assert found(CHINESE, CHINESE.replace("狗", "猫")) == [("p0", "p1")]
    assert found(CHINESE, "今天天气很好，我们去公园散步吧") == []


def test_short_texts_are_alike_when_they_are_the_same():
    assert found("Why?", "why", "Who?", "?") == [("p0", "p1")]


def test_a_text_that_repeats_is_named_once_each_time():
    assert found(LETTER, LETTER, LETTER) == [("p0", "p1"), ("p0", "p2")]


def test_the_most_alike_come_first():
    pairs = near_duplicates({"a": LETTER, "b": LETTER.replace("dog", "cat"), "c": LETTER})
    assert pairs[0] == Pair("c", "a", 1.0)
    assert pairs[1].similarity == pytest.approx(15 / 17)


def test_a_template_filled_in_many_times_is_no_duplicate():
    texts = [f"Write a poem in the manner of the old masters about number {n}" for n in range(COMMON + 1)]
    assert found(*texts) == []


@pytest.mark.parametrize("similar", [0, -1, 1.1])
def test_a_similarity_that_is_no_share_is_refused(similar):
    with pytest.raises(ValueError, match="share above 0"):
        near_duplicates({}, similar)


words = st.text(alphabet="abc ", max_size=30)


@given(st.lists(words, max_size=12), st.sampled_from([0.5, 0.8, 1.0]))
def test_no_pair_is_missed_and_none_invented(texts, similar):
    named = {str(number): text for number, text in enumerate(texts)}
    pairs = {(pair.earlier, pair.later) for pair in near_duplicates(named, similar)}
    first: dict[frozenset[int], str] = {}
    expected = set()
    for name, text in named.items():
        runs = runs_of(text)
        if not runs:
            continue
        if first.setdefault(runs, name) != name:
            expected.add((first[runs], name))
    for one, earlier in first.items():
        for other, later in first.items():
            if int(earlier) < int(later) and len(one & other) / len(one | other) >= similar:
                expected.add((earlier, later))
    assert pairs == expected


def test_the_search_ends_after_so_many_comparisons():
    texts = {f"p{number}": f"{LETTER} number {number}" for number in range(20)}
    assert len(near_duplicates(texts)) == 190
    assert len(near_duplicates(texts, compared=30)) == 30


def test_the_first_texts_of_so_many_characters():
    texts = [("a", "x" * 5_000), ("b", "xyz"), ("c", "y")]
    assert list(within(texts, 4_000)) == ["a"]
    assert list(within(texts, 4_003)) == ["a", "b"]
    assert list(within(texts, 4_004)) == ["a", "b", "c"]
