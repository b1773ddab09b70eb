from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from arena.campaigns.models import Campaign, Invite
from arena.corpus.models import Competitor, PromptSet, Response

pytestmark = pytest.mark.django_db

FIELDS = {"name": "Autumn"}


def test_an_admin_makes_a_campaign_that_takes_every_model_with_responses(signed_in, small_campaign):
    sets = [small_campaign.prompt_set.pk]
    answer = signed_in("carol").post("/campaigns/new/", FIELDS | {"prompt_sets": sets})
    assert answer["Location"] == "/campaigns/autumn/"
    campaign = Campaign.objects.get(slug="autumn")
    assert campaign.status == Campaign.Status.DRAFT
    assert campaign.competitors.count() == 3
    assert campaign.current_guide.version == 1


def test_the_only_prompt_set_is_chosen_beforehand(signed_in, small_campaign):
    assert " checked" in signed_in("carol").get("/campaigns/new/").content.decode()


def test_an_address_that_is_taken_is_named(signed_in, small_campaign):
    answer = signed_in("carol").post("/campaigns/new/", FIELDS | {"name": "Small"})
    assert answer.status_code == 422
    assert "Another campaign has this address" in answer.content.decode()


def test_the_address_of_the_page_that_makes_campaigns_is_not_given_away(signed_in):
    answer = signed_in("carol").post("/campaigns/new/", FIELDS | {"name": "New"})
    assert answer.status_code == 422


def test_a_name_without_letters_asks_for_an_address(signed_in):
    answer = signed_in("carol").post("/campaigns/new/", FIELDS | {"name": "???"})
    assert answer.status_code == 422
    assert "Give an address" in answer.content.decode()


@pytest.mark.parametrize("slug", ["Bad Slug!", "new", "é", "a" * 61, "a/b", ""])
def test_an_address_that_would_break_pages_is_refused_by_every_way_in(small_campaign, slug):
    with pytest.raises(CommandError):
        call_command("create_campaign", slug, "--set", "small prompts")
    assert Campaign.objects.count() == 1


def test_the_reveal_policy_stands_once_the_campaign_has_opened(signed_in, small_campaign):
    carol = signed_in("carol")
    carol.post("/campaigns/small/edit/", {"part": "reveal", "reveal": "after_vote"})
    assert Campaign.objects.get().reveal == "after_close"


@pytest.mark.django_db(transaction=True)
def test_a_form_sent_many_times_at_once_is_stored_whole_or_refused(signed_in, small_campaign):
    cookies = signed_in("carol").cookies
    sets = [small_campaign.prompt_set.pk]

    def send(number: int) -> int:
        visitor = Client()
        visitor.cookies = cookies
        page = {"name": f"Autumn {number}", "slug": "autumn", "prompt_sets": sets}
        try:
            return visitor.post("/campaigns/new/", page).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(send, range(6))) == [302] + [422] * 5
    campaign = Campaign.objects.get(slug="autumn")
    assert (campaign.guides.count(), campaign.competitors.count()) == (1, 3)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda c: c.prompt_sets.clear(), "at least one prompt set"),
        (lambda c: PromptSet.objects.update(status="draft"), "still a draft"),
        (lambda c: Response.objects.all().delete(), "has no responses"),
        (lambda c: Response.objects.update(is_blank=True), "has no responses"),
        (lambda c: c.competitors.set(Competitor.objects.all()[:1]), "there are 1"),
        (lambda c: Competitor.objects.update(status="withdrawn"), "there are 0"),
        (lambda c: Response.objects.update(text_hash="same"), "two different responses"),
        (lambda c: c.guides.all().delete(), "Write the guide"),
    ],
)
def test_a_campaign_that_cannot_work_says_what_is_missing_and_stays_closed(
    signed_in, small_campaign, spoil, words
):
    campaign = small_campaign.campaign
    Campaign.objects.update(status=Campaign.Status.DRAFT)
    spoil(campaign)
    answer = signed_in("carol").post("/campaigns/small/open/", follow=True)
    assert words in answer.content.decode()
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.DRAFT


def test_an_invite_link_is_shown_once_and_admits(signed_in, small_campaign, client):
    answer = signed_in("carol").post("/campaigns/small/invites/new/", {"label": "friends"})
    page = answer.content.decode()
    link = page.split("/join/")[1].split("/")[0]
    assert client.post(f"/join/{link}/").status_code == 302
    assert link not in signed_in("carol").get("/campaigns/small/").content.decode()


