"""A campaign is closed or paused while raters vote: what is stored was cast before, and nothing after."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.db.models import F

from arena.battles import ballots, reasons
from arena.battles.models import Battle, BattleNote, Retraction, Vote
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Campaign
from arena.campaigns.opening import close_campaign, pause_campaign
from tests.at_once import at_once, post

NOT_OPEN = "The campaign isn&#x27;t open at the moment, so nothing was recorded."
CHANGES = [(close_campaign, "closed"), (pause_campaign, "paused")]
BESIDE = pytest.mark.parametrize(("change", "status"), CHANGES)


def after_this_look(monkeypatch, change, step: str, *modules) -> None:
    """The campaign changes after a request has read it as open, and before it writes."""
    take, done = getattr(modules[0], step), []

    def change_then_take(what):
        if not done:
            done.append(True)
            change(Campaign.objects.get())
        return take(what)

    for module in modules:
        monkeypatch.setattr(module, step, change_then_take)


@BESIDE
@pytest.mark.django_db
def test_a_vote_after_the_change_is_not_stored_and_its_rater_told(desk, monkeypatch, change, status):
    battle, drawn = desk.on_screen(), Battle.objects.count()
    after_this_look(monkeypatch, change, "digest", ballots)
    answer = desk.vote(battle)
    assert answer.status_code == 409 and NOT_OPEN in answer.content.decode()
    assert 'data-battle="' not in answer.content.decode()
    assert (Vote.objects.count(), Battle.objects.count()) == (0, drawn)
    assert Campaign.objects.get().status == status


@BESIDE
@pytest.mark.django_db
def test_a_vote_is_not_undone_and_not_explained_after_the_change(desk, monkeypatch, change, status):
    battle = desk.on_screen()
    desk.vote(battle)
    after_this_look(monkeypatch, change, "hold", ballots)
    answer = desk.act(battle, "undo")
    assert answer.status_code == 409 and NOT_OPEN in answer.content.decode()
    Campaign.objects.update(status="open")
    after_this_look(monkeypatch, change, "hold_open", reasons)
    answer = desk.act(battle, "reasons", {"reasons": ["facts"], "comment": ""})
    assert answer.status_code == 409 and NOT_OPEN in answer.content.decode()
    assert not Retraction.objects.exists() and not BattleNote.objects.exists()


@BESIDE
@pytest.mark.parametrize(("act", "said"), [("skip", {}), ("flag", {"text": "It says who wrote it."})])
@pytest.mark.django_db
def test_no_battle_is_skipped_or_flagged_after_the_change(desk, monkeypatch, change, status, act, said):
    battle = desk.on_screen()
    counted = list(PairCount.objects.values_list("low", "high", "battles").order_by("pk"))
    after_this_look(monkeypatch, change, "hold", ballots)  # undone with the refused act's transaction
    answer = desk.act(battle, act, said)
    assert answer.status_code == 409 and NOT_OPEN in answer.content.decode()
    change(Campaign.objects.get())
    answer = desk.act(battle, act, said)
    assert answer.status_code == 409 and NOT_OPEN in answer.content.decode()
    assert 'data-battle="' not in answer.content.decode()
    assert Campaign.objects.get().status == status
    assert not BattleNote.objects.exists()
    assert list(PairCount.objects.values_list("low", "high", "battles").order_by("pk")) == counted


@pytest.mark.django_db
def test_a_vote_that_is_undone_meanwhile_gets_no_reasons(desk, monkeypatch):
    battle = desk.on_screen()
    desk.vote(battle)
    hold = ballots.hold_open

    def undo_then_hold(held):
        monkeypatch.setattr(reasons, "hold_open", hold)
        ballots.undo(Battle.objects.with_ballot().get(pk=battle.pk), desk.rater)
        hold(held)

    monkeypatch.setattr(reasons, "hold_open", undo_then_hold)
    assert desk.act(battle, "reasons", {"reasons": ["facts"], "comment": ""}).status_code == 409
    assert not BattleNote.objects.exists()


RATERS = 6


@BESIDE
@pytest.mark.django_db(transaction=True)
def test_no_vote_is_later_than_the_close(make_campaign, sit_down, signed_in, change, status):
    small = make_campaign(prompts=30)
    desks = [sit_down(small) for _ in range(RATERS)]
    admin = signed_in("carol")
    for _round in range(4):
        before = Vote.objects.count()
        acts = []
        for number, desk in enumerate(desks):
            battle = desk.on_screen()
            ballot = {"outcome": "tie", "key": f"key-{number}-{battle.public_id}"}
            path = f"/battles/{battle.public_id}/vote/"
            acts.append(post(desk.client, path, ballot, headers={"HX-Request": "true"}))
        act = {"closed": "close", "paused": "pause"}[status]
        *votes, changed = at_once(*acts, post(admin, f"/campaigns/small/{act}/"))
        assert changed.status_code == 302 and Campaign.objects.get().status == status
        statuses = [answer.status_code for answer in votes]
        assert set(statuses) <= {200, 409}
        assert Vote.objects.count() - before == statuses.count(200)
        assert all(NOT_OPEN in answer.content.decode() for answer in votes if answer.status_code == 409)
        if status == "closed":
            late = Vote.objects.filter(voted_at__gt=F("battle__campaign__closed_at"))
            assert not late.exists()
        Campaign.objects.update(status="open", closed_at=None, names_shown_at=None)


@BESIDE
@pytest.mark.django_db(transaction=True)
def test_no_skip_or_flag_is_later_than_the_close(make_campaign, sit_down, signed_in, change, status):
    small = make_campaign(prompts=30)
    desks = [sit_down(small) for _ in range(RATERS)]
    admin = signed_in("carol")
    for _round in range(3):
        before = BattleNote.objects.count()
        acts = []
        for number, desk in enumerate(desks):
            act, said = ("skip", {}) if number % 2 else ("flag", {"text": f"Cut short, {_round}."})
            path = f"/battles/{desk.on_screen().public_id}/{act}/"
            acts.append(post(desk.client, path, said, headers={"HX-Request": "true"}))
        act = {"closed": "close", "paused": "pause"}[status]
        *said, changed = at_once(*acts, post(admin, f"/campaigns/small/{act}/"))
        assert changed.status_code == 302 and Campaign.objects.get().status == status
        statuses = [answer.status_code for answer in said]
        assert set(statuses) <= {200, 409}
        assert BattleNote.objects.count() - before == statuses.count(200)
        assert all(NOT_OPEN in answer.content.decode() for answer in said if answer.status_code == 409)
        if status == "closed":
            assert not BattleNote.objects.filter(at__gt=F("battle__campaign__closed_at")).exists()
        Campaign.objects.update(status="open", closed_at=None, names_shown_at=None)


@pytest.mark.django_db(transaction=True)
def test_what_holds_the_campaign_for_its_team_keeps_no_vote_waiting(desk):
    """A file of golds or a list of names can take a while; on SQLite whoever writes writes alone."""
    battle = desk.on_screen()
    with transaction.atomic():
        if connection.features.has_select_for_update:
            Campaign.objects.get().hold()
            assert at_once(lambda: desk.vote(battle).status_code) == [200]
    assert desk.vote(battle).status_code == 200
