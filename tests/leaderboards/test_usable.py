"""Both bad, and what it says of a model alone: the figures of `ratings` on the same votes, or none."""

import pytest
from django.urls import reverse

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots, sources, usable
from ratings.rao_kupper import fit_grounded_rao_kupper


def test_both_bad_and_usable_are_those_of_the_votes(voted_campaign, signed_in):
    board = ensure_leaderboards(voted_campaign().campaign)[0]
    snapshot = snapshots.take_snapshot(board).snapshot
    rows, _cutoff = sources.Round().rows_of(board)
    expected = fit_grounded_rao_kupper(rows.comparisons).usable_probability()
    for number, competitor in enumerate(rows.competitors):
        standing = snapshot.standings.get(competitor=competitor)
        assert standing.usable == pytest.approx(expected[number], abs=1e-6)
        outcomes = standing.competitor.pk, "both_bad"
        votes = board.campaign.battles.filter(vote__outcome=outcomes[1])
        assert standing.both_bad == sum(outcomes[0] in (b.competitor_a_id, b.competitor_b_id) for b in votes)
    best = snapshot.standings.order_by("-rating").first()
    assert best.usable == max(standing.usable for standing in snapshot.standings.all())
    page = signed_in("ravi").get(reverse("board-model", args=["joust"]), {"name": best.competitor.name})
    assert f"{100 * best.usable:.0f}\u00a0%" in page.content.decode()


def test_few_both_bad_votes_tell_no_absolute_zero(voted_campaign):
    board = ensure_leaderboards(voted_campaign(votes=60).campaign)[0]
    rows, _cutoff = sources.Round().rows_of(board)
    assert set(usable.usable_of(rows)) == {None}
