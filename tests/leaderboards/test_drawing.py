"""Charts: drawn after publication from stored rows, shown as images beside a table, to those who may see."""

import itertools
import json
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection

from arena.corpus.models import Competitor
from arena.leaderboards.charts import chart_page, drawing
from arena.leaderboards.charts.chart_rows import ChartRows, rows_of
from arena.leaderboards.charts.chart_scheme import DARK, LIGHT, NothingToDrawError, spread_labels
from arena.leaderboards.charts.chart_specs import CHARTS, spec_of
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.fitting.elo_replay import one_moment_of
from arena.leaderboards.models import Snapshot, SnapshotChart
from arena.leaderboards.tasks import draw_charts, sweep_snapshots
from tests.leaderboards.test_boards import show_to, text_of

PAGE = "/boards/joust/charts/"


def close(campaign) -> None:
    """Votes are over: who may see the boards is theirs to say alone."""
    type(campaign).objects.filter(pk=campaign.pk).update(status="closed")


@pytest.fixture
def joust(voted_campaign, cast):
    small = voted_campaign("joust")
    for number, prompt in enumerate(small.prompts):
        prompt.category = ("cooking", "law")[number % 2]
    type(small.prompts[0]).objects.bulk_update(small.prompts, ["category"])
    for leaderboard in ensure_leaderboards(small.campaign):
        assert snapshots.take_snapshot(leaderboard).snapshot
    return small


def overall() -> Snapshot:
    return Snapshot.objects.get(leaderboard__slug="joust-overall")


def drawn_by_hand(snapshot: Snapshot) -> SnapshotChart:
    return SnapshotChart.objects.create(
        snapshot=snapshot,
        name="ratings",
        light="<svg>light</svg>",
        dark="<svg>dark</svg>",
        spec={"mark": "x"},
    )


def test_every_chart_is_drawn_in_both_schemes_without_style_or_script(joust):
    drawing.draw(overall())
    charts = {chart.name: chart for chart in overall().charts.all()}
    assert set(charts) == set(CHARTS) == set(chart_page.TITLES) == set(chart_page.TABLES)
    # One snapshot has no history, a board without style control no coefficients, these responses no cost.
    missing = {name for name, chart in charts.items() if chart.failure}
    assert missing == {"history", "style", "price"}
    for chart in (chart for name, chart in charts.items() if name not in missing):
        for svg, scheme in ((chart.light, LIGHT), (chart.dark, DARK)):
            root = ElementTree.fromstring(svg)
            tags = {element.tag.rpartition("}")[2] for element in root.iter()}
            assert root.tag.endswith("svg")
            assert not tags & {"script", "style", "foreignObject", "image"}
            assert not any("style" in element.attrib for element in root.iter())
            assert scheme.paper in svg
            assert "simulated votes" in svg
        assert "Ember" in chart.light
        assert chart.spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")


def values_in(spec: dict) -> list[dict]:
    """Every row of data in a spec, wherever Vega-Lite keeps it."""
    found = list(spec.get("data", {}).get("values", []))
    for part in ("layer", "hconcat"):
        for inner in spec.get(part, []):
            found += values_in(inner)
    return found + [row for rows in spec.get("datasets", {}).values() for row in rows]


