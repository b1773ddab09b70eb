from __future__ import annotations

import pytest

from arena.campaigns.models import Campaign

NAMES = ("Ember", "Fjord", "Grove")


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
    assert f"A was {a}." in answer.content.decode()
    assert f"B was {b}." in answer.content.decode()
    assert names_in(my_votes(desk)) == {a, b}


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
