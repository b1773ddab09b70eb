"""Starts that can't succeed end with words; two first starts at once end with one installation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.operation.start_lock import sole_run
from tests.operation.test_run import free_port

ROOT = Path(__file__).resolve().parents[2]


def manage(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    names = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=names | {"TILTYARD_DATA_DIR": str(folder)} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def words_of(process: subprocess.Popen) -> str:
    return process.communicate(timeout=240)[0]


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["run", "--prepare"], {"LOG_LEVEL": "loud"}, "LOG_LEVEL is 'loud'; use one of"),
        (["doctor"], {"CSRF_TRUSTED_ORIGINS": "arena.example.org"}, "CSRF_TRUSTED_ORIGINS has 'arena"),
        (["run", "--prepare", "--port", "70000"], {}, "PORT is 70000; it must lie between 1 and 65535"),
        (["run", "--prepare"], {"WEB_THREADS": "9" * 5000}, "WEB_THREADS must be a whole number"),
        (["migrate"], {"TILTYARD_DATA_DIR": "/proc/tiltyard"}, "TILTYARD_DATA_DIR is /proc/tiltyard, which"),
    ],
)
def test_a_wrong_setting_ends_a_command_with_two_and_words(tmp_path, arguments, environment, words):
    process = manage(tmp_path, *arguments, **environment)
    told = words_of(process)
    assert (process.returncode, told.count("\n")) == (2, 1), told
    assert told.startswith(f"tiltyard: {words}")


@pytest.mark.parametrize("arguments", [["run", "--prepare"], ["migrate"], ["take_snapshots"]])
def test_a_database_that_is_none_ends_a_command_with_one_and_words(tmp_path, arguments):
    (tmp_path / "tiltyard.sqlite3").write_bytes(b"This is no database." * 500)
    process = manage(tmp_path, *arguments, PORT=str(free_port()))
    told = words_of(process)
    assert process.returncode == 1
    assert "tiltyard: the database can't be used: file is not a database" in told
    assert "Traceback" not in told


def test_a_command_on_a_folder_where_nothing_ever_ran_says_what_to_do_first(tmp_path):
    (tmp_path / "prompts.csv").write_text("id,prompt\np1,Why?\n")
    process = manage(tmp_path, "import_prompts", str(tmp_path / "prompts.csv"), "--set", "Start")
    told = words_of(process)
    assert process.returncode == 1 and "Traceback" not in told
    assert "the database has no tables yet. Start Tiltyard once (./tiltyard run --no-demo" in told


def test_a_run_over_the_folder_of_another_is_told_apart(tmp_path):
    with sole_run(tmp_path) as first, sole_run(tmp_path) as second:
        assert (first, second) == (True, False)
    with sole_run(tmp_path) as again:
        assert again


def test_a_start_without_preparation_names_what_is_missing(tmp_path):
    words = []
    for before in ([], ["migrate", "--verbosity", "0"]):
        if before:
            words_of(manage(tmp_path, *before))
        process = manage(tmp_path, "run", "--port", str(free_port()))
        words.append(words_of(process))
        assert process.returncode == 1
    assert "run `./tiltyard manage migrate`, or add --prepare" in words[0]
    assert "run `./tiltyard manage collectstatic`, or add --prepare" in words[1]


def test_a_traceback_is_there_for_who_asks(tmp_path):
    process = manage(tmp_path, "run", "--traceback", "--port", "0")
    assert "Traceback" in words_of(process)
    assert process.returncode == 1


def test_two_first_starts_over_one_folder_make_one_installation(tmp_path):
    """Of a start all but the serving: with `prepare` alone the test needs no port and no end."""
    script = "import django; django.setup(); from arena.operation import prepare as way"
    script += "; way.prepare(print, demo=False)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"TILTYARD_DATA_DIR": str(tmp_path / "new"), "DJANGO_SETTINGS_MODULE": "arena.settings"}
    starts = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(3)
    ]
    told = [words_of(start) for start in starts]
    assert [start.returncode for start in starts] == [0, 0, 0], told
    assert sum("Bringing the database up to date" in words for words in told) == 1
    count = "from django.contrib.auth.models import User; print('accounts:', User.objects.count())"
    assert "accounts: 1" in words_of(manage(tmp_path / "new", "shell", "-c", count))
