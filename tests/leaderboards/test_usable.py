"""Both bad, and what it says of a model alone: the figures of `ratings` on the same votes, or none."""

import pytest
from django.urls import reverse

from arena.leaderboards.boards.usable_words import why_none
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


def lines_of(client, name: str) -> list[dict]:
    return client.get("/api/v1/campaigns/joust/tables/model-boards.json", {"name": name}).json()


def test_where_there_is_none_page_and_file_say_why(voted_campaign, signed_in):
    small, ravi = voted_campaign(), signed_in("ravi")
    boards = ensure_leaderboards(small.campaign)
    for board in boards:
        snapshots.take_snapshot(board)
    name = small.competitors[0].name
    why = {line["board"]: (line["usable"], line["why_not_usable"]) for line in lines_of(ravi, name)}
    assert why["overall"][0] > 0 and why["overall"][1] is None
    assert why["style"] == (None, "not with style control")
    page = ravi.get(reverse("board-model", args=["joust"]), {"name": name}).context["page"]
    assert [line.usable for line in page.boards if line.board == "Style-controlled"] == [why["style"][1]]


def test_the_reasons_are_the_plainest_that_holds(voted_campaign):
    snapshot = snapshots.take_snapshot(ensure_leaderboards(voted_campaign(votes=60).campaign)[0]).snapshot
    snapshot.counts["both_bad"] = usable.FEWEST - 1
    assert why_none(snapshot, offered=True) == "too few both bad: 29 of 30 votes"
    assert why_none(snapshot, offered=False) == "not offered"
    snapshot.counts["both_bad"] = usable.FEWEST
    assert why_none(snapshot, offered=True).startswith("not settled: ")
