import pytest
from django.core.cache import caches
from django.test import Client

from arena.campaigns.models import Campaign, Invite
from arena.raters.models import Rater

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("method", ["get", "head"])
def test_opening_an_invite_link_changes_nothing(client: Client, small_campaign, method):
    """Nor does looking it up, as chats and mail programs do."""
    answer = getattr(client, method)(f"/join/{small_campaign.token}/")
    assert answer.status_code == 200
    assert Rater.objects.count() == 0
    assert Invite.objects.get().uses == 0


@pytest.mark.parametrize("method", ["get", "head"])
def test_looking_at_an_open_door_or_a_personal_link_makes_no_rater(make_campaign, cast, method):
    door = make_campaign("door", admission=Campaign.Admission.OPEN)
    _invite, personal = Invite.issue(door.campaign, rater=cast.alice_rater, max_uses=1)
    before = Rater.objects.count()
    for path in ("/campaigns/door/begin/", f"/join/{personal}/"):
        assert getattr(Client(), method)(path).status_code == 200
    assert (Rater.objects.count(), set(Invite.objects.values_list("uses", flat=True))) == (before, {0})


def test_the_guide_is_read_before_begin(client: Client, small_campaign):
    assert "Which response helps more?" in client.get(f"/join/{small_campaign.token}/").content.decode()


def test_begin_admits_a_rater_and_leads_to_the_battles(client: Client, small_campaign):
    answer = client.post(f"/join/{small_campaign.token}/")
    assert (answer.status_code, answer["Location"]) == (302, "/campaigns/small/battle/")
    assert Rater.objects.get().admission == Rater.Admission.LINK
    assert Invite.objects.get().uses == 1


def test_beginning_twice_in_one_browser_stays_one_rater(client: Client, small_campaign):
    for _ in range(2):
        client.post(f"/join/{small_campaign.token}/")
    assert Rater.objects.count() == 1


def test_two_browsers_with_a_group_link_are_two_raters(small_campaign):
    for _ in range(2):
        Client().post(f"/join/{small_campaign.token}/")
    assert Rater.objects.count() == 2


@pytest.mark.parametrize("max_uses", [None, 1])
def test_whoever_begins_after_somebody_signed_out_is_another_rater(signed_in, small_campaign, max_uses):
    """In one browser at one address, and however soon."""
    _invite, token = Invite.issue(small_campaign.campaign, max_uses=max_uses)
    shared = signed_in("alice")
    for _person in range(2):
        shared.get(f"/join/{token}/")  # and has the cookie that the form needs
        came = shared.post(f"/join/{token}/")
        shared.post("/accounts/logout/")
    assert (came.status_code, Rater.objects.filter(admission="link").count()) == (
        (302, 2) if max_uses is None else (410, 1)
    )


def test_a_personal_link_reopens_on_any_device(small_campaign, cast):
    _, token = Invite.issue(small_campaign.campaign, rater=cast.alice_rater, max_uses=1)
    before = Rater.objects.count()
    for _ in range(3):
        assert Client().post(f"/join/{token}/").status_code == 302
    assert Rater.objects.count() == before


def test_a_link_that_has_run_out_says_so_kindly(small_campaign):
    _, token = Invite.issue(small_campaign.campaign, max_uses=1)
    assert Client().post(f"/join/{token}/").status_code == 302
    answer = Client().get(f"/join/{token}/")
    assert answer.status_code == 410
    assert "no longer works" in answer.content.decode()


@pytest.mark.parametrize("token", ["nonsense", "a" * 300, "%20", "..%2f"])
def test_an_unknown_token_says_the_same_as_a_revoked_one(client: Client, small_campaign, token):
    assert client.get(f"/join/{token}/").status_code in {404, 410}


def test_the_session_id_changes_at_begin(client: Client, small_campaign):
    client.get("/")
    session = client.session
    session["planted"] = 1
    session.save()
    before = session.session_key
    client.post(f"/join/{small_campaign.token}/")
    assert client.session.session_key != before


