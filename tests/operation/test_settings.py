"""A wrong setting is refused at start with its name and what to do; each row is one way to get it wrong."""

from __future__ import annotations

import os
import re
import runpy
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from arena.operation.programs import Options

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
    ("NEW_RATERS_PER_HOUR", "0", "NEW_RATERS_PER_HOUR is 0; it must lie between 1 and 1000000"),
    ("MAX_UPLOAD_MB", "0", "MAX_UPLOAD_MB is 0; it must lie between"),
    ("MAX_UPLOAD_MB", "1.5", "MAX_UPLOAD_MB must be a whole number"),
    ("API_PER_MINUTE", "0", "API_PER_MINUTE is 0; it must lie between 1 and 1000000"),
    ("API_PER_MINUTE_ANONYMOUS", "0", "API_PER_MINUTE_ANONYMOUS is 0; it must lie between 1 and 1000000"),
    ("EXPORT_DAYS", "366", "EXPORT_DAYS is 366; it must lie between 1 and 365"),
    ("SNAPSHOT_MINUTES", "1441", "SNAPSHOT_MINUTES is 1441; it must lie between 1 and 1440"),
    ("BOOTSTRAP_RESAMPLES", "999", "BOOTSTRAP_RESAMPLES is 999; it must lie between 1000 and 100000"),
    ("BATTLE_HOURS", "0", "BATTLE_HOURS is 0; it must lie between"),
    ("PROXY_COUNT", "-1", "PROXY_COUNT is -1; it must lie between 0 and 10"),
    ("ALLOWED_HOSTS", "https://arena.example.org", "an entry is a host name alone"),
    ("ALLOWED_HOSTS", "arena.example.org:8000", "an entry is a host name alone"),
    ("CSRF_TRUSTED_ORIGINS", "arena.example.org", "an entry is an address without a path, like https://"),
    ("CSRF_TRUSTED_ORIGINS", "https://a.example.org,b.example.org", "has 'b.example.org'"),
    ("CSRF_TRUSTED_ORIGINS", "https://a.example.org/", "an entry is an address without a path"),
    ("CSRF_TRUSTED_ORIGINS", "https://", "an entry is an address without a path"),
    ("ENDPOINT_ALLOWED_HOSTS", "http://127.0.0.1:8000", "an entry is host or host:port, without scheme"),
    ("ENDPOINT_ALLOWED_HOSTS", "127.0.0.1:8000/v1", "an entry is host or host:port, without scheme and path"),
    ("ENDPOINT_ALLOWED_HOSTS", "llm:70000", "ENDPOINT_ALLOWED_HOSTS has 'llm:70000'"),
    ("ENDPOINT_ALLOWED_HOSTS", "llm one", "ENDPOINT_ALLOWED_HOSTS has 'llm one'"),
    ("ENDPOINT_KEY_HOSTS", "OPENAI_API_KEY", "like OPENAI_API_KEY=api.openai.com"),
    ("ENDPOINT_KEY_HOSTS", "PATH=api.openai.com", "it ends in _KEY or _TOKEN"),
    ("ENDPOINT_KEY_HOSTS", "OPENAI_API_KEY=https://api.openai.com", "ENDPOINT_KEY_HOSTS has"),
    ("ENDPOINT_KEY_HOSTS", "A_KEY=a.org,A_KEY=b.org", "has A_KEY twice; a key goes to one host"),
    ("LOG_LEVEL", "loud", "LOG_LEVEL is 'loud'; use one of DEBUG, INFO, WARNING, ERROR"),
    ("QUEUE_URL", "sqlite:///", "for a file write sqlite:///PATH"),
    ("QUEUE_URL", "sqlite://queue.sqlite3", "for a file write sqlite:///PATH"),
    ("DATABASE_URL", "postgres://localhost:many/tiltyard", "DATABASE_URL can't be read"),
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


@pytest.mark.parametrize(
    ("name", "value", "setting", "found"),
    [
        (
            "CSRF_TRUSTED_ORIGINS",
            " https://a.example.org , http://b.example.org:8000,https://*.example.org",
            "CSRF_TRUSTED_ORIGINS",
            ["https://a.example.org", "http://b.example.org:8000", "https://*.example.org"],
        ),
        ("ALLOWED_HOSTS", "arena.example.org, .example.org,[::1]", "ALLOWED_HOSTS", None),
        ("ALLOWED_HOSTS", "*", "ALLOWED_HOSTS", ["*"]),
        ("ENDPOINT_ALLOWED_HOSTS", "vllm,vllm:8000,10.0.0.5:80,[::1]:80,::1,[fe80::1]", "", None),
        (
            "ENDPOINT_KEY_HOSTS",
            "OPENAI_API_KEY=api.openai.com, /run/secrets/other.key = llm.lan:8000",
            "ENDPOINT_KEY_HOSTS",
            {"OPENAI_API_KEY": "api.openai.com", "/run/secrets/other.key": "llm.lan:8000"},
        ),
        ("PROXY_COUNT", "2", "PROXY_COUNT", 2),
    ],
)
def test_what_is_right_is_taken_as_it_is(environment, name, value, setting, found):
    environment.setenv(name, value)
    expected = [entry.strip() for entry in value.split(",")] if found is None else found
    assert read_settings()[setting or name] == expected


