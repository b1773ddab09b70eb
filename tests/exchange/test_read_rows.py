import json
from datetime import UTC, datetime

import pytest

from arena.corpus.models import HARD_CRITERIA
from arena.exchange.formats.cells import MAX_TEXT, Turn
from arena.exchange.formats.columns import CRITERIA
from arena.exchange.formats.problems import KEPT
from arena.exchange.formats.reading import Reading, read
from arena.exchange.formats.rows import WINNERS


def lines(*objects: dict) -> bytes:
    return "\n".join(json.dumps(value) for value in objects).encode()


def prompts(*objects: dict) -> Reading:
    return read("prompts", lines(*objects))


def responses(*objects: dict) -> Reading:
    return read("responses", lines(*objects))


def votes(*winners: str | None, **more) -> Reading:
    return read(
        "votes", lines(*({"model_a": "x", "model_b": "y", "winner": winner, **more} for winner in winners))
    )


def only_error(reading: Reading) -> str:
    assert reading.error_count == 1, reading.errors
    return str(reading.errors[0])


def test_a_prompt_has_every_column():
    reading = prompts(
        {
            "id": "p1",
            "prompt": "Why?\n",
            "category": " nature ",
            "language": "en",
            "tags": "short, why",
            "hard": "yes",
            "reference": "Because.",
            "specificity": 1,
            "creativity": False,
        }
    )
    (row,) = reading.rows
    assert (row.id, row.turns, row.category, row.language) == (
        "p1",
        (Turn("user", "Why?\n"),),
        "nature",
        "en",
    )
    assert (row.tags, row.hard, row.reference) == (("short", "why"), True, "Because.")
    assert dict(zip(CRITERIA, row.criteria, strict=True))["specificity"] is True
    assert dict(zip(CRITERIA, row.criteria, strict=True))["creativity"] is False
    assert dict(zip(CRITERIA, row.criteria, strict=True))["complexity"] is None


def test_the_criteria_are_those_of_the_corpus():
    assert CRITERIA == HARD_CRITERIA


def test_headers_are_trimmed_and_folded_and_have_other_names():
    reading = read("responses", b" Prompt ID ,MODEL,Text,note\np1,x,hello,hm\n")
    assert reading.rows[0].text == "hello"
    assert reading.notices == ("columns ignored: note",)


@pytest.mark.parametrize(
    ("kind", "header", "words"),
    [
        ("prompts", "id,category", "the column prompt or messages is missing; found: id, category"),
        ("responses", "prompt_id,model", "the column response is missing; found: prompt_id, model"),
        ("votes", "model_a,winner", "the column model_b is missing; found: model_a, winner"),
        ("prompts", "id,prompt,text", "'prompt' and 'text' both mean the column prompt"),
    ],
)
def test_a_header_that_will_not_do_is_refused(kind, header, words):
    reading = read(kind, f"{header}\na,b,c\n".encode())
    assert only_error(reading).startswith("line 1: ") and words in only_error(reading)
    assert not reading.rows


def test_a_line_of_jsonl_without_a_needed_key_is_named():
    assert "line 2: the column prompt or messages is missing; found: id" in only_error(
        prompts({"id": "a", "prompt": "x"}, {"id": "b"})
    )


def test_ids_stay_text():
    ids = ["007", "7", "1e5", "100000", "TRUE", "2024-01-02", "NA", "null", "0.10", "0.1"]
    content = "id,prompt\n" + "".join(f"{name},x\n" for name in ids)
    assert [row.id for row in read("prompts", content.encode()).rows] == ids
    assert prompts({"id": 3, "prompt": "x"}).rows[0].id == "3"


