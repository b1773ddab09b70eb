"""A small scripted OpenAI-compatible server on loopback, for tests of all that asks an endpoint.

    with FakeServer() as server:
        server.script = [answer(VERDICT), status(429, retry_after=3), hang(5)]
        ... ask server.base_url ...
        assert server.calls == 3

Each request takes the next step of the script; when it's used up, `server.default` answers (a step, or a
function of the request's body that returns one). `server.requests` keeps everything that was received.
"""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "fake-judge"
VERDICT = json.dumps(
    {
        "reason": "The first one is right.",
        "scores": {side: {"factual": 4, "relevant": 4, "clarity": 4} for side in ("first", "second")},
        "winner": "first",
    }
)


@dataclass(frozen=True)
class Step:
    """What one request gets. `body` is sent as it is; `cut` closes the connection after that many bytes."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    drip: float | None = None
    hang: float = 0.0


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float


def completion(text: object, finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "system_fingerprint": "fp_fake",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
    }


def answer(
    text: object = VERDICT, finish_reason: str | None = "stop", delay: float = 0.0, **message: Any
) -> Step:
    return json_step(completion(text, finish_reason, **message), delay=delay)


def json_step(value: object, status: int = 200, **how: Any) -> Step:
    return Step(status, json.dumps(value).encode(), {"Content-Type": "application/json"}, **how)


def error(
    status: int, message: str = "", code: str | None = None, param: str | None = None, **headers: str
) -> Step:
    step = json_step({"error": {"message": message, "type": "error", "code": code, "param": param}}, status)
    return Step(status, step.body, step.headers | {k.replace("_", "-"): v for k, v in headers.items()})


def status(code: int, retry_after: float | str | None = None) -> Step:
    return error(
        code, f"scripted {code}", **({} if retry_after is None else {"Retry_After": str(retry_after)})
    )


def raw(body: bytes, content_type: str = "application/json", **how: Any) -> Step:
    return Step(200, body, {"Content-Type": content_type}, **how)


def gzipped(body: bytes) -> Step:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    return Step(200, gzip.compress(body), headers)


def hang(seconds: float) -> Step:
    """Takes the request and says nothing for so long, then closes the connection."""
    return Step(hang=seconds)


def drip(text: str = VERDICT, pause: float = 0.05) -> Step:
    """A right answer, one byte at a time."""
    return json_step(completion(text), drip=pause)


class FakeServer:
    def __init__(self, default: Step | Callable[[dict[str, Any]], Step] | None = None, port: int = 0) -> None:
        self.default = answer() if default is None else default
        self.script: list[Step] = []
        self.requests: list[Received] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._lock = threading.Lock()
        self._port = port

    def __enter__(self) -> FakeServer:
        self._stopped = threading.Event()
        self._server = _Server(("127.0.0.1", self._port), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"http://{self.host}/v1"

    @property
    def calls(self) -> int:
        return len(self.requests)

    def wait(self, seconds: float) -> None:
        self._stopped.wait(seconds)

    def take(self, received: Received) -> Step:
        with self._lock:
            self.requests.append(received)
            if self.script:
                return self.script.pop(0)
        return self.default if isinstance(self.default, Step) else self.default(received.body)

    def count(self, change: int) -> None:
        with self._lock:
            self.in_flight += change
            self.most_in_flight = max(self.most_in_flight, self.in_flight)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the game."""


def _handler(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = Received(self.path, headers, body, time.monotonic())
            server.count(1)
            try:
                self._play(server.take(received))
            finally:
                server.count(-1)

        def _play(self, step: Step) -> None:
            server.wait(step.delay + step.hang)
            if step.hang:
                self._hang_up()
                return
            self.send_response(step.status)
            for name, value in step.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(step.body)))
            self.end_headers()
            self._send(step)

        def _send(self, step: Step) -> None:
            if step.drip is not None:
                for index in range(len(step.body)):
                    self.wfile.write(step.body[index : index + 1])
                    self.wfile.flush()
                    server.wait(step.drip)
                return
            self.wfile.write(step.body if step.cut is None else step.body[: step.cut])
            if step.cut is not None:
                self._hang_up()

        def _hang_up(self) -> None:
            self.close_connection = True
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler
