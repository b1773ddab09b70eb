"""What a campaign's page asks of the database, for votes are many, and where it leads."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from arena.campaigns.models import Campaign

pytestmark = pytest.mark.django_db


def asked(visitor: Client, address: str) -> list[str]:
    visitor.get(address)  # what is asked once a process isn't counted
    with CaptureQueriesContext(connection) as found:
        assert visitor.get(address).status_code == 200
    return [query["sql"] for query in found.captured_queries]


def over(table: str, statements: list[str]) -> list[str]:
    return [one for one in statements if re.search(rf'(FROM|JOIN) "{table}"', one) and " LIMIT 1" not in one]


@pytest.fixture
def voted(small_campaign, cast_votes):
    client = Client()
    client.post(f"/join/{small_campaign.token}/")
    cast_votes(client, 3)
    Campaign.objects.update(target_votes=2, target_raters=3)


@pytest.mark.parametrize("who", ["carol", "ravi"])
def test_the_page_walks_over_the_votes_once(signed_in, voted, who):
    statements = asked(signed_in(who), "/campaigns/small/")
    assert len(over("arena_vote", statements)) == 1
    assert len(over("arena_response", statements)) <= 3
    assert len(statements) <= 34


def test_its_progress_does_too_whatever_the_targets(signed_in, voted):
    statements = asked(signed_in("ravi"), "/campaigns/small/progress/")
    assert len(over("arena_vote", statements)) == 1
    assert len(statements) <= 12


def test_more_votes_and_models_ask_for_no_more(signed_in, voted, small_campaign, make_response, cast_votes):
    pages = ("/campaigns/small/", "/campaigns/small/progress/")
    visitor = signed_in("carol")
    before = [len(asked(visitor, page)) for page in pages]
    client = Client()
    client.post(f"/join/{small_campaign.token}/")
    cast_votes(client, 4)
    for number in range(3):
        prompt, competitor = small_campaign.prompts[number], small_campaign.competitors[0]
        make_response(prompt, competitor, f"Another {number}.", sample=2)
    assert [len(asked(visitor, page)) for page in pages] == before


def test_what_it_says_is_what_was_cast(signed_in, voted):
    page = re.sub(
        r"\s+", " ", re.sub(r"<[^>]+>", "", signed_in("ravi").get("/campaigns/small/").content.decode())
    )
    assert "3 votes" in page and "1 rater " in page and "12 responses that can be drawn" in page


def test_admins_get_from_it_to_golds_and_to_what_is_left_out(signed_in, small_campaign):
    links = ("/campaigns/small/golds/", "/campaigns/small/exclusions/")
    for who, is_linked in (("carol", True), ("ravi", False)):
        page = signed_in(who).get("/campaigns/small/").content.decode()
        assert [f'href="{link}"' in page for link in links] == [is_linked, is_linked]
