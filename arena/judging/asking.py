"""What a claimed judge call sends: both texts in its order, a second try after a reply that couldn't be read.

All of it is derived from rows, the attempts so far included, so any worker goes on where another stopped.
"""

from __future__ import annotations

from dataclasses import replace

from arena.endpoints import ledger, limits
from arena.endpoints.client import EndpointConfig, build_payload
from arena.endpoints.history import History, history_of, humbled
from arena.endpoints.models import Call, CallAttempt
from arena.endpoints.replies import UnreadableBodyError, read_completion
from arena.endpoints.run_asking import NotSentError
from arena.judging import call_keys, ending
from arena.judging.errands import Errand
from arena.judging.prompting import (
    POINTWISE,
    Messages,
    RubricText,
    build_messages,
    reask_message,
    reply_schema,
)
from arena.judging.verdict import Score, Verdict, VerdictFailure, read_score, read_verdict

# Of a reply that couldn't be read, the judge is shown this much again.
_ECHO_CHARACTERS = 4_000


def read_attempt(attempt: CallAttempt, rubric: RubricText) -> Verdict | Score | VerdictFailure:
    """From the recorded body, now or in years: the same body gives the same reading."""
    try:
        body = read_completion(attempt.raw_reply)
    except UnreadableBodyError as error:
        return VerdictFailure("parse_failed", "no_json", str(error))
    read = read_score if rubric.mode == POINTWISE else read_verdict
    return read(body.text, body.finish_reason, body.refusal, rubric.criteria)


def check(errand: Errand, call: Call) -> None:
    if not call.endpoint.may_receive(internal=errand.is_internal):
        raise NotSentError(Call.State.BAD_REQUEST, "internal_text")
    if errand.is_redacted:
        raise NotSentError(Call.State.BAD_REQUEST, ending.TEXT_GONE)
    if errand.is_left_out:
        raise NotSentError(Call.State.BAD_REQUEST, ending.LEAKING)


def prepared(errand: Errand, call: Call) -> ledger.Prepared:
    rubric, case = errand.rubric, errand.case()
    if not call_keys.renew(errand, call, case):
        raise NotSentError(Call.State.BAD_REQUEST, ending.TEXT_CHANGED)
    history = history_of(call)
    config = _adapted(ledger.endpoint_config(call.endpoint, errand.judge.parameters), history, rubric)
    messages = build_messages(rubric, case) + _second_try(history, rubric)
    payload = build_payload(config, messages, reply_schema(rubric))
    most = limits.worst_cost(call.endpoint, payload, config.max_tokens)
    return ledger.Prepared(payload, config, most, about=errand)


def _adapted(config: EndpointConfig, history: History, rubric: RubricText) -> EndpointConfig:
    """Twice the room after a reply that was cut off; a humbler form after one that was refused."""
    if any(_is_truncated(reply, rubric) for reply in history.replies):
        config = replace(config, max_tokens=2 * config.max_tokens)
    return humbled(config, history)


def _is_truncated(reply: CallAttempt, rubric: RubricText) -> bool:
    found = read_attempt(reply, rubric)
    return isinstance(found, VerdictFailure) and found.kind == "truncated"


def _second_try(history: History, rubric: RubricText) -> Messages:
    """The reply that couldn't be read, and what was wrong with it."""
    for reply in reversed(history.replies):
        found = read_attempt(reply, rubric)
        if isinstance(found, VerdictFailure) and found.kind == "parse_failed":
            echo = reply.reply_text[:_ECHO_CHARACTERS]
            shown = [{"role": "assistant", "content": echo}] if echo.strip() else []
            return [*shown, reask_message(found.message)]
    return []
