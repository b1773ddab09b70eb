"""Files of other arenas become the same rows as ours."""

import csv
import io
import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.exchange.formats.cells import Turn
from arena.exchange.formats.how import How
from arena.exchange.formats.identity import gives_itself_away
from arena.exchange.formats.known import FORMATS, NAMES, format_of
from arena.exchange.formats.reading import Reading, read
from arena.exchange.formats.rows import VoteRow, content_id

from .arena_rows import (
    ASKED,
    CHAT,
    REPLY_A,
    REPLY_B,
    ROWS,
    arena_55k,
    arena_100k,
    arena_140k,
    clean,
    comparia,
    in_blocks,
    lines,
    logged,
    mt_bench,
    pair,
    said,
    state,
    style,
)


def votes(*rows: dict) -> Reading:
    return read("votes", lines(*rows))


def only(reading: Reading) -> VoteRow:
    assert not reading.errors, reading.errors
    (row,) = reading.rows
    return row


def parquet(*rows: dict) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), sink)
    return sink.getvalue()


@pytest.mark.parametrize("name", ROWS)
def test_every_format_is_told_by_its_columns(name):
    assert format_of(ROWS[name]()).name == name
    assert {known.name for known in FORMATS} == set(ROWS) and set(ROWS) < set(NAMES)
    row = only(votes(ROWS[name]()))
    assert (row.format, row.model_a, row.model_b) == (name, "tern", "puffin")


def test_our_own_columns_are_no_other_format():
    ours = {"model_a": "x", "model_b": "y", "winner": "tie", "judge": "r", "prompt_id": "p", "tstamp": 1}
    assert format_of(ours) is None
    assert only(votes(ours)).format == ""


@pytest.mark.parametrize("name", ["arena_140k", "arena_100k", "arena_33k", "comparia", "mt_bench"])
def test_parquet_holds_the_same_rows_as_jsonl(name):
    row = ROWS[name]()
    assert only(read("votes", parquet(row))) == only(votes(row))
    assert read("votes", parquet(row)).description.endswith("Parquet")


@pytest.mark.parametrize(
    ("row", "outcome", "label"),
    [
        (clean(winner="tie (bothbad)"), "both_bad", "tie (bothbad)"),
        (clean(winner="tie"), "tie", "tie"),
        (arena_140k(), "both_bad", "both_bad"),
        (arena_55k(), "model_b", "winner_model_b"),
        (arena_55k(winner_model_b=0, winner_tie=1), "tie", "winner_tie"),
        (comparia(), "model_b", "puffin"),
        (comparia(chosen_model_name=None, both_equal=True), "tie", "both_equal"),
        (mt_bench(), "model_b", "model_b"),
        (logged(type="bothbad_vote"), "both_bad", "bothbad_vote"),
    ],
)
def test_both_bad_stays_apart_from_tie_and_the_label_is_kept(row, outcome, label):
    found = only(votes(row))
    assert (found.outcome, found.label) == (outcome, label)


def test_conversations_are_kept_as_turns():
    row = only(
        votes(arena_140k(**{f"conversation_{s}": in_blocks("One?", "1", "Two?", f"2{s}") for s in "ab"}))
    )
    assert row.texts.prompt == (Turn("user", "One?"), Turn("user", "Two?"))
    assert row.texts.replies_b == ("1", "2b") and row.texts.response_a == "1\n\n2a"


def test_what_a_release_says_about_prompt_rater_and_time_is_kept():
    row = only(votes(arena_100k()))
    assert (row.rater, row.voted_at) == ("arena_user_1", datetime(2025, 2, 19, 21, 20, 0, 250_000, UTC))
    assert row.texts.language == "English" and row.texts.criteria[0] is True and row.texts.criteria[2] is None
    assert (row.texts.tokens_a, row.texts.tokens_b) == (12, 9)
    assert only(votes(arena_140k())).rater == "s-1"
    assert only(votes(clean(language="unknown"))).texts.language == ""


def test_given_style_counts_are_compared_with_ours():
    same = votes(arena_100k())
    assert any("given for 2 responses, of which 0 differ" in notice for notice in same.notices)
    metadata = style("a", 1, 1, 1) | style("b", 0, 0, 0)
    other = votes(arena_100k(conv_metadata=metadata))
    assert any("of which 1 differ" in notice for notice in other.notices)


