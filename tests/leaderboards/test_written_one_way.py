"""Days, moments, and kinds of files are written in one way on every page for people."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from tests.leaderboards.test_boards import text_of

TEMPLATES = Path(__file__).parents[2] / "templates"
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
OTHER_WAYS = {
    "a day in words": rf"\b\d{{1,2}} {MONTH} 20\d\d|{MONTH} \d{{1,2}}, 20\d\d",
    "a moment without its zone": r"20\d\d-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?! UTC)(?![:\d])",
    "a zone said twice": r"UTC\s+UTC",
    "a file’s kind in capitals": r"\bPARQUET\b",
    "a minus that is a hyphen": r"(?<![\w.-])-\d+\.\d",
}


def test_templates_write_days_and_moments_by_the_filters_alone():
    """Machines read the ISO 8601 of `date:"c"`."""
    for path in TEMPLATES.rglob("*.html"):
        other = re.findall(r"""\|(?:date(?!:(["'])c\1)|time\b).{0,20}""", path.read_text())
        assert not other, path


@pytest.mark.parametrize("who", ["carol", "ravi"])
def test_no_page_writes_them_another_way(voted_campaign, signed_in, who):
    small = voted_campaign("joust", votes=120)
    snapshot = take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    client = signed_in(who)
    pages = [
        f"/boards/joust/{page}" for page in ("", "charts/", "report/", "model/?name=Ember", "agreement/")
    ]
    pages += ["/", "/boards/", "/campaigns/", "/campaigns/joust/", "/campaigns/joust/analysis-plan/"]
    pages += [reverse("snapshot", args=[snapshot.pk]), "/boards/joust/joust-overall/snapshots/"]
    if who == "carol":
        pages += [
            "/imports/",
            "/campaigns/joust/invites/",
            "/campaigns/joust/guide/edit/",
            "/team/",
            "/endpoints/",
        ]
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        words = text_of(answer).rpartition("@media")[2]
        for what, way in OTHER_WAYS.items():
            assert not re.findall(way, words), (page, what, re.findall(way, words))
