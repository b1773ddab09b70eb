"""What a claimed judge call sends: both texts in its order, a second try after a reply that couldn't be read.

All of it is derived from rows, the attempts so far included, so any worker goes on where another stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db.models import Sum

from arena.battles.models import Battle
from arena.endpoints import ledger, limits
from arena.endpoints.client import EndpointConfig, build_payload
from arena.endpoints.failures import RETRYABLE
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Call, CallAttempt
from arena.endpoints.replies import UnreadableBodyError, read_completion
from arena.judging import ending
from arena.judging.models import JudgeCall, JudgeRun, Rubric
from arena.judging.prompting import (
    Case,
    Criterion,
    Messages,
    RubricText,
    Turn,
    build_messages,
    reask_message,
    verdict_schema,
)
from arena.judging.verdict import Verdict, VerdictFailure, read_verdict

# Of a reply that couldn't be read, the judge is shown this much again.
_ECHO_CHARACTERS = 4_000
# Another look, when what is on its way may turn out cheaper than reserved.
_BUDGET_WAIT = 5.0
_NEXT_MODE = {"json_schema": "json_object", "json_object": "prompt"}
# After these the same request may be sent again in a humbler form.
DOWNGRADES = frozenset({"unsupported_parameter", "bad_request"})


def rubric_text(rubric: Rubric) -> RubricText:
    return RubricText(rubric.instructions, tuple(Criterion(**criterion) for criterion in rubric.criteria))


def case_of(battle: Battle, order: str) -> Case:
    """The battle as this order shows it; raises ValueError for a battle that has no texts."""
    if battle.prompt is None or battle.response_a is None or battle.response_b is None:
        raise ValueError(f"battle {battle.public_id} was recorded without its texts and can't be judged")
    turns = tuple(Turn(turn["role"], turn["content"]) for turn in battle.prompt.messages)
    texts = (battle.response_a.text, battle.response_b.text)
    first, second = texts if order == JudgeCall.Order.AB else reversed(texts)
    return Case(turns, first, second, battle.prompt.reference or None)


@dataclass(frozen=True)
class History:
    """A call's attempts since it was planned or last retried, written-off ones apart, in order."""

    attempts: tuple[CallAttempt, ...]

    @property
    def replies(self) -> list[CallAttempt]:
        return [attempt for attempt in self.attempts if not attempt.error_kind]

    @property
    def failures(self) -> int:
        """How often something failed that may pass by itself; what the next wait depends on."""
        return sum(attempt.error_kind in RETRYABLE for attempt in self.attempts)


def history_of(call: Call) -> History:
    latest = list(call.attempts.order_by("-number")[: call.attempt_count])
    return History(tuple(a for a in reversed(latest) if a.finished_at and a.error_kind != ledger.LOST))


def read_attempt(attempt: CallAttempt, rubric: RubricText) -> Verdict | VerdictFailure:
    """From the recorded body, now or in years: the same body gives the same reading."""
    try:
        body = read_completion(attempt.raw_reply)
    except UnreadableBodyError as error:
        return VerdictFailure("parse_failed", "no_json", str(error))
    return read_verdict(body.text, body.finish_reason, body.refusal, rubric.criteria)


def prepare(call: Call) -> ledger.Prepared | ledger.Later | ledger.Ended:
    """Runs inside the claim: ends a call that may not or can't be sent, pauses a run whose key is missing."""
    judge_call = JudgeCall.objects.with_all().get(call=call)
    run = JudgeRun.objects.select_for_update().get(pk=judge_call.judgment.run_id)
    if run.status == JudgeRun.Status.QUEUED:
        run.begin()
    refusal = _refusal(judge_call, call)
    if refusal:
        ending.end_unsent(judge_call, call, *refusal)
        return ledger.Ended()
    try:
        prepared = _prepared(judge_call, call)
    except KeyMissingError as error:
        run.pause(str(error))
        return ledger.Ended()
    except ValueError as error:
        ending.end_unsent(judge_call, call, Call.State.BAD_REQUEST, f"bad_request: {error}")
        return ledger.Ended()
    return _within_budget(run, call, prepared) or prepared