@pytest.mark.parametrize("bad", [1.5, True, [], {}])
def test_an_id_of_another_type_is_an_error(bad):
    assert only_error(prompts({"id": bad, "prompt": "x"})).startswith("line 1, column id: text is needed")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"prompt": ""}, "column prompt: is empty"),
        ({"prompt": None}, "column prompt: is empty"),
        ({"prompt": " \n"}, "column prompt: is empty"),
        ({"prompt": "a\0b"}, "column prompt: holds the character U+0000"),
        ({"prompt": "a\ud800b"}, "column prompt: holds half of a surrogate pair (U+D800)"),
        ({"prompt": {"a": 1}}, "column prompt: text is needed"),
        (
            {"prompt": "x" * (MAX_TEXT + 1)},
            "column prompt: is 2,097,153 characters long; 2,097,152 are allowed",
        ),
        ({"prompt": "x", "id": " "}, "column id: is empty"),
        ({"prompt": "x", "id": "i" * 201}, "column id: is 201 characters long"),
        ({"prompt": "x", "hard": "maybe"}, 'column hard: "maybe" is neither yes nor no'),
        ({"prompt": "x", "hard": 2}, "column hard: 2 is neither yes nor no"),
        ({"prompt": "x", "tags": 3}, "column tags: 3 isn't a list"),
        (
            {"prompt": "x", "messages": [{"role": "user", "content": "y"}]},
            "column messages: there is a prompt as well",
        ),
        ({"messages": "[{"}, "column messages: isn't JSON"),
        ({"messages": []}, "column messages: isn't a list of turns"),
        ({"messages": ["x"]}, "column messages: turn 1 isn't an object"),
        ({"messages": [{"role": "bot", "content": "x"}]}, 'turn 1 has the role "bot"'),
        ({"messages": [{"role": "user", "content": " "}]}, "turn 1 is empty"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "something other than text"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "ends with assistant"),
    ],
)
def test_a_bad_prompt_is_named_by_line_and_column(cells, words):
    error = only_error(prompts({"id": "p", **cells}))
    assert error.startswith("line 1, column ")
    assert words in error


@pytest.mark.parametrize("as_text", [False, True])
def test_a_conversation_keeps_its_turns(as_text):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "there"}]},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Why?"},
    ]
    reading = prompts({"id": "p", "messages": json.dumps(messages) if as_text else messages})
    assert [turn.role for turn in reading.rows[0].turns] == ["system", "user", "assistant", "user"]
    assert reading.rows[0].turns[1].content == "Hi\n\nthere"


def test_an_exact_repeat_is_skipped_and_said():
    reading = prompts(*[{"id": "p1", "prompt": "x"}] * 2, {"id": "P1", "prompt": "y"})
    assert [row.id for row in reading.rows] == ["p1", "P1"]
    assert reading.skipped == 1
    assert reading.notices == ("1 row skipped as exact repeats: line 2 (as 1)",)


@pytest.mark.parametrize("second", ["p1", " p1 "])
def test_one_id_with_two_texts_is_an_error_with_both_lines(second):
    reading = prompts({"id": "p1", "prompt": "x"}, {"id": second, "prompt": "y"})
    assert only_error(reading) == "line 2: prompt 'p1' is already on line 1 with other contents"


def test_a_second_response_of_one_model_needs_a_sample_number():
    first = {"prompt_id": "p", "model": "Model X", "response": "one"}
    second = {"prompt_id": "p", "model": "model x", "response": "two"}
    assert "number them in a column sample" in only_error(responses(first, second))
    assert responses(first, {**second, "sample": 2}).error_count == 0


def test_models_that_differ_in_case_alone_are_one_and_said_so():
    reading = responses(
        {"prompt_id": "p", "model": "Model X", "response": "one"},
        {"prompt_id": "q", "model": "model x", "response": "1"},
    )
    assert reading.notices == ("'model x' is taken for the same model as 'Model X'",)


@pytest.mark.parametrize("blank", ["", "  \n ", None])
def test_a_blank_response_is_kept_and_flagged(blank):
    reading = responses({"prompt_id": "p", "model": "x", "response": blank})
    assert reading.rows[0].is_blank and reading.rows[0].text == (blank or "")
    assert "1 response empty or blank: kept, but never drawn" in reading.notices[0]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"response": True}, "column response: text is needed, this is true"),
        ({"model": ""}, "column model: is empty"),
        ({"prompt_id": ""}, "column prompt_id: is empty"),
        ({"sample": 0}, "column sample: 0 isn't a whole number from 1 up"),
        ({"sample": "one"}, 'column sample: "one" isn\'t a whole number'),
        ({"tokens": -1}, "column tokens: -1 isn't a whole number"),
        ({"tokens": 1.5}, "column tokens: 1.5 isn't a whole number"),
        ({"tokens": True}, "column tokens: true isn't a whole number"),
    ],
)
def test_a_bad_response_is_named_by_line_and_column(cells, words):
    assert words in only_error(responses({"prompt_id": "p", "model": "x", "response": "r", **cells}))


