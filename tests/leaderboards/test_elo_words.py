"""What is said of the path of online Elo: in which order votes were replayed, and what that decides."""

import pytest

from arena.battles.models import Battle
from arena.leaderboards.charts import chart_page, drawing
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.fitting.elo_replay import recorded_of
from tests.leaderboards.test_boards import text_of
from tests.leaderboards.test_drawing import drawn_rows


def elo(*bands: tuple[float, float]) -> list[dict]:
    return [
        {"model": f"model {n}", "rating": (low + high) / 2, "lower": low, "upper": high}
        for n, (low, high) in enumerate(bands)
    ]


def test_bands_that_overlap_are_told():
    rows = drawn_rows(3, elo=elo((1020, 1040), (1000, 1025), (960, 990)))
    assert chart_page.say_bands("elo", rows).startswith("The band of 1 of 3 models overlaps that of the next")
    rows = drawn_rows(3, elo=elo((1020, 1040), (1000, 1025), (960, 1010)))
    assert chart_page.say_bands("elo", rows).startswith("The bands of 2 of 3 models overlap")


def test_bands_that_lie_apart_and_other_charts_say_nothing():
    assert chart_page.say_bands("elo", drawn_rows(2, elo=elo((1020, 1040), (1000, 1010)))) == ""
    assert chart_page.say_bands("wins", drawn_rows(2, elo=elo((1020, 1040), (1000, 1030)))) == ""
    assert chart_page.say_bands("elo", drawn_rows(2)) == ""


def test_models_that_end_outside_their_band_are_told_with_how_many_would_by_chance():
    shuffled = elo((1020, 1040), (1000, 1010))
    assert chart_page.say_outside("elo", drawn_rows(2, elo=shuffled)).startswith("Every model ends within")
    shuffled[0]["rating"] = 1041
    said = chart_page.say_outside("elo", drawn_rows(2, elo=shuffled))
    assert said.startswith("model 0 ends outside its band, which holds where a model ends in 19 of 20")
    assert "By chance alone about 0.1 of 2 models would." in said
    many = elo(*[(1000 - n, 1001 - n) for n in range(60)])
    many[3]["rating"], many[9]["rating"] = 900, 1100
    said = chart_page.say_outside("elo", drawn_rows(60, elo=many))
    assert said.startswith("model 3 and model 9 end outside") and "about 3 of 60 models would" in said
    assert chart_page.say_outside("wins", drawn_rows(60, elo=many)) == ""
    assert chart_page.say_outside("elo", drawn_rows(2)) == ""


def test_of_votes_without_times_nothing_is_said_to_have_changed_in_time():
    outside = elo((1020, 1040), (1000, 1010))
    outside[0]["rating"] = 1041
    changed = "More say that models, raters or prompts changed meanwhile."
    assert changed not in chart_page.say_outside("elo", drawn_rows(2, elo=outside, one_moment=1.0))
    assert changed in chart_page.say_outside("elo", drawn_rows(2, elo=outside, one_moment=0.01))
    assert changed in chart_page.say_outside("elo", drawn_rows(2, elo=outside))


@pytest.mark.parametrize(
    ("one_moment", "recorded", "words"),
    [
        (0.9, 1.0, "90\u00a0% of the votes bear one and the same time"),
        (0.01, 1.0, "100\u00a0% of the votes came in a file. They are replayed in the order of its lines"),
        (0.01, 0.25, "25\u00a0% of the votes came in a file"),
        (0.01, 0.0, ""),
        (None, None, ""),
    ],
)
def test_the_order_of_votes_that_came_in_a_file_is_said(one_moment, recorded, words):
    said = chart_page.say_order("elo", drawn_rows(2, one_moment=one_moment, recorded=recorded))
    assert said.startswith(words) and bool(said) == bool(words)


def test_the_share_that_came_in_a_file_is_counted(make_campaign, cast_vote, cast):
    small = make_campaign("joust", prompts=4)
    board = ensure_leaderboards(small.campaign)[0]
    assert recorded_of(board) == 0.0
    a, b = (competitor.name for competitor in small.competitors[:2])
    for number, prompt in enumerate(small.prompts):
        kind = Battle.Kind.RECORDED if number else Battle.Kind.REGULAR
        cast_vote(small, prompt, a, b, "tie", cast.alice_rater, kind=kind)
    assert recorded_of(board) == 0.75


def test_the_page_says_both_as_they_are_stored(voted_campaign, signed_in):
    board = ensure_leaderboards(voted_campaign(votes=120).campaign)[0]
    snapshot = snapshots.take_snapshot(board).snapshot
    drawing.draw(snapshot)
    chart = snapshot.charts.get(name="elo")
    assert len(chart.spec["usermeta"]["elo"]) == 5
    chart.spec["usermeta"]["elo"] = elo((1000, 1020), (990, 1010))
    chart.save()
    page = text_of(signed_in("ravi").get("/boards/joust/charts/"))
    assert "100 % of the votes came in a file. They are replayed in the order of its lines" in page
    assert "The band of 1 of 2 models overlaps that of the next" in page
