from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from arena.campaigns.models import Campaign, Guide, Invite
from arena.corpus.models import Competitor, PromptSet, Response

pytestmark = pytest.mark.django_db

FIELDS = {"name": "Autumn", "admission": "invite", "reveal": "after_close", "guide": "Choose **well**."}


def test_an_admin_makes_a_campaign_that_takes_every_model_with_responses(signed_in, small_campaign):
    sets = [small_campaign.prompt_set.pk]
    answer = signed_in("carol").post("/campaigns/new/", FIELDS | {"prompt_sets": sets})
    assert answer["Location"] == "/campaigns/autumn/"
    campaign = Campaign.objects.get(slug="autumn")
    assert campaign.status == Campaign.Status.DRAFT
    assert campaign.competitors.count() == 3
    assert campaign.current_guide.rendered_html.count("<strong>well</strong>") == 1


def test_a_changed_guide_is_a_new_version_and_the_old_one_stays(signed_in, small_campaign):
    carol = signed_in("carol")
    page = FIELDS | {"slug": "small", "prompt_sets": [small_campaign.prompt_set.pk]}
    carol.post("/campaigns/small/edit/", page | {"guide": "New words."})
    carol.post("/campaigns/small/edit/", page | {"guide": "New words."})
    assert list(Guide.objects.order_by("version").values_list("version", "text")) == [
        (1, "Which response helps more?"),
        (2, "New words."),
    ]


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
    page = FIELDS | {"slug": "small", "prompt_sets": [small_campaign.prompt_set.pk], "reveal": "after_vote"}
    assert signed_in("carol").post("/campaigns/small/edit/", page).status_code == 302
    assert Campaign.objects.get().reveal == "after_close"


@pytest.mark.django_db(transaction=True)
def test_a_form_sent_many_times_at_once_is_stored_whole_or_refused(signed_in, small_campaign):
    cookies = signed_in("carol").cookies
    sets = [small_campaign.prompt_set.pk]

    def send(number: int) -> int:
        visitor = Client()
        visitor.cookies = cookies
        page = FIELDS | {
            "name": f"Autumn {number}",
            "slug": "autumn",
            "prompt_sets": sets,
            "guide": f"Guide {number}",
        }
        try:
            return visitor.post("/campaigns/new/", page).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(send, range(6))) == [302] + [422] * 5
    campaign = Campaign.objects.get(slug="autumn")
    assert campaign.current_guide.text == f"Guide {campaign.name.split()[1]}"


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


def test_a_campaign_whose_names_are_out_does_not_open_again(signed_in, small_campaign):
    carol = signed_in("carol")
    carol.post("/campaigns/small/close/")
    assert "wouldn&#x27;t be blind" in carol.post("/campaigns/small/open/", follow=True).content.decode()
    assert Campaign.objects.get().status == "closed"


def test_open_pause_close_and_open_again(signed_in, small_campaign):
    Campaign.objects.update(reveal=Campaign.Reveal.NEVER)
    carol, seen = signed_in("carol"), []
    for act in ("pause", "open", "close", "open"):
        carol.post(f"/campaigns/small/{act}/")
        seen.append(Campaign.objects.get().status)
    assert seen == ["paused", "open", "closed", "open"]


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
    for act in ("open", "pause", "close", "invites/new"):
        assert visitor.post(f"/campaigns/small/{act}/").status_code == 404
    assert Invite.objects.count() == 1


def test_a_researcher_reads_and_changes_nothing(signed_in, small_campaign):
    ravi = signed_in("ravi")
    assert ravi.get("/campaigns/small/").status_code == 200
    assert ravi.get("/campaigns/small/edit/").status_code == 404
    assert ravi.post("/campaigns/small/close/").status_code == 404
    assert Campaign.objects.get().status == Campaign.Status.OPEN


def test_acts_are_refused_by_get(signed_in, small_campaign):
    assert signed_in("carol").get("/campaigns/small/close/").status_code == 405
