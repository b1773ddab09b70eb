"""A number below zero has a minus sign proper, wherever a page writes one."""

import re

import pytest
from django.urls import reverse

from arena.leaderboards.agreement.card_rows import of_mean
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import PairResult, Standing
from arena.leaderboards.sentences import signed, written
from tests.conftest import past_triggers
from tests.leaderboards.test_boards import text_of


@pytest.mark.parametrize(
    ("value", "decimals", "plain", "with_sign"),
    [
        (12.4, 0, "12", "+12"),
        (-31.0, 0, "−31", "−31"),
        (-0.2, 0, "0", "0"),
        (0.04, 1, "0.0", "0.0"),
        (-0.05, 2, "−0.05", "−0.05"),
    ],
)
def test_numbers_as_written(value, decimals, plain, with_sign):
    assert (written(value, decimals), signed(value, decimals)) == (plain, with_sign)


def test_a_judges_card_writes_means_below_zero_with_a_minus():
    found = {"estimate": -0.03, "lower": -1200.5, "upper": -0.001, "n": 9}
    row = of_mean("κ", found)
    assert (row.figure, row.interval) == ("−0.03", "−1,200.50 … 0.00")


@pytest.mark.parametrize(
    "page",
    [
        "/boards/joust/?board=overall",
        "/boards/joust/?board=overall&interval=bootstrap",
        "/boards/joust/model/?name=Ember",
        "/boards/joust/charts/",
        "/boards/joust/report/",
        "/boards/joust/compare/?a=Ember&b=Fjord",
        "snapshot",
        "diff",
    ],
)
def test_ratings_below_zero_have_a_minus_on_every_page(voted_campaign, cast_vote, cast, signed_in, page):
    small = voted_campaign("joust")
    board = ensure_leaderboards(small.campaign)[0]
    before = take_snapshot(board).snapshot
    cast_vote(small, small.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater)
    snapshot = take_snapshot(board).snapshot

    def sink():
        low = {"rating": -31.2, "lower": -95.2, "upper": -3.4}
        low |= {"bootstrap_lower": -96.2, "bootstrap_upper": -2.4}
        Standing.objects.filter(snapshot=snapshot).update(**low)
        PairResult.objects.filter(snapshot=snapshot).update(
            difference=-31.2, lower=-95.2, upper=-3.4, verdict="undecided"
        )

    past_triggers(sink)
    names = {"snapshot": reverse("snapshot", args=[snapshot.pk])}
    names["diff"] = reverse("snapshot-diff", args=["joust", board.slug])
    names["diff"] += f"?before={before.pk}&after={snapshot.pk}"
    words = text_of(signed_in("ravi").get(names.get(page, page))).rpartition("@media")[2]
    assert "−31" in words
    # Not within a word: dates have hyphens.
    assert not re.findall(r"(?<![\w-])-\d.{20}", words)
