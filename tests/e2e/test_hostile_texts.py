"""The hostile texts in every place of a page in a browser: nothing runs, leaves or vanishes."""

from __future__ import annotations

import pytest
from django.utils import timezone

from arena.battles.models import Battle, BattleNote, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, Response
from arena.corpus.names import name_key
from arena.corpus.render import render
from arena.raters.models import Rater
from tests.battles.hostile_texts import TEXTS, missing

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIZES = ({"width": 375, "height": 812}, {"width": 1280, "height": 800})
BATCHES = 4
LONG = 20_000  # characters
FOLDS = {"think", "thinking"}  # the tags around reasoning: it is folded instead
TRAP = "window.pwned = () => { window.wasPwned = true; };"
# All that a reader can find: the texts, and where links lead.
SHOWN = """selector => [...document.querySelectorAll(selector)].map(box => box.textContent + " "
  + [...box.querySelectorAll("[title]")].map(one => decodeURI(one.title)).join(" ")).join(" ")"""
NAMES = [text for text in TEXTS if text.strip() and len(text) <= 200 and "\0" not in text]
COMMENTS = [text for text in TEXTS if text.strip() and len(text) <= 2000 and "\0" not in text]


def batch(number: int) -> list[str]:
    """The longest come once, as a response."""
    return [text for text in TEXTS if len(text) < LONG][number::BATCHES]


@pytest.fixture
def rater(page, at_work, make_campaign):
    """Before battles whose prompt and both responses hold a quarter of the texts each."""
    small = make_campaign(prompts=BATCHES, names=("Ember", "Fjord"), reveal=Campaign.Reveal.AFTER_CLOSE)
    for number, prompt in enumerate(small.prompts):
        html = "".join(map(render, batch(number)))
        Prompt.objects.filter(pk=prompt.pk).update(rendered_html=html)
        Response.objects.filter(prompt=prompt).update(rendered_html=html)
    longest = Response.objects.filter(prompt=small.prompts[0]).earliest("pk")
    longest.rendered_html += "".join(render(text) for text in TEXTS if len(text) >= LONG)
    longest.save()
    page.add_init_script(TRAP)
    rater = at_work(page)
    rater.begin(small.token)
    return rater


def assert_buttons_are_in_view(page, size) -> None:
    page.set_viewport_size(size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for button in page.locator("#vote-bar button:visible").all():
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= size["width"], button
        assert box["y"] >= 0 and box["y"] + box["height"] <= size["height"], button


def assert_nothing_ran_or_left(rater) -> None:
    assert rater.page.evaluate("window.wasPwned") is None
    assert [url for url in rater.record.requests if not url.startswith(rater.url)] == []
    assert rater.record.complaints == []


def test_in_prompts_and_responses_nothing_runs_leaves_or_vanishes_and_the_buttons_stay(page, rater):
    seen = set()
    for _ in range(BATCHES):
        prompt = Battle.objects.get(public_id=rater.battle()).prompt
        number = int(prompt.external_id.removeprefix("p"))
        seen.add(number)
        for size in SIZES:
            assert_buttons_are_in_view(page, size)
        shown = {
            part: page.evaluate(SHOWN, f"#stage {part} .prose") for part in (".prompt", ".pane-a", ".pane-b")
        }
        for text in batch(number):
            lost = [(part, words) for part, html in shown.items() if (words := missing(text, html) - FOLDS)]
            assert lost == [] or "ехample" in text, text[:100]
        assert page.locator("dialog[open], :popover-open, form:not(#ballot):visible").count() == 0
        rater.press("t")
    assert seen == set(range(BATCHES))
    assert Vote.objects.count() == BATCHES
    assert_nothing_ran_or_left(rater)


@pytest.fixture
def voted(rater):
    """Votes on battles between models that bear the texts as their names, with the texts as comments."""
    campaign, person, now = Campaign.objects.get(), Rater.objects.get(), timezone.now()
    known: dict[str, Competitor] = {}
    for name in NAMES:
        key = name_key(name)
        known.setdefault(key, Competitor(team_id=campaign.team_id, name=name, name_key=key))
    competitors = Competitor.objects.bulk_create(known.values())
    prompt = Prompt.objects.earliest("pk")
    pairs = list(zip(competitors, competitors[1:] + competitors[:1], strict=True))
    battles = Battle.objects.bulk_create(
        Battle(campaign=campaign, rater=person, prompt=prompt, competitor_a=a, competitor_b=b, drawn_at=now)
        for a, b in pairs
    )
    Vote.objects.bulk_create(
        Vote(
            battle=battle,
            rater=person,
            outcome="tie",
            idempotency_key=f"hostile-{battle.pk}",
            voted_at=now,
            digest="0" * 64,
        )
        for battle in battles
    )
    comments = BattleNote.objects.bulk_create(
        BattleNote(battle=battle, rater=person, kind="comment", text=text)
        for battle, text in zip(battles, COMMENTS, strict=False)
    )
    Campaign.objects.update(status="closed")
    return competitors, comments


def test_in_names_and_comments_nothing_runs_leaves_or_vanishes(page, rater, voted):
    competitors, comments = voted
    assert len(competitors) > 100
    shown = ""
    for number in range(1, len(competitors) // 50 + 2):
        page.goto(f"{rater.url}/campaigns/small/my-votes/?page={number}")
        shown += page.locator(".my-votes").text_content()
        for size in SIZES:
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for competitor in competitors:
        assert missing(competitor.name, shown) == set(), competitor.name
    for comment in comments:
        assert missing(comment.text, shown) == set(), comment.text
    assert_nothing_ran_or_left(rater)