def test_charts_carry_the_numbers_of_the_snapshot(joust):
    snapshot = overall()
    rows = rows_of(snapshot)
    ratings = {row["model"]: row for row in values_in(spec_of("ratings", rows, LIGHT)) if "model" in row}
    for standing in snapshot.standings.select_related("competitor"):
        row = ratings[standing.competitor.name]
        assert (row["rating"], row["lower"], row["upper"]) == (
            standing.rating,
            standing.lower,
            standing.upper,
        )
    cells = {(row["model"], row["against"]): row for row in values_in(spec_of("wins", rows, LIGHT))}
    for pair in snapshot.pairs.select_related("first", "second"):
        there, back = cells[pair.first.name, pair.second.name], cells[pair.second.name, pair.first.name]
        met = pair.wins + pair.losses + pair.ties
        assert there["observed"] == (pair.wins + pair.ties / 2) / met
        assert there["predicted"] == pytest.approx(pair.details["effect"]["expected_score"][0], abs=1e-6)
        assert there["observed"] + back["observed"] == pytest.approx(1)
        assert there["battles"] == back["battles"] == met
    heat = {
        (row["model"], row["category"]): row["rating"]
        for row in values_in(spec_of("categories", rows, LIGHT))
    }
    stored = snapshot.category_ratings.select_related("competitor")
    assert heat == {(one.competitor.name, one.category): one.rating for one in stored}
    slopes = {
        (row["model"], row["board"]): row["rating"] for row in values_in(spec_of("slopes", rows, LIGHT))
    }
    style = Snapshot.objects.get(leaderboard__slug="joust-style").standings.get(competitor__name="Fjord")
    assert slopes["Fjord", "Style-controlled"] == style.rating
    assert len(slopes) == 15


def test_a_chart_that_fails_says_so_in_words_and_costs_neither_snapshot_nor_the_others(joust, monkeypatch):
    def broken(*_args):
        raise RuntimeError("no ink")

    monkeypatch.setitem(CHARTS, "wins", broken)
    drawing.draw_missing()
    assert overall().charts.get(name="wins").failure == "an error of ours; the worker's log says which"
    assert overall().charts.get(name="ratings").light
    assert overall().standings.count() == 5


def test_a_board_whose_charts_fail_leaves_those_of_the_others(joust, monkeypatch, caplog):
    rows_of, failing = drawing.rows_of, overall()

    def of_others(snapshot, track):
        if snapshot == failing:
            raise RuntimeError("no paper")
        return rows_of(snapshot, track)

    monkeypatch.setattr(drawing, "rows_of", of_others)
    draw_charts()
    assert f"charts of snapshot {failing.pk} failed" in caplog.text
    drawn = Snapshot.objects.filter(charts__isnull=False).distinct()
    assert drawn.count() == Snapshot.objects.count() - 1 > 0


@pytest.mark.django_db(transaction=True)
def test_charts_drawn_twice_at_once_are_there_once(joust, monkeypatch):
    """The second begins while the first is about to store what it drew."""
    monkeypatch.setattr(drawing, "draw_one", lambda name, _rows: SnapshotChart(name=name, failure="blank"))
    snapshot, is_there, errors = overall(), threading.Event(), []

    def draw_too():
        def watch(execute, sql, params, many, context):
            if sql.startswith("BEGIN") or "FOR NO KEY UPDATE" in sql:  # where it has to wait
                is_there.set()
            done = execute(sql, params, many, context)
            if sql.startswith("DELETE"):
                is_there.set()
            return done

        try:
            with connection.execute_wrapper(watch):
                drawing.draw(snapshot)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    second = threading.Thread(target=draw_too)

    def before_storing(execute, sql, params, many, context):
        if sql.startswith('INSERT INTO "arena_snapshotchart"') and not is_there.is_set():
            second.start()
            assert is_there.wait(20)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(before_storing):
        drawing.draw(snapshot)
    second.join()
    assert not errors
    assert snapshot.charts.count() == len(CHARTS)


def test_a_chart_that_fails_once_is_drawn_the_second_time(joust, monkeypatch):
    spec, tries = CHARTS["wins"], []

    def broken_once(*arguments):
        tries.append(arguments)
        if len(tries) == 1:
            raise AttributeError("partially initialized module")
        return spec(*arguments)

    monkeypatch.setitem(CHARTS, "wins", broken_once)
    drawing.draw_missing()
    chart = overall().charts.get(name="wins")
    assert (bool(chart.light), chart.failure) == (True, "")


