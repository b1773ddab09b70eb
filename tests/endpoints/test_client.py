import json
import logging
import socket
import time

import pytest

from arena.endpoints.client import CallFailure, EndpointConfig, Reply, ask, build_payload
from arena.endpoints.transport import Limits
from tests.endpoints import fake_server
from tests.endpoints.fake_server import (
    FakeServer,
    answer,
    completion,
    drip,
    error,
    gzipped,
    hang,
    json_step,
    raw,
)

KEY = "sk-test-0123456789abcdef"
MESSAGES = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "Größer 👍?"}]
SCHEMA = {"type": "object", "properties": {"winner": {"type": "string"}}}


@pytest.fixture
def server():
    with FakeServer() as running:
        yield running


@pytest.fixture
def call(server):
    """call() asks the server once with small limits; keywords change the configuration."""

    def once(schema=SCHEMA, **changes):
        config = EndpointConfig(
            **(
                {
                    "base_url": server.base_url,
                    "model": "judge-1",
                    "api_key": KEY,
                    "allowed_hosts": (server.host,),
                    "limits": Limits(connect=2, read=0.5, total=1.5),
                }
                | changes
            )
        )
        return ask(config, build_payload(config, MESSAGES, schema))

    return once


# --- what is sent -----------------------------------------------------------------------------------------


def test_a_call_sends_one_post_with_model_messages_schema_and_key(server, call):
    reply = call(parameters={"temperature": 0, "seed": 7}, max_tokens=300)
    assert isinstance(reply, Reply)
    (received,) = server.requests
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["accept-encoding"] == "identity"
    assert received.body == {
        "model": "judge-1",
        "messages": MESSAGES,
        "max_tokens": 300,
        "temperature": 0,
        "seed": 7,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
        },
    }


@pytest.mark.parametrize(("mode", "expected"), [("json_object", {"type": "json_object"}), ("prompt", None)])
def test_the_structured_mode_decides_the_response_format(server, call, mode, expected):
    call(structured_mode=mode)
    assert server.requests[0].body.get("response_format") == expected


def test_without_a_schema_no_response_format_is_sent(server, call):
    call(schema=None)
    assert "response_format" not in server.requests[0].body


def test_the_field_for_the_token_limit_is_the_endpoints(server, call):
    call(max_tokens_field="max_completion_tokens", max_tokens=9)
    assert server.requests[0].body["max_completion_tokens"] == 9
    assert "max_tokens" not in server.requests[0].body


def test_without_a_key_no_authorization_is_sent(server, call):
    call(api_key="")
    assert "authorization" not in server.requests[0].headers


def test_nothing_of_the_environment_reaches_the_server(server, call, monkeypatch):
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "canary-of-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Canary: canary-of-the-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert isinstance(call(api_key=""), Reply)
    assert "canary" not in repr(server.requests[0])


@pytest.mark.parametrize("name", ["model", "messages", "stream", "n", "response_format", "max_tokens"])
def test_parameters_that_tiltyard_sets_itself_are_refused(call, name):
    with pytest.raises(ValueError, match=f"sets itself: {name}; take them out"):
        call(parameters={name: 1})


# --- replies ----------------------------------------------------------------------------------------------


def test_a_reply_carries_text_counts_names_and_the_raw_body(server, call):
    reply = call()
    assert (reply.text, reply.finish_reason, reply.refusal) == (fake_server.VERDICT, "stop", "")
    assert (reply.tokens_in, reply.tokens_out) == (120, 30)
    assert (reply.answering_model, reply.system_fingerprint) == ("fake-judge", "fp_fake")
    assert json.loads(reply.raw) == completion(fake_server.VERDICT)
    assert reply.status == 200
    assert 0 <= reply.latency_ms < 60_000


def test_parts_refusal_and_reasoning_are_kept_apart(server, call):
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "b"},
    ]
    server.script = [
        answer(parts),
        answer(None, "content_filter", refusal="No."),
        answer("x", reasoning_content="hm"),
        answer("x", reasoning="hm too"),
        answer(None, "length"),
        answer(None, "tool_calls", tool_calls=[{"id": "1"}]),
    ]
    replies = [call() for _ in range(6)]
    assert [reply.text for reply in replies] == ["ab", "", "x", "x", "", ""]
    assert replies[1].refusal == "No."
    assert [replies[2].reasoning, replies[3].reasoning] == ["hm", "hm too"]
    assert [reply.finish_reason for reply in replies[4:]] == ["length", "tool_calls"]


@pytest.mark.parametrize(
    "usage", [None, {}, [], {"prompt_tokens": "12"}, {"prompt_tokens": True}, {"prompt_tokens": -1}]
)
def test_tokens_that_the_server_does_not_tell_are_unknown_and_not_zero(server, call, usage):
    server.script = [json_step(completion("x") | {"usage": usage})]
    reply = call()
    assert (reply.tokens_in, reply.tokens_out) == (None, None)


