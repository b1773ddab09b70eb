"""Every word that Tiltyard itself says to a rater goes through gettext."""

import re
from html.parser import HTMLParser

import pytest
from django.utils import translation

SPOKEN_ATTRIBUTES = {"aria-label", "title", "placeholder", "alt", "content"}
# Names, key caps and data of the test campaign: nobody translates them.
NOT_WORDS = re.compile(
    r"Tiltyard|Small|Prompt number \d+\?|Reply \d+ to p\d+, in some words\.|Which response helps more\?"
)


class Texts(HTMLParser):
    """Collects what a reader sees or hears of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.silent = 0
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag in {"script", "style", "kbd"}:
            self.silent += 1
        for name, value in attrs:
            if value and ((name in SPOKEN_ATTRIBUTES and tag != "meta") or name.startswith("data-say")):
                self.found.append(value)

    def handle_endtag(self, tag):
        if tag in {"script", "style", "kbd"}:
            self.silent -= 1

    def handle_data(self, data):
        if not self.silent:
            self.found.append(data)


def untranslated(html: str) -> list[str]:
    texts = Texts()
    texts.feed(html)
    left = [NOT_WORDS.sub("", re.sub(r"⟦[^⟧]*⟧", "", text)) for text in texts.found]
    return [text.strip() for text in left if re.search(r"[^\W\d_]{2,}", text)]


@pytest.fixture
def bracketed(monkeypatch):
    """A language in which every translated message stands in brackets."""
    for name in ("gettext", "pgettext"):
        monkeypatch.setattr(translation._trans, name, lambda *words: f"⟦{words[-1]}⟧", raising=False)
    monkeypatch.setattr(
        translation._trans, "ngettext", lambda one, many, n: f"⟦{one if n == 1 else many}⟧", raising=False
    )


def test_the_check_notices_a_bare_word():
    assert untranslated("<p>⟦Begin⟧ now</p><kbd>Esc</kbd>") == ["now"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/join/{token}/", "/campaigns/small/guide/", "/campaigns/small/battle/"])
def test_a_raters_page_says_nothing_untranslated(client, small_campaign, bracketed, path):
    client.post(f"/join/{small_campaign.token}/")
    page = client.get(path.format(token=small_campaign.token)).content.decode()
    assert untranslated(page) == []
    assert "⟦" in page


@pytest.mark.django_db
def test_after_the_quota_nothing_is_untranslated(client, small_campaign, bracketed):
    type(small_campaign.campaign).objects.update(quota=1, status="closed")
    client.post(f"/join/{small_campaign.token}/")
    assert untranslated(client.get("/campaigns/small/battle/").content.decode()) == []
