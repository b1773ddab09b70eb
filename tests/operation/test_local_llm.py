from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from arena.endpoints import local_llm
from arena.endpoints.models import Endpoint
from arena.judging.models import Judge, Rubric
from arena.operation import local_judge, programs
from arena.raters.models import Team
from tests.operation.processes import wait_for

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1:18081"


def test_it_becomes_an_endpoint_and_a_judge_with_the_starter_rubric(db):
    judge, made = local_judge.register(HOST)
    assert made
    assert judge.endpoint.base_url == "http://127.0.0.1:18081/v1"
    assert judge.family == judge.endpoint.family == "smollm"
    assert judge.endpoint.structured_mode == "json_schema"
    assert judge.endpoint.key_variable == judge.endpoint.key_file == ""
    assert len(judge.rubric.criteria) >= 3
    assert len(judge.rubric.sha256) == 64


def test_registering_again_only_follows_the_port_and_keeps_what_an_admin_changed(db):
    first, _ = local_judge.register(HOST)
    Endpoint.objects.update(max_tokens=99)
    again, made = local_judge.register("127.0.0.1:18082")
    assert not made
    assert again == first
    assert Endpoint.objects.get().base_url == "http://127.0.0.1:18082/v1"
    assert Endpoint.objects.get().max_tokens == 99
    assert Judge.objects.count() == Rubric.objects.count() == 1


def test_a_team_with_a_rubric_keeps_to_it(db):
    own = Rubric.objects.create(
        team=Team.default(), name="Ours", instructions="Judge.", criteria=[], sha256="0" * 64
    )
    judge, _ = local_judge.register(HOST)
    assert judge.rubric == own


def test_its_host_is_added_to_those_that_endpoints_may_name(settings):
    settings.ENDPOINT_ALLOWED_HOSTS = ["llm.internal:8000"]
    environment = programs.environment_with_host(HOST)
    assert environment["ENDPOINT_ALLOWED_HOSTS"] == f"llm.internal:8000,{HOST}"
    settings.ENDPOINT_ALLOWED_HOSTS = [HOST]
    assert programs.environment_with_host(HOST)["ENDPOINT_ALLOWED_HOSTS"] == HOST


def test_a_port_in_use_is_said_in_words():
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(programs.PortInUseError) as refusal:
        programs.check_free(other.getsockname()[1])
    assert "choose another: LOCAL_LLM_PORT" in str(refusal.value)


def test_a_missing_package_is_said_in_words(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setattr(os, "nice", lambda by: 0)
    monkeypatch.setattr(signal, "pthread_sigmask", lambda how, mask: set())
    assert local_llm.main(["18081"]) == 1
    assert "xllamacpp is missing; ./tiltyard run --with-local-llm installs it" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["eight"], ["1", "2"]])
def test_wrong_arguments_get_the_usage(arguments, capsys):
    assert local_llm.main(arguments) == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.llm
def test_the_real_model_answers_a_schema_on_loopback_alone():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "arena.endpoints.local_llm", str(port)], cwd=ROOT)
    try:
        wait_for(lambda: status(port, "/health") == 200, "the model to be loaded")
        reply = complete(port)
        assert json.loads(reply["choices"][0]["message"]["content"])["winner"] in {"first", "second", "tie"}
        assert reply["model"] == local_llm.MODEL
        assert reply["usage"]["completion_tokens"] > 0
        with pytest.raises(OSError):
            socket.create_connection((own_address(), port), timeout=5)
    finally:
        server.terminate()
        assert server.wait(timeout=240) == 0


def status(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=240) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def complete(port: int) -> dict:
    winner = {"type": "object", "properties": {"winner": {"enum": ["first", "second", "tie"]}}}
    schema = winner | {"required": ["winner"], "additionalProperties": False}
    body = {
        "model": local_llm.MODEL,
        "max_tokens": 40,
        "messages": [{"role": "user", "content": "Which is better, the first or the second?"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}},
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as reply:
        return json.load(reply)


def own_address() -> str:
    """An address of this machine besides loopback; 127.0.0.2 serves where there is none."""
    addresses = {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    return next((address for address in sorted(addresses) if address != "127.0.0.1"), "127.0.0.2")
