"""Responses as plain text: as they were written, if the campaign or the rater wants them so."""

from __future__ import annotations

import re
from html import escape, unescape

import pytest

from arena.battles.models import Vote
from arena.campaigns.models import Campaign
from arena.corpus.leak_checks import check_unchecked
from arena.corpus.models import Response
from arena.corpus.render import render

HTML = {"Accept": "text/html"}
MARKED = "# Answer\n\n- **bold** & <b>raw</b>\n  indented\n\n```py\nx = 1\n```\n"
CHOOSE = "/campaigns/small/battle/text/"


@pytest.fixture
def marked(small_campaign):
    for response in Response.objects.all():
        text = f"{MARKED}{response.pk}"
        Response.objects.filter(pk=response.pk).update(text=text, rendered_html=render(text))
    return small_campaign


def panes(page: str) -> list[str]:
    """What stands in the two panes of the battle on the screen, as HTML."""
    article = re.search(r"<article.*?</article>", page, re.DOTALL)[0]
    found = re.findall(
        r'<section class="pane.*?<div class="prose[^>]*>(.*?)</div>(?:<template class="other">|<button)',
        article,
        re.DOTALL,
    )
    assert len(found) == 2
    return found


def texts_of(battle) -> list[str]:
    return [battle.response_a.text, battle.response_b.text]


def test_by_default_both_are_formatted(marked, sit_down):
    desk = sit_down(marked)
    assert all("<strong>bold</strong>" in pane for pane in panes(desk.look().content.decode()))


def test_a_campaign_can_show_both_as_they_were_written_and_in_no_other_form(marked, sit_down):
    Campaign.objects.update(plain_text=True)
    desk = sit_down(marked)
    page, battle = desk.look().content.decode(), desk.on_screen()
    assert [unescape(pane) for pane in panes(page)] == texts_of(battle)
    assert not any(re.search(r"<\w", pane) for pane in panes(page))
    assert "<strong>bold</strong>" not in page
    assert CHOOSE not in page and "<kbd>P</kbd>" not in page
    answer = desk.vote(battle, "tie").content.decode()
    assert "**bold**" in answer and "<strong>bold</strong>" not in answer


def test_a_rater_chooses_without_a_script_and_it_lasts_until_they_choose_again(marked, sit_down):
    desk = sit_down(marked)
    assert (
        f'formaction="{CHOOSE}" name="text" value="plain" aria-pressed="false"'
        in desk.look().content.decode()
    )
    chosen = desk.client.post(CHOOSE, {"text": "plain"}, headers=HTML)
    assert (chosen.status_code, chosen["Location"]) == (303, "/campaigns/small/battle/")
    for _ in range(2):
        page, battle = desk.look().content.decode(), desk.on_screen()
        assert [unescape(pane) for pane in panes(page)] == texts_of(battle)
        assert 'value="formatted" aria-pressed="true"' in page
        desk.vote(battle, "tie", **HTML)
    desk.client.post(CHOOSE, {"text": "formatted"}, headers=HTML)
    assert all("<strong>bold</strong>" in pane for pane in panes(desk.look().content.decode()))


@pytest.mark.parametrize("of", ["campaign", "rater"])
def test_a_vote_by_form_keeps_that_plain_text_was_shown(marked, sit_down, of):
    desk = sit_down(marked)
    fields = r'<input type="hidden" name="layout" value="([^"]*)">'
    assert re.search(fields, desk.look().content.decode())[1] == ""
    if of == "campaign":
        Campaign.objects.update(plain_text=True)
    else:
        desk.client.post(CHOOSE, {"text": "plain"})
    layout = re.search(fields, desk.look().content.decode())[1]
    ballot = {"outcome": "tie", "key": "key-12345", "layout": layout}
    desk.act(desk.on_screen(), "vote", ballot, **HTML)
    assert Vote.objects.get().layout == "plain"


@pytest.mark.parametrize("layout", ["wide-ltr-plain", "narrow-rtl-plain"])
def test_a_vote_with_a_script_keeps_it_beside_the_layout(desk, layout):
    desk.act(desk.on_screen(), "vote", {"outcome": "tie", "key": "key-12345", "layout": layout})
    assert Vote.objects.get().layout == layout


def test_names_that_are_masked_are_masked_in_either_form(marked, sit_down):
    for response in Response.objects.select_related("competitor"):
        own = f"I am **{response.competitor.name}**, no. {response.pk}."
        Response.objects.filter(pk=response.pk).update(text=own, rendered_html=render(own), leak="unchecked")
    Campaign.objects.update(leak_policy="mask")
    check_unchecked()
    desk = sit_down(marked)
    for choice in ("plain", "formatted"):
        desk.client.post(CHOOSE, {"text": choice})
        page = desk.look().content.decode()
        assert "▇▇▇" in panes(page)[0] and "▇▇▇" in panes(page)[1]
        assert not any(name in page for name in ("Ember", "Fjord", "Grove"))


def test_a_form_that_does_not_exist_and_one_who_has_no_place_choose_nothing(desk, client, small_campaign):
    for visitor, chosen in ((desk.client, "upside-down"), (desk.client, ""), (client, "plain")):
        answer = visitor.post(CHOOSE, {"text": chosen})
        assert answer.status_code == 404
        assert "tiltyard_text" not in answer.cookies


def test_markup_around_plain_texts_is_alike_on_both_sides(marked, sit_down):
    Campaign.objects.update(plain_text=True)
    desk = sit_down(marked)
    page, battle = desk.look().content.decode(), desk.on_screen()
    sides = re.findall(r"<section class=\"pane.*?</section>", page, re.DOTALL)[:2]
    bare = [
        side.replace(escape(text), "")
        .replace(f"pane-{letter.lower()}", "")
        .replace(f"Response {letter}", "")
        .replace(f"<h2>{letter}</h2>", "")
        for side, text, letter in zip(sides, texts_of(battle), "AB", strict=True)
    ]
    assert bare[0] == bare[1]
