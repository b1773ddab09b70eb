"""Votes that leave nothing to reckon with: one model won all, all are ties, or hardly anybody voted."""

import re

import pytest
from django.urls import reverse

from arena.exchange import export_boards
from arena.exchange.export_extract import Extract
from arena.leaderboards.boards.compare_direct import say_first_needed
from arena.leaderboards.boards.duels import Duel
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, PairResult, Snapshot
from arena.raters.models import Rater
from tests.leaderboards.test_boards import text_of
from tests.leaderboards.test_report import built, told

RESULT, OPEN = 4, 7
ASKS = {"a": "Fjord", "b": "Ember"}


def taken(small):
    return snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot


@pytest.fixture
def raters(cast):
    return [Rater.objects.create(team=cast.team, pseudonym=f"rater {n}") for n in range(12)]


@pytest.fixture
def swept(make_campaign, raters, cast_vote):
    """Twelve raters on twelve prompts: Ember won all 144 of Fjord."""
    small = make_campaign(prompts=12)
    for prompt in small.prompts:
        for rater in raters:
            cast_vote(small, prompt, "Ember", "Fjord", "model_a", rater)
    return small


def test_board_compare_and_report_agree_on_who_won_all(swept, signed_in):
    snapshot, ravi = taken(swept), signed_in("ravi")
    assert snapshot.endless
    assert "Ember leads." in text_of(ravi.get("/boards/small/?board=overall"))
    page = text_of(ravi.get("/boards/small/compare/", ASKS))
    assert "finite: Ember won all 144 of their battles" in page
    assert "Ember won all 144 of their battles: no finite difference" in page
    assert "Fjord in place of Ember? Not tested: the test at the margin needs a finite difference." in page
    parts = built(swept).parts
    assert "Ember leads." in told(parts[RESULT])
    captions = [block.caption for block in parts[OPEN].blocks]
    assert "Pairs that are not told apart" not in captions
    said = next(block for block in parts[OPEN].blocks if block.caption.startswith("Pairs without a finite"))
    assert [*said.items] == ["Ember – Fjord: Ember won all 144 of their battles"]


def test_of_two_that_never_met_it_is_said_who_won_or_lost_all_others(
    make_campaign, raters, cast_vote, signed_in
):
    small = make_campaign(prompts=12)
    for prompt in small.prompts:
        for number, rater in enumerate(raters):
            cast_vote(small, prompt, "Ember", "Grove", "model_a", rater)
            cast_vote(small, prompt, "Fjord", "Grove", "model_a" if number % 3 else "model_b", rater)
    taken(small)
    page = text_of(signed_in("ravi").get("/boards/small/compare/", ASKS))
    assert "finite: Ember won every battle against the rest" in page


def test_where_no_model_has_an_interval_none_is_called_as_wide_as_anything(swept, signed_in):
    snapshot = taken(swept)
    assert snapshot.counts["models_own_error"] == 0
    page = text_of(signed_in("ravi").get("/boards/small/?board=overall"))
    assert "as wide as the fit" not in page
    assert not re.search(r"design effect \d", page)
    assert "no design effect: no model has an interval of two ends" in page


def test_a_design_effect_that_nobody_can_tell_is_in_no_file_and_no_diff(swept, raters, cast_vote, signed_in):
    first, ravi = taken(swept), signed_in("ravi")
    reason = "no model has an interval of two ends"
    counts = ravi.get(f"/api/v1/snapshots/{first.pk}/").json()["counts"]
    assert counts["design_effect"] is None and counts["design_effect_unknown"] == reason
    [row] = export_boards.snapshots(Extract(swept.campaign))
    assert row["counts"]["design_effect"] is None and row["counts"]["design_effect_unknown"] == reason
    for prompt in swept.prompts:
        for rater in raters[:4]:
            cast_vote(swept, prompt, "Ember", "Fjord", "model_b", rater)
    second = taken(swept)
    counts = ravi.get(f"/api/v1/snapshots/{second.pk}/").json()["counts"]
    assert counts["design_effect"] > 0 and "design_effect_unknown" not in counts
    board = second.leaderboard
    page = text_of(ravi.get(reverse("snapshot-diff", args=["small", board.slug])))
    assert f"design effect not known ({reason}) → {counts['design_effect']:.1f}" in page