def _refusal(judge_call: JudgeCall, call: Call) -> tuple[str, str] | None:
    prompt = judge_call.judgment.battle.prompt
    if prompt and prompt.prompt_set.is_internal and not call.endpoint.is_internal:
        return Call.State.BAD_REQUEST, "internal_text"
    if call.attempt_count >= ledger.MOST_ATTEMPTS:
        return Call.State.GAVE_UP, "too_many_attempts"
    return None


def _prepared(judge_call: JudgeCall, call: Call) -> ledger.Prepared:
    judge = judge_call.judgment.judge
    assert judge.rubric  # noqa: S101
    rubric = rubric_text(judge.rubric)
    history = history_of(call)
    config = _adapted(ledger.endpoint_config(call.endpoint, judge.parameters), history, rubric)
    messages = build_messages(rubric, case_of(judge_call.judgment.battle, judge_call.order))
    messages += _second_try(history, rubric)
    payload = build_payload(config, messages, verdict_schema(rubric))
    return ledger.Prepared(payload, config, limits.worst_cost(call.endpoint, payload, config.max_tokens))


def _adapted(config: EndpointConfig, history: History, rubric: RubricText) -> EndpointConfig:
    """Twice the room after a reply that was cut off; a humbler form after one that was refused."""
    if any(_is_truncated(reply, rubric) for reply in history.replies):
        config = replace(config, max_tokens=2 * config.max_tokens)
    refused = [
        a.request
        for a in history.attempts
        if a.error_kind in DOWNGRADES and config.max_tokens_field in a.request
    ]
    for request in refused:
        if mode_of(request) == config.structured_mode:
            config = replace(config, structured_mode=_NEXT_MODE[config.structured_mode])  # type: ignore[arg-type]
    return config


def _is_truncated(reply: CallAttempt, rubric: RubricText) -> bool:
    found = read_attempt(reply, rubric)
    return isinstance(found, VerdictFailure) and found.kind == "truncated"


def mode_of(request: Mapping[str, Any]) -> str:
    """The structured mode in which a recorded request was sent."""
    return str(request.get("response_format", {}).get("type", "prompt"))


def can_be_humbler(request: Mapping[str, Any]) -> bool:
    return mode_of(request) in _NEXT_MODE


def _second_try(history: History, rubric: RubricText) -> Messages:
    """The reply that couldn't be read, and what was wrong with it."""
    for reply in reversed(history.replies):
        found = read_attempt(reply, rubric)
        if isinstance(found, VerdictFailure) and found.kind == "parse_failed":
            echo = reply.reply_text[:_ECHO_CHARACTERS]
            shown = [{"role": "assistant", "content": echo}] if echo.strip() else []
            return [*shown, reask_message(found.message)]
    return []


def _within_budget(
    run: JudgeRun, call: Call, prepared: ledger.Prepared
) -> ledger.Later | ledger.Ended | None:
    """The run's row is locked, so that no two workers spend the same dollar."""
    attempts = CallAttempt.objects.filter(call__judge_call__judgment__run=run)
    if run.max_calls is not None and attempts.count() >= run.max_calls:
        ending.stop_for_budget(run, f"{run.max_calls} calls are used up")
        return ledger.Ended()
    if run.budget_usd is None:
        return None
    spent = attempts.aggregate(sum=Sum("cost_usd"))["sum"] or Decimal(0)
    held = Call.objects.filter(judge_call__judgment__run=run, state=Call.State.CLAIMED).exclude(pk=call.pk)
    reserved = held.aggregate(sum=Sum("reserved_usd"))["sum"] or Decimal(0)
    if spent + reserved + prepared.reserve_usd <= run.budget_usd:
        return None
    if reserved:
        return ledger.Later(_BUDGET_WAIT)
    ending.stop_for_budget(run, f"the next call could exceed ${run.budget_usd}")
    return ledger.Ended()