def test_every_documented_spelling_of_a_winner_is_understood():
    for spelling, outcome in WINNERS.items():
        for written in (spelling, spelling.upper(), f" {spelling} "):
            assert votes(written).rows[0].outcome == outcome


@pytest.mark.parametrize(("winner", "outcome"), [("x", "model_a"), ("Y", "model_b")])
def test_the_name_of_the_winner_counts_for_its_side(winner, outcome):
    assert votes(winner).rows[0].outcome == outcome


@pytest.mark.parametrize("winner", ["model_c", "1", "0.5", "0", "-", "tie?", "both", "z"])
def test_an_unknown_winner_is_an_error_and_never_a_tie(winner):
    assert f"line 1, column winner: '{winner}' is unknown; use model_a" in only_error(votes(winner))


@pytest.mark.parametrize("winner", ["", None, " "])
def test_a_missing_winner_is_an_error(winner):
    assert "column winner: is empty" in only_error(votes(winner))


def test_a_winner_that_names_one_side_and_spells_the_other_is_an_error():
    assert "a model's name and a side as well" in only_error(votes("a", model_a="B", model_b="A"))
    assert votes("a", model_a="A", model_b="B").rows[0].outcome == "model_a"


def test_a_model_cannot_fight_itself_under_another_spelling():
    assert "column model_b: 'MODEL x' can't fight itself" in only_error(
        votes("tie", model_a="Model X", model_b="MODEL x")
    )


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        (0, None),
        ("", None),
        (None, None),
        (1700000000.5, datetime(2023, 11, 14, 22, 13, 20, 500000, UTC)),
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2024-05-01T10:00:00+02:00", datetime(2024, 5, 1, 8, tzinfo=UTC)),
        ("2024-05-01 10:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_vote_has_a_time(given, moment):
    assert votes("tie", tstamp=given).rows[0].voted_at == moment


@pytest.mark.parametrize("given", ["yesterday", -1, 1700000000000, True, [1], "1e400", "nan"])
def test_a_time_that_is_none_is_an_error(given):
    assert "column voted_at" in only_error(votes("tie", tstamp=given))


def test_a_vote_keeps_rater_prompt_and_dwell():
    row = votes("tie", judge="r1", prompt_id="p", dwell_ms=1200).rows[0]
    assert (row.rater, row.prompt_id, row.dwell_ms) == ("r1", "p", 1200)


def test_equal_votes_without_an_id_are_all_kept_and_said():
    reading = votes("tie", "tie", rater="r")
    assert len(reading.rows) == 2 and "equal to an earlier one kept" in reading.notices[0]


@pytest.mark.parametrize("identity", [{"vote_id": "v1"}, {"rater": "r", "tstamp": 1700000000}])
def test_a_doubled_vote_is_one_vote(identity):
    assert (len(votes("tie", "tie", **identity).rows), votes("tie", "tie", **identity).skipped) == (1, 1)
    assert "is already on line 1 with other contents" in only_error(votes("tie", "model_a", **identity))


@pytest.mark.parametrize("kind", ["prompts", "responses", "votes"])
def test_a_file_without_rows_is_refused(kind):
    header = "id,prompt,prompt_id,model,response,model_a,model_b,winner"
    keep = {"prompts": [0, 1], "responses": [2, 3, 4], "votes": [5, 6, 7]}[kind]
    content = ",".join(header.split(",")[index] for index in keep)
    assert only_error(read(kind, f"{content}\n".encode())) == "the file has no rows"


def test_the_first_hundred_errors_are_listed_and_the_rest_counted():
    reading = votes(*["nobody"] * 250)
    assert (len(reading.errors), reading.error_count) == (KEPT, 250)


def test_what_is_quoted_from_a_file_can_be_stored():
    reading = read("prompts", b'{"id": "a", "prompt": "x", "odd\\u0000\\ud800": 1}')
    assert reading.notices == ("columns ignored: odd\\u0000\\ud800",)