def test_text_that_no_database_takes_is_made_storable(server, call):
    body = json.dumps(completion("AB\ud800C\x00D")).replace("AB", "\\ud83d\\udc4d")
    server.script = [raw(body.encode())]
    reply = call()
    assert reply.text == "👍\ufffdC\ufffdD"
    reply.raw.encode()


def test_a_slow_reply_within_the_limits_is_read(server, call):
    server.script = [answer(delay=0.3)]
    assert isinstance(call(), Reply)


def test_a_compressed_reply_is_read_although_none_was_asked_for(server, call):
    server.script = [gzipped(json.dumps(completion("x")).encode())]
    assert call().text == "x"


# --- failures ---------------------------------------------------------------------------------------------

FAILURES = [
    (error(401, "Incorrect API key"), "auth", False),
    (error(403, "Not your model"), "auth", False),
    (error(402, "Pay first"), "quota", False),
    (error(429, "You exceeded your current quota", "insufficient_quota"), "quota", False),
    (error(429, "Slow down"), "rate_limited", True),
    (error(404, "no such model"), "not_found", False),
    (error(408), "server_error", True),
    (error(409), "server_error", True),
    (error(500), "server_error", True),
    (error(503, "loading model"), "server_error", True),
    (error(529, "overloaded"), "server_error", True),
    (error(400, "what is this"), "bad_request", False),
    (error(400, "This model's maximum context length is 4096 tokens"), "context_overflow", False),
    (error(400, "too long", "context_length_exceeded"), "context_overflow", False),
    (error(413, "large"), "context_overflow", False),
    (error(400, "filtered", "content_filter"), "refused", False),
    (error(307, Location="/v2"), "redirected", False),
    (json_step({"error": {"message": "upstream", "code": 429}}), "rate_limited", True),
    (json_step({"error": {"message": "bad key", "code": 401}}), "auth", False),
    (json_step({"error": "overloaded"}), "server_error", True),
    (json_step({"choices": []}), "malformed", True),
    (json_step({"choices": [{"text": "old"}]}), "malformed", True),
    (json_step([1]), "malformed", True),
    (raw(b""), "not_json", True),
    (raw(b"<html>Bad gateway</html>", "text/html"), "not_json", True),
    (raw(b"\xff\xfe\x00garbage\x00"), "not_json", True),
    (raw(b'{"choices": ' + b"[" * 100_000), "not_json", True),
    (raw(b'{"n": ' + b"9" * 10_000 + b"}"), "not_json", True),
    (raw(b'data: {"choices": []}\n\ndata: [DONE]\n\n', "text/event-stream"), "not_json", True),
    (raw(b"x" * 2_000_000), "too_large", False),
    (raw(b"x" * 10_000_000), "too_large", False),
    (gzipped(b"x" * 20_000_000), "too_large", False),
    (raw(json.dumps(completion("x" * 1000)).encode(), cut=300), "connection", True),
    (raw(b"{}", cut=0), "connection", True),
    (drip(), "timeout", True),
    (hang(1.0), "timeout", True),
    (hang(0.1), "connection", True),
]  # fmt: skip


@pytest.mark.parametrize(("step", "kind", "retryable"), FAILURES)
def test_each_misdeed_of_a_server_has_its_kind(server, call, step, kind, retryable):
    server.script = [step]
    failure = call()
    assert isinstance(failure, CallFailure), failure
    assert (failure.kind, failure.retryable) == (kind, retryable)
    assert failure.message
    assert server.calls == 1, "one call is one request: no retry, no redirect"


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [("3", 3), ("0.5", 0.5), (None, None), ("soon", None), ("-4", 0), ("nan", None)],
)
def test_the_wait_that_a_server_asks_for_is_told(server, call, retry_after, seconds):
    server.script = [fake_server.status(429, retry_after)]
    assert call().retry_after == seconds


def test_a_wait_given_as_a_date_is_told_in_seconds(server, call):
    server.script = [fake_server.status(503, "Fri, 01 Jan 2100 00:00:00 GMT")]
    assert call().retry_after > 1e9


@pytest.mark.parametrize(
    ("step", "parameter"),
    [
        (error(400, "Use 'max_completion_tokens' instead.", param="max_tokens"), "max_tokens"),
        (error(400, "'max_tokens' is not supported. Use 'max_completion_tokens'."), "max_tokens"),
        (error(400, "'temperature' does not support 0", "unsupported_value", "temperature"), "temperature"),
        (error(400, "response_format is not supported by this model"), "response_format"),
        (error(400, "Invalid schema", param="response_format.json_schema"), "response_format"),
        (error(400, "failed to parse grammar: invalid rule"), "response_format"),
        (json_step({"detail": [{"loc": ["response_format"], "msg": "extra field"}]}, 422), "response_format"),
        (json_step({"message": "guided decoding is not supported"}, 400), "response_format"),
    ],
)  # fmt: skip
def test_a_refused_parameter_is_named(server, call, step, parameter):
    server.script = [step]
    failure = call(parameters={"temperature": 0})
    assert (failure.kind, failure.parameter) == ("unsupported_parameter", parameter)


