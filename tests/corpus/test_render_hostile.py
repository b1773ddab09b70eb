"""The hostile texts through the renderer: harmless, and with every word on the page."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest

from arena.corpus.render import render
from tests.battles.hostile_texts import TEXTS, missing
from tests.corpus.test_render import Page, assert_harmless

FOLDS = {"think", "thinking"}  # the tags around reasoning: it is folded instead


def test_there_are_enough_of_them():
    assert len(set(TEXTS)) >= 120


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_hostile_text_is_harmless_and_loses_no_word(text):
    html = render(text)
    assert_harmless(html)
    page = Page(html)
    told = " ".join(str(value) for _tag, attributes in page.tags for value in attributes.values())
    assert missing(text, f"{page.text} {spelled_out(told)}") - FOLDS == set()


def spelled_out(addresses: str) -> str:
    """A foreign host is told in the letters that every browser would send."""
    host = re.compile(r"xn--[\w-]+")
    return host.sub(lambda label: label[0].encode().decode("idna"), unquote(addresses))
