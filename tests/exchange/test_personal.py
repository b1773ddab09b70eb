import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.corpus.personal import CARD, EMAIL, PHONE, kinds_in
from arena.exchange.formats.reading import read
from arena.exchange.personal import Personal
from arena.exchange.wording import personal


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Write to jo.smith+x@mail.example.org, please.", [EMAIL]),
        ("Ring +44 20 7946 0018 or +49 (30) 901820.", [PHONE]),
        ("Card 4111 1111 1111 1111.", [CARD]),
        ("5500-0000-0000-0004, me@example.org", [EMAIL, CARD]),
        ("American Express: 378282246310005", [CARD]),
        ("A handle like @jo, a matrix A@B and 3 @ 4.", []),
        ("4111 1111 1111 1112 fails Luhn's check.", []),
        ("1 + 1234567890 is a sum, +0000000000 no number", []),
        ("Order 020 7946 0018: no country is named", []),
        ("0.4111111111111111 and 4111111111111111.5 are fractions", []),
        ("id 12345678901234567890123", []),
        ("", []),
    ],
)
def test_an_address_a_phone_and_a_card_are_told_from_other_text(text, kinds):
    assert list(kinds_in(text)) == kinds


def test_the_first_places_are_named_and_the_rest_counted():
    rows = "".join(f"p{number},write to a{number}@example.org\n" for number in range(7))
    found = Personal()
    for row in read("prompts", f"id,prompt\n{rows}".encode()).rows:
        found.look(row)
    assert found.as_json() == {
        "email": {"count": 7, "places": [(n + 2, "prompt", n + 2, f"p{n}") for n in range(5)]}
    }


def test_a_rater_named_by_an_address_is_found():
    found = Personal()
    for row in read("votes", b"model_a,model_b,winner,rater\nx,y,tie,jo@example.org\n").rows:
        found.look(row)
    assert found.as_json()["email"]["places"] == [(2, "rater", 2, "")]


@given(st.text())
def test_any_text_can_be_looked_at(text):
    assert set(kinds_in(text)) <= {EMAIL, PHONE, CARD}


@pytest.mark.parametrize("text", ["a@" * 50_000, "+1 " * 50_000, "4 1" * 50_000, "a." * 90_000 + "@"])
def test_a_long_text_is_looked_at_in_linear_time(text):
    assert list(kinds_in(text)) == []


def test_a_place_is_named_as_a_spreadsheet_and_as_an_editor_count_it():
    found = Personal()
    for row in read("prompts", b'id,prompt\np1,"two\nlines"\np2,jo@example.org\n').rows:
        found.look(row)
    assert list(personal(found.as_json())) == [
        "likely e-mail addresses in 1 text: p2: row 3 (line 4, prompt)"
    ]


def test_a_line_of_jsonl_is_no_row_of_a_spreadsheet():
    found = {"email": {"count": 1, "places": [(91, "response", 92, "p7")]}}
    assert list(personal(found)) == ["likely e-mail addresses in 1 text: p7: line 91, response"]
