from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from arena.battles.models import Battle, BattleNote, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Response

HTML = {"Accept": "text/html"}


def words(answer) -> str:
    text = re.sub(r"<[^>]+>", " ", answer.content.decode())
    return " ".join(text.split()).replace("&#x27;", "'")


def test_the_page_shows_a_prompt_and_two_responses(desk):
    page = desk.look().content.decode()
    battle = desk.on_screen()
    stage = page.split('<div id="stage">')[1].split("<template>")[0]
    for html in (
        battle.prompt.rendered_html,
        battle.response_a.rendered_html,
        battle.response_b.rendered_html,
    ):
        assert html in stage
    assert stage.index(battle.response_a.rendered_html) < stage.index(battle.response_b.rendered_html)


def test_the_next_battle_comes_along_to_be_painted_at_once(desk):
    page = desk.look().content.decode()
    assert page.count("<article") == 2
    assert page.count("<template>") == 1


def test_a_script_asking_for_the_page_gets_its_changing_part(desk):
    part = desk.look(**{"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert 'id="battle"' in part.content.decode()
    assert "HX-Request" in part["Vary"]


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_both_texts_come_whole_in_one_answer(desk, headers):
    """No side can be seen to be quicker, or be looked at before the other is there."""
    answer = desk.look(**headers)
    battle = desk.on_screen()
    assert not answer.streaming
    for text in (battle.response_a, battle.response_b):
        assert text.rendered_html in answer.content.decode()


def test_the_page_is_never_kept_by_a_cache(desk):
    battle = desk.on_screen()
    for answer in (desk.look(), desk.vote(battle), desk.act(battle, "undo")):
        assert "no-store" in answer["Cache-Control"]
        assert "ETag" not in answer and "Last-Modified" not in answer


@pytest.mark.parametrize("admission", [Campaign.Admission.OPEN, Campaign.Admission.LOGIN])
def test_a_stranger_is_led_to_the_door_where_none_is_needed(make_campaign, admission):
    make_campaign(admission=admission)
    answer = Client().get("/campaigns/small/battle/")
    assert (answer.status_code, answer.url) == (302, "/campaigns/small/begin/")


def test_asking_with_head_for_the_next_battle_draws_none(desk):
    answer = desk.client.head(f"/campaigns/{desk.campaign.slug}/battle/")
    assert (answer.status_code, Battle.objects.count()) == (200, 0)
    desk.look()
    assert Battle.objects.count() > 0


def test_getting_a_page_that_takes_posts_is_refused(desk):
    battle = desk.on_screen()
    for act in ("vote", "undo", "skip", "flag"):
        assert desk.client.get(f"/battles/{battle.public_id}/{act}/").status_code == 405
    assert desk.client.post("/campaigns/small/battle/").status_code == 405


def test_votes_are_counted_on_the_page(desk):
    assert "0 votes" in words(desk.look())
    desk.vote(desk.on_screen())
    assert "1 vote " in words(desk.look())
    desk.vote(desk.on_screen())
    assert "2 votes" in words(desk.look())


def test_with_a_quota_the_page_says_how_far_it_is(make_campaign, sit_down):
    desk = sit_down(make_campaign(quota=5))
    desk.vote(desk.on_screen())
    assert "1 of 5" in words(desk.look())


def test_at_the_quota_the_page_thanks_and_offers_to_go_on(make_campaign, sit_down):
    desk = sit_down(make_campaign(quota=2))
    desk.vote(desk.on_screen())
    last = desk.vote(desk.on_screen())
    assert "Done. Thank you!" in words(last)
    assert "<article" not in desk.look().content.decode()
    assert Battle.objects.count() == 2, "battles beyond the quota were drawn for nobody"
    more = desk.client.post("/campaigns/small/battle/more/")
    assert more.status_code == 303
    assert "<article" in desk.look().content.decode()
    assert "2 of 2" in words(desk.look())


def test_undo_at_the_quota_brings_the_battle_back(make_campaign, sit_down):
    desk = sit_down(make_campaign(quota=1))
    battle = desk.on_screen()
    assert "/undo/" in desk.vote(battle).content.decode()
    desk.act(battle, "undo")
    assert desk.on_screen().replaces == battle


def test_when_nothing_is_left_the_page_says_so(make_campaign, sit_down):
    desk = sit_down(make_campaign(prompts=1, names=("Ember", "Fjord")))
    last = desk.vote(desk.on_screen())
    assert "That was the last battle" in words(last)
    assert "That was the last battle" in words(desk.look())
    assert "two models meet once on a prompt" in words(desk.look())
    assert "every prompt with every pair" not in words(desk.look())


def test_where_names_are_shown_the_last_page_says_why_it_ends_before_all_pairs_have_met(
    make_campaign, sit_down
):
    desk = sit_down(make_campaign(prompts=1, reveal=Campaign.Reveal.AFTER_VOTE))
    last = desk.vote(desk.on_screen())
    assert Battle.objects.count() == 1, "a second of the three pairs was drawn with a name that is known"
    assert "a model that you have met on a prompt doesn't come back on that prompt" in words(last)
    assert "two models meet once" not in words(last)


def test_a_campaign_without_two_different_responses_says_what_is_missing(desk):
    Response.objects.update(text_hash="0" * 64)
    assert "There is no battle yet" in words(desk.look())


@pytest.mark.parametrize(
    ("status", "sentence"), [("paused", "isn't open at the moment"), ("closed", "This campaign is closed")]
)
def test_a_campaign_that_is_not_open_shows_no_battle(desk, status, sentence):
    desk.on_screen()
    Campaign.objects.update(status=status)
    assert sentence in words(desk.look())
    assert "<article" not in desk.look().content.decode()


def test_skip_leads_to_the_next_battle_and_this_one_stays_away(desk):
    skipped = desk.on_screen()
    answer = desk.act(skipped, "skip", **HTML)
    assert answer.status_code == 303
    assert "Skipped" in words(desk.look())
    seen = {(skipped.prompt_id, skipped.pair)}
    for _ in range(11):
        battle = desk.on_screen()
        assert (battle.prompt_id, battle.pair) not in seen
        seen.add((battle.prompt_id, battle.pair))
        desk.vote(battle)
    assert "That was the last battle" in words(desk.look())


def test_a_battle_with_a_vote_cannot_be_skipped(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    assert desk.act(battle, "skip").status_code == 409
    assert not BattleNote.objects.exists()


def test_a_flag_keeps_the_words_and_the_battle_stays(desk):
    battle = desk.on_screen()
    answer = desk.act(battle, "flag", {"text": "It says <b>who</b> wrote it."})
    assert "Flagged, thank you" in words(answer)
    note = BattleNote.objects.get()
    assert (note.kind, note.battle, note.rater, note.text) == (
        "flag",
        battle,
        desk.rater,
        "It says <b>who</b> wrote it.",
    )
    assert desk.on_screen() == battle
    desk.act(battle, "flag", {"text": "It says <b>who</b> wrote it."})
    assert BattleNote.objects.count() == 1


def test_a_battle_takes_five_flags_and_no_sixth(desk):
    battle = desk.on_screen()
    answers = [desk.act(battle, "flag", {"text": f"flag {number}"}).status_code for number in range(6)]
    assert answers == [200] * 5 + [409]
    assert desk.act(battle, "flag", {"text": "flag 0"}).status_code == 200
    assert BattleNote.objects.count() == 5


def test_a_flag_of_a_novel_is_refused(desk):
    assert desk.act(desk.on_screen(), "flag", {"text": "x" * 2001}).status_code == 422
    assert not BattleNote.objects.exists()


def test_the_page_asks_the_same_number_of_questions_after_many_votes(make_campaign, sit_down):
    desk = sit_down(make_campaign(prompts=30))

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            desk.look()
        return len(queries)

    desk.vote(desk.on_screen())
    few = statements()
    for _ in range(30):
        desk.vote(desk.on_screen())
    assert statements() <= few


def test_my_votes_lists_what_stands_and_not_what_was_undone(desk):
    first = desk.on_screen()
    desk.vote(first, "both_bad")
    second = desk.on_screen()
    desk.vote(second, "tie")
    desk.act(second, "undo")
    page = words(desk.client.get("/campaigns/small/my-votes/"))
    assert first.prompt.text in page
    assert "Both bad" in page
    assert page.count("Tie") == 0
    assert Vote.objects.count() == 2


def test_my_votes_are_mine(desk, sit_down, small_campaign):
    desk.vote(desk.on_screen())
    other = sit_down(small_campaign)
    assert "You haven't voted yet" in words(other.client.get("/campaigns/small/my-votes/"))


def test_my_votes_asks_no_more_for_many_votes(make_campaign, sit_down):
    desk = sit_down(make_campaign(prompts=30))

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            desk.client.get("/campaigns/small/my-votes/")
        return len(queries)

    desk.vote(desk.on_screen())
    few = statements()
    for _ in range(20):
        desk.vote(desk.on_screen())
    assert statements() == few
