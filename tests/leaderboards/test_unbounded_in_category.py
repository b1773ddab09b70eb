"""Models that won or lost all in a category have no rating there, and say so where one would stand."""

import re

import pytest

from arena.leaderboards import downloads
from arena.leaderboards.charts import chart_page
from arena.leaderboards.charts.chart_rows import rows_of
from arena.leaderboards.charts.chart_scheme import LIGHT
from arena.leaderboards.charts.chart_specs import spec_of
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from tests.leaderboards.test_boards import text_of
from tests.leaderboards.test_drawing import values_in

NAMES = ("Ember", "Fjord", "Grove", "Heron")
# In law: Ember won 12, Heron lost 8, the two between them 6 each. In cooking all won and lost.
LAW = (
    *[("Ember", name, "model_a") for name in ("Fjord", "Grove") for _ in range(6)],
    *[("Fjord", "Grove", outcome) for outcome in ("model_a", "model_b") for _ in range(6)],
    *[("Heron", name, "model_b") for name in ("Fjord", "Grove") for _ in range(4)],
)


@pytest.fixture
def snapshot(make_campaign, cast, cast_vote):
    small = make_campaign("joust", prompts=8, names=NAMES)
    for number, prompt in enumerate(small.prompts):
        prompt.category = ("cooking", "law")[number % 2]
        prompt.save()
    cooking, law = small.prompts[::2], small.prompts[1::2]
    for number, (a, b, outcome) in enumerate(LAW):
        rater = (cast.alice_rater, cast.bob_rater)[number % 2]
        cast_vote(small, law[number % 4], a, b, outcome, rater)
    pairs = [(a, b) for a in NAMES for b in NAMES if a != b] * 3
    for number, (a, b) in enumerate(pairs):
        rater = (cast.alice_rater, cast.bob_rater)[number % 2]
        cast_vote(small, cooking[number % 4], a, b, "model_a", rater)
    return snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot


def test_who_won_or_lost_all_in_a_category_has_no_rating_there(snapshot):
    found = {one.competitor.name: one for one in snapshot.category_ratings.filter(category="law")}
    assert {name: one.unbounded for name, one in found.items()} == {
        "Ember": "won_all",
        "Fjord": "",
        "Grove": "",
        "Heron": "lost_all",
    }
    assert [found[name].rating for name in ("Ember", "Heron")] == [None, None]
    assert [found[name].in_words for name in ("Ember", "Heron", "Fjord")] == ["won all 12", "lost all 8", ""]
    assert not snapshot.category_ratings.filter(category="cooking").exclude(unbounded="").exists()


def test_the_table_and_the_picture_say_it_in_the_cell(snapshot):
    rows = rows_of(snapshot)
    table = chart_page.TABLES["categories"](rows)
    column = 1 + table.head.index("law")
    cells = {row[0]: row[column] for row in table.rows}
    assert cells["Ember"] == "won all 12" and cells["Heron"] == "lost all 8"
    assert re.fullmatch(r"[0-9]+ \([0-9]+ … [0-9]+\)", cells["Fjord"])
    drawn = values_in(spec_of("categories", rows, LIGHT))
    said = {(row["model"], row["category"]): row["says"] for row in drawn if row["rating"] is None}
    assert said == {("Ember", "law"): "won all 12", ("Heron", "law"): "lost all 8"}


def test_those_with_a_rating_keep_the_zero_of_the_board(snapshot):
    rows = rows_of(snapshot)
    board = {one["model"]: one["rating"] for one in rows.ratings}
    law = {one["model"]: one["rating"] for one in rows.categories if one["category"] == "law"}
    assert law["Fjord"] + law["Grove"] == pytest.approx(board["Fjord"] + board["Grove"])


def test_a_models_page_and_the_table_taken_away_say_it_too(snapshot, signed_in):
    assert "law provisional won all 12" in text_of(signed_in("ravi").get("/boards/joust/model/?name=Ember"))
    table = downloads.table_of(snapshot, "categories")
    names = list(table.columns)
    lines = [dict(zip(names, line, strict=True)) for line in table.lines]
    heron = next(line for line in lines if (line["category"], line["model"]) == ("law", "Heron"))
    assert (heron["rating"], heron["battles"], heron["unbounded"]) == (None, 8, "lost_all")


def test_who_beat_all_but_its_own_group_is_marked_as_the_board_marks_it(make_campaign, cast, cast_vote):
    small = make_campaign("pairs", prompts=4, names=(*NAMES, "Inlet"))
    for prompt in small.prompts:
        prompt.category = "law"
        prompt.save()
    above, below = NAMES[:2], (*NAMES[2:], "Inlet")
    votes = [(a, b) for a in above for b in below] * 3
    votes += [(a, b) for group in (above, below) for a in group for b in group if a != b] * 3
    for number, (a, b) in enumerate(votes):
        rater = (cast.alice_rater, cast.bob_rater)[number % 2]
        cast_vote(small, small.prompts[number % 4], a, b, "model_a", rater)
    snapshot = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    found = {one.competitor.name: one.in_words for one in snapshot.category_ratings.all()}
    assert found == dict.fromkeys(above, "no upper bound") | dict.fromkeys(below, "")
