"""What people write stands in its own direction on pages of another."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from django.test import Client

from arena.battles.models import BattleNote, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt

pytestmark = pytest.mark.django_db

WRITTEN = "By people."
VOID = {"meta", "link", "input", "br", "hr", "img"}


class Bare(HTMLParser):
    """Where something written by people stands in the page's own direction."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.found: list[str] = []
        self.seen = 0

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append((tag, tag in {"bdi", "title", "textarea"} or dict(attrs).get("dir") == "auto"))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if WRITTEN in data:
            self.seen += 1
            if not any(isolated for _tag, isolated in self.open):
                self.found.append("/".join(tag for tag, _isolated in self.open))


@pytest.fixture
def written(make_campaign):
    """A campaign all of whose texts are people's, with one vote and its comment."""
    small = make_campaign(
        name=f"Name. {WRITTEN}",
        description=f"Description. {WRITTEN}",
        guide_text=f"- {WRITTEN}",
        reveal="after_close",
        admission=Campaign.Admission.OPEN,
    )
    Prompt.objects.update(messages=[{"role": "user", "content": WRITTEN}], rendered_html=f"<p>{WRITTEN}</p>")
    for competitor in Competitor.objects.all():
        Competitor.objects.filter(pk=competitor.pk).update(name=f"{competitor.name} {WRITTEN}")
    return small


@pytest.mark.parametrize("path", ["join/{token}", "", "guide", "battle", "my-votes"])
@pytest.mark.parametrize("status", ["open", "closed"])
def test_on_a_page_from_right_to_left_what_people_wrote_keeps_its_direction(
    written, cast_votes, path, status
):
    rater = Client(headers={"accept-language": "ar"})
    rater.post(f"/join/{written.token}/")
    cast_votes(rater)
    vote = Vote.objects.get()
    BattleNote.objects.create(battle=vote.battle, rater=vote.rater, kind="comment", text=WRITTEN)
    Campaign.objects.update(status=status)
    page = Bare()
    if path and not path.startswith("join"):
        path = f"campaigns/small/{path}"
    answer = rater.get(f"/{path.format(token=written.token)}{'/' if path else ''}")
    assert 'dir="rtl"' in answer.content.decode()
    page.feed(answer.content.decode())
    assert page.seen and page.found == []


def test_the_way_to_boards_says_that_they_are_english_and_they_are(small_campaign):
    for language, words in (("en", "Boards</a>"), ("fr", "(en anglais)"), ("ar", "(بالإنجليزية)")):
        visitor = Client(headers={"accept-language": language})
        assert words in visitor.get("/").content.decode()
        boards = visitor.get("/boards/").content.decode()
        assert '<html lang="en">' in boards and "(en anglais)" not in boards
