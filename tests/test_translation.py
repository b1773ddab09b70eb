"""Every word that Tiltyard itself says to a rater goes through gettext."""

import re
from html.parser import HTMLParser

import pytest
from django.template.autoreload import reset_loaders
from django.utils import translation

from arena.corpus.models import Prompt, Response
from arena.corpus.render import render, render_turns

SPOKEN_ATTRIBUTES = {"aria-label", "title", "placeholder", "alt", "content"}
# Names, key caps and data of the test campaign: nobody translates them.
NOT_WORDS = re.compile(
    r"Tiltyard|Small|Prompt number \d+\?|Reply \d+ to p\d+, in some words\.|Which response helps more\?"
    r"|English|français|العربيّة"
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
    texts.feed(re.sub(r"⟦[^⟧]*⟧", "", html))
    left = [NOT_WORDS.sub("", text) for text in texts.found]
    return [text.strip() for text in left if re.search(r"[^\W\d_]{2,}", text)]


@pytest.fixture
def bracketed(monkeypatch):
    """A language in which every translated message stands in brackets."""
    for name in ("gettext", "pgettext"):
        monkeypatch.setattr(translation._trans, name, lambda *words: f"⟦{words[-1]}⟧", raising=False)
    monkeypatch.setattr(
        translation._trans, "ngettext", lambda one, many, n: f"⟦{one if n == 1 else many}⟧", raising=False
    )
    reset_loaders()  # templates keep the words that they have looked up
    yield
    reset_loaders()


def test_the_check_notices_a_bare_word():
    assert untranslated("<p>⟦Begin⟧ now</p><kbd>Esc</kbd>") == ["now"]


PAGES = ("/", "/join/{token}/", *(f"/campaigns/small/{page}/" for page in ("guide", "battle", "my-votes")))


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
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


@pytest.mark.django_db
def test_who_has_no_place_and_the_teams_preview_read_nothing_untranslated(
    client, signed_in, small_campaign, bracketed
):
    for visitor, path in (
        (client, "/campaigns/small/battle/"),
        (signed_in("carol"), "/campaigns/small/battle/"),
        (signed_in("carol"), "/campaigns/small/preview/"),
        (client, "/nowhere/"),
    ):
        page = visitor.get(path).content.decode()
        assert untranslated(page.replace("carol", "")) == []
        assert "⟦" in page


@pytest.fixture
def visit(client, small_campaign):
    def get(path: str, language: str) -> str:
        return client.get(path, headers={"Accept-Language": language}).content.decode()

    client.post(f"/join/{small_campaign.token}/")
    return get


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "opening", "words"),
    [
        ("en-GB", '<html lang="en">', "A is better"),
        ("fr-CA,fr;q=0.9,en;q=0.5", '<html lang="fr">', "A est meilleure"),
        ("ar-EG", '<html lang="ar" dir="rtl">', "A أفضل"),
        ("tlh", '<html lang="en">', "A is better"),
    ],
)
def test_raters_read_the_language_of_their_browser(visit, language, opening, words):
    page = visit("/campaigns/small/battle/", language)
    assert opening in page
    assert words in page


@pytest.mark.django_db
def test_a_language_chosen_on_the_page_stays_and_leads_back_to_it(visit, client):
    answer = client.post("/language/", {"language": "ar", "next": "/campaigns/small/battle/"})
    assert (answer.status_code, answer.url) == (302, "/campaigns/small/battle/")
    assert "A أفضل" in visit("/campaigns/small/battle/", "en")
    client.post("/language/", {"language": "klingon", "next": "/"})
    assert "A أفضل" in visit("/campaigns/small/battle/", "en")


@pytest.mark.django_db
def test_a_language_leads_to_no_other_site(client):
    assert client.post("/language/", {"language": "fr", "next": "https://evil.test/"}).url == "/"


@pytest.mark.django_db
def test_the_teams_pages_stay_english(signed_in, small_campaign):
    page = signed_in("carol").get("/campaigns/small/", headers={"Accept-Language": "ar"}).content.decode()
    assert '<html lang="en">' in page
    assert 'popovertarget="languages"' not in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "words"), [("en", "Reasoning"), ("fr", "Raisonnement"), ("ar", "التفكير")]
)
def test_what_the_renderer_adds_is_in_the_readers_language_and_what_a_text_says_stays(
    visit, small_campaign, language, words
):
    text = "<think>hm</think>See ![cat](https://a.test/c.png) and <summary>Reasoning</summary> [Image: no]"
    Response.objects.update(rendered_html=render(text))
    Prompt.objects.update(rendered_html=render_turns([{"role": "user", "content": "Hi"}] * 2))
    page = visit("/campaigns/small/battle/", language)
    assert f"<summary>{words}</summary>" in page
    assert "&lt;summary&gt;Reasoning&lt;/summary&gt;" in page
    assert "[Image: no]" in page
    image = {"en": "[Image: cat", "fr": "[Image : cat", "ar": "[صورة: cat"}[language]
    assert image in page
    assert {"en": "Person", "fr": "Personne", "ar": "الشخص"}[language] in page
