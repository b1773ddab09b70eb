"""An LLM is asked for the labels of hardness: what each call sends, and what becomes of the reply.

The calls are those of the ledger in `endpoints`. A label that a person or a file has given stands: the reply
fills in only what is unknown then.
"""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.broken_off import done_again
from arena.corpus.label_models import LabelCall, LabelChange, LabelRun
from arena.corpus.label_prompting import SCHEMA, Unread, build_messages, read_labels, reask_message
from arena.corpus.labels import set_labels
from arena.corpus.models import HARD_CRITERIA, Prompt
from arena.corpus.row_asking import RowAsker
from arena.endpoints import ledger, limits
from arena.endpoints.client import EndpointConfig, build_payload
from arena.endpoints.history import History, history_of, humbled, remember_mode, remember_model
from arena.endpoints.models import Call, CallAttempt
from arena.endpoints.replies import UnreadableBodyError, read_completion
from arena.endpoints.run_asking import NotSentError

_STATE_OF = {"refused": Call.State.REFUSED, "truncated": Call.State.TRUNCATED}
_ECHO_CHARACTERS = 1_000


class LabelAsker(RowAsker[LabelCall, LabelRun]):
    eligible = Q(label_call__run__status__in=LabelRun.GOING)

    def take(self, call: Call) -> tuple[LabelCall, LabelRun]:
        label_call = LabelCall.objects.select_related("prompt__prompt_set").get(call=call)
        return label_call, LabelRun.objects.select_for_update().get(pk=label_call.run_id)

    def check(self, row: LabelCall, call: Call) -> None:
        if not row.prompt.prompt_set.may_go_to(call.endpoint):
            raise NotSentError(Call.State.BAD_REQUEST, "internal_text")
        if row.prompt.tombstone is not None:
            raise NotSentError(Call.State.CANCELLED, "redacted")

    def prepared(self, row: LabelCall, call: Call) -> ledger.Prepared:
        history = history_of(call)
        config = _with_room(humbled(ledger.endpoint_config(call.endpoint), history), history)
        messages = [*build_messages(row.prompt.messages), *_second_try(history)]
        payload = build_payload(config, messages, SCHEMA)
        return ledger.Prepared(payload, config, limits.worst_cost(call.endpoint, payload, config.max_tokens))

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


ASKER = LabelAsker(LabelCall, LabelRun, run_of_row="run")


def read_attempt(attempt: CallAttempt) -> dict[str, bool] | Unread:
    """From the recorded body, now or in years: the same body gives the same reading."""
    try:
        body = read_completion(attempt.raw_reply)
    except UnreadableBodyError as error:
        return Unread("no_list", str(error))
    return read_labels(body.text, body.finish_reason, body.refusal)


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
    ASKER.finish(ASKER.run_of(claim.call_id))
