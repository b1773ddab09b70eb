"""Pages say how a board was fitted in words, never by the names that code has for it."""

from dataclasses import fields, replace
from typing import get_args

import pytest
from django.urls import reverse

from arena.leaderboards.boards.option_words import (
    BOTH_BAD,
    INTERVALS,
    LABELS,
    TIES,
    TRANSFORMS,
    UNITS,
    UNSTABLE,
    WORDS,
    interval_words,
    option_words,
)
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Snapshot
from arena.leaderboards.snapshot_diff import diff_of
from arena.leaderboards.snapshot_views import options_of
from ratings import style
from ratings.board_options import Dimension, Interval, LeaderboardOptions
from ratings.comparisons import HalfOrDrop, Ties, Unstable
from tests.leaderboards.test_boards import text_of


@pytest.fixture
def snapshot(voted_campaign) -> Snapshot:
    small = voted_campaign(votes=200)
    return snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot


def test_every_option_and_every_value_it_may_have_has_words():
    assert set(LABELS) == set(WORDS) == {field.name for field in fields(LeaderboardOptions)}
    assert set(INTERVALS) == set(get_args(Interval))
    assert set(TRANSFORMS) == set(style.TRANSFORMS)
    assert set(TIES) == set(get_args(Ties)) and set(UNSTABLE) == set(get_args(Unstable))
    assert set(BOTH_BAD) == set(get_args(HalfOrDrop))
    assert set(UNITS) == set(get_args(Dimension))


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("cluster-robust (CR3) by rater and prompt", "robust, clustered by rater and prompt (CR3)"),
        ("cluster-robust (CR1) by prompt", "robust, clustered by prompt (CR1)"),
        ("sandwich (HC0), assumes independent votes", "robust, votes taken as independent"),
        (
            "prediction-powered (PPI++, lam = 0.412), cluster-robust by rater",
            "robust, clustered by rater; the judge is relied on to 0.412 (λ: 0 not at all, 1 wholly)",
        ),
        (
            "prediction-powered (PPI++, lam = 0.000), sandwich, assumes independent votes",
            "robust, votes taken as independent; the judge is relied on to 0.000 (λ: 0 not at all, 1 wholly)",
        ),
    ],
)
def test_intervals_say_what_they_allow_for(method, words):
    assert interval_words(method) == words


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ties", "drop", "are left out"),
        ("both_bad", "half", "counts as a tie"),
        ("cluster", None, "all that are known"),
        ("cluster", ["rater", "prompt"], "rater and prompt"),
        ("style", True, "yes"),
        ("bootstrap", 1000, "1,000"),
        ("confidence", 0.95, "95\u00a0%"),
        ("anchor", None, "none"),
        ("margin", 12.5, "12.5"),
        ("seed", None, "–"),
    ],
)
def test_an_option_is_said_in_words(name, value, words):
    assert option_words(name, value) == words


def test_what_is_not_an_option_is_no_silent_dash():
    with pytest.raises(KeyError):
        option_words("tides", 1)
    with pytest.raises(KeyError):
        option_words("ties", "thirds")


def test_no_page_prints_the_names_that_code_has(snapshot, signed_in):
    ravi, slug = signed_in("ravi"), snapshot.leaderboard.campaign.slug
    assert snapshot.counts["interval_method"].startswith("cluster-robust")
    own, board = reverse("snapshot", args=[snapshot.pk]), reverse("board", args=[slug])
    for address in (own, f"{board}?board=overall"):
        page = text_of(ravi.get(address))
        assert "robust, clustered by rater and prompt" in page
        assert "cluster-robust" not in page and "both_bad" not in page and "min_votes" not in page
    page = text_of(ravi.get(own))
    assert "Orders that disagree count as a tie" in page


def test_what_moved_tells_options_in_words(snapshot):
    differing = {"bootstrap": (snapshot.options["bootstrap"], 1000), "ties": ("half", "drop")}
    told = options_of(replace(diff_of(snapshot, snapshot), options=differing))
    assert told == [
        ("resamples", "20", "1,000"),
        ("ties", "count half", "are left out"),
    ]
