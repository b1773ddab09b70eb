"""The launcher and CI's script, as a newcomer meets them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "tiltyard"


def launch(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [LAUNCHER if cwd == ROOT else cwd / "tiltyard", *arguments],
        cwd=cwd,
        env=dict(os.environ) | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def bare_copy(tmp_path) -> Path:
    """The launcher and the locks in a folder without an environment."""
    for name in ("tiltyard", "requirements.txt", "requirements-dev.txt", "requirements-llm.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


@pytest.fixture
def bare_path(tmp_path) -> str:
    """A PATH with the tools that every system has, and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "dirname", "rm", "cat", "cksum", "mktemp"):
        (folder / tool).symlink_to(shutil.which(tool))
    return str(folder)


@pytest.mark.parametrize("script", ["tiltyard", ".ci/run"])
def test_the_shell_scripts_are_sound(script):
    if not shutil.which("shellcheck"):
        words = "no shellcheck: apt-get install shellcheck"
        pytest.fail(words) if os.environ.get("CI") else pytest.skip(words)
    result = subprocess.run(["shellcheck", ROOT / script], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]])
def test_help_names_every_command(arguments):
    result = launch(*arguments)
    assert result.returncode == 0
    for command in ("run", "test", "manage"):
        assert f"./tiltyard {command}" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["joust"], "there is no command joust"),
        (["run", "--prot", "8001"], "run doesn't know --prot"),
        (["run", "--port"], "--port needs a number"),
    ],
)
def test_a_wrong_argument_is_refused_with_words(arguments, words):
    result = launch(*arguments)
    assert result.returncode == 2
    assert words in result.stderr


def test_without_a_python_it_says_what_to_install(bare_copy, bare_path):
    result = launch("run", cwd=bare_copy, PATH=bare_path)
    assert result.returncode == 2
    assert "no Python 3.11 or newer found" in result.stderr
    assert "apt install python3" in result.stderr


def test_a_python_that_is_too_old_counts_as_none(bare_copy, bare_path):
    old = Path(bare_path) / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert launch("run", cwd=bare_copy, PATH=bare_path).returncode == 2
    named = launch("run", cwd=bare_copy, PATH=bare_path, TILTYARD_PYTHON=str(old))
    assert named.returncode == 2
    assert f"TILTYARD_PYTHON={old} is no Python 3.11 or newer" in named.stderr


def test_a_python_that_can_make_no_environment_is_said_in_words(bare_copy, bare_path):
    crippled = Path(bare_path) / "python3"
    crippled.write_text('#!/bin/sh\n[ "$1" = -c ] && echo python3 && exit 0\nexit 1\n')
    crippled.chmod(0o755)
    result = launch("run", cwd=bare_copy, PATH=bare_path)
    assert result.returncode == 2
    assert "neither ensurepip nor pip" in result.stderr
    assert not (bare_copy / ".venv").exists()


def test_a_lock_that_is_unchanged_is_not_installed_again(bare_copy, bare_path):
    calls = bare_copy / "calls"
    environment = bare_copy / ".venv" / "bin"
    environment.mkdir(parents=True)
    python = environment / "python"
    python.write_text(f'#!/bin/sh\necho "$*" >>{calls}\n')
    python.chmod(0o755)
    for _ in range(2):
        assert launch("manage", "check", cwd=bare_copy, PATH=bare_path).returncode == 0
    installs = [line for line in calls.read_text().splitlines() if " install " in line]
    assert len(installs) == 1
    assert "--require-hashes --only-binary :all: -r requirements.txt" in installs[0]
    with (bare_copy / "requirements.txt").open("a") as lock:
        lock.write("# changed\n")
    launch("manage", "check", cwd=bare_copy, PATH=bare_path)
    assert calls.read_text().count(" install ") == 2


def test_nothing_is_installed_through_a_link_into_another_environment(bare_copy, bare_path, tmp_path):
    calls, environment = tmp_path / "calls", tmp_path / "elsewhere" / "bin"
    environment.mkdir(parents=True)
    python = environment / "python"
    python.write_text(f'#!/bin/sh\necho "$*" >>{calls}\n')
    python.chmod(0o755)
    (bare_copy / ".venv").symlink_to(environment.parent)
    result = launch("manage", "check", cwd=bare_copy, PATH=bare_path)
    assert result.returncode == 2
    assert ".venv is a link to" in result.stderr and "requirements.txt" in result.stderr
    assert " install " not in calls.read_text()


def test_a_failed_installation_is_tried_again_the_next_time(bare_copy, bare_path):
    environment = bare_copy / ".venv" / "bin"
    environment.mkdir(parents=True)
    python = environment / "python"
    python.write_text('#!/bin/sh\ncase "$*" in *" install "*) echo no network >&2; exit 1;; esac\n')
    python.chmod(0o755)
    for _ in range(2):
        result = launch("manage", "check", cwd=bare_copy, PATH=bare_path)
        assert result.returncode == 2
        assert "the packages of requirements.txt could not be installed" in result.stderr
