"""Prompt sets, models, imports and exports on a phone: axe, both colour schemes, nothing too wide."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from arena.exchange.models import Import
from tests.e2e.test_axe_everywhere import findings
from tests.test_access import fill_route, routes, visitors

__all__ = ["fill_route", "visitors"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 375, "height": 700}
ROOMS = ("arena.corpus.", "arena.exchange.", "arena.campaigns.")
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
LONG = "averylongwordwithoutanyspace" * 12
FILES = {
    "prompts": (
        "Fresh",
        [{"id": LONG[:150], "prompt": f"Why {LONG}?"}, {"id": "b", "prompt": "| a | b |\n|-|-|"}],
    ),
    "responses": ("Nowhere", [{"prompt_id": "x", "model": LONG[:150], "response": "y"}]),
    "votes": ("old", [{"model_a": LONG[:150], "model_b": "b", "winner": "nobody", "prompt_id": LONG[:150]}]),
}


@pytest.fixture
def phone(open_context, live_server, visitors):
    """phone(addresses) is what is wrong with these pages for Carol."""
    context = open_context(viewport=PHONE)
    session = visitors["carol"].cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()

    def look(addresses: list[str]) -> list[str]:
        found = []
        for address in addresses:
            found += [f"{address} {fault}" for fault in findings(page, live_server.url + address)]
            if page.evaluate(TOO_WIDE):
                found.append(f"{address} is wider than a phone")
        return found

    return look


def test_every_page_of_these_rooms_fits_a_phone(phone, visitors, fill_route):
    carol = visitors["carol"]
    addresses = [
        address
        for route, pattern in sorted(routes().items())
        if pattern.callback.__module__.startswith(ROOMS)
        and (answer := carol.get(address := fill_route(route))).status_code == 200
        and b"<html" in b"".join(answer)[:200]
    ]
    assert len(addresses) > 20
    assert phone(addresses) == []


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_waits_or_was_refused_fits_a_phone(phone, visitors, kind, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    target, rows = FILES[kind]
    file = SimpleUploadedFile("file.jsonl", "\n".join(map(json.dumps, rows)).encode())
    visitors["carol"].post(f"/imports/new/?kind={kind}", {"target": target, "file": file})
    record = Import.objects.get()
    assert record.state == ("previewed" if kind == "prompts" else "refused")
    assert phone([f"/imports/{record.public_id}/", "/imports/"]) == []


def test_a_form_with_errors_fits_a_phone_too(phone, visitors):
    assert phone(["/imports/new/?kind=responses&target=" + LONG[:120], "/prompt-sets/new/"]) == []
