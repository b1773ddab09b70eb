import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.judging.ending import scores_of
from arena.judging.verdict import Verdict, VerdictFailure, read_verdict
from arena.leaderboards.agreement.judged_battles import contradicts as is_contradicted
from tests.judging.replies import CRITERIA, FIRST, REPLIES, SECOND, TIE, Reply, scores, verdict


def reading(reply: Reply) -> str:
    found = read_verdict(reply.content, reply.finish_reason, reply.refusal, CRITERIA)
    if isinstance(found, Verdict):
        return found.winner
    return f"{found.kind}:{found.detail}" if found.detail else found.kind


def test_the_corpus_is_large_and_names_nothing_twice():
    names = [reply.name for reply in REPLIES]
    assert len(names) >= 80
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply.name)
def test_each_reply_has_its_one_right_reading(reply):
    assert reading(reply) == reply.expected


def test_a_verdict_carries_scores_and_reason():
    found = read_verdict(verdict("second", "Because.", scores=scores(2, 5)), "stop", None, CRITERIA)
    assert found == Verdict(
        "second",
        {"factual": 2, "relevant": 2, "clarity": 2},
        {"factual": 5, "relevant": 5, "clarity": 5},
        "Because.",
    )


@pytest.mark.parametrize(
    ("winner", "first", "second", "contradicts"),
    [
        ("first", 4, 3, False),
        ("first", 3, 4, True),
        ("first", 3, 3, False),
        ("second", 4, 3, True),
        ("second", 3, 4, False),
        ("tie", 5, 1, False),
    ],
)
def test_scores_against_the_winner_are_reported_and_not_corrected(winner, first, second, contradicts):
    found = read_verdict(verdict(winner, scores=scores(first, second)), "stop", None, CRITERIA)
    assert isinstance(found, Verdict)
    assert found.winner == winner
    assert is_contradicted(winner, scores_of(found)) == contradicts


def test_a_reason_is_storable_whatever_the_judge_wrote():
    found = read_verdict(FIRST.replace("right", "\\ud800 \\u0000"), "stop", None, CRITERIA)
    assert isinstance(found, Verdict)
    found.reason.encode()
    assert "\x00" not in found.reason


def test_scales_are_the_rubrics_own():
    from arena.judging.prompting import Criterion

    wide = [Criterion(criterion.name, "x", 0, 10) for criterion in CRITERIA]
    reply = verdict("first", scores=scores(10, 0))
    assert isinstance(read_verdict(reply, "stop", None, wide), Verdict)
    assert isinstance(read_verdict(reply, "stop", None, CRITERIA), VerdictFailure)


# Pieces that a judge's reply is made of, right and wrong, in any order and any number.
PIECES = st.sampled_from(
    [
        FIRST, SECOND, TIE, verdict("A"), verdict(None), FIRST[:-1], FIRST[30:], "```json", "```", "<think>",
        "</think>", "{", "}", '"', "'", "\\", "[", "]", ":", ",", '"winner"', '"tie"', "tie",
        '{"winner": "tie"}',
        '{"winner":', "winner: tie", "[[C]]", "\ud800", "\x00", "\u200b", "null", "NaN", "1e999", "{}", "\n",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=12).map("".join),
    st.text(st.characters(), max_size=200),
    st.text('{}[]":,\\ tiewnrfsco1<>/hk', max_size=200),
)
CONTENTS = st.one_of(
    TEXTS,
    st.none(),
    st.lists(
        st.one_of(TEXTS, st.builds(lambda t: {"type": "text", "text": t}, TEXTS), st.integers()), max_size=4
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | TEXTS, lambda x: st.lists(x, max_size=3), max_leaves=5
    ),
)


@settings(max_examples=3000, deadline=None)
@given(CONTENTS, st.one_of(st.none(), st.text(max_size=20)), st.one_of(st.none(), st.text(max_size=5)))
@example('{"winner": "tie"}', "stop", None)
@example(TIE[:-1], "stop", None)
def test_reading_never_raises_and_no_failure_becomes_a_tie(content, finish_reason, refusal):
    found = read_verdict(content, finish_reason, refusal, CRITERIA)
    if isinstance(found, VerdictFailure):
        assert found.kind in ("refused", "truncated", "parse_failed")
        assert (found.detail != "") == (found.kind == "parse_failed")
        assert found.message
    else:
        # A winner stands in the reply in so many letters, with a full set of scores beside it.
        whole = content if isinstance(content, str) else json.dumps(content)
        assert found.winner in whole.casefold()
        assert len(found.scores_first) == len(found.scores_second) == len(CRITERIA)


@settings(max_examples=1000, deadline=None)
@given(st.sampled_from([FIRST, SECOND, TIE]), st.data())
def test_a_verdict_cut_anywhere_is_a_failure(reply, data):
    cut = data.draw(st.integers(0, len(reply) - 1))
    assert isinstance(read_verdict(reply[:cut], "stop", None, CRITERIA), VerdictFailure)


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(["first", "second", "tie"]), st.text(max_size=300))
def test_nothing_inside_the_reason_changes_the_verdict(winner, reason):
    found = read_verdict(verdict(winner, reason), "stop", None, CRITERIA)
    assert isinstance(found, Verdict)
    assert found.winner == winner