def test_cells_with_json_and_nulls_are_turns_with_an_empty_reply():
    sink = io.StringIO()
    writer = csv.DictWriter(sink, arena_55k())
    writer.writeheader()
    writer.writerow(arena_55k())
    reading = read("votes", sink.getvalue().encode(), "train.csv")
    row = only(reading)
    assert row.texts.prompt[0] == Turn("user", ASKED)
    assert row.texts.replies_a == (REPLY_A, "") and row.texts.replies_b == (REPLY_B, "The same one.")
    assert "1 row with an empty reply: the vote counts all the same" in reading.notices


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (clean(winner="model_c"), "line 1, column winner: 'model_c' is unknown"),
        (clean(winner=None), "column winner: is empty"),
        (clean(conversation_b=[]), "column conversation_b: holds no reply, while a battle has two sides"),
        (clean(conversation_b=said(ASKED)), "column conversation_b: holds no reply"),
        (clean(model_b="TERN"), "'TERN' can't fight itself"),
        (clean(conversation_a="Hello"), "column conversation_a: isn't JSON"),
        (arena_55k(winner_tie=1), "2 of winner_model_a, winner_model_b, winner_tie are 1"),
        (arena_55k(winner_model_b=0), "0 of winner_model_a, winner_model_b, winner_tie are 1"),
        (arena_55k(response_a='["x"]'), "column response_a: has 1 turn where prompt has 2"),
        (arena_55k(prompt="Why?"), "column prompt: isn't a JSON list of texts"),
        (arena_55k(response_b='["\\ud800", "x"]'), "half of a surrogate pair"),
        (mt_bench(turn=3), "column turn: 3 was judged, and the conversations have fewer"),
        (pair(g1_winner="A"), 'column g1_winner: "A" is unknown'),
        (logged(type="middlevote"), 'column type: "middlevote" is unknown'),
        (logged(models=["x"]), "column models: aren't two names"),
    ],
)
def test_what_is_not_understood_is_an_error_with_its_line(row, words):
    reading = votes(row)
    assert reading.error_count == 1 and words in str(reading.errors[0])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (clean(anony=False), "in which the names were shown"),
        (logged(models=["tern", "puffin"]), "in which the names were shown"),
        (logged(models=["", "puffin"]), "in which one name was shown"),
        (logged(reply_a=None), "with a reply that never came"),
        (logged(reply_a="Taut▌"), "with a reply that was still being written"),
        (logged(reply_a="**NETWORK ERROR DUE TO HIGH TRAFFIC.**"), "with an error in place of a reply"),
        (logged(reply_a="I'm Tern, glad to help."), "in which a reply says which model it is"),
        (logged(type="share"), "that are no votes between two models"),
        (comparia(chosen_model_name="gull"), "won by a model that is neither of the two"),
        (comparia(system_prompt_a="Be brief."), "had different system prompts"),
        (clean(conversation_b=said("Another?", REPLY_B)), "the two models were asked different things"),
        (
            arena_140k(conversation_a=[{"role": "user", "content": [{"type": "image", "image": "x"}]}]),
            "about images",
        ),
    ],
)
def test_what_does_not_count_is_skipped_by_name(row, words):
    other = clean(question_id="q2") if "anony" in row else row | {"id": 99}
    if "states" in row:
        other = logged("other")
    elif "model_a_name" in row:
        other = comparia(id=99)
    elif "evaluation_order" in row:
        other = arena_140k(id="other")
    reading = votes(other, row)
    only(reading)
    assert reading.skipped == 1
    assert any(notice.startswith("1 row skipped ") and words in notice for notice in reading.notices)


def test_a_log_with_a_doubled_vote_a_leak_and_a_named_vote_yields_one_battle():
    doubled = logged(tstamp=1_740_000_001.0)
    leak = logged("f2", "I was trained by Seabird Research.")
    named = logged("f3", models=["tern", "puffin"])
    reading = votes(CHAT, logged(), doubled, leak, named)
    row = only(reading)
    assert (row.line, row.outcome, row.vote_id) == (2, "model_a", "fastchat_log:f1")
    assert reading.skipped == 4
    assert any(
        "votes on a battle that has one already: line 3 (as 2)" in notice for notice in reading.notices
    )
    assert row.texts.prompt == (Turn("user", ASKED),)


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("I am Tern-7B, at your service.", True),
        ("As a large language model called tern 7b I can't.", True),
        ("I'm an assistant developed by Seabird.", True),
        ("My name is ＴＥＲＮ７Ｂ.", True),
        ("A tern 7b metres away; the tern is a bird.", False),
        ("I am returning. This is made by hand.", False),
        ("The bridge was built by Romans, and I am sure.", False),
        ("I am Eastern-7Ben.", False),
    ],
)
def test_a_leak_is_a_reply_that_says_who_wrote_it(text, leaks):
    assert gives_itself_away(text, ("tern-7b",)) is leaks


