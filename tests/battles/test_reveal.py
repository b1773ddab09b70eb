from __future__ import annotations

import re

import pytest
from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt

NAMES = ("Ember", "Fjord", "Grove")


def recorded(answer) -> str:
    return answer.content.decode().split('<p id="recorded"')[1].split(">", 1)[1].split("</p>")[0]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


def names_in(answer) -> set[str]:
    return {name for name in NAMES if name in answer.content.decode()}


@pytest.fixture
def sit_at(make_campaign, sit_down):
    return lambda reveal: sit_down(make_campaign(reveal=reveal, names=NAMES))


def my_votes(desk):
    return desk.client.get(f"/campaigns/{desk.campaign.slug}/my-votes/")


def test_after_vote_names_the_two_that_were_just_judged_and_no_other(sit_at):
    desk = sit_at(Campaign.Reveal.AFTER_VOTE)
    battle = desk.on_screen()
    assert names_in(desk.look()) == set()
    answer = desk.vote(battle)
    a, b = battle.competitor_a.name, battle.competitor_b.name
    assert names_in(answer) == names_in(desk.look()) == {a, b}
    assert names_in(my_votes(desk)) == {a, b}
    for name in (a, b):  # its direction is its own, the sentence's that of the page
        assert f"was <bdi>{name}</bdi>.</span>" in my_votes(desk).content.decode()


def test_the_names_come_with_the_words_of_their_own_prompt_and_in_no_sides_colour(sit_at):
    desk = sit_at(Campaign.Reveal.AFTER_VOTE)
    battle = desk.on_screen()
    Prompt.objects.filter(pk=battle.prompt_id).update(
        messages=[{"role": "user", "content": "Tell me \n why " + "the tide comes in twice a day"}]
    )
    a, b = battle.competitor_a.name, battle.competitor_b.name
    sentence = f"Last battle (“Tell me why the tide co…”): A was {a}, B was {b}."
    desk.vote(battle, "tie")
    for answer in (desk.look(), desk.look(**{"HX-Request": "true"})):
        line = recorded(answer)
        assert sentence in words(line)
        assert "side-a" not in line and "side-b" not in line


def test_a_long_name_is_shortened_in_its_middle_and_whole_in_my_votes(make_campaign, sit_down):
    names = ("quilldrake-large-instruct-2026-11-preview", "quilldrake-large-instruct-2026-11-final-x")
    desk = sit_down(make_campaign(reveal=Campaign.Reveal.AFTER_VOTE, names=names))
    desk.vote(desk.on_screen())
    line = words(recorded(desk.look()))
    assert "quilldrake-large-…6-11-preview" in line
    assert all(name not in line for name in names)
    assert all(name in my_votes(desk).content.decode() for name in names)


def test_the_names_of_a_battle_whose_prompt_was_redacted_still_say_whose_they_are(sit_at):
    desk = sit_at(Campaign.Reveal.AFTER_VOTE)
    battle = desk.on_screen()
    desk.vote(battle)
    Prompt.objects.filter(pk=battle.prompt_id).update(messages=[])
    assert f"Last battle: A was {battle.competitor_a.name}, B was" in words(recorded(desk.look()))


@pytest.mark.parametrize(
    ("reveal", "has_undo"),
    [(Campaign.Reveal.NEVER, True), (Campaign.Reveal.AFTER_CLOSE, True), (Campaign.Reveal.AFTER_VOTE, False)],
)
def test_undo_is_listed_where_there_is_one_and_its_absence_is_explained_elsewhere(sit_at, reveal, has_undo):
    desk = sit_at(reveal)
    page = desk.look().content.decode()
    keys = page.split('<dialog id="keys"')[1].split("</dialog>")[0]
    assert ("<kbd>Z</kbd>" in keys) is has_undo
    assert ("There is no undo in this campaign" in keys) is not has_undo
    desk.vote(desk.on_screen())
    line = recorded(desk.look())
    assert ('data-act="undo"' in line) is has_undo
    assert ("No undo: its names are out." in line) is not has_undo


def test_a_skip_reveals_nothing(sit_at):
    desk = sit_at(Campaign.Reveal.AFTER_VOTE)
    answer = desk.act(desk.on_screen(), "skip")
    assert names_in(answer) == names_in(desk.look()) == set()


def test_after_close_names_come_with_the_close(sit_at):
    desk = sit_at(Campaign.Reveal.AFTER_CLOSE)
    battle = desk.on_screen()
    assert names_in(desk.vote(battle)) == names_in(my_votes(desk)) == set()
    Campaign.objects.update(status=Campaign.Status.PAUSED)
    assert names_in(my_votes(desk)) == set()
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    assert names_in(my_votes(desk)) == {battle.competitor_a.name, battle.competitor_b.name}
    assert names_in(desk.look()) == set()


def test_never_is_never(sit_at):
    desk = sit_at(Campaign.Reveal.NEVER)
    assert names_in(desk.vote(desk.on_screen())) == set()
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    assert names_in(my_votes(desk)) == names_in(desk.look()) == set()


def test_what_one_campaign_revealed_is_not_met_blind_in_another_by_the_same_browser(make_campaign, sit_down):
    """By links a person is another rater in each campaign; the browser knows better."""
    telling = make_campaign("telling", reveal=Campaign.Reveal.AFTER_VOTE, names=NAMES)
    blind = make_campaign("blind", prompts=0, names=())
    blind.campaign.prompt_sets.set([telling.prompt_set])
    blind.campaign.competitors.set(telling.competitors)
    desk = sit_down(telling)
    for _ in range(6):
        desk.vote(desk.on_screen())
    told = {(b.prompt_id, c) for b in Battle.objects.filter(vote__isnull=False) for c in b.pair}
    known = Battle.objects.filter(campaign=blind.campaign)
    desk.client.post(f"/join/{blind.token}/")
    for _ in range(20):
        desk.client.get("/campaigns/blind/battle/", headers={"HX-Request": "true"})
        known.filter(expires_at__gt=timezone.now()).update(expires_at=timezone.now())
    met = {(battle.prompt_id, competitor) for battle in known for competitor in battle.pair}
    assert told and not met & told
    stranger = sit_down(blind)
    stranger.on_screen()
    assert stranger.rater.battles.exists()