def test_a_complaint_about_the_messages_names_no_parameter(server, call):
    server.script = [error(400, "invalid role: must be one of user, assistant", param="messages[0].role")]
    assert call().kind == "bad_request"


def test_an_endpoint_that_is_down_is_a_connection_failure(call):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    failure = call(base_url=f"http://{host}/v1", allowed_hosts=(host,))
    assert (failure.kind, failure.retryable, failure.status) == ("connection", True, None)
    assert "refused" in failure.message


def test_a_name_without_an_address_is_told(call):
    failure = call(base_url="https://no-such-host.invalid/v1")
    assert (failure.kind, failure.retryable) == ("unknown_host", True)


def test_a_server_that_dribbles_is_left_when_the_total_time_is_up(server, call):
    server.script = [drip(pause=0.1)]
    start = time.monotonic()
    failure = call(limits=Limits(connect=2, read=5, total=0.6))
    assert failure.kind == "timeout"
    # Dribbling on, it would take a minute.
    assert time.monotonic() - start < 10


def test_a_text_that_no_wire_takes_is_told(server):
    config = EndpointConfig(server.base_url, "m", allowed_hosts=(server.host,))
    failure = ask(config, {"model": "m", "messages": [{"role": "user", "content": "\ud800"}]})
    assert (failure.kind, failure.retryable) == ("unsendable", False)
    assert server.calls == 0


# --- hosts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "2130706433"])
def test_loopback_is_asked_only_when_it_is_allowed(server, call, host):
    failure = call(base_url=f"https://{host}:{server.port}/v1", allowed_hosts=())
    assert (failure.kind, failure.retryable) == ("host_refused", False)
    assert "ENDPOINT_ALLOWED_HOSTS" in failure.message
    assert server.calls == 0


def test_a_redirect_is_not_followed_to_anywhere(server, call):
    with FakeServer() as other:
        server.script = [error(302, Location=f"{other.base_url}/chat/completions")]
        assert call().kind == "redirected"
        assert other.calls == 0


def test_a_public_host_is_not_asked_in_the_clear(call):
    failure = call(base_url="http://judge.example/v1")
    assert failure.kind == "host_refused"
    assert "https" in failure.message


# --- what nobody foresaw -----------------------------------------------------------------------------------


@pytest.mark.parametrize("exception", [RuntimeError, RecursionError, KeyError, AssertionError, TypeError])
def test_an_exception_that_nobody_foresaw_ends_the_call_for_good(call, monkeypatch, caplog, exception):
    def fail(config, payload):
        raise exception(f"no idea what to do with Bearer {KEY}")

    monkeypatch.setattr("arena.endpoints.client._post", fail)
    failure = call()
    assert (failure.kind, failure.retryable) == ("unsendable", False)
    assert f"{exception.__name__}: " in failure.message
    assert "the request can't be sent" in caplog.text
    assert KEY not in failure.message + caplog.text


@pytest.mark.parametrize("base_url", ["https://a\n.example/v1", "https://a.example/\x00", "https://[::1/v1"])
def test_a_url_that_cannot_be_sent_is_a_refused_host(call, base_url):
    failure = call(base_url=base_url)
    assert (failure.kind, failure.retryable) == ("host_refused", False)


@pytest.mark.parametrize(
    "parameters", [{"a": float("inf")}, {"a": [float("nan")]}, {"a": "\0"}, {"a": "\ud800"}, {"\0": 1}]
)
def test_parameters_that_cannot_be_sent_make_no_configuration(parameters):
    with pytest.raises(ValueError, match="the parameters hold"):
        EndpointConfig("https://a.example/v1", "m", parameters=parameters)


# --- the key ----------------------------------------------------------------------------------------------


def test_the_key_is_nowhere_but_in_the_request(server, call, caplog):
    caplog.set_level(logging.DEBUG)
    server.script = [
        answer(f"I was called with {KEY}", reasoning_content=KEY, refusal=KEY),
        error(401, f"Incorrect API key provided: {KEY}"),
        raw(f"Bearer {KEY} is no JSON".encode()),
        fake_server.status(500),
    ]
    results = [call() for _ in range(4)]
    assert KEY not in repr(results)
    assert "[key]" in results[0].text
    assert "[key]" in results[1].message
    assert KEY not in caplog.text
    assert KEY not in repr(EndpointConfig("https://x.example/v1", "m", KEY))
    assert all(received.headers["authorization"] == f"Bearer {KEY}" for received in server.requests)
