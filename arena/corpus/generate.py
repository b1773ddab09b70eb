"""Competitors answer prompts: what each call sends, and what becomes of the reply.

The calls are those of the ledger in `endpoints`: claimed by one worker at a time, each try a row. A response
is stored in the transaction that ends its call, so there is neither one without the other.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.broken_off import done_again
from arena.corpus.generation_models import GenerationCall, GenerationRun
from arena.corpus.generation_reading import NoResponse, Written, messages_for, read_response
from arena.corpus.models import Prompt, Response
from arena.corpus.responses import new_response
from arena.endpoints import asking, budget, ledger, limits
from arena.endpoints.client import EndpointConfig, build_payload
from arena.endpoints.history import History, history_of, remember_model
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Call, CallAttempt
from arena.endpoints.replies import read_completion

FAILURE_LENGTH = 40
# The response came by another way (an import, say), or its prompt was redacted: nothing failed.
ALREADY_THERE = "already_there"
REDACTED = "redacted"
NEEDLESS = (ALREADY_THERE, REDACTED)
FAILED = tuple(state for state in Call.State.values if state not in (*Call.OPEN, Call.State.PARSED))
_STATE_OF = {
    "refused": Call.State.REFUSED,
    "truncated": Call.State.TRUNCATED,
    "empty": Call.State.PARSE_FAILED,
    "unfinished": Call.State.PARSE_FAILED,
}


class GenerationAsker(asking.Asker):
    eligible = Q(generation_call__recipe__run__status__in=GenerationRun.GOING)

    def prepare(self, call: Call) -> ledger.Prepared | ledger.Later | ledger.Ended:
        wanted = wanted_by(call.pk)
        run = GenerationRun.objects.select_for_update().get(pk=wanted.recipe.run_id)
        if run.status == GenerationRun.Status.QUEUED:
            run.begin()
        refusal = _refusal(wanted, call)
        if refusal:
            _end_unsent(wanted, call, *refusal)
            return ledger.Ended()
        try:
            prepared = _prepared(wanted, call)
        except KeyMissingError as error:
            run.pause(str(error))
            return ledger.Ended()
        except ValueError as error:
            _end_unsent(wanted, call, Call.State.BAD_REQUEST, f"bad_request: {error}")
            return ledger.Ended()
        found = budget.look(run, call, prepared.reserve_usd)
        if isinstance(found, budget.UsedUp):
            stop_for_budget(run, found.reason)
            return ledger.Ended()
        return found or prepared

    def read(self, claim: ledger.Claim) -> None:
        attempt = claim.attempt
        remember_model(claim.endpoint, attempt)
        found = read_attempt(attempt)
        if isinstance(found, Written):
            _store(claim, attempt, found)
            return
        earlier = history_of(Call.objects.get(pk=claim.call_id)).replies
        asked_again = any(reply.number < attempt.number and read_attempt(reply) == found for reply in earlier)
        if found.kind == "refused" or asked_again:
            self.close(claim, _STATE_OF[found.kind], found.kind)
        else:
            self.reopen(claim, timezone.now())

    def close(self, claim: ledger.Claim, state: str, failure: str) -> None:
        with transaction.atomic():
            if not ledger.settle(claim, state):
                return
            wanted = GenerationCall.objects.filter(call=claim.call_id)
            wanted.update(failure=failure[:FAILURE_LENGTH])
        finish(run_of(claim))

    def reopen(self, claim: ledger.Claim, at: datetime) -> None:
        if run_of(claim).status == GenerationRun.Status.CANCELLED:
            self.close(claim, Call.State.CANCELLED, Call.State.CANCELLED)
        else:
            ledger.settle(claim, Call.State.RETRY_WAIT, at)

    def pause(self, claim: ledger.Claim, reason: str) -> None:
        run_of(claim).pause(reason)

    def tidy(self) -> None:
        for run in GenerationRun.objects.filter(status__in=GenerationRun.OPEN):
            finish(run)
        dead = Call.objects.filter(state=Call.State.CLAIMED, lease_until__lte=timezone.now())
        cancelled = GenerationRun.objects.filter(status=GenerationRun.Status.CANCELLED)
        for run in cancelled.filter(recipes__generation_calls__call__in=dead).distinct():
            end_waiting(run, Call.State.CANCELLED, abandoned=True)


ASKER = GenerationAsker()


def wanted_by(call_id: int) -> GenerationCall:
    return GenerationCall.objects.select_related("recipe__competitor", "prompt__prompt_set").get(call=call_id)


def run_of(claim: ledger.Claim) -> GenerationRun:
    return GenerationRun.objects.get(recipes__generation_calls__call=claim.call_id)


def read_attempt(attempt: CallAttempt) -> Written | NoResponse:
    """From the recorded body, now or in years: the same body gives the same reading."""
    return read_response(read_completion(attempt.raw_reply))


def stored_response(wanted: GenerationCall) -> Response | None:
    """Also one that is still on its way in by an import."""
    same = {"prompt": wanted.prompt_id, "competitor": wanted.recipe.competitor_id, "sample": wanted.sample}
    return Response.stored.filter(**same).first()


def _refusal(wanted: GenerationCall, call: Call) -> tuple[str, str] | None:
    prompt = wanted.prompt
    if not prompt.prompt_set.may_go_to(call.endpoint):
        return Call.State.BAD_REQUEST, "internal_text"
    if prompt.tombstone is not None:
        return Call.State.CANCELLED, REDACTED
    if stored_response(wanted):
        return Call.State.CANCELLED, ALREADY_THERE
    if call.attempt_count >= ledger.MOST_ATTEMPTS:
        return Call.State.GAVE_UP, "too_many_attempts"
    return None


def _prepared(wanted: GenerationCall, call: Call) -> ledger.Prepared:
    """Asked as the recipe says, whatever became of endpoint and competitor since the start."""
    recipe = wanted.recipe
    config = replace(
        ledger.endpoint_config(call.endpoint),
        model=recipe.model_id,
        parameters=ledger.accepted_parameters(call.endpoint, recipe.parameters),
    )
    config = _with_room(config, history_of(call))
    payload = build_payload(config, messages_for(wanted.prompt.messages, recipe.system_prompt))
    return ledger.Prepared(payload, config, limits.worst_cost(call.endpoint, payload, config.max_tokens))


def _with_room(config: EndpointConfig, history: History) -> EndpointConfig:
    """Twice the tokens after a reply that had thought so long that nothing was said."""
    if any(read_attempt(reply) == NoResponse("truncated") for reply in history.replies):
        return replace(config, max_tokens=2 * config.max_tokens)
    return config


def _store(claim: ledger.Claim, attempt: CallAttempt, found: Written) -> None:
    wanted = wanted_by(claim.call_id)
    response = new_response(
        found.text,
        prompt=wanted.prompt,
        competitor=wanted.recipe.competitor,
        sample=wanted.sample,
        tokens=found.tokens,
        finish_reason=found.finish_reason,
        answering_model=attempt.answering_model,
        latency_ms=attempt.latency_ms,
        cost_usd=attempt.cost_usd,
    )
    with transaction.atomic():
        if not ledger.settle(claim, Call.State.PARSED):
            return
        if Prompt.objects.filter(pk=wanted.prompt_id, tombstone__isnull=False).exists():
            GenerationCall.objects.filter(pk=wanted.pk).update(failure=REDACTED)
        elif stored_response(wanted):
            GenerationCall.objects.filter(pk=wanted.pk).update(failure=ALREADY_THERE)
        else:
            response.save()
            GenerationCall.objects.filter(pk=wanted.pk).update(response=response, failure="")
    finish(run_of(claim))


def _end_unsent(wanted: GenerationCall, call: Call, state: str, failure: str) -> None:
    """Within a transaction."""
    if ledger.end(call, state):
        GenerationCall.objects.filter(pk=wanted.pk).update(failure=failure[:FAILURE_LENGTH])


def finish(run: GenerationRun) -> bool:
    """A run is complete when no call is open; with a failed one it is complete with failures."""
    if run.calls().filter(state__in=Call.OPEN).exists():
        return False
    failed = GenerationCall.objects.filter(recipe__run=run).exclude(failure__in=("", *NEEDLESS))
    return run.complete(with_failures=failed.exists())


def stop_for_budget(run: GenerationRun, reason: str) -> None:
    """Within a transaction that holds the run's row. What is on its way is still read."""
    GenerationRun.objects.filter(pk=run.pk).update(status_reason=f"budget: {reason}"[:200])
    end_waiting(run, Call.State.BUDGET_STOPPED)


def end_waiting(run: GenerationRun, state: str, abandoned: bool = False) -> None:
    for chunk in run.end_waiting(state, abandoned):
        GenerationCall.objects.filter(call__in=chunk).update(failure=state)


@done_again
def cancel(run: GenerationRun) -> bool:
    """No new call goes out; the responses so far stay."""
    with transaction.atomic():
        if not run.cancel():
            return False
        end_waiting(run, Call.State.CANCELLED)
    return True


@done_again
def retry_failed(run: GenerationRun) -> int:
    """Plan the failed calls of a run anew; how many."""
    with transaction.atomic():
        if not run.take_up_again():
            return 0
        failed = run.calls().filter(state__in=FAILED).exclude(generation_call__failure__in=NEEDLESS)
        chunks = run.plan_again(failed)
        for chunk in chunks:
            GenerationCall.objects.filter(call__in=chunk).update(failure="")
    return sum(map(len, chunks))
