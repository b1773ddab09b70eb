"""The keyboard alone, from the invite link to the tenth vote, while every byte is read along."""

from __future__ import annotations

import base64
import hashlib

import pytest

from arena.battles.models import Battle, Outcome, Retraction, Vote
from arena.campaigns.models import Campaign
from tests.e2e.conftest import follow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CANARIES = ("quilldrake-zx81", "vostrik-70b", "bromeliad-ultra")
VOTES = ("a", "b", "t", "x", "ArrowLeft", "ArrowRight", "b", "t", "a", "x")
OUTCOMES = {
    "a": Outcome.MODEL_A,
    "ArrowLeft": Outcome.MODEL_A,
    "b": Outcome.MODEL_B,
    "ArrowRight": Outcome.MODEL_B,
    "t": Outcome.TIE,
    "x": Outcome.BOTH_BAD,
}


@pytest.fixture
def campaign(make_campaign):
    small = make_campaign(prompts=12, names=CANARIES, reveal=Campaign.Reveal.AFTER_CLOSE)
    for competitor in small.competitors:
        competitor.aliases = [f"alias-of-{competitor.name}"]
        competitor.save()
    return small


def traces_of(name: str) -> set[str]:
    raw = name.encode()
    hashes = {hashlib.new(kind, raw).hexdigest() for kind in ("md5", "sha1", "sha256")}
    return {name, base64.b64encode(raw).decode().rstrip("="), raw.hex()} | hashes


def test_ten_votes_and_an_undo_with_the_keyboard_alone_and_no_name_in_any_byte(page, at_work, campaign):
    rater = at_work(page)
    page.goto(f"{rater.url}/join/{campaign.token}/")
    page.get_by_role("button", name="Begin").focus()
    page.keyboard.press("Enter")
    rater.settle()

    for number, key in enumerate(VOTES, start=1):
        rater.press(key)
        assert rater.progress() == ("1 vote" if number == 1 else f"{number} votes")
        if number == 6:
            rater.press("z")
            assert rater.progress() == "5 votes"
            rater.press(key)

    cast = Vote.objects.standing().order_by("pk").values_list("outcome", flat=True)
    assert list(cast) == [OUTCOMES[key] for key in VOTES]
    assert (Vote.objects.count(), Retraction.objects.count()) == (11, 1)
    assert {vote.layout for vote in Vote.objects.all()} == {"wide-ltr"}
    assert all(vote.dwell_ms > 0 for vote in Vote.objects.all())

    assert len(rater.record.answers) > 11
    sent = "\n".join(rater.record.answers)
    assert [trace for name in CANARIES for trace in traces_of(name) if trace in sent] == []
    assert "Reply 0 to p" in sent, "the record holds no bodies"
    assert rater.record.complaints == []
    assert [url for url in rater.record.requests if not url.startswith(rater.url)] == []


def test_after_each_vote_the_focus_is_on_the_prompts_heading(page, at_work, campaign):
    rater = at_work(page)
    rater.begin(campaign.token)
    rater.press("t")
    assert page.evaluate("document.activeElement.tagName + document.activeElement.textContent") == "H2Prompt"
    assert page.locator("#announce").text_content() == "Recorded: tie."


def test_the_bar_does_not_move_when_the_next_battle_comes(page, at_work, campaign):
    rater = at_work(page)
    rater.begin(campaign.token)
    buttons = page.locator("#vote-bar .vote")
    before = [button.bounding_box() for button in buttons.all()]
    rater.press("a")
    assert [button.bounding_box() for button in buttons.all()] == before
    rater.press("z")
    assert [button.bounding_box() for button in buttons.all()] == before


@pytest.mark.parametrize("key", ["Control+a", "Alt+b", "Meta+t", "Shift+X"])
def test_a_key_with_a_modifier_is_no_vote(page, at_work, campaign, key):
    rater = at_work(page)
    rater.begin(campaign.token)
    before = rater.battle()
    page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert rater.battle() == before
    assert not Vote.objects.exists()