@pytest.mark.parametrize("level", ["debug", "Info", "WARNING", "error"])
def test_a_log_level_is_taken_in_either_case(environment, level):
    environment.setenv("LOG_LEVEL", level)
    assert read_settings()["LOGGING"]["root"]["level"] == level.upper()


@pytest.mark.parametrize("path", ["tiltyard.sqlite3", "x/../tiltyard.sqlite3", "link.sqlite3"])
def test_the_queue_never_shares_the_databases_file(environment, tmp_path, path):
    (tmp_path / "x").mkdir()
    (tmp_path / "link.sqlite3").symlink_to(tmp_path / "tiltyard.sqlite3")
    environment.setenv("QUEUE_URL", f"sqlite:///{tmp_path / path}")
    with pytest.raises(ImproperlyConfigured, match=r"QUEUE_URL names .*, the database's own file"):
        read_settings()


@pytest.mark.parametrize("kind", ["a file", "below a file", "in /proc"])
def test_a_data_folder_that_cannot_be_written_is_refused_with_words(environment, tmp_path, kind):
    (tmp_path / "file").touch()
    folder = {"a file": tmp_path / "file", "below a file": tmp_path / "file" / "data"}
    environment.setenv("TILTYARD_DATA_DIR", str(folder.get(kind, Path("/proc/tiltyard"))))
    with pytest.raises(ImproperlyConfigured, match=r"TILTYARD_DATA_DIR is .*, which can't be written"):
        read_settings()


def test_a_folder_in_the_secret_keys_place_is_refused_with_words(environment, tmp_path):
    (tmp_path / "secret_key").mkdir()
    with pytest.raises(ImproperlyConfigured, match="secret_key can't be read"):
        read_settings()


def test_every_bounded_setting_is_in_the_table():
    bounded = set(re.findall(r'(?:setting|switch|listed)\("([A-Z_]+)"', SETTINGS.read_text()))
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


def test_what_is_made_is_its_users_alone(environment, tmp_path, monkeypatch):
    monkeypatch.setenv("TILTYARD_DATA_DIR", str(tmp_path / "data"))
    before = os.umask(0o022)
    try:
        read_settings()
        made = tmp_path / "data" / "tiltyard.sqlite3"
        sqlite3.connect(made).execute("PRAGMA user_version=1").close()
    finally:
        os.umask(before)
    assert made.stat().st_mode & 0o777 == 0o600
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert (made.parent / "static").stat().st_mode & 0o077 == 0


def test_a_secret_key_cut_short_on_disk_is_refused(environment, tmp_path):
    (tmp_path / "secret_key").write_text("abc")
    with pytest.raises(ImproperlyConfigured, match="is empty or cut short; delete it to make a new one"):
        read_settings()


def test_an_sqlite_database_keeps_what_it_acknowledged(environment):
    options = read_settings()["DATABASES"]["default"]["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in options["init_command"]
    assert "synchronous=FULL" in options["init_command"]


@pytest.mark.parametrize(("queue", "is_loaded"), [("", False), ("redis://127.0.0.1:1/0", True)])
def test_the_client_of_redis_is_loaded_where_the_queue_is_one_and_nowhere_else(tmp_path, queue, is_loaded):
    words = "import sys, django; django.setup(); import arena.urls, huey; "
    words += "print(sorted({'redis', 'huey.storage'} & sys.modules.keys())); import redis"
    environment = os.environ | {"TILTYARD_DATA_DIR": str(tmp_path), "QUEUE_URL": queue}
    environment |= {"DJANGO_SETTINGS_MODULE": "arena.settings"}
    if not queue:
        del environment["QUEUE_URL"]
    done = subprocess.run(
        [sys.executable, "-c", words],
        cwd=SETTINGS.parents[1],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == (["['huey.storage',", "'redis']"] if is_loaded else ["['huey.storage']"])
