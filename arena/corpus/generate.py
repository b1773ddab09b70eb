"""Competitors answer prompts: what each call sends, and what becomes of the reply.

The calls are those of the ledger in `endpoints`: claimed by one worker at a time, each try a row. A response
is stored in the transaction that ends its call, so there is neither one without the other.
"""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.corpus.generation_models import GenerationCall, GenerationRun
from arena.corpus.generation_reading import NoResponse, Written, messages_for, read_response
from arena.corpus.models import Prompt, Response
from arena.corpus.responses import new_response
from arena.corpus.row_asking import RowAsker
from arena.endpoints import ledger, limits
from arena.endpoints.client import EndpointConfig, build_payload
from arena.endpoints.history import History, history_of, remember_model
from arena.endpoints.models import Call, CallAttempt
from arena.endpoints.replies import read_completion
from arena.endpoints.run_asking import NotSentError

# The response came by another way (an import, say), or its prompt was redacted: nothing failed.
ALREADY_THERE = "already_there"
REDACTED = "redacted"
NEEDLESS = (ALREADY_THERE, REDACTED)
_STATE_OF = {
    "refused": Call.State.REFUSED,
    "truncated": Call.State.TRUNCATED,
    "empty": Call.State.PARSE_FAILED,
    "unfinished": Call.State.PARSE_FAILED,
}


class GenerationAsker(RowAsker[GenerationCall, GenerationRun]):
    eligible = Q(generation_call__recipe__run__status__in=GenerationRun.GOING)

    def take(self, call: Call) -> tuple[GenerationCall, GenerationRun]:
        wanted = wanted_by(call.pk)
        return wanted, GenerationRun.objects.select_for_update().get(pk=wanted.recipe.run_id)

    def check(self, row: GenerationCall, call: Call) -> None:
        if not row.prompt.prompt_set.may_go_to(call.endpoint):
            raise NotSentError(Call.State.BAD_REQUEST, "internal_text")
        if row.prompt.tombstone is not None:
            raise NotSentError(Call.State.CANCELLED, REDACTED)
        if stored_response(row):
            raise NotSentError(Call.State.CANCELLED, ALREADY_THERE)

    def prepared(self, row: GenerationCall, call: Call) -> ledger.Prepared:
        """Asked as the recipe says, whatever became of endpoint and competitor since the start."""
        recipe = row.recipe
        config = replace(
            ledger.endpoint_config(call.endpoint),
            model=recipe.model_id,
            parameters=ledger.accepted_parameters(call.endpoint, recipe.parameters),
        )
        config = _with_room(config, history_of(call))
        payload = build_payload(config, messages_for(row.prompt.messages, recipe.system_prompt))
        return ledger.Prepared(payload, config, limits.worst_cost(call.endpoint, payload, config.max_tokens))

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


ASKER = GenerationAsker(GenerationCall, GenerationRun, run_of_row="recipe__run", needless=NEEDLESS)


def wanted_by(call_id: int) -> GenerationCall:
    return GenerationCall.objects.select_related("recipe__competitor", "prompt__prompt_set").get(call=call_id)


def read_attempt(attempt: CallAttempt) -> Written | NoResponse:
    """From the recorded body, now or in years: the same body gives the same reading."""
    return read_response(read_completion(attempt.raw_reply))


def stored_response(wanted: GenerationCall) -> Response | None:
    """Also one that is still on its way in by an import."""
    same = {"prompt": wanted.prompt_id, "competitor": wanted.recipe.competitor_id, "sample": wanted.sample}
    return Response.stored.filter(**same).first()


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
    ASKER.finish(ASKER.run_of(claim.call_id))
