"""Why a vote went as it did: said by its rater, changed at will, kept outside the vote's digest."""

from __future__ import annotations

import re

import pytest

from arena.battles.ballots import digest
from arena.battles.models import Battle, BattleNote, Vote
from arena.battles.reasons import Reason, why


def notes(battle) -> list[tuple[str, str]]:
    return sorted(battle.notes.values_list("kind", "text"))


def test_reasons_and_a_comment_are_kept_with_the_last_vote_and_shown(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    answer = desk.act(battle, "reasons", {"reasons": ["length", "facts"], "comment": "B is wrong."})
    assert answer.status_code == 200
    assert notes(battle) == [("comment", "B is wrong."), ("reason", "facts"), ("reason", "length")]
    assert re.search(r"Facts · Length\s+“<bdi>B is wrong\.</bdi>”", desk.look().content.decode())


def test_saying_it_again_changes_nothing_and_saying_less_takes_back_the_rest(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    said = {"reasons": ["clear", "tone"], "comment": "Shorter."}
    desk.act(battle, "reasons", said)
    before = list(battle.notes.order_by("pk").values_list("pk", "kind", "text"))
    desk.act(battle, "reasons", said)
    assert list(battle.notes.order_by("pk").values_list("pk", "kind", "text")) == before
    desk.act(battle, "reasons", {"reasons": ["tone"]})
    assert notes(battle) == [("reason", "tone")]
    assert why(battle).reasons == (Reason.TONE,)
    desk.act(battle, "reasons", {})
    assert notes(battle) == []


def test_a_flag_and_a_skip_are_not_touched(desk):
    battle = desk.on_screen()
    desk.act(battle, "flag", {"text": "cut short"})
    desk.vote(battle)
    desk.act(battle, "reasons", {"reasons": ["safety"]})
    desk.act(battle, "reasons", {})
    assert notes(battle) == [("flag", "cut short")]


def test_the_votes_digest_is_the_same_before_and_after(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    before = Vote.objects.get().digest
    desk.act(battle, "reasons", {"reasons": ["facts"], "comment": "x"})
    assert before == Vote.objects.get().digest == digest(Vote.objects.get())


@pytest.mark.parametrize(
    "said", [{"reasons": ["facts", "charm"]}, {"comment": "x" * 2001}], ids=["unknown reason", "too long"]
)
def test_an_unknown_reason_or_a_novel_is_refused_and_nothing_is_kept(desk, said):
    battle = desk.on_screen()
    desk.vote(battle)
    assert desk.act(battle, "reasons", said).status_code == 422
    assert notes(battle) == []


def test_without_a_vote_that_stands_there_is_nothing_to_explain(desk):
    battle = desk.on_screen()
    assert desk.act(battle, "reasons", {"reasons": ["facts"]}).status_code == 409
    desk.vote(battle)
    desk.act(battle, "undo")
    assert desk.act(battle, "reasons", {"reasons": ["facts"]}).status_code == 409
    assert not BattleNote.objects.exists()


def test_after_the_close_nothing_is_added(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    type(desk.campaign).objects.update(status="closed")
    assert desk.act(battle, "reasons", {"reasons": ["facts"]}).status_code == 409


def test_another_raters_battle_looks_like_none(desk, sit_down, small_campaign):
    battle = desk.on_screen()
    desk.vote(battle)
    other = sit_down(small_campaign)
    assert other.act(battle, "reasons", {"reasons": ["facts"]}).status_code == 404
    assert notes(battle) == []


def test_reasons_of_an_earlier_vote_do_not_stand_with_the_last_one(desk):
    first = desk.on_screen()
    desk.vote(first)
    desk.act(first, "reasons", {"reasons": ["facts"]})
    last = desk.on_screen()
    desk.vote(last)
    assert "Facts ·" not in desk.look().content.decode()
    assert f'data-battle="{last.public_id}" data-reasons=""' in desk.look().content.decode()


def test_as_a_plain_form_it_leads_back_to_the_battle(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    answer = desk.act(battle, "reasons", {"reasons": "clear"}, Accept="text/html")
    assert (answer.status_code, answer.url) == (303, "/campaigns/small/battle/")
    assert Battle.objects.get(pk=battle.pk).notes.get().text == "clear"
