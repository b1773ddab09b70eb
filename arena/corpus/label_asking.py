"""An LLM is asked for the labels of hardness: what each call sends, and what becomes of the reply.

The calls are those of the ledger in `endpoints`. A label that a person or a file has given stands: the reply
fills in only what is unknown then.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.broken_off import done_again
from arena.corpus.label_models import LabelCall, LabelChange, LabelRun
from arena.corpus.label_prompting import SCHEMA, Unread, build_messages, read_labels, reask_message
from arena.corpus.labels import set_labels
from arena.corpus.models import HARD_CRITERIA, Prompt
from arena.endpoints import asking, budget, ledger, limits
from arena.endpoints.client import EndpointConfig, build_payload
from arena.endpoints.history import History, history_of, humbled, remember_mode, remember_model
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Call, CallAttempt
from arena.endpoints.replies import UnreadableBodyError, read_completion

FAILURE_LENGTH = 40
FAILED = tuple(state for state in Call.State.values if state not in (*Call.OPEN, Call.State.PARSED))
_STATE_OF = {"refused": Call.State.REFUSED, "truncated": Call.State.TRUNCATED}
_ECHO_CHARACTERS = 1_000


class LabelAsker(asking.Asker):
    eligible = Q(label_call__run__status__in=LabelRun.GOING)

    def prepare(self, call: Call) -> ledger.Prepared | ledger.Later | ledger.Ended:
        label_call = LabelCall.objects.select_related("prompt__prompt_set").get(call=call)
        run = LabelRun.objects.select_for_update().get(pk=label_call.run_id)
        if run.status == LabelRun.Status.QUEUED:
            run.begin()
        refusal = _refusal(label_call.prompt, call)
        if refusal:
            _end_unsent(label_call, call, *refusal)
            return ledger.Ended()
        try:
            prepared = _prepared(label_call.prompt, call)
        except KeyMissingError as error:
            run.pause(str(error))
            return ledger.Ended()
        except ValueError as error:
            _end_unsent(label_call, call, Call.State.BAD_REQUEST, f"bad_request: {error}")
            return ledger.Ended()
        found = budget.look(run, call, prepared.reserve_usd)
        if isinstance(found, budget.UsedUp):
            LabelRun.objects.filter(pk=run.pk).update(status_reason=f"budget: {found.reason}"[:200])
            end_waiting(run, Call.State.BUDGET_STOPPED)
            return ledger.Ended()
        return found or prepared

    def read(self, claim: ledger.Claim) -> None:
        attempt = CallAttempt.objects.get(pk=claim.attempt_id)
        remember_model(claim.endpoint, attempt)
        found = read_attempt(attempt)
        if not isinstance(found, Unread):
            remember_mode(claim.endpoint, attempt)
            _store(claim, found)
            return
        earlier = history_of(Call.objects.get(pk=claim.call_id)).replies
        asked_again = any(reply.number < attempt.number for reply in earlier)
        if found.kind == "refused" or asked_again:
            self.close(claim, _STATE_OF.get(found.kind, Call.State.PARSE_FAILED), found.kind)
        else:
            self.reopen(claim, timezone.now())

    def close(self, claim: ledger.Claim, state: str, failure: str) -> None:
        with transaction.atomic():
            if not ledger.settle(claim, state):
                return
            LabelCall.objects.filter(call=claim.call_id).update(failure=failure[:FAILURE_LENGTH])
        finish(_run_of(claim))

    def reopen(self, claim: ledger.Claim, at: datetime) -> None:
        if _run_of(claim).status == LabelRun.Status.CANCELLED:
            self.close(claim, Call.State.CANCELLED, Call.State.CANCELLED)
        else:
            ledger.settle(claim, Call.State.RETRY_WAIT, at)

    def pause(self, claim: ledger.Claim, reason: str) -> None:
        _run_of(claim).pause(reason)

    def tidy(self) -> None:
        for run in LabelRun.objects.filter(status__in=LabelRun.OPEN):
            finish(run)
        dead = Call.objects.filter(state=Call.State.CLAIMED, lease_until__lte=timezone.now())
        cancelled = LabelRun.objects.filter(status=LabelRun.Status.CANCELLED, label_calls__call__in=dead)
        for run in cancelled.distinct():
            end_waiting(run, Call.State.CANCELLED, abandoned=True)


ASKER = LabelAsker()


def read_attempt(attempt: CallAttempt) -> dict[str, bool] | Unread:
    """From the recorded body, now or in years: the same body gives the same reading."""
    try:
        body = read_completion(attempt.raw_reply)
    except UnreadableBodyError as error:
        return Unread("no_list", str(error))
    return read_labels(body.text, body.finish_reason, body.refusal)


def _run_of(claim: ledger.Claim) -> LabelRun:
    return LabelRun.objects.get(label_calls__call=claim.call_id)


def _refusal(prompt: Prompt, call: Call) -> tuple[str, str] | None:
    if not prompt.prompt_set.may_go_to(call.endpoint):
        return Call.State.BAD_REQUEST, "internal_text"
    if prompt.tombstone is not None:
        return Call.State.CANCELLED, "redacted"
    if call.attempt_count >= ledger.MOST_ATTEMPTS:
        return Call.State.GAVE_UP, "too_many_attempts"
    return None


def _prepared(prompt: Prompt, call: Call) -> ledger.Prepared:
    history = history_of(call)
    config = _with_room(humbled(ledger.endpoint_config(call.endpoint), history), history)
    messages = [*build_messages(prompt.messages), *_second_try(history)]
    payload = build_payload(config, messages, SCHEMA)
    return ledger.Prepared(payload, config, limits.worst_cost(call.endpoint, payload, config.max_tokens))


def _with_room(config: EndpointConfig, history: History) -> EndpointConfig:
    readings = map(read_attempt, history.replies)
    if any(isinstance(found, Unread) and found.kind == "truncated" for found in readings):
        return replace(config, max_tokens=2 * config.max_tokens)
    return config


def _second_try(history: History) -> list[dict[str, str]]:
    """The reply that couldn't be read, and what was wrong with it."""
    for reply in reversed(history.replies):
        found = read_attempt(reply)
        if isinstance(found, Unread) and found.kind != "truncated":
            echo = reply.reply_text[:_ECHO_CHARACTERS]
            shown = [{"role": "assistant", "content": echo}] if echo.strip() else []
            return [*shown, reask_message(found.message)]
    return []


