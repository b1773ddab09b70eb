"""Links opened, and the roster changed, at the same moment."""

from __future__ import annotations

from datetime import timedelta
from itertools import cycle
from types import SimpleNamespace

import pytest
from django.core.cache import caches
from django.test import Client
from django.utils import timezone

from arena.campaigns import admission
from arena.campaigns.models import Campaign, Invite
from arena.raters.models import Rater
from tests.at_once import at_once, guards_look_at_their_own_row, post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_rows():
    with guards_look_at_their_own_row():
        yield


LINKS = "/campaigns/small/invites/"
ROUNDS = 4


def browsers(path: str, count: int) -> list[Client]:
    """Each has read the page of the door, and holds the cookie that its form needs."""
    visitors = [Client() for _ in range(count)]
    for visitor in visitors:
        assert visitor.get(path).status_code == 200
    return visitors


@pytest.mark.parametrize(("uses", "comers"), [(1, 2), (1, 8), (5, 8)])
def test_a_link_for_so_many_admits_so_many(small_campaign, uses, comers):
    for _round in range(ROUNDS):
        before = Rater.objects.count()
        invite, token = Invite.issue(small_campaign.campaign, max_uses=uses)
        visitors = browsers(f"/join/{token}/", comers)
        answers = at_once(*(post(visitor, f"/join/{token}/") for visitor in visitors))
        assert sorted(answer.status_code for answer in answers) == [302] * uses + [410] * (comers - uses)
        invite.refresh_from_db()
        assert (invite.uses, Rater.objects.count() - before) == (uses, uses)


def test_begin_pressed_twice_with_a_link_for_one_admits_that_one(small_campaign):
    for _round in range(ROUNDS):
        before = Rater.objects.count()
        invite, token = Invite.issue(small_campaign.campaign, max_uses=1)
        (visitor,) = browsers(f"/join/{token}/", 1)
        answers = at_once(*(post(visitor, f"/join/{token}/") for _click in range(2)))
        assert [answer.status_code for answer in answers] == [302, 302]
        invite.refresh_from_db()
        assert (invite.uses, Rater.objects.count() - before) == (1, 1)
        late = post(visitor, f"/join/{token}/")()
        assert late.status_code == 302, "a click whose answer came late"
        assert Client().post(f"/join/{token}/").status_code == 410, "the link is used up for all others"


@pytest.fixture
def open_to_all(small_campaign) -> str:
    caches["throttles"].clear()
    Campaign.objects.update(admission=Campaign.Admission.OPEN)
    yield "/campaigns/small/begin/"
    caches["throttles"].clear()


def test_begin_pressed_eight_times_makes_one_rater(open_to_all):
    for _round in range(ROUNDS):
        before = set(Rater.objects.values_list("pk", flat=True))
        (visitor,) = browsers(open_to_all, 1)
        answers = at_once(*(post(visitor, open_to_all) for _click in range(8)))
        assert {answer.status_code for answer in answers} == {302}
        assert len(set(Rater.objects.values_list("pk", flat=True)) - before) == 1


def test_eight_browsers_at_one_address_are_eight_raters(open_to_all):
    before = Rater.objects.count()
    at_once(*(post(visitor, open_to_all) for visitor in browsers(open_to_all, 8)))
    assert Rater.objects.count() - before == 8


def test_who_began_is_said_by_no_cookie_from_another_address(open_to_all):
    (visitor,) = browsers(open_to_all, 1)
    for address in ("192.0.2.7", "192.0.2.8"):
        post(visitor, open_to_all, REMOTE_ADDR=address)()
    assert Rater.objects.count() == 2


def test_a_made_up_name_that_comes_up_again_is_nobody_else(open_to_all, monkeypatch):
    """Of a made-up name's 32 bits two may be the same."""
    names = iter(["rater-0", "rater-0", "rater-1"])
    monkeypatch.setattr(admission, "new_pseudonym", lambda: next(names))
    for _visitor in range(2):
        assert Client().post(open_to_all).status_code == 302
    assert sorted(Rater.objects.values_list("pseudonym", flat=True)) == ["rater-0", "rater-1"]


@pytest.fixture
def on_the_edge_of_a_minute(monkeypatch) -> None:
    """Every other look at the clock is in the minute before, though all are at the same moment."""
    edge = timezone.now().replace(second=0, microsecond=0)
    times = cycle([edge - timedelta(milliseconds=1), edge])
    monkeypatch.setattr(admission, "timezone", SimpleNamespace(now=lambda: next(times)))


def test_begin_pressed_on_the_edge_of_a_minute_makes_one_rater(
    small_campaign, open_to_all, on_the_edge_of_a_minute
):
    _invite, token = Invite.issue(small_campaign.campaign)
    for path in (open_to_all, f"/join/{token}/"):
        for _round in range(ROUNDS):
            before = Rater.objects.count()
            (visitor,) = browsers(path, 1)
            answers = at_once(*(post(visitor, path) for _click in range(8)))
            assert {answer.status_code for answer in answers} == {302}
            assert Rater.objects.count() - before == 1


