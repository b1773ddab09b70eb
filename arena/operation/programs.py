"""What `manage.py run` keeps running: the web server, the queue's consumer and, on request, a local LLM."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from arena.operation.supervisor import Program
from arena.settings import setting

BACKLOG = 256
# A visitor who is silent for so long in the middle of a request, or takes none of the reply, is dropped:
# else a dozen of them would hold every thread for ever.
SILENCE_SECONDS = 15
# An idle consumer looks at its queue this often; a vote never waits for it, a judge run's start does.
QUEUE_POLL_SECONDS = 1
# After its own bound a child interrupts its work by itself; the supervisor's kill comes this much later.
KILL_AFTER_SECONDS = 5
# Many threads with small matrices: BLAS threads would get in each other's way, and an arena for each thread
# keeps memory that none of them needs.
CONSUMER_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


class PortInUseError(Exception):
    """The address can't be listened on; says why and what to do."""


@dataclass(frozen=True)
class Options:
    port: int = field(default_factory=lambda: setting("PORT", int, 8000, 1, 65535))
    bind: str = field(default_factory=lambda: os.environ.get("WEB_BIND", "127.0.0.1"))
    workers: int = field(default_factory=lambda: setting("WEB_WORKERS", int, 2, 1, 64))
    threads: int = field(default_factory=lambda: setting("WEB_THREADS", int, 4, 1, 256))
    drain_seconds: int = field(default_factory=lambda: setting("DRAIN_SECONDS", int, 30, 1, 3600))
    local_llm_port: int = field(default_factory=lambda: setting("LOCAL_LLM_PORT", int, 18081, 1, 65535))

    def __post_init__(self) -> None:
        if not self.bind.strip():
            raise ImproperlyConfigured("WEB_BIND is empty; use 127.0.0.1, or 0.0.0.0 for every interface")

    @property
    def local_llm_host(self) -> str:
        return f"127.0.0.1:{self.local_llm_port}"


def address() -> str:
    """Where the site is, as far as settings say; empty where `run --port` may have said otherwise."""
    port = os.environ.get("PORT", "")
    return settings.PUBLIC_URL or (f"http://localhost:{Options().port}" if port else "")


def listen(host: str, port: int) -> socket.socket:
    """The web server's socket. Held here, it outlives the server: during a restart visitors wait."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except PermissionError as error:
        raise PortInUseError(
            f"not allowed to listen on port {port}; choose one above 1023, like --port 8000"
        ) from error
    except OSError as error:
        raise PortInUseError(
            f"can't listen on {host} port {port} ({error.strerror or error}). Is Tiltyard running already,"
            f" or something else there? End it, or choose another: ./tiltyard run --port {port % 65535 + 1}"
        ) from error
    limit_silence(listener)
    return listener


def limit_silence(listener: socket.socket) -> None:
    """On Linux each accepted socket inherits it; the web server itself sets no limit on a body."""
    patience = struct.pack("ll", SILENCE_SECONDS, 0)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        listener.setsockopt(socket.SOL_SOCKET, option, patience)


def check_free(port: int) -> None:
    """For a server that binds for itself: the same words beforehand as `listen` has."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise PortInUseError(
            f"the local LLM can't listen on port {port} ({error.strerror or error});"
            " choose another: LOCAL_LLM_PORT"
        ) from error


def web_server(options: Options, listener: socket.socket, environment: Mapping[str, str]) -> Program:
    # No access log: it would hold invite links.
    command = [sys.executable, "-m", "gunicorn", "arena.operation.web:application", "--preload"]
    command += ["--bind", f"fd://{listener.fileno()}", "--worker-class", "gthread"]
    command += ["--workers", str(options.workers), "--threads", str(options.threads)]
    command += ["--graceful-timeout", str(options.drain_seconds), "--timeout", "90"]
    command += ["--log-level", "warning", "--no-control-socket"]
    if Path("/dev/shm").is_dir():  # noqa: S108
        command += ["--worker-tmp-dir", "/dev/shm"]  # noqa: S108
    return Program("web server", command, dict(environment), (listener.fileno(),))


def consumer(options: Options, environment: Mapping[str, str]) -> Program:
    # Checks of the code are CI's; here they would load every page and what it needs, some 80 MB.
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "run_huey", "--quiet", "--skip-checks"]
    command += ["--workers", str(settings.QUEUE_WORKERS), "--worker-type", "thread"]
    # TERM must mean "finish": by default huey drops running work on it.
    command += ["--graceful-signal", "TERM", "--shutdown-timeout", str(options.drain_seconds)]
    command += ["--max-delay", str(QUEUE_POLL_SECONDS)]
    return Program("queue's consumer", command, {**CONSUMER_ENVIRONMENT, **environment})


def local_llm(options: Options, environment: Mapping[str, str]) -> Program:
    command = [sys.executable, "-m", "arena.endpoints.local_llm", str(options.local_llm_port)]
    return Program("local LLM", command, dict(environment))


def environment_with_host(host: str) -> dict[str, str]:
    """This environment, in which endpoints may name `host` too."""
    hosts = [*settings.ENDPOINT_ALLOWED_HOSTS, host]
    return dict(os.environ) | {"ENDPOINT_ALLOWED_HOSTS": ",".join(dict.fromkeys(hosts))}