def test_keys_typed_into_a_field_or_an_open_dialog_are_no_votes(page, at_work, campaign):
    rater = at_work(page)
    rater.begin(campaign.token)
    before = rater.battle()
    page.keyboard.press("f")
    page.keyboard.type("a bat sat")
    assert page.locator("#flag-text").input_value() == "a bat sat"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.locator("#keys").wait_for()
    page.keyboard.press("b")
    page.keyboard.press("Escape")
    page.locator("#keys").wait_for(state="hidden")
    page.wait_for_timeout(300)
    assert rater.battle() == before
    assert not Vote.objects.exists()


def test_a_key_pressed_while_text_is_composed_is_no_vote(page, at_work, campaign):
    rater = at_work(page)
    rater.begin(campaign.token)
    before = rater.battle()
    page.evaluate(
        """document.body.dispatchEvent(new KeyboardEvent("keydown",
           {key: "a", code: "KeyA", bubbles: true, isComposing: true}))"""
    )
    page.wait_for_timeout(300)
    assert rater.battle() == before


def test_a_keyboard_of_another_script_votes_by_place(page, at_work, campaign):
    rater = at_work(page)
    rater.begin(campaign.token)
    before = rater.battle()
    page.evaluate(
        """document.body.dispatchEvent(new KeyboardEvent("keydown",
           {key: "ش", code: "KeyA", bubbles: true}))"""
    )
    page.wait_for_function(
        "before => document.querySelector('#stage > article').dataset.battle !== before", arg=before
    )
    page.wait_for_function("() => document.querySelector('#recorded').textContent.includes('Recorded')")
    assert Vote.objects.get().outcome == Outcome.MODEL_A


def test_letter_keys_can_be_turned_off_and_stay_off(page, at_work, campaign):
    rater = at_work(page)
    rater.begin(campaign.token)
    page.keyboard.press("?")
    page.locator("#letters").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    rater.settle()
    before = rater.battle()
    page.keyboard.press("a")
    page.wait_for_timeout(300)
    assert rater.battle() == before
    rater.press("ArrowRight")
    assert Vote.objects.get().outcome == Outcome.MODEL_B


def test_a_double_click_is_one_vote(page, at_work, campaign):
    rater = at_work(page)
    rater.begin(campaign.token)
    page.get_by_role("button", name="Tie").dblclick()
    page.wait_for_function("() => document.querySelector('#recorded').textContent.includes('Recorded')")
    page.wait_for_timeout(300)
    assert Vote.objects.count() == 1


def test_skip_and_flag_by_key(page, at_work, campaign):
    rater = at_work(page)
    rater.begin(campaign.token)
    first = rater.battle()
    page.keyboard.press("f")
    page.keyboard.type("It says who wrote it.")
    page.keyboard.press("Enter")
    page.wait_for_selector("#word:has-text('Flagged')")
    assert rater.battle() == first
    rater.press("s")
    kinds = Battle.objects.get(public_id=first).notes.order_by("kind").values_list("kind", "text")
    assert list(kinds) == [("flag", "It says who wrote it."), ("skip", "")]
    assert not Vote.objects.exists()


def test_the_last_vote_leads_to_the_finished_page(page, at_work, make_campaign):
    small = make_campaign("brief", prompts=2, names=("Ember", "Fjord"))
    rater = at_work(page)
    rater.begin(small.token)
    rater.press("a")
    rater.press("b")
    page.wait_for_selector(".finished")
    title = page.locator(".finished").get_by_role("heading").inner_text()
    assert title == "That was the last battle. Thank you!"
    page.keyboard.press("z")
    page.wait_for_selector("article.battle")
    assert Retraction.objects.count() == 1
    assert rater.record.complaints == []


def test_whoever_is_done_takes_their_votes_along_to_another_device(page, at_work, make_campaign):
    small = make_campaign("brief", prompts=2, names=("Ember", "Fjord"))
    rater = at_work(page)
    rater.begin(small.token)
    rater.press("a")
    rater.press("b")
    page.wait_for_selector(".finished")
    follow(page.get_by_role("button", name="Make a personal link"))
    link = page.locator("textarea#my-link").input_value()
    page.context.clear_cookies()
    page.goto(link)
    follow(page.get_by_role("button", name="Begin"))
    page.wait_for_selector(".finished")
    follow(page.get_by_role("link", name="My votes"))
    assert page.locator(".my-votes > li").count() == 2
    assert rater.record.complaints == []
