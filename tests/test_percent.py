"""No line ends between a figure and its percent sign, wherever pages write one."""

import re

import pytest

from arena.percent import percent
from tests.leaderboards.conftest import cast_vote, make_judge, voted_campaign
from tests.test_access import fill_route, routes, visitors

__all__ = ["cast_vote", "fill_route", "make_judge", "visitors", "voted_campaign"]

PARTED = re.compile(r".{0,30}[0-9] %.{0,20}")


@pytest.mark.parametrize(
    ("share", "decimals", "written"),
    [
        (0.534, 0, "53\u00a0%"),
        (0.534, 1, "53.4\u00a0%"),
        (0.125, None, "12.5\u00a0%"),
        (1, None, "100\u00a0%"),
    ],
)
def test_a_share_is_written_with_a_space_that_doesnt_break(share, decimals, written):
    assert percent(share, decimals) == written


def test_no_page_of_the_team_parts_a_figure_from_its_percent_sign(visitors, fill_route):
    looked_at, found = 0, []
    for route, _pattern in sorted(routes().items()):
        answer = visitors["carol"].get(address := fill_route(route))
        text = b"".join(answer).decode(errors="replace") if answer.status_code == 200 else ""
        if "<html" in text[:200]:
            looked_at += 1
            found += [f"{address}: {one}" for one in PARTED.findall(text)]
    assert looked_at > 40
    assert found == []