def test_drawing_waits_for_what_another_thread_is_loading(tmp_path):
    """A slow stand-in for pandas is half loaded when drawing looks for it."""
    (tmp_path / "pandas.py").write_text("began.set(); go.wait(30); Timestamp = 1")
    program = f"""
import builtins, os, sys, threading
builtins.began, builtins.go = threading.Event(), threading.Event()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
import django; django.setup()
from arena.leaderboards.charts import drawing
sys.path.insert(0, {str(tmp_path)!r})
loading = threading.Thread(target=__import__, args=("pandas",)); loading.start(); began.wait(30)
is_whole = lambda: hasattr(sys.modules["pandas"], "Timestamp")
half, seen = not is_whole(), []
drawer = threading.Thread(target=lambda: (drawing._finish_loading(), seen.append(is_whole()))); drawer.start()
drawer.join(1); go.set(); drawer.join(30)
print(half, *seen)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_what_has_no_rows_says_which_are_missing(joust):
    overall().category_ratings.all().delete()
    with pytest.raises(NothingToDrawError, match="no category has votes enough"):
        spec_of("categories", rows_of(overall()), LIGHT)
    drawing.draw(overall())
    assert "no category" in overall().charts.get(name="categories").failure


def test_the_sweep_draws_what_is_missing_and_nothing_twice(joust):
    sweep_snapshots.call_local()
    first = list(SnapshotChart.objects.values_list("pk", flat=True))
    assert len(first) == 3 * len(CHARTS)
    sweep_snapshots.call_local()
    assert list(SnapshotChart.objects.values_list("pk", flat=True)) == first


def test_a_renamed_model_is_drawn_anew_once(joust):
    draw_charts()
    before = overall().charts.get(name="ratings")
    Competitor.objects.filter(name="Ember").update(name="Cinder")
    draw_charts()
    after = overall().charts.get(name="ratings")
    assert "Ember" in before.light and "Ember" not in after.light + json.dumps(after.spec)
    assert "Cinder" in after.light
    draw_charts()
    assert overall().charts.get(name="ratings").pk == after.pk


def test_the_command_leaves_charts_to_the_worker_when_told(voted_campaign, cast):
    voted_campaign("joust", votes=100)
    call_command("take_snapshots", "--no-charts")
    assert Snapshot.objects.exists()
    assert not SnapshotChart.objects.exists()


def test_the_page_shows_images_beside_their_tables(joust, signed_in):
    drawn_by_hand(overall())
    response = signed_in("ravi").get(PAGE)
    html, words = response.content.decode(), text_of(response)
    pk = overall().pk
    assert f'src="/boards/joust/joust-overall/ratings.svg?snapshot={pk}"' in html
    assert f'srcset="/boards/joust/joust-overall/ratings.svg?scheme=dark&amp;snapshot={pk}"' in html
    for standing in overall().standings.select_related("competitor"):
        row = f"{standing.competitor.name} {standing.rating:.0f} {standing.lower:.0f} {standing.upper:.0f}"
        assert row in words
    assert "votes here are simulated" in words


def test_until_they_are_drawn_there_are_the_tables(joust, signed_in):
    words = text_of(signed_in("ravi").get(PAGE))
    assert "The worker is still drawing. Until then there are the tables." in words
    assert "As a table" in words


def test_without_a_snapshot_the_page_says_so(voted_campaign, cast, signed_in):
    voted_campaign("joust", votes=60)
    assert "Charts are drawn when a snapshot has been taken." in text_of(signed_in("ravi").get(PAGE))


def test_an_image_comes_in_the_scheme_asked_for_and_its_spec_as_json(joust, signed_in):
    drawn_by_hand(overall())
    ravi = signed_in("ravi")
    light = ravi.get("/boards/joust/joust-overall/ratings.svg")
    assert (light.content, light["Content-Type"]) == (b"<svg>light</svg>", "image/svg+xml")
    assert ravi.get("/boards/joust/joust-overall/ratings.svg?scheme=dark").content == b"<svg>dark</svg>"
    spec = ravi.get("/boards/joust/joust-overall/ratings.vl.json")
    assert json.loads(spec.content) == {"mark": "x"}
    assert ravi.get("/boards/joust/joust-overall/wins.svg").status_code == 404


@pytest.mark.parametrize(("visibility", "status"), [("private", 404), ("public", 200)])
def test_charts_are_shown_to_those_who_may_see_the_board(joust, client, visibility, status):
    drawn_by_hand(overall())
    close(joust.campaign)
    show_to(joust.campaign, visibility)
    for address in (
        PAGE,
        "/boards/joust/joust-overall/ratings.svg",
        "/boards/joust/joust-overall/ratings.vl.json",
    ):
        assert client.get(address).status_code == status


def test_what_was_replayed_stands_in_the_table_beside_the_picture(joust, signed_in):
    drawing.draw(overall())
    page = chart_page.build(joust.campaign.leaderboards.all(), "raters", "overall")
    elo = next(chart for chart in page.charts if chart.name == "elo")
    assert elo.drawn
    assert len(elo.table.rows) == 5
    ratings = [int(row[1]) for row in elo.table.rows]
    assert ratings == sorted(ratings, reverse=True)
    assert all(int(row[2]) <= int(row[3]) for row in elo.table.rows)


def test_a_table_is_sorted_by_any_of_its_columns_and_an_unknown_order_changes_nothing(joust):
    boards = list(joust.campaign.leaderboards.all())

    def rows(order: str) -> list[list[str]]:
        page = chart_page.build(boards, "raters", "overall", order)
        return next(chart for chart in page.charts if chart.name == "categories").table.rows

    by_law = [float(row[2].split()[0]) for row in rows("categories:2")]
    assert by_law == sorted(by_law, reverse=True)
    for unknown in ("categories:9", "categories:x", "categories:²", "wins:1", "categories:" + "9" * 5000):
        assert rows(unknown) == rows("")


def test_a_chart_can_be_had_as_png(joust, signed_in):
    drawing.draw(overall())
    answer = signed_in("ravi").get("/boards/joust/joust-overall/ratings.png")
    assert answer["Content-Type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")
    assert signed_in("ravi").get("/boards/joust/joust-overall/nothing.png").status_code == 404


def test_style_and_history_are_drawn_where_there_is_something_to_show(joust, cast_vote, cast):
    from arena.leaderboards.charts.chart_specs import spec_of as spec

    style = Snapshot.objects.get(leaderboard__slug="joust-style")
    features = {one["name"] for one in rows_of(style).coefficients}
    assert features == {"length in characters", "headings", "list items", "bold passages"} & features != set()
    assert spec("style", rows_of(style), LIGHT)
    with pytest.raises(NothingToDrawError, match="two snapshots"):
        spec("history", rows_of(overall()), LIGHT)
    cast_vote(joust, joust.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater)
    again = snapshots.take_snapshot(overall().leaderboard).snapshot
    assert spec("history", rows_of(again), LIGHT)


def drawn_rows(models: int, **rows) -> ChartRows:
    """Rows of so many models with ratings 1000, 990, … and nothing else but what is given."""
    names = [f"model {number}" for number in range(models)]
    ratings = [
        {"model": name, "rating": 1000 - 10 * n, "lower": 900, "upper": 1100} for n, name in enumerate(names)
    ]
    others = ("matrix", "categories", "slopes", "coefficients", "prices", "history", "elo", "elo_track")
    empty = {key: [] for key in others}
    return ChartRows(**{"origin": "x", "models": names, "ratings": ratings} | empty | rows)


def test_every_line_over_time_bears_its_name_and_a_kind_of_its_own():
    history = [
        {
            "snapshot": day,
            "at": f"2026-01-0{day}T00:00:00+00:00",
            "model": f"model {n}",
            "rating": 1000 - 9 * n,
        }
        for day in (1, 2)
        for n in range(4)
    ]
    svg = drawing.draw_one("history", drawn_rows(4, history=history)).light
    words = "".join(ElementTree.fromstring(svg).itertext())
    assert all(f"model {number}" in words for number in range(4))
    assert len(set(re.findall(r'stroke-dasharray="([^"]+)"', svg))) >= 3


def test_names_beside_lines_never_cover_each_other_and_stay_around_their_points():
    labelled = [{"rating": rating} for rating in (1000.0, 999.0, 998.0, 900.0)]
    spread_labels(labelled, [900.0, 1000.0], 160)
    places = [point["label_at"] for point in labelled]
    assert all(above - below >= 10 - 1e-9 for above, below in itertools.pairwise(places))
    assert places[1] == pytest.approx(999)
    assert places[3] == pytest.approx(900)


def test_a_chart_of_some_models_says_of_how_many():
    slopes = [
        {"board": board, "model": f"model {n}", "rating": 1000 - n} for board in ("a", "b") for n in range(30)
    ]
    rows = drawn_rows(30, slopes=slopes)
    assert "Drawn are the first 25 of 30 models." in spec_of("slopes", rows, LIGHT)["title"]["subtitle"]
    assert chart_page.say_cut("slopes", drawn_rows(25, slopes=slopes)) == ""


def test_a_wall_of_figures_is_folded_until_it_is_asked_for():
    def chart(models: int, **fields) -> chart_page.Chart:
        table = chart_page.Table(["x"] * models, [["y"] * models] * models)
        return chart_page.Chart("wins", "Wins", False, "", "", table, **fields)

    assert chart(5).is_open
    assert not chart(59).is_open
    assert chart(59, sorted_by=3).is_open


def test_online_elo_says_when_the_votes_have_no_order_in_time(make_campaign, cast_vote, cast):
    small = make_campaign("one-moment", prompts=4)
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    a, b = (competitor.name for competitor in small.competitors[:2])
    for number, prompt in enumerate(small.prompts):
        at = noon if number else noon - timedelta(hours=1)
        cast_vote(small, prompt, a, b, "tie", cast.alice_rater, at=at)
    share = one_moment_of(ensure_leaderboards(small.campaign)[0])
    assert share == 0.75
    said = chart_page.say_order("elo", drawn_rows(2, one_moment=share))
    assert "75\u00a0% of the votes bear one and the same time" in said
    assert chart_page.say_order("elo", drawn_rows(2, one_moment=0.1)) == ""


def test_a_category_without_some_model_keeps_the_zero_of_the_board(joust):
    snapshot = overall()
    snapshot.category_ratings.filter(category="law", competitor__name="Ember").delete()
    rated = {one["model"]: one["rating"] for one in rows_of(snapshot).ratings}
    law = [cell for cell in rows_of(snapshot).categories if cell["category"] == "law"]
    assert len(law) == 4
    assert sum(cell["rating"] for cell in law) == pytest.approx(sum(rated[cell["model"]] for cell in law))


def test_the_names_alone_and_the_words_below_a_title_are_the_boards_own(joust, signed_in):
    drawing.draw(overall())
    page = signed_in("ravi").get("/boards/joust/joust-overall/ratings.svg?names")
    assert page["Content-Type"] == "image/svg+xml" and b"clipPath" in page.content
    for name in ("ratings", "slopes"):
        below = overall().charts.get(name=name).spec["title"]["subtitle"]
        assert below == [f"Joust: overall, people, snapshot {overall().pk}, simulated votes"]


@pytest.mark.parametrize("page", ["charts", "report"])
def test_pages_stand_while_their_charts_are_drawn_again(joust, signed_in, page):
    """After every look of a page's at its charts a worker has put others in their place."""
    ravi = signed_in("ravi")
    drawing.draw(overall())
    drawn, busy = list(overall().charts.all()), []

    def replaced(execute, sql, params, many, context):
        found = execute(sql, params, many, context)
        if sql.startswith("SELECT") and "arena_snapshotchart" in sql and not busy:
            busy.append(sql)
            overall().charts.all().delete()
            for chart in drawn:
                chart.pk = None
            SnapshotChart.objects.bulk_create(drawn)
            busy.clear()
        return found

    with connection.execute_wrapper(replaced):
        assert ravi.get(f"/boards/joust/{page}/").status_code == 200