@pytest.mark.parametrize(
    ("winners", "outcome", "flip"),
    [
        (("model_1", "model_1"), "model_a", "none"),
        (("model_2", "model_2"), "model_b", "none"),
        (("tie", "tie"), "tie", "none"),
        (("model_1", "model_2"), "tie_unstable", "hard"),
        (("tie", "model_2"), "tie_unstable", "soft"),
        (("error", "model_1"), "no_verdict", "none"),
    ],
)
def test_a_judge_file_is_checked_for_swaps(winners, outcome, flip):
    row = only(votes(pair(g1_winner=winners[0], g2_winner=winners[1])))
    assert (row.outcome, row.flip, row.source) == (outcome, flip, "judge")
    assert (row.rater, row.prompt_id, row.label) == ("weigher pair-v1", "90", " / ".join(winners))


def test_mt_bench_tells_people_from_judges_and_first_turns_from_second():
    second = only(votes(mt_bench()))
    assert (second.source, second.prompt_id, second.texts.replies_b) == (
        "person",
        "90, turn 2",
        (REPLY_B, "A hitch."),
    )
    first = only(votes(mt_bench(turn=1)))
    assert (first.prompt_id, first.texts.prompt, first.texts.replies_a) == (
        "90",
        (Turn("user", ASKED),),
        (REPLY_A,),
    )
    judged = only(votes(mt_bench(judge="gpt4_pair", winner="tie (inconsistent)")))
    assert (judged.source, judged.outcome) == ("judge", "tie_unstable")


def test_a_judge_of_our_own_columns_may_find_what_a_person_cannot():
    row = {"model_a": "x", "model_b": "y", "winner": "tie_unstable", "source": "judge", "flip": "hard"}
    assert only(votes(row)).outcome == "tie_unstable"
    assert "is unknown" in str(votes(row | {"source": "person"}).errors[0])
    assert "nothing a judge can find" in str(votes(row | {"winner": "both_bad"}).errors[0])
    assert only(read("votes", lines(row | {"source": ""}), how=How(judges=True))).source == "judge"


def test_a_system_prompt_that_both_had_is_part_of_the_prompt():
    row = only(votes(comparia(system_prompt_a="Be brief.", system_prompt_b="Be brief.")))
    assert row.texts.prompt == (Turn("system", "Be brief."), Turn("user", ASKED))


def test_a_prompt_without_an_id_gets_one_from_its_text():
    (row,) = read("prompts", b"prompt,response\nWhy?,Because\n").rows
    assert row.id == content_id((Turn("user", "Why?"),))
    assert "column id: is empty" in str(read("prompts", b"id,prompt\n,Why?\n").errors[0])


def test_a_broken_parquet_file_is_refused():
    whole = parquet(clean())
    for broken in (whole[:-20], b"PAR1" + b"x" * 50 + b"PAR1"):
        reading = read("votes", broken)
        assert reading.error_count == 1 and "Parquet file can't be read" in str(reading.errors[0])


def test_our_own_columns_may_come_as_parquet():
    rows = [{"id": "a", "prompt": "Why?", "hard": True}, {"id": "b", "prompt": "How?", "hard": None}]
    found = read("prompts", parquet(*rows)).rows
    assert [(row.line, row.id, row.hard) for row in found] == [(1, "a", True), (2, "b", None)]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
def test_whatever_stands_in_a_cell_the_row_is_read_skipped_or_an_error(name, data):
    row = ROWS[name]()
    row[data.draw(st.sampled_from(sorted(row)))] = data.draw(anything)
    if "states" in row and data.draw(st.booleans()) and isinstance(row["states"], list):
        row["states"] = [data.draw(anything), state("puffin", REPLY_B, "z")]
    reading = read("votes", json.dumps(row).encode(), how=How(format=name))
    assert len(reading.rows) + reading.error_count + reading.skipped >= 1