def test_the_database_holds_no_token(small_campaign):
    assert small_campaign.token not in str(list(Invite.objects.values()))


def test_a_closed_campaign_thanks_and_offers_no_begin(client: Client, small_campaign):
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    page = client.get(f"/join/{small_campaign.token}/").content.decode()
    assert "closed" in page
    assert "Begin" not in page


def test_an_invite_only_campaign_has_no_other_door(client: Client, small_campaign):
    assert client.post("/campaigns/small/begin/").status_code == 404


def test_an_open_campaign_admits_anyone_who_begins(client: Client, small_campaign):
    Campaign.objects.update(admission=Campaign.Admission.OPEN)
    assert client.get("/campaigns/small/begin/").status_code == 200
    assert Rater.objects.count() == 0
    assert client.post("/campaigns/small/begin/").status_code == 302
    assert Rater.objects.get().admission == Rater.Admission.OPEN


def test_a_signed_in_campaign_asks_strangers_to_sign_in(client: Client, small_campaign, signed_in):
    Campaign.objects.update(admission=Campaign.Admission.LOGIN)
    assert "/accounts/login/" in client.post("/campaigns/small/begin/")["Location"]
    assert signed_in("mallory").post("/campaigns/small/begin/")["Location"].endswith("/battle/")


def test_a_suspended_rater_is_not_admitted_again(client: Client, small_campaign):
    client.post(f"/join/{small_campaign.token}/")
    Rater.objects.update(is_active=False)
    assert client.get("/campaigns/small/guide/").status_code == 404


@pytest.mark.parametrize("who", ["carol", "ravi"])
def test_whoever_may_see_names_is_told_that_their_votes_will_not_count(signed_in, small_campaign, who):
    page = signed_in(who).get(f"/join/{small_campaign.token}/").content.decode()
    assert "marked as unblinded" in page
    assert "/campaigns/small/preview/" in page


@pytest.mark.parametrize("who", ["alice", "mallory", "dora"])
def test_nobody_else_is_told_so(signed_in, small_campaign, who):
    page = signed_in(who).get(f"/join/{small_campaign.token}/").content.decode()
    assert "unblinded" not in page


def test_the_first_begin_with_a_link_is_kept(client: Client, small_campaign):
    client.get(f"/join/{small_campaign.token}/")
    assert Invite.objects.get().opened_at is None
    client.post(f"/join/{small_campaign.token}/")
    first = Invite.objects.get().opened_at
    Client().post(f"/join/{small_campaign.token}/")
    assert Invite.objects.get().opened_at == first is not None


@pytest.mark.parametrize("admission", ["open", "login"])
def test_a_draft_shows_its_door_to_nobody(client: Client, small_campaign, signed_in, admission):
    Campaign.objects.update(admission=admission, status="draft")
    for visitor in (client, signed_in("mallory")):
        assert visitor.get("/campaigns/small/begin/").status_code == 404
        assert visitor.post("/campaigns/small/begin/").status_code == 404


def test_an_address_that_begins_again_and_again_is_asked_to_come_back_later(small_campaign, settings):
    settings.NEW_RATERS_PER_HOUR = 2
    caches["throttles"].clear()
    Campaign.objects.update(admission=Campaign.Admission.OPEN)
    first = Client()
    assert [client.post("/campaigns/small/begin/").status_code for client in (first, Client())] == [302, 302]
    refused = Client().post("/campaigns/small/begin/")
    assert refused.status_code == 429 and "come back in an hour" in refused.content.decode()
    assert Rater.objects.count() == 2
    assert first.post("/campaigns/small/begin/").status_code == 302, "whoever has begun goes on"
    assert first.get("/campaigns/small/battle/").status_code == 200
    other = Client(REMOTE_ADDR="192.0.2.7")
    assert other.post("/campaigns/small/begin/").status_code == 302
    caches["throttles"].clear()
