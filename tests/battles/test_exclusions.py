"""Votes that no board counts: who leaves them out, and that they stay."""

from __future__ import annotations

import re

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from arena.battles import exclusions
from arena.battles.models import Battle, Exclusion, Vote
from arena.raters.accounts import change_role, remove_member
from arena.raters.models import Membership, Rater, Role

PAGE = "/campaigns/small/exclusions/"


def counted(small) -> set[int]:
    return set(Vote.objects.counted(small.campaign.pk).values_list("pk", flat=True))


@pytest.fixture
def two_raters(small_campaign, sit_down):
    """Six votes, three of each rater."""
    desks = [sit_down(small_campaign) for _ in range(2)]
    for desk in desks:
        for _ in range(3):
            desk.vote(desk.on_screen())
    return desks


def test_an_excluded_rater_or_vote_counts_no_more_until_it_is_revoked(two_raters, small_campaign, cast):
    one, other = two_raters
    everything = counted(small_campaign)
    of_one = set(Vote.objects.filter(rater=one.rater).values_list("pk", flat=True))
    first = Vote.objects.filter(rater=other.rater).earliest("pk")
    rater_out = exclusions.exclude_rater(small_campaign.campaign, one.rater, cast.carol, "asleep")
    exclusions.exclude_vote(small_campaign.campaign, first.battle.public_id, cast.carol, "told me so")
    assert counted(small_campaign) == everything - of_one - {first.pk}
    assert Vote.objects.count() == 6
    assert exclusions.revoke(rater_out, cast.carol, "it was my mistake")
    assert counted(small_campaign) == everything - {first.pk}
    assert not exclusions.revoke(rater_out, cast.carol, "again"), "revoked twice"


def test_what_counted_at_an_earlier_moment_can_be_found_again(two_raters, small_campaign, cast):
    rater = two_raters[0].rater
    before = timezone.now()
    exclusion = exclusions.exclude_rater(small_campaign.campaign, rater, cast.carol, "asleep")
    between = timezone.now()
    exclusions.revoke(exclusion, cast.carol, "awake")
    left_out = [
        Vote.objects.excluded(small_campaign.campaign.pk, at).count() for at in (before, between, None)
    ]
    assert left_out == [0, 3, 0]


def test_a_rater_excluded_here_still_counts_in_another_campaign(
    make_campaign, make_rater, draw_all, vote_on, cast
):
    here, there = make_campaign("here", prompts=1), make_campaign("there", prompts=1)
    rater = make_rater(here.campaign.team)
    for small in (here, there):
        for battle in draw_all(small.campaign, rater):
            vote_on(battle)
    exclusions.exclude_rater(here.campaign, rater, cast.carol, "asleep")
    assert (len(counted(here)), len(counted(there))) == (0, 3)


def test_golds_repeats_and_what_was_undone_are_not_counted(two_raters, small_campaign):
    desk = two_raters[0]
    desk.act(Vote.objects.filter(rater=desk.rater).latest("pk").battle, "undo")
    first, second = Vote.objects.filter(rater=two_raters[1].rater).order_by("pk")[:2]
    Battle.objects.filter(pk=first.battle_id).update(kind=Battle.Kind.GOLD)
    Battle.objects.filter(pk=second.battle_id).update(kind=Battle.Kind.REPEAT)
    assert len(counted(small_campaign)) == 6 - 3


@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        ("DELETE FROM arena_exclusion", True),
        ("UPDATE arena_exclusion SET reason = 'nothing'", True),
        ("UPDATE arena_exclusion SET rule = 'other', revoked_because = 'x'", True),
        ("UPDATE arena_exclusion SET revoked_because = 'x'", False),
    ],
)
def test_an_exclusion_stays_as_it_was_made(two_raters, small_campaign, cast, statement, refused):
    exclusions.exclude_rater(small_campaign.campaign, two_raters[0].rater, cast.carol, "asleep")
    from django.db import connection

    def act():
        with transaction.atomic():
            connection.cursor().execute(statement)

    if refused:
        with pytest.raises(DatabaseError, match="append-only"):
            act()
    else:
        act()
    assert Exclusion.objects.count() == 1


# --- unblinded --------------------------------------------------------------------------------------------


def desk_of(small, client: Client) -> Battle:
    client.post(f"/join/{small.token}/")
    shown = re.search(
        r'data-battle="([^"]+)"', client.get(f"/campaigns/{small.campaign.slug}/battle/").content.decode()
    )
    return Battle.objects.get(public_id=shown[1])


@pytest.mark.parametrize(
    ("who", "unblinded"),
    [("carol", True), ("ravi", True), ("root", True), ("alice", False), ("mallory", False), ("dora", False)],
)
def test_a_vote_of_whoever_may_see_the_names_is_left_out_from_the_start(
    small_campaign, cast, signed_in, who, unblinded
):
    if who == "root":
        cast.mallory.is_superuser = True
        cast.mallory.save()
    client = signed_in("mallory" if who == "root" else who)
    battle = desk_of(small_campaign, client)
    ballot = {"outcome": "tie", "key": "key-12345"}
    assert client.post(f"/battles/{battle.public_id}/vote/", ballot).status_code == 303
    assert Vote.objects.count() == 1
    assert len(counted(small_campaign)) == (0 if unblinded else 1)
    found = [(e.rule, e.vote.battle) for e in Exclusion.objects.all()]
    assert found == ([(exclusions.UNBLINDED, battle)] if unblinded else [])


