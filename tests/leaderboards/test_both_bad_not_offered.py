"""Where nobody could call both bad, none is no finding: the pages say that it wasn't offered."""

import pytest

from arena.battles.pair_models import PairCount
from arena.judging.models import Judgment
from arena.leaderboards.boards import board_facts
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard
from tests.leaderboards.test_boards import text_of


def offers_both_bad(snapshot) -> bool:
    return board_facts.offers_both_bad(snapshot, board_facts.has_drawn(snapshot.leaderboard.campaign))


PAGES = ("/boards/joust/model/?name=Ember", "/boards/joust/compare/?a=Ember&b=Fjord")


@pytest.fixture
def recorded(make_campaign, cast, cast_vote):
    """Votes of a file: won, lost and tied, and the snapshot of them."""
    small = make_campaign("joust", prompts=4, names=("Ember", "Fjord", "Grove"))

    def take(*more: str):
        pairs = (("Ember", "Fjord"), ("Fjord", "Grove"), ("Ember", "Grove"))
        for number, outcome in enumerate((*["model_a", "model_b", "tie"] * 4, *more)):
            for a, b in pairs:
                rater = (cast.alice_rater, cast.bob_rater)[number % 2]
                cast_vote(small, small.prompts[number % 4], a, b, outcome, rater)
        return snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot

    return take


def test_a_file_without_such_a_label_never_offered_it(recorded, signed_in):
    assert not offers_both_bad(recorded())
    pages = [text_of(signed_in("ravi").get(address)) for address in PAGES]
    assert "not offered" in pages[0] and "4, not offered" in pages[1]


def test_one_such_vote_shows_that_the_file_knew_it(recorded, signed_in):
    assert offers_both_bad(recorded("both_bad"))
    pages = [text_of(signed_in("ravi").get(address)) for address in PAGES]
    assert not any("not offered" in page for page in pages)
    assert "4, 1" in pages[1] and "8 %" in pages[0]


def test_whoever_votes_here_could_and_so_none_is_a_finding(recorded, signed_in):
    snapshot = recorded()
    low, high = sorted(one.pk for one in snapshot.leaderboard.campaign.competitors.all())[:2]
    PairCount.objects.create(campaign=snapshot.leaderboard.campaign, low_id=low, high_id=high, battles=1)
    assert offers_both_bad(snapshot)
    pages = [text_of(signed_in("ravi").get(address)) for address in PAGES]
    assert not any("not offered" in page for page in pages)
    assert "0 %" in pages[0] and "4, 0" in pages[1]


@pytest.mark.parametrize("source", [Leaderboard.Source.JUDGE, Leaderboard.Source.PANEL])
def test_a_judge_is_never_offered_it(recorded, source):
    snapshot = recorded("both_bad")
    snapshot.leaderboard.source = source
    assert "both_bad" not in Judgment.Outcome.values
    assert not offers_both_bad(snapshot)
