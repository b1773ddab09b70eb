"""Long tables: the first rows are shown; the rest is a click or a sheet of paper away, and never lost."""

import re

import pytest
from django.template import Context, Template
from django.utils import timezone

from arena.leaderboards.agreement import campaign_agreement
from tests.e2e.test_axe_everywhere import ALL, faults_of
from tests.leaderboards.test_board_view import MANY, crowded, joust

__all__ = ["crowded", "joust"]

TABLE = (
    "{% load long_table %}{% long_table all 'Ratings' %}<table><caption>{{ is_rest }}</caption>"
    "{% for row in rows %}<tr><td>{{ row }}</td></tr>{% endfor %}</table>{% endlong_table %}"
)


def drawn(count: int) -> str:
    return Template(TABLE).render(Context({"all": [f"Model {n}" for n in range(count)]}))


def rows_in(html: str) -> list[str]:
    return re.findall(r"<td>(.*?)</td>", html)


def test_a_table_of_few_rows_stays_whole():
    assert "<details" not in drawn(25) and len(rows_in(drawn(25))) == 25
    assert rows_in(drawn(0)) == []


def test_a_long_table_shows_its_first_rows_and_folds_the_rest_away_once_each():
    html = drawn(59)
    shown, rest = html.split('<details class="rest"><summary>Show all 59 rows</summary>')
    assert rows_in(shown) == [f"Model {n}" for n in range(20)]
    assert rows_in(rest) == [f"Model {n}" for n in range(20, 59)]
    assert "<caption>False" in shown and "<caption>True" in rest
    assert 'aria-label="Ratings, rows 21 to 59: scrolls' in rest, "each part has a name of its own"


@pytest.mark.django_db
def test_the_pages_of_250_models_hold_every_row(crowded, signed_in):
    ravi, board = signed_in("ravi"), crowded.campaign.leaderboards.get(slug="joust-overall")
    page = ravi.get(f"/snapshots/{board.snapshots.first().pk}/").content.decode()
    assert page.count(f"Show all {MANY} rows") == 1
    assert len(set(re.findall(r">Model \d{3}<", page))) == MANY - 5
    report = ravi.get("/boards/joust/report/").content.decode()
    assert report.count(f"Show all {MANY} rows") >= 2
    assert re.search(r"<details[^>]*open", report) is None


@pytest.mark.django_db
def test_the_agreement_of_many_categories_is_a_list_of_them(joust, signed_in):
    figures = campaign_agreement.figures_of(joust.campaign)
    one = {name: figures[name] for name in ("people", "judges", "between")}
    figures["categories"] = [one | {"category": f"category {n}"} for n in range(50)]
    known = campaign_agreement.compute(joust.campaign)
    known.figures, known.computed_at = figures, timezone.now()
    known.save()
    ravi = signed_in("ravi")
    page = ravi.get("/boards/joust/agreement/").content.decode()
    assert page.count('<details class="category"><summary><h3>category ') == 50
    known.figures = figures | {"categories": figures["categories"][:6]}
    known.save()
    page = ravi.get("/boards/joust/agreement/").content.decode()
    assert "<details" not in page and page.count("<h3>category ") == 6


@pytest.mark.browser
@pytest.mark.parametrize("address", ["/snapshots/{pk}/", "/boards/joust/report/"])
def test_what_is_folded_opens_by_key_and_is_whole_on_paper(crowded, live_server, page, signed_in, address):
    snapshot = crowded.campaign.leaderboards.get(slug="joust-overall").snapshots.first()
    cookie = signed_in("ravi").cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page.set_viewport_size({"width": 375, "height": 760})
    page.goto(live_server.url + address.format(pk=snapshot.pk))
    rest = page.locator("details.rest").first
    row = rest.locator("tbody tr").last

    def is_seen() -> bool:
        return row.evaluate("row => row.checkVisibility()")

    assert not is_seen()
    page.emulate_media(media="print")
    assert is_seen() and not rest.locator("summary").is_visible()
    page.emulate_media(media="screen")
    assert not is_seen() and faults_of(page, ALL) == []
    rest.locator("summary").focus()
    page.keyboard.press("Enter")
    assert is_seen() and faults_of(page, ALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
