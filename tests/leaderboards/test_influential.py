"""The battles whose votes move a rating most: what a page says of them, and what a fit without them gives."""

import pytest
from django.urls import reverse

from arena.battles.models import Vote
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.reading import read_battles
from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Comparisons
from ratings.scale import POINTS_PER_LOG_ODDS


@pytest.fixture
def joust(voted_campaign):
    return voted_campaign(votes=300)


@pytest.fixture
def taken(joust):
    assert snapshots.take_snapshot(ensure_leaderboards(joust.campaign)[0]).snapshot
    return joust


def strengths_without(small, pair=None) -> dict[str, float]:
    """In points, of all votes but those on that pair of responses."""
    votes = Vote.objects.filter(battle__campaign=small.campaign).select_related("battle")
    if pair is not None:
        gone = {*pair.responses}
        votes = [v for v in votes if {v.battle.response_a_id, v.battle.response_b_id} != gone]
    place = {competitor.pk: n for n, competitor in enumerate(small.competitors)}
    fit = fit_bradley_terry(
        Comparisons.of(
            len(place),
            [place[vote.battle.competitor_a_id] for vote in votes],
            [place[vote.battle.competitor_b_id] for vote in votes],
            [vote.outcome for vote in votes],
        )
    )
    return {one.name: POINTS_PER_LOG_ODDS * fit.strengths[place[one.pk]] for one in small.competitors}


def chosen(small, model: str = "", against: str = ""):
    pk = {competitor.name: competitor.pk for competitor in small.competitors}
    return read_battles.choose(small.campaign, "influential", pk.get(model), pk.get(against), 0)


def test_without_the_votes_of_a_pair_ratings_move_as_far_as_is_said(taken):
    whole = strengths_without(taken)
    first, second, *_rest = sorted(whole, key=whole.get, reverse=True)
    questions = {
        ("", ""): lambda found: found[first] - found[second],
        ("Grove", ""): lambda found: found["Grove"],
        ("Grove", "Heron"): lambda found: found["Grove"] - found["Heron"],
    }
    for (model, against), asked in questions.items():
        pairs = chosen(taken, model, against)
        sizes = [abs(pair.influence) for pair in pairs]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > 1
        for pair in pairs[:4]:
            moved = asked(strengths_without(taken, pair)) - asked(whole)
            assert -pair.influence == pytest.approx(moved, rel=0.25), (model, against)


def test_a_page_says_what_each_pair_does(taken, signed_in):
    address = reverse("battle-reader", args=["joust"])
    pk = {competitor.name: competitor.pk for competitor in taken.competitors}
    page = signed_in("ravi").get(
        address, {"pick": "influential", "model": pk["Grove"], "against": pk["Heron"]}
    )
    assert page.content.decode().count("Without these votes Grove less Heron would move by about") == 10
    assert "reckoned by one step from the present ratings" in page.content.decode()
    (first, *_rest) = chosen(taken, "Grove", "Heron")
    assert f"{abs(first.influence):.1f} points." in page.content.decode()


def test_without_a_board_nothing_is_said_to_move(joust, signed_in):
    assert chosen(joust) == []
    page = signed_in("ravi").get(reverse("battle-reader", args=["joust"]), {"pick": "influential"})
    assert "No battle is like that." in page.content.decode()
