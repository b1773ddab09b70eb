import pytest

from arena.corpus.generation_reading import NoResponse, Written, messages_for, read_response
from arena.endpoints.replies import Completion


def reply(text="A text.", finish="stop", refusal="", reasoning="", tokens_out=9, reasoning_tokens=None):
    return Completion(text, finish, refusal, reasoning, 5, tokens_out, reasoning_tokens, "m", "")


@pytest.mark.parametrize("finish", ["stop", "eos", "eos_token", "stop_sequence", "end_turn"])
def test_a_text_that_came_to_its_end_is_a_response(finish):
    assert read_response(reply(finish=finish)) == Written("A text.", "stop", 9)


@pytest.mark.parametrize("finish", ["length", "max_tokens", "model_length"])
def test_a_text_that_met_the_limit_is_kept_and_says_so(finish):
    assert read_response(reply(finish=finish)) == Written("A text.", "length", 9)


@pytest.mark.parametrize(
    ("odd", "kind"),
    [
        (reply(text=""), "empty"),
        (reply(text=" \n\t"), "empty"),
        (reply(text="", finish="length"), "truncated"),
        (reply(text="", finish="length", reasoning="I thought", reasoning_tokens=9), "truncated"),
        (reply(text="", refusal="I can't."), "refused"),
        (reply(finish="content_filter"), "refused"),
        (reply(text="", finish="content_filter"), "refused"),
        (reply(finish=""), "unfinished"),
        (reply(finish="error"), "unfinished"),
        (reply(finish="tool_calls"), "unfinished"),
        (reply(finish="Stop"), "unfinished"),
    ],
)
def test_what_is_no_response_has_a_kind(odd, kind):
    assert read_response(odd) == NoResponse(kind)


@pytest.mark.parametrize(
    ("thought", "tokens"),
    [
        (reply(reasoning="Hm", tokens_out=50, reasoning_tokens=41), 9),
        (reply(tokens_out=50, reasoning_tokens=41), 9),
        (reply(reasoning="Hm", tokens_out=50), None),
        (reply(tokens_out=None), None),
    ],
)
def test_tokens_are_those_of_the_text_or_unknown(thought, tokens):
    assert read_response(thought).tokens == tokens


def turns(*roles):
    return [{"role": role, "content": f"{number} by {role}"} for number, role in enumerate(roles)]


def test_a_system_prompt_stands_before_the_turns():
    assert messages_for(turns("user"), "Be brief.") == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "0 by user"},
    ]
    assert messages_for(turns("user", "assistant", "user"), "") == turns("user", "assistant", "user")


def test_the_prompts_own_system_turn_joins_that_of_the_model():
    sent = messages_for(turns("system", "user"), "Be brief.")
    assert [turn["content"] for turn in sent] == ["Be brief.\n\n0 by system", "1 by user"]


@pytest.mark.parametrize(
    "roles", [(), ("system",), ("user", "user"), ("user", "assistant"), ("assistant", "user"), ("tool",)]
)
def test_turns_that_one_request_cannot_ask_are_refused(roles):
    with pytest.raises(ValueError, match="turn"):
        messages_for(turns(*roles), "")
