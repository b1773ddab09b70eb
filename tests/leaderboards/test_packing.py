"""Board pages go out packed, unless a page holds secrets and words of the visitor's address together."""

import gzip

import pytest

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard

PACKED = {"accept-encoding": "gzip"}


@pytest.fixture
def joust(voted_campaign):
    small = voted_campaign(votes=200)
    for leaderboard in ensure_leaderboards(small.campaign):
        snapshots.take_snapshot(leaderboard)
    return small


@pytest.fixture
def published(joust):
    joust.campaign.leaderboards.update(visibility=Leaderboard.Visibility.PUBLIC)
    joust.campaign.status = joust.campaign.Status.CLOSED
    joust.campaign.save()
    return joust


@pytest.mark.parametrize("page", ["", "compare/", "model/", "charts/"])
def test_a_public_page_is_packed_and_says_so_to_caches(published, client, page):
    address = f"/boards/joust/{page}?board=overall"
    plain, answer = client.get(address), client.get(address, headers=PACKED)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["Vary"] and "Accept-Encoding" in plain.headers["Vary"]
    assert len(answer.content) < len(plain.content) / 2
    assert b"Fjord" in gzip.decompress(answer.content)


def test_a_visitor_who_takes_nothing_packed_gets_it_plain(published, client):
    answer = client.get("/boards/joust/?board=overall", headers={"accept-encoding": "identity"})
    assert "Content-Encoding" not in answer.headers and b"Fjord" in answer.content


@pytest.mark.parametrize(
    "parameters",
    ["", "?source=raters&board=hard&interval=bootstrap", "?sort=votes&page=2", "?source=judge:12"],
)
def test_who_is_signed_in_gets_it_packed_at_our_own_addresses(joust, signed_in, parameters):
    answer = signed_in("ravi").get(f"/boards/joust/{parameters}", headers=PACKED)
    assert answer.headers["Content-Encoding"] == "gzip"


@pytest.mark.parametrize(
    "parameters", ["?q=Fjord", "?pin=Fjord", "?x=1", "?source=Fjord", "?page=1023", "?sort=votes&sort=1023"]
)
def test_words_of_someones_choice_beside_secrets_are_never_packed(joust, signed_in, parameters):
    answer = signed_in("ravi").get(f"/boards/joust/{parameters}", headers=PACKED)
    assert answer.status_code == 200 and "Content-Encoding" not in answer.headers


def test_the_same_page_packed_twice_has_another_length(published, client):
    lengths = {len(client.get("/boards/joust/?board=overall", headers=PACKED).content) for _ in range(12)}
    assert len(lengths) > 1
