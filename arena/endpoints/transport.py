"""The wire below the SDK: checked addresses only, no redirects, bounded time and bytes, our own headers.

Everything a server may do wrong ends here as a httpx2 exception or one of ours, before a body is parsed.
"""

from __future__ import annotations

import functools
import ssl
import time
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2

from arena.endpoints.hosts import allowed_addresses

MAX_BODY_BYTES = 1 << 20
_SENT_HEADERS = ("accept", "content-type", "content-length", "host")
_BODY_HEADERS = ("content-encoding", "content-length", "transfer-encoding")


class TooLargeError(Exception):
    pass


class UndecodableError(Exception):
    """The body is compressed in a way that wasn't asked for and can't be undone."""


@dataclass(frozen=True)
class Limits:
    """Seconds: to connect, between two bytes, and for the whole call."""

    connect: float = 10.0
    read: float = 60.0
    total: float = 120.0
    body_bytes: int = MAX_BODY_BYTES


class GuardedTransport(httpx2.HTTPTransport):
    """One call's connection; an answer is handed over when its whole body is in memory and within limits."""

    def __init__(self, limits: Limits, allowed_hosts: Collection[str], key: str) -> None:
        super().__init__(verify=_ssl_context(), trust_env=False)
        self._limits = limits
        self._key = key
        # httpx2 has no argument for the backend; httpcore2's pool does.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_ssl_context(),
            max_connections=1,
            network_backend=_GuardedBackend(allowed_hosts, time.monotonic() + limits.total),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(self._with_our_headers(request))
        try:
            body = _read_body(response, self._limits.body_bytes)
        finally:
            response.close()
        headers = [(k, v) for k, v in response.headers.multi_items() if k.lower() not in _BODY_HEADERS]
        return httpx2.Response(response.status_code, headers=headers, content=body)

    def _with_our_headers(self, request: httpx2.Request) -> httpx2.Request:
        """The SDK adds what its environment holds (organisation, project, more keys): none of that leaves."""
        headers = [(k, v) for k, v in request.headers.multi_items() if k.lower() in _SENT_HEADERS]
        headers += [("accept-encoding", "identity"), ("user-agent", "tiltyard")]
        if self._key:
            headers.append(("authorization", f"Bearer {self._key}"))
        return httpx2.Request(
            request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
        )


@functools.lru_cache(maxsize=1)
def _ssl_context() -> ssl.SSLContext:
    # 90 ms of CPU to make, so one serves the whole process.
    return httpx2.create_ssl_context(trust_env=False)


def _read_body(response: httpx2.Response, limit: int) -> bytes:
    inflate = _inflater(response.headers.get("content-encoding", ""))
    body = bytearray()
    stream: Any = response.stream
    for chunk in stream:
        body += inflate(chunk, limit + 1 - len(body)) if inflate else chunk
        if len(body) > limit:
            raise TooLargeError(f"the server's reply is larger than {limit:,} bytes")
    return bytes(body)


def _inflater(encoding: str) -> Any:
    """None for an identity body; else a function that never returns more bytes than it was allowed."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return None
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise UndecodableError(f"the server's reply is encoded as {encoding[:40]!r}, which was not asked for")
    decompressor = zlib.decompressobj(wbits=47)  # gzip or zlib by the header

    def inflate(chunk: bytes, room: int) -> bytes:
        try:
            return decompressor.decompress(chunk, max(room, 1))
        except zlib.error as error:
            raise UndecodableError(
                f"the server's reply is not the {encoding} that it says: {error}"
            ) from None

    return inflate


class _GuardedBackend(httpcore2.NetworkBackend):
    def __init__(self, allowed_hosts: Collection[str], deadline: float) -> None:
        self._plain = httpcore2.SyncBackend()
        self._allowed_hosts = allowed_hosts
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        failure: Exception | None = None
        for address in allowed_addresses(host, port, self._allowed_hosts):
            wait = _remaining(self._deadline, timeout, httpcore2.ConnectTimeout)
            try:
                stream = self._plain.connect_tcp(address, port, wait, local_address, socket_options)
                return _DeadlineStream(stream, self._deadline)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore2.ConnectError(f"{host} has no address")


class _DeadlineStream(httpcore2.NetworkStream):
    """A server that sends one byte now and then keeps every read alive: the deadline of the call ends it."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _remaining(self._deadline, timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _remaining(self._deadline, timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        wait = _remaining(self._deadline, timeout, httpcore2.ConnectTimeout)
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, wait), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _remaining(deadline: float, timeout: float | None, error: type[Exception]) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise error("the call's total time is up")
    return left if timeout is None else min(left, timeout)