def test_of_many_ties_alone_it_is_not_the_number_of_votes_that_keeps_models_unranked(
    make_campaign, raters, cast_vote, signed_in
):
    small = make_campaign(prompts=12)
    for prompt in small.prompts:
        for number, rater in enumerate(raters):
            cast_vote(small, prompt, "Ember", "Fjord", "tie" if number % 2 else "both_bad", rater)
    taken(small)
    ravi = signed_in("ravi")
    page = text_of(ravi.get("/boards/small/?board=overall"))
    assert "No vote tells the models apart: all are ties, and none is ranked." in page
    page = text_of(ravi.get("/boards/small/compare/", ASKS))
    assert "Nothing tells Fjord and Ember apart: all votes between them are ties." in page
    assert "Ember isn’t ranked: all of its votes are ties" in page
    assert "too few votes to be ranked" not in page and "0 pairs" not in page


def test_two_raters_need_more_raters_and_no_number_of_their_own_votes(
    make_campaign, raters, cast_vote, signed_in
):
    small = make_campaign(prompts=12)
    for place, prompt in enumerate(small.prompts):
        for number, rater in enumerate(raters[:2]):
            won = "model_a" if (place + number) % 3 else "model_b"
            for a, b in (("Ember", "Fjord"), ("Fjord", "Grove"), ("Ember", "Grove")):
                cast_vote(small, prompt, a, b, won, rater)
    taken(small)
    ravi = signed_in("ravi")
    page = text_of(ravi.get("/boards/small/compare/", ASKS))
    assert "More raters first: 2 raters are too few" in page and "or more votes" not in page
    assert "both speak of these raters only" in page
    assert ravi.get("/api/v1/campaigns/small/tables/compare-needs.json", ASKS).json() == []


def test_groups_of_equal_size_have_no_largest_and_no_common_opponents(
    make_campaign, raters, cast_vote, signed_in
):
    small = make_campaign(prompts=12, names=("Ember", "Fjord", "Grove", "Heron"))
    for place, prompt in enumerate(small.prompts):
        for number, rater in enumerate(raters):
            won = "model_a" if (place + number) % 3 else "model_b"
            cast_vote(small, prompt, "Ember", "Fjord", won, rater)
            cast_vote(small, prompt, "Grove", "Heron", won, rater)
    taken(small)
    ravi = signed_in("ravi")
    assert "and this is only one of them" in text_of(ravi.get("/boards/small/?board=overall"))
    page = text_of(ravi.get("/boards/small/compare/", {"a": "Ember", "b": "Heron"}))
    assert "They never met, and no chain of battles joins them." in page and "common opponents" not in page


def test_of_a_file_that_names_one_model_first_it_is_not_said_who_was_seen_first(swept, signed_in):
    taken(swept)
    page = text_of(signed_in("ravi").get("/boards/small/?board=overall"))
    assert "of the votes the file always names the same model of the two first" in page
    assert "always stood first" not in page


@pytest.mark.parametrize(
    ("known", "words"), [(0, "No vote has a prompt"), (6, "72 of 144 votes have no prompt")]
)
def test_votes_without_a_known_prompt_are_said_to_count_as_questions_of_their_own(
    make_campaign, raters, cast_vote, signed_in, known, words
):
    small = make_campaign(prompts=12)
    for place, prompt in enumerate(small.prompts):
        for number, rater in enumerate(raters):
            won = "model_a" if (place + number) % 3 else "model_b"
            cast_vote(small, prompt if place < known else None, "Ember", "Fjord", won, rater)
    taken(small)
    page = text_of(signed_in("ravi").get("/boards/small/?board=overall"))
    assert f"{words} that is known here, whatever a file named" in page


@pytest.mark.parametrize(
    ("source", "effective", "said"),
    [("raters", 1.0, True), ("raters", 4.94, True), ("raters", 4.96, False), ("judge", 1.0, False)],
)
def test_more_raters_come_first_where_a_board_says_that_they_are_too_few(source, effective, said):
    counts = {"raters": round(effective), "effective_raters": effective}
    snapshot = Snapshot(counts=counts, leaderboard=Leaderboard(source=source))
    duel = Duel(PairResult(snapshot=snapshot, details={"needs": [{}]}), turned=False)
    assert say_first_needed(duel).startswith("More raters first") == said
