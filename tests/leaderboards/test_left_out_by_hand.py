"""Whoever has seen an interim look could leave votes out by it: what is registered then says how many."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena.battles import exclusions
from arena.battles.models import Exclusion, Vote
from arena.leaderboards.citation import cite
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.by_hand import by_hand_since_votes
from arena.leaderboards.plans.registration_words import say_status
from arena.raters.models import Rater
from tests.leaderboards.plans_by_hand import record_votes, write_and_freeze
from tests.leaderboards.test_boards import text_of

CODE = "left_out_after_votes"


@pytest.fixture
def study(voted_campaign, cast_vote, cast, signed_in, settings):
    """study(numbers) records votes of three raters under a plan for 200, and takes its overall board."""
    settings.BOOTSTRAP_RESAMPLES = 0
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), votes="200", boards=["overall", "hard", "style"])
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]

    def go_on(numbers):
        record_votes(small, cast_vote, raters, numbers=numbers)
        return snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot

    go_on.small = small
    return go_on


def leave_out(carol, **what):
    answer = carol.post("/campaigns/joust/exclusions/", {"reason": "sloppy", **what})
    assert answer.status_code == 302, answer.content.decode()


def cautions(visitor, snapshot) -> list[str]:
    told = visitor.get(f"/api/v1/snapshots/{snapshot.pk}/").json()["cautions"]
    return [caution["text"] for caution in told if caution["code"] == CODE]


def test_a_rater_left_out_after_a_look_is_named_wherever_a_board_is_registered(study, cast, signed_in):
    early = study(range(100))
    leave_out(signed_in("carol"), rater=cast.bob_rater.pk)
    final = study(range(100, 204))
    assert final.plan == AnalysisPlan.objects.get()
    n = Vote.objects.filter(rater=cast.bob_rater).count()
    assert n == 68
    clause = "final: 204 of 200 planned votes, 68 of all votes left out by hand after the first vote"
    assert say_status(final).endswith(clause)
    assert "204 of 200 planned votes, 68 of all votes left out by hand after the first vote. " in cite(final)
    ravi, day = signed_in("ravi"), f"{Exclusion.objects.get().since:%Y-%m-%d}"
    (words,) = cautions(ravi, final)
    assert words == (
        f"68 votes were left out by hand after the first vote, from {day} on, all those of 1 rater among"
        " them: which votes count was decided when numbers could be seen."
    )
    for page in ("/boards/joust/", f"/snapshots/{final.pk}/"):
        shown = text_of(ravi.get(page))
        assert words in shown and clause in shown
    assert clause in text_of(ravi.get("/boards/joust/report/"))
    assert cautions(ravi, early) == [] and "by hand" not in say_status(early) + cite(early)


def test_single_votes_and_exclusions_taken_back_are_named_too(study, signed_in):
    study(range(100))
    carol, ravi = signed_in("carol"), signed_in("ravi")
    vote = Vote.objects.order_by("pk").first()
    leave_out(carol, battle=vote.battle.public_id)
    without = study(range(100, 130))
    (words,) = cautions(ravi, without)
    assert words.startswith("1 vote was left out by hand after the first vote, from ")
    assert "rater" not in words
    assert carol.post(
        f"/campaigns/joust/exclusions/{Exclusion.objects.get().pk}/revoke/", {"reason": "it was fine"}
    ).status_code in (302, 200)
    again = study(range(130, 210))
    (words,) = cautions(ravi, again)
    assert words.startswith("1 exclusion by hand was taken back: which votes count")
    assert say_status(again).endswith("with votes left out and taken in again by hand after the first vote")
    assert len(cautions(ravi, without)) == 1, "what was shown stays as it was"


def test_votes_that_the_program_leaves_out_by_its_own_rules_were_decided_beforehand(study, signed_in):
    study(range(100))
    for vote in Vote.objects.order_by("pk")[:7]:
        exclusions.exclude_unblinded(vote)
    final = study(range(100, 204))
    assert final.counts["left_out"]["excluded_unblinded"] == 7
    assert by_hand_since_votes(final) is None
    assert cautions(signed_in("ravi"), final) == []


def test_who_was_left_out_before_the_first_vote_was_left_out_blind(study, cast, signed_in):
    campaign = study.small.campaign
    exclusions.exclude_rater(campaign, cast.alice_rater, cast.carol, "tried it out")
    early = study(range(99))
    assert early.counts["left_out"]["excluded_by_hand"] == 33
    assert by_hand_since_votes(early) is None
    leave_out(signed_in("carol"), rater=cast.bob_rater.pk)
    final = study(range(99, 210))
    assert by_hand_since_votes(final).votes == 70
    exclusions.revoke(Exclusion.objects.first(), cast.carol, "they count after all")
    again = study(range(210, 213))
    found = by_hand_since_votes(again)
    assert (found.votes, found.taken_in) == (71, 1)


def test_a_page_of_registered_boards_asks_once_who_was_left_out(study, cast, signed_in):
    study(range(100))
    leave_out(signed_in("carol"), rater=cast.bob_rater.pk)
    study(range(100, 204))
    for board in ensure_leaderboards(study.small.campaign):
        snapshots.take_snapshot(board)
    ravi = signed_in("ravi")
    ravi.get("/boards/joust/")
    with CaptureQueriesContext(connection) as queries:
        ravi.get("/boards/joust/")
    asked = [query["sql"] for query in queries]
    assert sum('FROM "arena_exclusion"' in sql for sql in asked) == 1
