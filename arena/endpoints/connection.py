"""One small question to an endpoint, asked when an admin tests the connection."""

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from arena.endpoints.client import CallFailure, Reply, ask, build_payload
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.ledger import endpoint_config
from arena.endpoints.models import Endpoint
from arena.endpoints.transport import Limits

# Somebody is waiting for the page, and a worker with it.
PATIENCE = Limits(connect=5, read=20, total=20)
QUESTION = [{"role": "user", "content": "Answer with one word: ready"}]


@dataclass(frozen=True)
class Finding:
    works: bool
    words: str


def probe(endpoint: Endpoint) -> Finding:
    try:
        config = endpoint_config(endpoint)
    except (KeyMissingError, ValueError) as error:
        return Finding(False, str(error))
    config = replace(config, limits=PATIENCE, max_tokens=min(endpoint.max_tokens, 64))
    result = ask(config, build_payload(config, QUESTION))
    if isinstance(result, CallFailure):
        return Finding(False, result.message)
    Endpoint.objects.filter(pk=endpoint.pk).update(answering_model=result.answering_model[:200])
    return Finding(True, told(endpoint, result))


def told(endpoint: Endpoint, reply: Reply) -> str:
    words = _("answered in %(ms)d ms") % {"ms": reply.latency_ms}
    if reply.answering_model and reply.answering_model != endpoint.model_id:
        words += _("; it calls itself “%(model)s”") % {"model": reply.answering_model}
    return words
