"""Whatever typeface a browser has in place of the one that charts are measured in, no label is cut."""

from dataclasses import replace

import pytest

from arena.leaderboards.charts import drawing
from arena.leaderboards.charts.chart_scheme import LIGHT
from arena.leaderboards.charts.chart_specs import spec_of
from arena.leaderboards.charts.room import WIDER, in_true_size, with_room
from tests.leaderboards.test_drawing import drawn_rows

NAMES = ("gpt35", "vicuna-13b-20230322-new-hp-fp16", "vicuna-13b", "bard", "WWWWMMMM-7b", "llama-13b")
FACES = ("DejaVu Sans", "Verdana", "Liberation Sans", "Noto Sans", "sans-serif", "system-ui")
OUTSIDE = """([svg, faces]) => {
  document.body.innerHTML = svg;
  const frame = document.querySelector("svg").getBoundingClientRect(), cut = [];
  const labels = [...document.querySelectorAll("text")];
  for (const face of faces) {
    for (const label of labels) label.style.fontFamily = face;
    for (const label of labels) {
      const box = label.getBoundingClientRect();
      const whole = box.left >= frame.left - 0.5 && box.right <= frame.right + 0.5;
      if (!whole) cut.push(`${face}: ${label.textContent}`);
    }
  }
  return cut;
}"""
TOUCHING = """([svg, faces]) => {
  document.body.innerHTML = svg;
  const found = [];
  for (const face of faces) for (const axis of document.querySelectorAll(".role-axis-label")) {
    const labels = [...axis.querySelectorAll("text")];
    for (const label of labels) label.style.fontFamily = face;
    const boxes = labels.map((label) => label.getBoundingClientRect()).filter((box) => box.width);
    boxes.forEach((one, n) => boxes.slice(n + 1).forEach((other) => {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 0 && down > 2) found.push(face);
    }));
  }
  return found;
}"""


def rows():
    ratings = [
        {"model": name, "rating": 1500 - 90 * n, "lower": 1390 - 90 * n, "upper": 1604 - 90 * n}
        for n, name in enumerate(NAMES)
    ]
    features = ("length in characters", "headings", "list items", "bold passages")
    doubled = dict.fromkeys(("doubled", "doubled_lower", "doubled_upper"))
    return replace(
        drawn_rows(0),
        models=list(NAMES),
        ratings=ratings,
        matrix=[
            {"model": a, "against": b, "observed": 0.6, "predicted": 0.55, "battles": 80}
            for a in NAMES
            for b in NAMES
            if a != b
        ],
        slopes=[
            {"model": name, "board": board, "rating": 1500 - 90 * n}
            for n, name in enumerate(NAMES)
            for board in ("Overall", "Hard prompts", "Style-controlled")
        ],
        coefficients=[
            {"name": name, "points": 10 * n - 20, "lower": n - 80, "upper": 60 + 13 * n} | doubled
            for n, name in enumerate(features)
        ],
    )


@pytest.mark.parametrize("name", ["ratings", "wins", "battles", "style", "slopes"])
def test_every_label_is_whole_and_none_touches_another_in_any_typeface(page, name):
    svg = drawing.draw_one(name, rows()).light
    assert page.evaluate(OUTSIDE, [svg, FACES]) == []
    if name in ("ratings", "style"):
        assert page.evaluate(TOUCHING, [svg, FACES]) == []


def test_letters_are_as_large_as_the_specification_says():
    spec = spec_of("wins", rows(), LIGHT)
    assert 'font-size="10px"' in in_true_size('<text font-size="12.2px">')
    svg = drawing.draw_one("wins", rows()).light
    assert 'font-size="10px"' in svg and f'font-size="{10 * WIDER:g}px"' not in svg
    assert spec == spec_of("wins", rows(), LIGHT) and with_room(spec) != spec
