"""What to be careful about stands once on every page with a board’s numbers, as far as it concerns them."""

import pytest
from django.utils.html import escape

from arena.leaderboards.boards.board_cautions import cautions_of
from arena.leaderboards.boards.caution_codes import weight_of
from arena.leaderboards.boards.meeting_words import say_meetings
from arena.leaderboards.charts import drawing
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from ratings.warnings_in_words import NO_INTERVAL, THE_MEAN
from tests.conftest import past_triggers
from tests.leaderboards.test_board_words import column_of
from tests.leaderboards.test_boards import text_of

BOARD, CHARTS, REPORT = "/boards/joust/", "/boards/joust/charts/", "/boards/joust/report/"
EMBER, GROVE = "/boards/joust/model/?name=Ember", "/boards/joust/model/?name=Grove"
BOTH, OTHERS = "/boards/joust/compare/?a=Ember&b=Fjord", "/boards/joust/compare/?a=Grove&b=Heron"
EVERY = (BOARD, CHARTS, REPORT, EMBER, GROVE, BOTH, OTHERS)


@pytest.fixture
def overall(voted_campaign) -> Snapshot:
    """An overall board of five models, and it alone."""
    board = ensure_leaderboards(voted_campaign("joust").campaign)[0]
    snapshot = take_snapshot(board).snapshot
    Leaderboard.objects.exclude(pk=board.pk).delete()
    return snapshot


def with_changes(snapshot: Snapshot, *, warnings=(), flags=(), **counts) -> None:
    """`flags`: of Ember, whose standing carries them."""

    def change() -> None:
        rows = Snapshot.objects.filter(pk=snapshot.pk)
        rows.update(counts=snapshot.counts | counts, warnings=list(warnings))
        Standing.objects.filter(snapshot=snapshot).update(flags=[])
        Standing.objects.filter(snapshot=snapshot, competitor__name="Ember").update(flags=list(flags))

    past_triggers(change)


def pages_that_say(words: str, signed_in) -> set[str]:
    ravi = signed_in("ravi")
    told = {page: text_of(ravi.get(page)).count(escape(words)) for page in EVERY}
    assert set(told.values()) <= {0, 1}, told
    return {page for page, times in told.items() if times}


MET = {"cut": None, "pieces": [], "alone": [], "through": [], "hub": None, "leaning": 0, "others": 4}
FEW = "Too few raters: 4, worth 3.1 equally active ones; at fewer than 10 the intervals aren't tested."
MEAN = f"{THE_MEAN}; it leaves out 1 model with fewer, or without a finite rating."
NONE = f"1 model has {NO_INTERVAL}."


@pytest.mark.parametrize(
    ("changes", "words", "pages"),
    [
        ({"warnings": [FEW]}, FEW, EVERY),
        ({"warnings": [MEAN]}, MEAN, (BOARD, CHARTS, REPORT)),
        ({"warnings": [NONE], "flags": ["no_interval"]}, NONE, (BOARD, CHARTS, REPORT)),
        ({"warnings": [NONE], "flags": ["no_interval"]}, "Ember has no interval yet", (EMBER, BOTH)),
        ({"distinct_texts": 19}, "have only 19 different texts", EVERY),
        (
            {"one_sided": 0.9},
            "In 90 % of the votes the file always names the same model of the two first",
            EVERY,
        ),
        ({}, "Ranks are sets", (BOARD, REPORT, EMBER, GROVE)),
        (
            {"votes_about_blank_responses": 7, "blank_responses": 2},
            "7 votes are about one of 2 empty responses",
            EVERY,
        ),
    ],
    ids=["raters", "mean", "interval", "whose interval", "texts", "sides", "ranks", "blank"],
)
def test_a_page_repeats_what_concerns_what_it_shows(overall, signed_in, changes, words, pages):
    with_changes(overall, **changes)
    assert pages_that_say(words, signed_in) == set(pages)


def test_pages_name_models_that_met_only_a_few_where_they_are_about_them(overall, signed_in):
    number = dict(overall.standings.values_list("competitor__name", "competitor"))
    alone, through = [number["Ember"], number["Fjord"]], [number["Grove"]]
    with_changes(overall, meetings=MET | {"alone": alone, "through": through})
    words = "Ember and Fjord never met each other: they met only Grove, and are compared with any other model"
    assert pages_that_say(words, signed_in) == {BOARD, CHARTS, REPORT, EMBER, BOTH}


def words_of(told) -> list[str]:
    return [words for _code, words in told]


def test_what_was_joined_by_one_model_alone_is_said_in_words_of_the_graph():
    names = dict(enumerate(["Hub", "A", "B", "C", "D"]))
    star = MET | {"cut": 0, "pieces": [1, 1, 1, 1], "alone": [1, 2, 3, 4], "through": [0]}
    assert words_of(say_meetings(star, names, ())) == [
        "4 models met Hub and never each other: they are compared through it alone."
    ]
    joined = MET | {"cut": 0, "pieces": [2, 2]}
    assert words_of(say_meetings(joined, names, ())) == [
        "Without Hub, 4 other models fall into 2 groups that never met: between these, models are compared"
        " through Hub alone."
    ]
    hanging = MET | {"alone": [4], "through": [0, 1]}
    assert words_of(say_meetings(hanging, names, ())) == [
        "D met only Hub and A, and is compared with any other model through these alone."
    ]
    both = MET | {"alone": [3, 4], "through": [0, 1]}
    assert words_of(say_meetings(both, names, {3, 0})) == [] == words_of(say_meetings(both, names, {1, 2}))
    assert (
        len(words_of(say_meetings(both, names, {3, 4})))
        == 1
        == len(words_of(say_meetings(both, names, {3, 2})))
    )


