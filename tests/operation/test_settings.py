"""A wrong setting is refused at start with its name and what to do; each row is one way to get it wrong."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from arena.programs import Options

SETTINGS = Path(__file__).resolve().parents[2] / "arena" / "settings.py"

WRONG = [
    ("SECRET_KEY", "short", "SECRET_KEY is shorter than 40 characters"),
    ("DEBUG", "perhaps", "DEBUG is 'perhaps'; use 1 or 0"),
    ("TILTYARD_HTTPS", "2", "TILTYARD_HTTPS is '2'; use 1 or 0"),
    ("PUBLIC_URL", "arena.example.org", "PUBLIC_URL is 'arena.example.org'; it must begin with http"),
    ("PUBLIC_URL", "ftp://arena.example.org", "it must begin with http:// or https://"),
    ("DATABASE_URL", "mysql://localhost/tiltyard", "use sqlite:/// or postgres://"),
    (
        "QUEUE_URL",
        "amqp://localhost",
        "QUEUE_URL begins with 'amqp'; use sqlite:///, redis:// or postgres://",
    ),
    ("QUEUE_WORKERS", "0", "QUEUE_WORKERS is 0; it must lie between 1 and 200"),
    ("QUEUE_WORKERS", "many", "QUEUE_WORKERS must be a whole number"),
    ("MAX_UPLOAD_MB", "0", "MAX_UPLOAD_MB is 0; it must lie between"),
    ("MAX_UPLOAD_MB", "1.5", "MAX_UPLOAD_MB must be a whole number"),
    ("SNAPSHOT_MINUTES", "1441", "SNAPSHOT_MINUTES is 1441; it must lie between 1 and 1440"),
    ("BOOTSTRAP_RESAMPLES", "999", "BOOTSTRAP_RESAMPLES is 999; it must lie between 1000 and 100000"),
    ("BATTLE_HOURS", "0", "BATTLE_HOURS is 0; it must lie between"),
]
WRONG_FOR_RUN = [
    ("PORT", "0", "PORT is 0; it must lie between 1 and 65535"),
    ("PORT", "http", "PORT must be a whole number"),
    ("WEB_BIND", " ", "WEB_BIND is empty"),
    ("WEB_WORKERS", "0", "WEB_WORKERS is 0; it must lie between 1 and 64"),
    ("WEB_THREADS", "257", "WEB_THREADS is 257; it must lie between 1 and 256"),
    ("DRAIN_SECONDS", "0", "DRAIN_SECONDS is 0; it must lie between 1 and 3600"),
    ("LOCAL_LLM_PORT", "70000", "LOCAL_LLM_PORT is 70000; it must lie between 1 and 65535"),
]


@pytest.fixture
def environment(monkeypatch, tmp_path):
    for name in {row[0] for row in [*WRONG, *WRONG_FOR_RUN]}:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TILTYARD_DATA_DIR", str(tmp_path))
    return monkeypatch


def read_settings() -> dict:
    return runpy.run_path(str(SETTINGS))


@pytest.mark.parametrize(("name", "value", "words"), WRONG)
def test_a_wrong_setting_is_refused_with_words(environment, name, value, words):
    environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_settings()
    assert words in str(refusal.value)


@pytest.mark.parametrize(("name", "value", "words"), WRONG_FOR_RUN)
def test_a_wrong_setting_of_the_run_command_is_refused_with_words(environment, name, value, words):
    environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refusal:
        Options()
    assert words in str(refusal.value)


def test_every_bounded_setting_is_in_the_table():
    bounded = set(re.findall(r'(?:setting|switch)\("([A-Z_]+)"', SETTINGS.read_text()))
    assert bounded <= {row[0] for row in WRONG}


def test_without_any_setting_all_have_sound_values(environment, tmp_path):
    settings = read_settings()
    assert settings["DEBUG"] is False
    assert settings["DATABASES"]["default"]["NAME"] == str(tmp_path / "tiltyard.sqlite3")
    assert settings["HUEY"]["connection"]["filename"] == str(tmp_path / "queue.sqlite3")
    assert Options().port == 8000


def test_the_secret_key_is_made_once_and_for_its_owner_alone(environment, tmp_path):
    first = read_settings()["SECRET_KEY"]
    assert len(first) >= 40
    assert read_settings()["SECRET_KEY"] == first
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_a_secret_key_cut_short_on_disk_is_refused(environment, tmp_path):
    (tmp_path / "secret_key").write_text("abc")
    with pytest.raises(ImproperlyConfigured, match="is empty or cut short; delete it to make a new one"):
        read_settings()


def test_an_sqlite_database_keeps_what_it_acknowledged(environment):
    options = read_settings()["DATABASES"]["default"]["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in options["init_command"]
    assert "synchronous=FULL" in options["init_command"]
