"""Every snapshot has a page of its own for good, and two of a board can be laid side by side."""

import re
from dataclasses import replace

import pytest
from django.urls import reverse

from arena.leaderboards.boards.board_facts import say_check
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.snapshot_diff import diff_of
from arena.leaderboards.snapshot_views import counts_of


@pytest.fixture
def two(voted_campaign, cast_vote, cast):
    """Two snapshots of one board with 20 votes for Fjord between them."""
    small = voted_campaign(votes=300)
    board = ensure_leaderboards(small.campaign)[0]
    first = snapshots.take_snapshot(board).snapshot
    for number in range(20):
        cast_vote(small, small.prompts[number % 24], "Fjord", "Ember", "model_a", cast.alice_rater)
    return first, snapshots.take_snapshot(board).snapshot


def test_an_older_snapshot_keeps_its_page_and_leads_to_what_moved(two, signed_in):
    first, second = two
    page = signed_in("ravi").get(reverse("snapshot", args=[first.pk])).content.decode()
    assert first.vote_digest in page
    assert first.code_version in page
    assert "A newer one exists" in page
    assert f"before={first.pk}&amp;after={second.pk}" in page


def test_changes_are_told_without_the_mean_change_of_the_models_on_both(two):
    diff = diff_of(*two)
    changes = [moved.change for moved in diff.moved]
    assert sum(changes) == pytest.approx(0, abs=1e-6)
    by_name = {moved.name: moved.change for moved in diff.moved}
    assert by_name["Fjord"] > 0 > by_name["Ember"]
    assert diff.counts["votes"] == (300, 320)
    assert not diff.same_votes
    assert diff.same_code


def test_a_snapshot_against_itself_has_not_moved(two):
    diff = diff_of(two[0], two[0])
    assert {moved.change for moved in diff.moved} == {0.0}
    assert not diff.counts and not diff.options and diff.same_votes


def test_the_page_of_what_moved_takes_the_newest_two_by_itself(two, signed_in):
    board = two[0].leaderboard
    address = reverse("snapshot-diff", args=[board.campaign.slug, board.slug])
    page = signed_in("ravi").get(address).content.decode()
    assert "300 → 320" in page
    assert "Fjord" in page
    assert signed_in("ravi").get(address, {"before": "999"}).status_code == 404
    assert signed_in("ravi").get(address, {"before": "x"}).status_code == 404


def test_the_list_names_every_snapshot(two, signed_in):
    board = two[0].leaderboard
    page = (
        signed_in("ravi")
        .get(reverse("snapshot-list", args=[board.campaign.slug, board.slug]))
        .content.decode()
    )
    for snapshot in two:
        assert reverse("snapshot", args=[snapshot.pk]) in page


def test_a_strangers_snapshot_is_not_found(two, signed_in, client):
    for visitor in (client, signed_in("mallory"), signed_in("dora"), signed_in("alice")):
        assert visitor.get(reverse("snapshot", args=[two[0].pk])).status_code == 404


def test_what_is_counted_is_told_in_words_and_rounded(two):
    diff = diff_of(*two)
    diff = replace(diff, counts={"design_effect": (1.23456, 2.5), "effective_clusters": (8.01, 8.02)})
    assert counts_of(diff) == [("design effect", "1.2", "2.5")]


def test_the_page_says_each_fact_once_and_no_option_that_nobody_chose(two, signed_in):
    page = signed_in("ravi").get(reverse("snapshot", args=[two[1].pk])).content.decode()
    names = re.findall(r"<dt>(.*?)</dt>", page)
    assert len(names) == len(set(names))
    assert {"Seed", "Intervals", "Margin, in points"} <= set(names)
    assert "Anchor" not in page


def test_it_says_against_what_the_ratings_were_checked_and_how_far_they_differ(two, signed_in):
    _first, second = two
    check = second.counts["check"]
    page = " ".join(signed_in("ravi").get(reverse("snapshot", args=[second.pk])).content.decode().split())
    assert f"<dt>Checked by other software</dt><dd>yes, checked against {check['engine']}, largest" in page
    assert say_check(None) == "no"
