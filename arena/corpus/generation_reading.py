"""Is this reply a response? A provider's failure in whatever dress never becomes a text of a competitor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arena.endpoints.replies import Completion

Kind = Literal["refused", "truncated", "empty", "unfinished"]

# As servers and gateways call the end of a text: by the model's own doing, and by the limit of tokens.
FINISHED = frozenset({"stop", "eos", "eos_token", "stop_sequence", "end_turn"})
AT_THE_LIMIT = frozenset({"length", "max_tokens", "model_length"})


@dataclass(frozen=True)
class Written:
    """`tokens` are those of the text alone: what a model thought first isn't read by anybody."""

    text: str
    finish_reason: str
    tokens: int | None


@dataclass(frozen=True)
class NoResponse:
    kind: Kind


def read_response(reply: Completion) -> Written | NoResponse:
    """A text that met the limit of tokens is the model's own and is kept, with "length" as its end."""
    has_text = bool(reply.text.strip())
    if reply.finish_reason == "content_filter" or (reply.refusal and not has_text):
        return NoResponse("refused")
    if reply.finish_reason in AT_THE_LIMIT:
        return Written(reply.text, "length", _tokens(reply)) if has_text else NoResponse("truncated")
    if reply.finish_reason not in FINISHED:
        return NoResponse("unfinished")
    return Written(reply.text, "stop", _tokens(reply)) if has_text else NoResponse("empty")


def _tokens(reply: Completion) -> int | None:
    if reply.tokens_out is None or (reply.reasoning and reply.reasoning_tokens is None):
        return None
    return max(0, reply.tokens_out - (reply.reasoning_tokens or 0))


def messages_for(turns: Sequence[dict[str, str]], system_prompt: str) -> list[dict[str, str]]:
    """What is sent for a prompt; raises ValueError for turns that one request can't ask."""
    given = [turn["content"] for turn in turns if turn["role"] == "system"]
    talk = [turn for turn in turns if turn["role"] != "system"]
    roles = [turn["role"] for turn in talk]
    if not roles or roles != ["user" if place % 2 == 0 else "assistant" for place in range(len(roles))]:
        raise ValueError("its turns don't go to and fro between user and assistant")
    if roles[-1] != "user":
        raise ValueError("its last turn isn't the user's, so there is nothing to answer")
    system = "\n\n".join(text for text in (system_prompt, *given) if text)
    said = [{"role": turn["role"], "content": turn["content"]} for turn in talk]
    return [{"role": "system", "content": system}, *said] if system else said