def test_two_models_are_told_of_a_hub_only_if_it_is_neither_of_them(overall, signed_in):
    ember = Standing.objects.get(snapshot=overall, competitor__name="Ember").competitor_id
    with_changes(overall, meetings=MET | {"hub": ember, "leaning": 3, "others": 4})
    words = "3 of the other 4 models have most of their votes against Ember"
    assert pages_that_say(words, signed_in) == set(EVERY) - {BOTH}


def test_how_draws_are_counted_is_told_in_ranks_where_ranks_are_shown_and_else_in_points(overall, signed_in):
    move = overall.counts["policy_moves"][0] | {"largest_rank_move": 3, "largest_rating_move": 12.3}
    with_changes(overall, policy_moves=[move])
    assert pages_that_say("a model moves by 3 places", signed_in) == {BOARD, REPORT, EMBER, GROVE}
    assert pages_that_say("a model moves by up to 12 points", signed_in) == {CHARTS, BOTH, OTHERS}


def test_groups_that_nothing_connects_are_told_with_two_models_if_they_stand_apart(overall, signed_in):
    words = "The votes fall into 2 groups without any battle between them: each is a board of its own."
    with_changes(overall, warnings=[words])
    assert pages_that_say(words, signed_in) == set(EVERY) - {BOTH, OTHERS}
    ember = Standing.objects.filter(snapshot=overall, competitor__name="Ember")
    past_triggers(lambda: ember.update(component=1))
    assert pages_that_say(words, signed_in) == set(EVERY) - {OTHERS}


def test_every_page_says_once_that_votes_are_simulated(overall, signed_in):
    drawing.draw(overall)
    assert pages_that_say("All 600 votes here are simulated.", signed_in) == set(EVERY)


def test_intervals_that_lean_on_the_fits_own_error_are_counted(overall, signed_in):
    with_changes(overall, models_own_error=2)
    words = "The intervals of 2 of 5 models are as wide as the fit’s own error"
    assert pages_that_say(words, signed_in) == set(EVERY)
    with_changes(overall, models_own_error=0)
    assert pages_that_say("as wide as the fit’s own error", signed_in) == set()


def test_the_page_of_a_snapshot_carries_the_cautions_of_its_board(overall, signed_in):
    with_changes(overall, warnings=[FEW], distinct_texts=19)
    words = text_of(signed_in("ravi").get(f"/snapshots/{overall.pk}/"))
    assert words.count(escape(FEW)) == 1
    assert "24 prompts have only 19 different texts" in words


def test_what_is_too_much_for_a_page_is_a_click_away(overall, signed_in):
    with_changes(overall, warnings=[f"Warning {letter}." for letter in "abcdef"], models_own_error=0)
    ravi = signed_in("ravi")
    for page in (CHARTS, EMBER, BOTH):
        html = ravi.get(page).content.decode()
        assert "Warning d." in html and "Warning e." not in html
        assert '/boards/joust/?board=overall&amp;source=raters#care">2 more' in html
    assert "Warning f." in ravi.get(BOARD).content.decode()


def test_a_combined_board_that_fell_back_says_so_once(overall, signed_in):
    rows = Leaderboard.objects.filter(pk=overall.leaderboard_id)
    rows.update(source=Leaderboard.Source.COMBINED)
    with_changes(overall, combined={"used": False, "refused": True, "gain": 0.0})
    words = "No judge is heard here"
    assert pages_that_say(words, signed_in) == {CHARTS, EMBER, GROVE}
    assert pages_that_say("ccording to people alone", signed_in) == {BOARD, REPORT, BOTH, OTHERS}


def test_the_gravest_cautions_are_shown_before_those_behind_a_click(overall, signed_in):
    with_changes(
        overall,
        left_out={"excluded_by_check": 3, "unresolved": 2, "no_verdict": 1},
        distinct_texts=19,
        models_own_error=5,
        votes_without_prompt=2,
        votes_about_blank_responses=7,
        blank_responses=2,
        one_sided=0.5,
    )
    care = signed_in("ravi").get(BOARD).context["page"].care
    codes = [one.code for one in care.every]
    assert codes[:3] == ["rank_sets", "one_sided", "blank_responses"]
    weights = [weight_of(code) for code in codes[1:]]
    assert weights == sorted(weights)
    assert {one.code for one in care.more} & {"own_error", "left_out_excluded_by_check"}
    assert "(pairs with fewer than 5 are left out)" in care.every[1].text


def test_features_that_hardly_differ_are_one_caution(voted_campaign):
    snapshot = take_snapshot(ensure_leaderboards(voted_campaign("joust").campaign)[2]).snapshot
    names = [coefficient["name"] for coefficient in snapshot.coefficients][:2]
    snapshot.counts["differing"] = dict.fromkeys(names, 7)
    (said,) = [one.text for one in cautions_of([column_of(snapshot)]) if one.code == "sparse_feature"]
    assert said.count("differ in only 7") == 2 and said.endswith("of 600 votes: their worth rests on these.")