def test_two_links_to_one_campaign_pressed_at_once_make_one_rater(small_campaign, open_to_all):
    paths = [open_to_all]
    for _link in range(2):
        _invite, token = Invite.issue(small_campaign.campaign, max_uses=ROUNDS)
        paths.append(f"/join/{token}/")
    for _round in range(ROUNDS):
        before = Rater.objects.count()
        (visitor,) = browsers(open_to_all, 1)
        answers = at_once(*(post(visitor, path) for path in paths * 2))
        assert {answer.status_code for answer in answers} == {302}
        assert Rater.objects.count() - before == 1
    assert sum(Invite.objects.values_list("uses", flat=True)) <= ROUNDS, "each was one beginning"


@pytest.mark.parametrize(
    "since", [{"created_at": timezone.now() - timedelta(days=1)}, {"generation": 1}, {"is_active": False}]
)
def test_who_began_long_ago_or_with_a_link_made_anew_is_not_come_back_to(open_to_all, since):
    """Of a browser that lost its session: a suspended rater, who just began, is no way to begin again."""
    (visitor,) = browsers(open_to_all, 1)
    post(visitor, open_to_all)()
    Rater.objects.update(**since)
    answers = at_once(*(post(visitor, open_to_all) for _click in range(4)))
    came_in = 404 if "is_active" in since else 302
    assert {answer.status_code for answer in answers} == {came_in}
    assert Rater.objects.count() == (1 if came_in == 404 else 2)


ACTS = {"remove": {}, "revoke": {}, "name": {"name": "Ada Lovelace"}, "anew": {}}


@pytest.mark.parametrize("other", ACTS)
def test_taken_off_the_roster_beside_another_act(signed_in, small_campaign, other):
    """Never an error of ours: either act comes first, and the other is told what stands."""
    carol = signed_in("carol")
    for number in range(ROUNDS):
        carol.post(f"{LINKS}personal/", {"names": f"Ada {number}\nGrace {number}"})
        invite = Invite.objects.get(label=f"Ada {number}")
        path = f"{LINKS}{invite.pk}/"
        acts = (post(carol, f"{path}remove/"), post(carol, f"{path}{other}/", ACTS[other]))
        statuses = {answer.status_code for answer in at_once(*acts, acts[1])}
        assert statuses <= {302, 200, 404}, "404: it was gone when the page looked"
        if other in ("remove", "name"):
            assert not Invite.objects.filter(pk=invite.pk).exists()
        stays = Invite.objects.filter(pk=invite.pk).exists()
        assert Rater.objects.filter(pk=invite.rater_id).exists() == stays
        Invite.objects.filter(pk=invite.pk).update(label=f"was {number}")


def test_taken_off_the_roster_while_the_link_is_opened(signed_in, small_campaign):
    carol = signed_in("carol")
    for number in range(ROUNDS):
        page = carol.post(f"{LINKS}personal/", {"names": f"Ada {number}"}).content.decode()
        token = page.split("/join/")[1].split("/")[0]
        invite = Invite.objects.get(label=f"Ada {number}")
        (visitor,) = browsers(f"/join/{token}/", 1)
        acts = post(carol, f"{LINKS}{invite.pk}/remove/"), post(visitor, f"/join/{token}/")
        removed, joined = at_once(*acts)
        assert (removed.status_code, joined.status_code) in {(302, 302), (302, 410)}
        assert Invite.objects.filter(pk=invite.pk).exists() == (joined.status_code == 302)


@pytest.mark.parametrize("act", ["remove", "name", "anew"])
def test_whoever_is_faster_is_told_of(signed_in, small_campaign, monkeypatch, act):
    """The row goes after this click has found it and before it writes."""
    carol = signed_in("carol")
    carol.post(f"{LINKS}personal/", {"names": "Ada"})
    invite = Invite.objects.get(label="Ada")
    hold = Invite.hold

    def the_other_first(self):
        Rater.objects.filter(pk=self.rater_id).delete()
        return hold(self)

    monkeypatch.setattr(Invite, "hold", the_other_first)
    answer = carol.post(f"{LINKS}{invite.pk}/{act}/", {"name": "Ada Lovelace"}, follow=True)
    assert "“Ada” has just been taken off the roster" in answer.content.decode()


def test_many_links_revoked_twice_at_once(signed_in, small_campaign):
    carol = signed_in("carol")
    carol.post(f"{LINKS}personal/", {"names": "\n".join(f"Name {n}" for n in range(40))})
    answers = at_once(*(post(carol, f"{LINKS}revoke/", {"which": "all"}) for _click in range(4)))
    assert {answer.status_code for answer in answers} == {302}
    assert not Invite.objects.filter(rater__isnull=False, revoked_at=None).exists()