@pytest.mark.parametrize("lost_by", [lambda member: change_role(member, Role.RATER), remove_member])
def test_whoever_lost_a_role_that_shows_names_has_seen_them_all_the_same(
    small_campaign, cast, signed_in, lost_by
):
    lost_by(Membership.objects.get(user=cast.ravi, team=cast.team))
    client = signed_in("ravi")
    battle = desk_of(small_campaign, client)
    client.post(f"/battles/{battle.public_id}/vote/", {"outcome": "tie", "key": "key-12345"})
    assert Exclusion.objects.get().rule == exclusions.UNBLINDED


def test_a_rater_who_leaves_the_team_has_seen_nothing(small_campaign, cast, signed_in):
    remove_member(Membership.objects.get(user=cast.alice, team=cast.team))
    client = signed_in("alice")
    battle = desk_of(small_campaign, client)
    client.post(f"/battles/{battle.public_id}/vote/", {"outcome": "tie", "key": "key-12345"})
    assert not Exclusion.objects.exists()


def test_signing_out_makes_nobody_blind_again(small_campaign, cast, desk):
    """The rater belongs to a user who is an admin, whoever is signed in now."""
    Rater.objects.filter(pk=desk.rater.pk).update(user=cast.carol)
    desk.vote(desk.on_screen())
    assert Exclusion.objects.get().rule == exclusions.UNBLINDED
    assert counted(small_campaign) == set()


def test_votes_cast_before_a_rater_joined_the_team_still_count(small_campaign, cast, signed_in):
    client = signed_in("mallory")
    battle = desk_of(small_campaign, client)
    client.post(f"/battles/{battle.public_id}/vote/", {"outcome": "tie", "key": "key-12345"})
    cast.team.memberships.create(user=cast.mallory, role="researcher")
    battle = desk_of(small_campaign, client)
    client.post(f"/battles/{battle.public_id}/vote/", {"outcome": "tie", "key": "key-67890"})
    assert len(counted(small_campaign)) == 1


# --- the page ---------------------------------------------------------------------------------------------


def test_an_admin_leaves_a_rater_out_with_a_reason_and_takes_it_back(two_raters, small_campaign, signed_in):
    carol, rater = signed_in("carol"), two_raters[0].rater
    answer = carol.post(PAGE, {"rater": rater.pk, "reason": "answers in <two> seconds"})
    assert (answer.status_code, answer.url) == (302, PAGE)
    words = carol.get(PAGE).content.decode()
    assert "answers in &lt;two&gt; seconds" in words
    assert "3</strong> votes left out:" in words
    exclusion = Exclusion.objects.get()
    assert exclusion.actor.username == "carol"
    revoke = f"{PAGE}{exclusion.pk}/revoke/"
    carol.post(revoke, {"reason": ""})
    assert Exclusion.objects.get().revoked_at is None
    carol.post(revoke, {"reason": "a fast reader"})
    assert len(counted(small_campaign)) == 6
    assert "a fast reader" in carol.get(PAGE).content.decode()


def test_one_vote_is_left_out_by_the_number_of_its_battle(two_raters, small_campaign, signed_in):
    vote = Vote.objects.earliest("pk")
    ballot = {"battle": str(vote.battle.public_id), "reason": "the rater wrote that it was a slip"}
    assert signed_in("carol").post(PAGE, ballot).status_code == 302
    assert Exclusion.objects.get().vote == vote
    assert len(counted(small_campaign)) == 5


@pytest.mark.parametrize(
    ("ballot", "words"),
    [
        ({"reason": "x"}, "Name either a rater or a battle"),
        ({"battle": "00000000-0000-4000-8000-000000000000", "reason": "x"}, "has no vote on that battle"),
        ({"battle": "seven", "reason": "x"}, "This is no battle_id"),
        ({"rater": "99999", "reason": "x"}, "not one of the available choices"),
        ({"battle": "00000000-0000-4000-8000-000000000000"}, "This field is required"),
    ],
)
def test_what_can_not_be_left_out_is_said(two_raters, signed_in, ballot, words):
    answer = signed_in("carol").post(PAGE, ballot)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Exclusion.objects.exists()


def test_leaving_out_twice_is_said(two_raters, signed_in):
    carol, ballot = signed_in("carol"), {"rater": two_raters[0].rater.pk, "reason": "x"}
    carol.post(PAGE, ballot)
    answer = carol.post(PAGE, ballot)
    assert answer.status_code == 422
    assert "left out already" in answer.content.decode()


def test_the_admin_of_another_team_finds_neither_page_nor_exclusion(two_raters, small_campaign, signed_in):
    signed_in("carol").post(PAGE, {"rater": two_raters[0].rater.pk, "reason": "x"})
    revoke = f"{PAGE}{Exclusion.objects.get().pk}/revoke/"
    for who in ("dora", "ravi"):
        visitor = signed_in(who)
        assert visitor.get(PAGE).status_code == 404
        assert visitor.post(revoke, {"reason": "x"}).status_code == 404
    assert Exclusion.objects.get().revoked_at is None
