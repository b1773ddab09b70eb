"""What the docs promise exists, and what exists is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import BaseCommand, get_commands, load_command_class

ROOT = Path(__file__).resolve().parent.parent
DOCS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
READ = re.compile(
    r'(?:setting|switch|listed|env\.\w+|environ\.get|getenv|environ)[(\[]\s*"([A-Z][A-Z0-9_]+)"'
)
COMMON_OPTIONS = {
    option
    for action in BaseCommand().create_parser("manage.py", "any")._actions
    for option in action.option_strings
} | {"--skip-checks"}


def documented(file: str) -> str:
    return (ROOT / "docs" / file).read_text()


def settings_read() -> set[str]:
    return {name for path in (ROOT / "arena").rglob("*.py") for name in READ.findall(path.read_text())}


def own_commands() -> set[str]:
    return {path.stem for path in (ROOT / "arena" / "management" / "commands").glob("[a-z]*.py")}


def test_every_setting_is_documented():
    assert len(settings_read()) > 15
    assert {name for name in settings_read() if f"`{name}`" not in documented("settings.md")} == set()


def test_every_documented_setting_exists():
    rows = set(re.findall(r"^\| `([A-Z_]+)` \|", documented("settings.md"), re.MULTILINE))
    assert rows
    assert rows - settings_read() == set()


def test_every_command_is_documented():
    assert {
        name
        for name in own_commands()
        if not re.search(rf"^\| `{name}\b", documented("commands.md"), re.MULTILINE)
    } == set()


def test_every_documented_command_exists():
    named = {
        name
        for path in DOCS
        for name in re.findall(r"(?:\./tiltyard manage|manage\.py) ([a-z_]+)", path.read_text())
    }
    named |= set(re.findall(r"^\| `([a-z_]+)", documented("commands.md"), re.MULTILINE))
    assert named - set(get_commands()) - {"help"} == set()


@pytest.mark.parametrize("name", sorted(own_commands()))
def test_every_option_of_a_command_is_documented(name):
    parser = load_command_class("arena", name).create_parser("manage.py", name)
    every = {option for action in parser._actions for option in action.option_strings}
    options = {option for option in every - COMMON_OPTIONS if option.startswith("--")}
    section = next(
        line for line in documented("commands.md").splitlines() if re.match(rf"\| `{name}\b", line)
    )
    assert {option for option in options if option not in section} == set()


def test_every_promise_of_integrity_names_tests_that_exist():
    rows = re.findall(r"^\| ([DV]\d+) \|.*$", documented("integrity.md"), re.MULTILINE)
    assert rows == [*(f"D{number}" for number in range(1, 12)), *(f"V{number}" for number in (1, 2, 3, 6, 7))]
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", documented("integrity.md"))
    assert len(named) > 3 * len(rows)
    missing = {
        f"{file}::{name}"
        for file, name in named
        if not (ROOT / file).exists() or f"\ndef {name}(" not in (ROOT / file).read_text()
    }
    assert missing == set()


def test_links_between_documents_lead_somewhere():
    links = [
        (path, target)
        for path in DOCS
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text())
    ]
    assert links
    assert [f"{path.name}: {target}" for path, target in links if not (path.parent / target).exists()] == []


def test_no_document_names_a_place_of_somebodys_machine():
    private = re.compile(r"(?:^|[\s`(\"'])(/work/|/tmp/|/root/|/home/)")
    assert [path.name for path in DOCS if private.search(path.read_text())] == []