def test_a_revoked_invite_admits_nobody(signed_in, small_campaign, client):
    signed_in("carol").post(f"/campaigns/small/invites/{small_campaign.invite.pk}/revoke/")
    assert client.post(f"/join/{small_campaign.token}/").status_code == 410


@pytest.mark.parametrize("who", ["alice", "mallory", "dora"])
def test_others_find_no_campaign(signed_in, small_campaign, who):
    visitor = signed_in(who)
    assert visitor.get("/campaigns/small/").status_code == 404
    for page in ("guide/edit", "guide/changes", "invites", "invites/roster.csv", "progress", "plan"):
        assert visitor.get(f"/campaigns/small/{page}{'' if '.' in page else '/'}").status_code == 404
    for act in (
        *("open", "pause", "close", "clone", "adopt", "edit", "guide/edit"),
        *("invites/new", "invites/personal", "invites/revoke"),
    ):
        assert visitor.post(f"/campaigns/small/{act}/").status_code == 404
    assert Invite.objects.count() == 1


def test_a_researcher_reads_and_changes_nothing(signed_in, small_campaign):
    ravi = signed_in("ravi")
    assert ravi.get("/campaigns/small/").status_code == 200
    assert ravi.get("/campaigns/small/invites/").status_code == 404
    assert ravi.post("/campaigns/small/edit/", {"part": "name"}).status_code == 404
    assert "<form" not in ravi.get("/campaigns/small/").content.decode().split("<main")[1]
    assert ravi.post("/campaigns/small/close/").status_code == 404
    assert Campaign.objects.get().status == Campaign.Status.OPEN


def test_acts_are_refused_by_get(signed_in, small_campaign):
    assert signed_in("carol").get("/campaigns/small/close/").status_code == 405


def test_the_command_makes_an_open_campaign_with_a_guide_of_ones_own(small_campaign, tmp_path):
    guide = tmp_path / "guide.md"
    guide.write_text("Choose **well**.", "utf-8")
    call_command("create_campaign", "spring", "--set", "small prompts", "--guide", str(guide), "--open")
    campaign = Campaign.objects.get(slug="spring")
    assert campaign.is_open
    assert campaign.current_guide.text == "Choose **well**."


def test_the_command_tells_an_address_only_as_far_as_it_is_known(small_campaign, monkeypatch, settings):
    def told(slug: str) -> str:
        said = StringIO()
        call_command("create_campaign", slug, "--set", "small prompts", stdout=said)
        return said.getvalue().split()[-1]

    monkeypatch.delenv("PORT", raising=False)
    settings.PUBLIC_URL = ""
    assert told("one") == "/campaigns/one/"
    monkeypatch.setenv("PORT", "8123")
    assert told("two") == "http://localhost:8123/campaigns/two/"
    settings.PUBLIC_URL = "https://arena.example.org"
    assert told("three") == "https://arena.example.org/campaigns/three/"


def test_an_open_campaign_by_invitation_offers_its_link_in_sight(signed_in, small_campaign):
    carol, page = signed_in("carol"), "/campaigns/small/"
    button = "Make an invite link to send</button>"
    assert button in carol.get(page).content.decode()
    assert button not in signed_in("ravi").get(page).content.decode()
    made = carol.post("/campaigns/small/invites/new/")
    assert "/join/" in made.context["group_link"] and made.context["group_link"] in made.content.decode()
    for change in ({"admission": "open"}, {"admission": "invite", "status": "paused"}):
        Campaign.objects.update(**change)
        assert button not in carol.get(page).content.decode()


def test_the_command_makes_nothing_that_it_cannot_open(small_campaign, tmp_path):
    Response.objects.update(text_hash="same")
    with pytest.raises(CommandError, match="two different responses"):
        call_command("create_campaign", "spring", "--set", "small prompts", "--open")
    with pytest.raises(CommandError, match="can't be read"):
        call_command("create_campaign", "spring", "--set", "small prompts", "--guide", str(tmp_path / "none"))
    assert Campaign.objects.count() == 1


def test_the_list_counts_votes_and_not_the_battle_that_still_waits_for_one(
    small_campaign, client, cast_votes, signed_in
):
    client.get(f"/join/{small_campaign.token}/")
    client.post(f"/join/{small_campaign.token}/")
    cast_votes(client, 2)
    assert small_campaign.campaign.battles.count() > 2
    assert '<td class="number">2</td>' in signed_in("ravi").get("/campaigns/").content.decode()
