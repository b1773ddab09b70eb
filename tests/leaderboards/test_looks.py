"""A registered board says how many planned votes are in, and which snapshot is the final one."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.battles import exclusions
from arena.battles.models import Vote
from arena.campaigns.models import Guide
from arena.campaigns.opening import close_campaign
from arena.leaderboards.citation import cite
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans import looks
from arena.leaderboards.plans.looks import look_of, newer_than, say_cast
from arena.leaderboards.plans.registration_words import say_registered
from arena.raters.models import Rater
from tests.leaderboards.plans_by_hand import record_votes, write_and_freeze
from tests.leaderboards.test_boards import text_of

EARLY = "a test made for one look isn’t at its level when it is read early"


@pytest.fixture
def study(request, voted_campaign, cast_vote, cast, signed_in):
    """study(votes) records the next votes of a plan for 200 (or the parameter), and takes a snapshot."""
    small = voted_campaign(votes=0)
    planned = getattr(request, "param", "200")
    write_and_freeze(signed_in("carol"), votes=planned, boards=["overall", "hard", "style"])
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    numbers = iter(range(240))

    def go_on(votes: int):
        record_votes(small, cast_vote, raters, numbers=[next(numbers) for _vote in range(votes)])
        return snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot

    go_on.small = small
    return go_on


def status_of(snapshot) -> str:
    return say_registered([snapshot])[0].split("; ")[-1]


def test_looks_before_the_planned_number_are_interim_and_the_first_with_it_is_final(study, signed_in):
    ravi = signed_in("ravi")
    early = study(150)
    assert status_of(early) == "interim look at 150 of 200 planned votes"
    assert ". Interim look at 150 of 200 planned votes. " in cite(early)
    board = text_of(ravi.get("/boards/joust/"))
    assert "interim look at 150 of 200 planned votes" in board and EARLY in board
    assert "came since" not in board
    final = study(60)
    assert (status_of(early), status_of(final)) == (
        "interim look at 150 of 200 planned votes",
        "final: 210 of 200 planned votes",
    )
    assert EARLY not in text_of(ravi.get("/boards/joust/"))
    later = study(10)
    since = "10 more votes were cast, 1 more prompt came in"
    assert status_of(later) == f"later than the final look, which is snapshot {final.pk} (since then {since})"
    assert status_of(final) == "final: 210 of 200 planned votes"
    assert ". Final look at 210 of 200 planned votes. " in cite(final)
    assert f". Later than the final look (snapshot {final.pk}), at 220 of 200 planned votes. " in cite(later)
    history = text_of(ravi.get("/boards/joust/joust-overall/snapshots/"))
    said = ("later than the final look", "final, 210 votes cast", "interim, 150 votes cast")
    assert [history.index(f"registered {words}") for words in said] == sorted(
        history.index(f"registered {words}") for words in said
    )


def test_closing_makes_the_first_snapshot_with_all_votes_final(study, client, signed_in):
    snapshot = study(150)
    campaign = study.small.campaign
    campaign.status, campaign.closed_at = "closed", timezone.now()
    campaign.save()
    snapshot.refresh_from_db()
    assert status_of(snapshot) == "final: closed at 150 of 200 planned votes"
    campaign.leaderboards.update(visibility=Leaderboard.Visibility.PUBLIC)
    board = text_of(client.get("/boards/joust/"))
    assert (
        "final: closed at 150 of 200 planned votes" in board
        and "the campaign is closed, and everything that counts is in" in board
    )
    assert EARLY not in board


def test_a_board_says_how_many_votes_came_since_once_the_campaign_is_closed(
    study, cast, cast_vote, client, signed_in
):
    snapshot = study(150)
    record_votes(study.small, cast_vote, [cast.alice_rater] * 3, numbers=range(230, 237))
    assert newer_than(snapshot) == 7
    campaign = study.small.campaign
    campaign.leaderboards.update(visibility=Leaderboard.Visibility.PUBLIC)
    campaign.status = "open"
    campaign.save()
    assert "came since" not in text_of(signed_in("ravi").get("/boards/joust/"))
    campaign.status = "closed"
    campaign.save()
    board = text_of(client.get("/boards/joust/"))
    assert "7 votes came since" in board and "interim look at 150 of 200 planned votes" in board


def test_votes_that_a_board_leaves_out_were_cast_and_count_towards_the_plan(study):
    snapshot = study(200)
    hard = snapshots.take_snapshot(ensure_leaderboards(study.small.campaign)[1]).snapshot
    assert hard.counts["votes"] < 200
    assert look_of(hard, hard.plan).got == 200
    assert not look_of(snapshot, snapshot.plan).is_interim


def test_votes_of_other_campaigns_are_none_that_came_since(study, voted_campaign):
    snapshot = study(150)
    voted_campaign("other", votes=50)
    assert newer_than(snapshot) == 0


def test_more_votes_than_are_looked_at_are_told_as_maybe_unless_the_campaign_was_closed_before(
    study, voted_campaign, client, monkeypatch
):
    snapshot = study(150)
    voted_campaign("other", votes=12)
    monkeypatch.setattr(looks, "LOOKED_AT", 10)
    campaign = study.small.campaign
    campaign.leaderboards.update(visibility=Leaderboard.Visibility.PUBLIC)
    campaign.status, campaign.closed_at = "closed", timezone.now()
    campaign.save()
    assert newer_than(snapshot) is None
    board = text_of(client.get("/boards/joust/"))
    assert "more votes may have come since" in board and "interim look" in board
    campaign.closed_at = snapshot.cutoff
    campaign.save()
    board = text_of(client.get("/boards/joust/"))
    assert (
        "the campaign is closed, and everything that counts is in" in board
        and "final: closed at 150" in board
    )


@pytest.mark.parametrize(
    ("study", "votes", "is_over"), [("100", 110, False), ("100", 111, True)], indirect=["study"]
)
def test_a_final_look_with_far_more_votes_than_planned_says_that_its_moment_was_open(study, votes, is_over):
    final = study(votes)
    open_moment = ", at a moment that the plan didn’t fix" if is_over else ""
    assert status_of(final) == f"final: {votes} of 100 planned votes{open_moment}"
    assert f". Final look at {votes} of 100 planned votes{open_moment}. " in cite(final)
    assert "moment" not in status_of(study(60)), "a later look says that it is one"


def test_a_page_of_registered_boards_asks_once_when_its_campaign_was_opened_again(study, signed_in):
    for votes in (210, 10):
        study(votes)
        for board in ensure_leaderboards(study.small.campaign):
            snapshots.take_snapshot(board)
    ravi = signed_in("ravi")
    ravi.get("/boards/joust/")
    with CaptureQueriesContext(connection) as queries:
        board = text_of(ravi.get("/boards/joust/"))
    assert "later than the final look" in board
    asked = [query["sql"] for query in queries]
    assert sum('FROM "arena_reopening"' in sql for sql in asked) == 1
    assert sum('FROM "arena_choice"' in sql for sql in asked) == 1
    assert sum('FROM "arena_exclusion"' in sql for sql in asked) == 1
    assert len(asked) <= 37


def test_newer_votes_are_found_by_their_own_numbers_and_not_by_the_campaigns_battles(study):
    snapshot = study(150)
    with CaptureQueriesContext(connection) as queries:
        newer_than(snapshot)
    assert len(queries) == 1 and "arena_battle" not in queries[0]["sql"].replace("battle_id", "")


def test_two_snapshots_that_are_laid_beside_each_other_say_which_looks_they_are(study, signed_in):
    early, final = study(150), study(60)
    ravi = signed_in("ravi")
    words = text_of(ravi.get("/boards/joust/joust-overall/diff/"))
    assert f"Snapshot {early.pk} registered interim, 150 votes cast" in words
    assert f"Snapshot {final.pk} registered final, 210 votes cast" in words
    assert "interim look at 150 of 200 planned votes" in text_of(ravi.get(f"/snapshots/{early.pk}/"))
    assert "final: 210 of 200 planned votes" in text_of(ravi.get(f"/snapshots/{final.pk}/"))


def test_what_the_boards_of_a_page_share_is_said_once_and_each_look_by_its_board(study):
    overall = study(150)
    hard = snapshots.take_snapshot(ensure_leaderboards(study.small.campaign)[1]).snapshot
    (same,) = say_registered([overall, hard])
    assert same.count("registered under") == 1 and same.endswith("; interim look at 150 of 200 planned votes")
    (words,) = say_registered([study(60), hard])
    assert words.count("registered under") == 1
    assert "; overall final: 210 of 200 planned votes; " in words
    assert words.endswith("; hard prompts interim look at 150 of 200 planned votes")


def close(study) -> None:
    study.small.campaign.opened_at = study.small.campaign.opened_at or timezone.now()
    study.small.campaign.save()
    close_campaign(study.small.campaign)


def open_again(study, signed_in) -> None:
    Guide.publish(study.small.campaign, "Which is better?")
    answer = signed_in("carol").post("/campaigns/joust/open/", {"though_names_were_shown": "on"})
    study.small.campaign.refresh_from_db()
    assert answer.status_code == 302 and study.small.campaign.is_open


@pytest.mark.parametrize("study", ["", "200"], indirect=True, ids=["no number", "200 planned"])
def test_a_final_look_stays_final_when_the_campaign_is_opened_again(study, signed_in, cast):
    early = study(60)
    first = study(60)
    close(study)
    assert snapshots.take_snapshot(first.leaderboard).state == "unchanged"
    assert status_of(refreshed(first)).startswith("final: ")
    open_again(study, signed_in)
    said = status_of(refreshed(first))
    assert said.startswith("final: ") and "120" in said
    assert status_of(refreshed(early)).startswith("interim look at 60")
    later = study(90)
    for vote in Vote.objects.order_by("-pk")[:4]:
        exclusions.exclude_vote(study.small.campaign, vote.battle.public_id, cast.carol, "not helpful")
    last = snapshots.take_snapshot(first.leaderboard).snapshot
    close(study)
    assert status_of(refreshed(first)) in (said, "final: the campaign is closed, with 120 votes")
    since = "the campaign was opened again, 90 more votes were cast, 9 more prompts came in"
    for snapshot, more in ((later, ""), (last, ", 4 more votes are left out")):
        assert status_of(refreshed(snapshot)) == (
            f"later than the final look, which is snapshot {first.pk} (since then {since}{more})"
        )
    history = text_of(signed_in("ravi").get("/boards/joust/joust-overall/snapshots/"))
    assert "registered final, 120 votes cast" in history and "registered interim, 60 votes cast" in history
    assert history.count("registered later than the final look") == 2


@pytest.mark.parametrize("study", [""], indirect=True)
def test_a_close_that_no_snapshot_saw_makes_none_final(study, signed_in, cast_vote, cast):
    early = study(60)
    record_votes(study.small, cast_vote, [cast.alice_rater] * 3, numbers=range(230, 237))
    close(study)
    assert status_of(refreshed(early)).startswith("interim look at 60")
    open_again(study, signed_in)
    later = study(30)
    assert status_of(refreshed(early)).startswith("interim look at 60")
    assert status_of(refreshed(later)).startswith("interim look at 97")
    close(study)
    assert status_of(refreshed(later)) == "final: the campaign is closed, with 97 votes"


def refreshed(snapshot):
    return Snapshot.objects.select_related("leaderboard__campaign", "plan").get(pk=snapshot.pk)


def test_a_board_with_fewer_votes_than_were_cast_says_how_many_count(study):
    snapshot = study(150)
    assert say_cast(snapshot) == ""
    snapshot.counts |= {"votes": 140, "left_out": {"repeated": 10}}
    assert say_cast(snapshot) == "150 votes cast, of which 140 count on this board"
