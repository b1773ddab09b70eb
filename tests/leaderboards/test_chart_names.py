"""The names of a chart, cut out of its drawing so that they stay where the rest scrolls away."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
import vl_convert

from arena.leaderboards.boards.duels import say_share
from arena.leaderboards.charts.chart_names import WIDEST, names_alone, sizes_of
from arena.leaderboards.charts.chart_scheme import LIGHT
from arena.leaderboards.charts.chart_specs import spec_of
from tests.leaderboards.test_drawing import drawn_rows

BOARDS = ("Overall", "Hard prompts", "Style-controlled")


def drawing_of(name: str, **rows) -> str:
    return vl_convert.vegalite_to_svg(spec_of(name, drawn_rows(3, **rows), LIGHT))


def size_of(svg: str) -> tuple[float, float]:
    root = ElementTree.fromstring(svg)
    return float(root.get("width")), float(root.get("height"))


def slopes() -> list[dict]:
    return [
        {"board": board, "model": f"model {n}", "rating": 1000 + 20 * n} for board in BOARDS for n in range(3)
    ]


def test_names_before_the_plot_are_cut_off_where_it_begins():
    whole = drawing_of("ratings")
    names = names_alone(whole, "ratings")
    assert size_of(names)[1] == size_of(whole)[1]
    assert 30 < size_of(names)[0] < WIDEST < size_of(whole)[0]
    assert "model 2" in names


def test_names_after_the_plot_begin_where_it_ends():
    whole = drawing_of("slopes", slopes=slopes())
    names = names_alone(whole, "slopes")
    start = float(ElementTree.fromstring(names).get("viewBox").split()[0])
    assert start + size_of(names)[0] == size_of(whole)[0]
    ends = [
        float(text.get("transform").partition("(")[2].partition(",")[0])
        for text in ElementTree.fromstring(whole).iter("{http://www.w3.org/2000/svg}text")
        if (text.text or "").startswith("model")
    ]
    plot = float(whole.split("translate(")[1].partition(",")[0])
    assert len(ends) == 3
    assert all(plot + end > start for end in ends)


def test_names_that_would_fill_a_phone_stay_with_their_chart():
    rows = drawn_rows(1)
    long = "a model whose name goes on and on until a phone has no room for anything else"
    rows.ratings[0]["model"] = rows.models[0] = long
    whole = vl_convert.vegalite_to_svg(spec_of("ratings", rows, LIGHT))
    assert size_of(names_alone(whole, "ratings")) == (1, 1)


def test_a_drawing_of_another_make_is_refused_by_name():
    with pytest.raises(ValueError, match="ratings"):
        names_alone("<svg></svg>", "ratings")


def test_a_drawing_of_another_make_tells_no_size():
    assert sizes_of("<svg></svg>", "ratings") == (None, None)
    whole, names = sizes_of(drawing_of("ratings"), "ratings")
    assert whole.height == names.height and 30 < names.width < WIDEST < whole.width


def test_shares_in_a_matrix_are_written_and_rounded_as_in_its_table():
    cell = {"model": "model 0", "against": "model 1", "observed": 0.625, "predicted": 0.115, "battles": 8}
    drawn = drawing_of("wins", matrix=[cell])
    assert say_share(0.625) in drawn and say_share(0.115) in drawn
    assert "63%" not in drawn and "%<" in drawn