@done_again
def _store(claim: ledger.Claim, criteria: dict[str, bool]) -> None:
    with transaction.atomic():
        if not ledger.settle(claim, Call.State.PARSED):
            return
        label_call = LabelCall.objects.get(call=claim.call_id)
        LabelCall.objects.filter(pk=label_call.pk).update(criteria=criteria, failure="")
        prompt = Prompt.objects.select_for_update().get(pk=label_call.prompt_id)
        unknown = {name: criteria[name] for name in HARD_CRITERIA if getattr(prompt, name) is None}
        set_labels({prompt.pk: unknown}, source=LabelChange.Source.LLM, by=claim.endpoint.name)
    finish(_run_of(claim))


def _end_unsent(label_call: LabelCall, call: Call, state: str, failure: str) -> None:
    """Within a transaction."""
    if ledger.end(call, state):
        LabelCall.objects.filter(pk=label_call.pk).update(failure=failure[:FAILURE_LENGTH])


def finish(run: LabelRun) -> bool:
    """A run is complete when no call is open; with a failed one it is complete with failures."""
    if run.calls().filter(state__in=Call.OPEN).exists():
        return False
    return run.complete(with_failures=run.label_calls.exclude(failure="").exists())


def end_waiting(run: LabelRun, state: str, abandoned: bool = False) -> None:
    for chunk in run.end_waiting(state, abandoned):
        LabelCall.objects.filter(call__in=chunk).update(failure=state)


@done_again
def cancel(run: LabelRun) -> bool:
    """No new call goes out; the labels so far stay."""
    with transaction.atomic():
        if not run.cancel():
            return False
        end_waiting(run, Call.State.CANCELLED)
    return True


@done_again
def retry_failed(run: LabelRun) -> int:
    """Plan the failed calls of a run anew; how many."""
    with transaction.atomic():
        if not run.take_up_again():
            return 0
        chunks = run.plan_again(run.calls().filter(state__in=FAILED))
        for chunk in chunks:
            LabelCall.objects.filter(call__in=chunk).update(failure="")
    return sum(map(len, chunks))
