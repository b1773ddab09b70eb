from __future__ import annotations

import pytest

from arena.battles import ballots
from arena.battles.models import Battle, Retraction, Vote
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Campaign

HTML = {"Accept": "text/html"}


def test_an_undone_battle_comes_back_at_once_as_a_new_one(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    answer = desk.act(battle, "undo")
    assert answer.status_code == 200
    again = desk.on_screen()
    assert again.replaces == battle
    assert again.public_id != battle.public_id
    assert (again.prompt, again.pair) == (battle.prompt, battle.pair)
    assert f'data-battle="{again.public_id}"' in answer.content.decode().split("<template>")[0]


def test_the_vote_stays_and_a_retraction_says_that_it_no_longer_counts(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    desk.act(battle, "undo")
    assert Vote.objects.get().battle == battle
    assert Retraction.objects.get().vote.battle == battle
    assert not Vote.objects.standing().exists()
    assert "0 votes" in desk.look().content.decode()


@pytest.mark.parametrize("kind", ["regular", "repeat"])
def test_the_sides_of_an_undone_battle_are_drawn_again(make_campaign, sit_down, kind):
    """A repeat's as well: what always came back the same way round would be known for one."""
    desk = sit_down(make_campaign(prompts=1, names=("Ember", "Fjord")))
    battle, swapped = desk.on_screen(), set()
    Battle.objects.filter(pk=battle.pk).update(kind=kind)
    for _ in range(60):
        desk.vote(battle)
        desk.act(battle, "undo")
        again = desk.on_screen()
        swapped.add(again.competitor_a_id != battle.competitor_a_id)
        assert {again.response_a_id, again.response_b_id} == {battle.response_a_id, battle.response_b_id}
        assert (again.response_a.competitor_id, again.response_b.competitor_id) == (
            again.competitor_a_id,
            again.competitor_b_id,
        )
        battle = again
    assert swapped == {True, False}


def test_two_undos_at_once_bring_the_battle_back_once(desk, monkeypatch):
    battle = desk.on_screen()
    desk.vote(battle)
    hold, first = ballots.hold, []

    def the_other_then_hold(held):
        if not first:
            first.append(True)
            ballots.undo(battle, desk.rater)
        hold(held)

    monkeypatch.setattr(ballots, "hold", the_other_then_hold)
    again = ballots.undo(battle, desk.rater)
    assert first and again == Battle.objects.get(replaces=battle)
    assert Retraction.objects.count() == 1


def test_undo_twice_is_as_good_as_once(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    first, second = desk.act(battle, "undo"), desk.act(battle, "undo")
    assert first.status_code == second.status_code == 200
    assert Retraction.objects.count() == 1
    assert Battle.objects.filter(replaces=battle).count() == 1


def test_only_the_last_vote_can_be_undone(desk):
    first = desk.on_screen()
    desk.vote(first)
    second = desk.on_screen()
    desk.vote(second)
    answer = desk.act(first, "undo")
    assert answer.status_code == 409
    assert "Only your last vote" in answer.content.decode()
    assert not Retraction.objects.exists()
    assert desk.act(second, "undo").status_code == 200


def test_an_undo_does_not_open_the_vote_before_it(desk):
    first = desk.on_screen()
    desk.vote(first)
    second = desk.on_screen()
    desk.vote(second)
    desk.act(second, "undo")
    assert desk.act(first, "undo").status_code == 409
    assert Retraction.objects.count() == 1
    assert "Undo" not in desk.look().content.decode().split('id="recorded"')[1].split("</p>")[0]


def test_a_battle_without_a_vote_has_nothing_to_undo(desk):
    assert desk.act(desk.on_screen(), "undo").status_code == 409


def test_the_undone_pair_is_counted_once(desk):
    battle = desk.on_screen()
    before = sum(PairCount.objects.values_list("battles", flat=True))
    desk.vote(battle)
    drawn_since = Battle.objects.count() - before
    desk.act(battle, "undo")
    after = sum(PairCount.objects.values_list("battles", flat=True))
    assert after == before + drawn_since


def test_where_votes_reveal_there_is_no_undo(make_campaign, sit_down):
    desk = sit_down(make_campaign(reveal=Campaign.Reveal.AFTER_VOTE))
    battle = desk.on_screen()
    answer = desk.vote(battle)
    assert "/undo/" not in answer.content.decode()
    assert desk.act(battle, "undo").status_code == 409
    assert not Retraction.objects.exists()


@pytest.mark.parametrize("status", [Campaign.Status.PAUSED, Campaign.Status.CLOSED])
def test_once_the_campaign_is_not_open_votes_stay(desk, status):
    battle = desk.on_screen()
    desk.vote(battle)
    Campaign.objects.update(status=status)
    assert desk.act(battle, "undo").status_code == 409


def test_undo_works_without_scripts(desk):
    battle = desk.on_screen()
    desk.vote(battle, **HTML)
    assert f"/battles/{battle.public_id}/undo/" in desk.look().content.decode()
    answer = desk.act(battle, "undo", **HTML)
    assert (answer.status_code, answer.url) == (303, "/campaigns/small/battle/")
    page = desk.look().content.decode()
    assert "Your vote is undone" in page
    assert desk.on_screen().replaces == battle
