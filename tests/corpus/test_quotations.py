"""What quotes a redacted text is found, however it is written there, and nothing else is touched."""

import json

import pytest

from arena.corpus.quotations import REDACTED, without

LETTER = (
    'My name is Jane Doe, I live at "12 Nowhere Lane".\nPlease write to the council — über alles: C:\\new.'
)


@pytest.mark.parametrize(
    "quoting",
    [
        lambda text: text,
        lambda text: json.dumps({"reason": text}),
        lambda text: json.dumps({"reason": text}, ensure_ascii=False),
        lambda text: json.dumps({"content": json.dumps({"reason": f"It says {text}!", "winner": "A"})}),
        lambda text: json.dumps({"content": json.dumps({"reason": text}, ensure_ascii=False)}),
    ],
)
@pytest.mark.parametrize("part", [LETTER, LETTER[:60], LETTER[20:75], LETTER[40:]])
def test_a_quotation_is_taken_out_and_json_stays_json(quoting, part):
    told = without(quoting(part), [LETTER])
    assert REDACTED in told
    for word in ("Nowhere", "council", "Jane Doe, I"):
        assert word not in told or word not in part
    if quoting(part).startswith("{"):
        read = json.loads(told)
        if "content" in read:
            json.loads(read["content"])


def test_what_stands_around_a_quotation_stays():
    reason = f"The first is right: it says “{LETTER[:50]}” and no more."
    told = without(reason, [LETTER])
    assert told.startswith("The first is right: it says “[redacted]") and told.endswith("” and no more.")


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("tie", '{"winner": "tie"}'),
        ("Jane Doe", "Jane Doernberg wrote it"),
        (LETTER, "My name is Ann. I live nowhere."),
        ("-" * 80, "| a | b |\n|" + "-" * 60 + "|"),
        ("", "nothing"),
        (" \n", "a \n b"),
    ],
)
def test_what_is_no_quotation_stays(secret, text):
    assert without(text, [secret]) == text


@pytest.mark.parametrize("secret", ["Jane Doe", " 0171 2345678\n"])
def test_a_short_text_is_found_where_it_stands_whole(secret):
    assert without(f"Call {secret.strip()}, please", [secret]) == f"Call {REDACTED}, please"


def test_several_texts_and_quotations_that_touch_are_all_taken_out():
    first, second = "a quick brown fox jumps over the lazy dog", "the lazy dog sleeps under the old oak tree"
    told = without("a quick brown fox jumps over the lazy dog sleeps under the old oak tree", [first, second])
    assert "fox" not in told and "oak" not in told


def test_a_long_text_is_searched_in_a_long_reply():
    secret = " ".join(f"word{number}" for number in range(20_000))
    reply = " ".join(f"other{number}" for number in range(20_000)) + secret[50_000:50_100] + " end"
    told = without(reply, [secret])
    assert len(told) == len(reply) - 100 + len(REDACTED)
