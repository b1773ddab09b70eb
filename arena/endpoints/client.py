"""One call to an OpenAI-compatible server: one HTTP try, a Reply or a typed CallFailure, never an exception.

No retry happens here: the ledger decides, so that waits don't multiply.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

import httpx2
import openai

from arena.endpoints.backoff import read_retry_after
from arena.endpoints.failures import Classified, FailureKind, classify
from arena.endpoints.hosts import HostRefusedError, HostUnknownError, check_url
from arena.endpoints.keys import redact
from arena.endpoints.parameters import check_parameters
from arena.endpoints.replies import UnreadableBodyError, read_completion, storable
from arena.endpoints.transport import GuardedTransport, Limits, TooLargeError, UndecodableError

logger = logging.getLogger(__name__)

StructuredMode = Literal["json_schema", "json_object", "prompt"]
MaxTokensField = Literal["max_tokens", "max_completion_tokens"]

# What Tiltyard decides on every call; an endpoint's parameters may set all else.
RESERVED = frozenset(
    (
        "model",
        "messages",
        "stream",
        "stream_options",
        "n",
        "response_format",
        "tools",
        *get_args(MaxTokensField),
    )
)


@dataclass(frozen=True)
class EndpointConfig:
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    structured_mode: StructuredMode = "json_schema"
    max_tokens: int = 1024
    max_tokens_field: MaxTokensField = "max_tokens"
    limits: Limits = field(default_factory=Limits)
    allowed_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        reserved = sorted(RESERVED.intersection(self.parameters))
        if reserved:
            raise ValueError(f"parameters that Tiltyard sets itself: {', '.join(reserved)}; take them out")
        check_parameters(self.parameters)


@dataclass(frozen=True)
class Reply:
    text: str
    finish_reason: str
    refusal: str
    reasoning: str
    tokens_in: int | None
    tokens_out: int | None
    answering_model: str
    system_fingerprint: str
    raw: str
    status: int
    latency_ms: int = 0


@dataclass(frozen=True)
class CallFailure:
    """`parameter` names what an `unsupported_parameter` is about; `retry_after` is in seconds."""

    kind: FailureKind
    retryable: bool
    message: str
    status: int | None = None
    retry_after: float | None = None
    parameter: str = ""
    raw: str = ""
    latency_ms: int = 0


def build_payload(
    config: EndpointConfig, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What is sent, key and address apart; stored with the attempt."""
    payload: dict[str, Any] = {
        "model": config.model,
        "messages": [dict(message) for message in messages],
        config.max_tokens_field: config.max_tokens,
        **config.parameters,
    }
    if schema is not None and config.structured_mode == "json_schema":
        payload["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": dict(schema)},
        }
    elif schema is not None and config.structured_mode == "json_object":
        payload["response_format"] = {"type": "json_object"}
    return payload


def ask(config: EndpointConfig, payload: Mapping[str, Any]) -> Reply | CallFailure:
    """Send `payload` once. Whatever happens comes back as a value, with the key masked in it."""
    start = time.monotonic()
    try:
        check_url(config.base_url, config.allowed_hosts)
        response = _post(config, payload)
        result = _read_response(response, payload)
    except openai.APIStatusError as error:
        result = _read_refusal(error.response, payload)
    except (openai.APIError, HostRefusedError, HostUnknownError, TooLargeError, UndecodableError) as error:
        result = _failure(_classify_exception(error, config.limits))
    except UnicodeEncodeError as error:
        result = _failure(Classified("unsendable", f"the request can't be written as UTF-8: {error.reason}"))
    except Exception as error:
        # Whatever it was, it would be again: a call that raises here would be taken up for ever.
        told = redact(f"the request can't be sent: {type(error).__name__}: {error}", config.api_key)[:300]
        logger.error(told)
        result = _failure(Classified("unsendable", told))
    return _redacted(replace(result, latency_ms=int((time.monotonic() - start) * 1000)), config.api_key)


def _post(config: EndpointConfig, payload: Mapping[str, Any]) -> httpx2.Response:
    timeout = httpx2.Timeout(config.limits.read, connect=config.limits.connect)
    transport = GuardedTransport(config.limits, config.allowed_hosts, config.api_key)
    http_client = httpx2.Client(transport=transport, timeout=timeout, follow_redirects=False, trust_env=False)
    fields = dict(payload)
    # The transport adds the key, so the SDK never holds it and can't log it.
    with openai.OpenAI(
        api_key="unused", base_url=config.base_url, max_retries=0, timeout=timeout, http_client=http_client
    ) as client:
        return client.chat.completions.with_raw_response.create(
            model=fields.pop("model"), messages=fields.pop("messages"), extra_body=fields
        ).http_response


def _read_response(response: httpx2.Response, payload: Mapping[str, Any]) -> Reply | CallFailure:
    raw = _text(response)
    try:
        read = read_completion(raw)
    except UnreadableBodyError as error:
        if error.error is not None:
            found = classify(None, {"error": error.error}, payload)
        else:
            found = Classified(error.kind, str(error))
        return _failure(found, response, raw)
    return Reply(
        text=read.text,
        finish_reason=read.finish_reason,
        refusal=read.refusal,
        reasoning=read.reasoning,
        tokens_in=read.tokens_in,
        tokens_out=read.tokens_out,
        answering_model=read.model,
        system_fingerprint=read.system_fingerprint,
        raw=raw,
        status=response.status_code,
    )


def _read_refusal(response: httpx2.Response, payload: Mapping[str, Any]) -> CallFailure:
    raw = _text(response)
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = raw
    return _failure(classify(response.status_code, body, payload), response, raw)


def _classify_exception(error: Exception, limits: Limits) -> Classified:
    if isinstance(error, HostRefusedError):
        return Classified("host_refused", str(error))
    if isinstance(error, HostUnknownError):
        return Classified("unknown_host", str(error))
    if isinstance(error, TooLargeError):
        return Classified("too_large", str(error))
    if isinstance(error, UndecodableError):
        return Classified("undecodable", str(error))
    if isinstance(error, openai.APITimeoutError):
        told = (
            f"no reply in time (connect {limits.connect:g} s, read {limits.read:g} s, all {limits.total:g} s)"
        )
        return Classified("timeout", told)
    cause = error.__cause__ or error
    return Classified("connection", f"the connection failed: {cause}"[:300])


def _failure(found: Classified, response: httpx2.Response | None = None, raw: str = "") -> CallFailure:
    retry_after = None
    if response is not None:
        headers = response.headers
        now = datetime.now(UTC)
        retry_after = read_retry_after(headers.get("retry-after"), headers.get("retry-after-ms"), now)
    return CallFailure(
        kind=found.kind,
        retryable=found.retryable,
        message=storable(found.message),
        status=None if response is None else response.status_code,
        retry_after=retry_after,
        parameter=found.parameter,
        raw=raw,
    )


def _text(response: httpx2.Response) -> str:
    return storable(response.content.decode("utf-8", "replace"))


def _redacted(result: Reply | CallFailure, key: str) -> Reply | CallFailure:
    """A server may echo the key, in an error or in a reply."""
    if isinstance(result, CallFailure):
        return replace(result, message=redact(result.message, key), raw=redact(result.raw, key))
    return replace(
        result,
        text=redact(result.text, key),
        reasoning=redact(result.reasoning, key),
        refusal=redact(result.refusal, key),
        raw=redact(result.raw, key),
    )
