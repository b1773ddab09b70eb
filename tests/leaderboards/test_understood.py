"""What a page's address asks for and the page doesn't understand is said on the page; nothing is guessed."""

import re
from html import unescape

import pytest
from django.urls import get_resolver, reverse

from arena.leaderboards.agreement.card_models import JudgeCard
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.understood import counts_visits
from tests.leaderboards.full_campaign import draw_charts, fill, overall
from tests.test_access import routes

pytestmark = pytest.mark.django_db

# Files, parts of pages and what is posted say in their own ways what they were asked for.
FILES = {"board_csv", "board_json", "chart_svg", "chart_png", "chart_json", "board_plan_json"}
POSTED = {"analysis_plan_save", "analysis_plan_freeze", "snapshot_take", "board_visibility", "battle_read"}
OTHERS = (
    FILES
    | POSTED
    | {
        "calibration_measure",
        "battle_reader_csv",
        "my_votes_board",
        "my_votes_file",
        "spot_check_file",
    }
)


@pytest.fixture
def ravi(voted_campaign, signed_in):
    small = voted_campaign(votes=300)
    for board in ensure_leaderboards(small.campaign):
        assert snapshots.take_snapshot(board).snapshot
    return signed_in("ravi")


def said(answer) -> list[str]:
    assert answer.status_code == 200
    lists = re.findall(r'<ul class="messages" role="status">(.*?)</ul>', answer.content.decode())
    return [unescape(words) for one in lists for words in re.findall(r"<li[^>]*>(.*?)</li>", one)]


@pytest.mark.parametrize(
    "page, asked, words",
    [
        ("", "sorce=raters", ["“sorce” is no filter of this page and was left out. Was “source” meant?"]),
        (
            "compare/",
            "catgory=x",
            ["“catgory” is no filter of this page and was left out; there are: a, b, source."],
        ),
        ("agreement/", "category=x", ["“category” was left out: this page has no filters."]),
        (
            "charts/",
            "<b>=1",
            ["“<b>” is no filter of this page and was left out; there are: source, sort, board."],
        ),
        (
            "",
            "interval=bayes",
            ["“bayes” is no value of “interval” and was left out; there are: robust, bootstrap."],
        ),
        (
            "",
            "source=judge:1&source=raters",
            ["“source” was asked for more than once; the last counts, “raters”."],
        ),
        ("", "source=raters&source=raters&pin=Ember&pin=Fjord&page=1&q=e&sort=name&interval=robust", []),
        ("", "sort=", []),
        ("", "board=hard&utm_source=mail&UTM_campaign=x&fbclid=1&gclid=2&mc_eid=3&msclkid=4&ref=news", []),
        ("compare/", "utm_source_platform=x&a=Ember&b=Fjord&source=raters", []),
    ],
)
def test_a_page_says_what_it_was_asked_for_and_left_out(ravi, page, asked, words):
    assert said(ravi.get(f"/boards/joust/{page}?{asked}")) == words


def test_the_report_says_it_on_the_screen_alone(ravi):
    told = "“sorce” is no filter of this page and was left out. Was “source” meant?"
    assert told in ravi.get("/boards/joust/report/?sorce=raters").content.decode()
    assert "sorce" not in ravi.get("/boards/joust/report/?sorce=raters&download").content.decode()


def test_an_address_of_very_many_names_is_answered_in_few_words(ravi):
    asked = "&".join(f"{'name' * 100}{n}=1" for n in range(500))
    words = said(ravi.get(f"/boards/joust/?{asked}"))
    assert len(words) == 5 and all(len(one) < 200 for one in words)


def test_a_count_of_visits_keeps_no_duel_from_its_page(make_campaign, signed_in, cast, cast_vote):
    duel = make_campaign("duel", names=("Ember", "Fjord"))
    for prompt in duel.prompts:
        for outcome in ("model_a", "model_b", "tie"):
            cast_vote(duel, prompt, "Ember", "Fjord", outcome, cast.alice_rater)
    for board in ensure_leaderboards(duel.campaign):
        snapshots.take_snapshot(board)
    ravi = signed_in("ravi")
    assert ravi.get("/boards/duel/?utm_source=mail")["Location"] == "/boards/duel/compare/"
    assert said(ravi.get("/boards/duel/?sorce=raters"))


@pytest.mark.parametrize("page", ["", "compare/", "model/", "charts/"])
def test_of_a_source_that_there_is_none_of_every_page_says_so(ravi, page):
    page = ravi.get(f"/boards/joust/{page}?source=judge:99").content.decode()
    assert "There are no boards of the source asked for. Shown: People." in page


def test_the_pages_own_links_ask_for_nothing_that_they_do_not_understand(ravi):
    todo, seen = ["/boards/joust/?board=overall", "/boards/joust/charts/?source=raters"], set()
    while todo:
        address = todo.pop()
        seen.add(address)
        page = ravi.get(address, follow=True)
        assert page.status_code == 200, address
        assert "was left out" not in page.content.decode(), address
        path = page.redirect_chain[-1][0] if page.redirect_chain else address
        links = {unescape(link) for link in re.findall(r'<a href="([^"#]+)', page.content.decode())}
        absolute = {f"{path.split('?')[0]}{link}" if link[0] == "?" else link for link in links}
        wanted = re.compile(r"/(boards|snapshots|judges)/[^.]*(\?.*)?")
        todo += [link for link in absolute if wanted.fullmatch(link) and link not in seen and len(seen) < 30]
    assert len(seen) > 15


FREE = {("board", "q"), ("board_report", "download")}
"""Words to look for, and a wish: of these no value is wrong."""
REFUSED = {404, 422}


def addresses(small, kept: dict[str, object]) -> dict[str, str]:
    """Of every page about boards that may be asked for something, by its view's name."""
    found = {}
    for route, entry in routes(get_resolver()).items():
        view = entry.callback
        if view.__module__.startswith("arena.leaderboards") and getattr(view, "understands", ()):
            names = re.findall(r"<(?:\w+:)?(\w+)>", route)
            found[view.__name__] = re.sub(r"<(?:\w+:)?(\w+)>", lambda name: str(kept[name[1]]), route)
            assert set(names) <= kept.keys(), route
    return found


def test_every_page_says_which_value_it_does_not_know_of_each_parameter_that_it_does(
    voted_campaign, cast, cast_vote, signed_in
):
    small, carol = voted_campaign("joust", votes=60), signed_in("carol")
    fill(small, cast, cast_vote, carol)
    draw_charts(small.campaign)
    judge = JudgeCard.objects.order_by("pk").first().judge_id
    board = overall(small.campaign)
    kept = {"campaign": "joust", "slug": "joust", "pk": judge}
    views = {entry.callback.__name__: entry.callback for entry in routes(get_resolver()).values()}
    silent, asked = [], 0
    for name, address in addresses(small, kept).items():
        if name in ("snapshot_list", "snapshot_diff"):
            route = "snapshot-list" if name == "snapshot_list" else "snapshot-diff"
            address = reverse(route, args=["joust", board.slug])
        assert carol.get(address).status_code == 200, address
        for parameter in views[name].understands:
            if (name, parameter) in FREE:
                continue
            answer = carol.get(address, {parameter: "<b>nonsense</b>"})
            asked += 1
            page = unescape(answer.content.decode())
            told = f"“<b>nonsense</b>” is no value of “{parameter}”" in page
            told = told or "“<b>nonsense</b>” is no model of this board" in page
            told = told or "There are no boards of the source asked for." in page
            if not told and answer.status_code not in REFUSED:
                silent.append((name, parameter))
            assert "<b>nonsense</b>" not in answer.content.decode()
    assert silent == [] and asked >= 25


@pytest.mark.parametrize(
    "page, asked, words",
    [
        (
            "charts/",
            "sort=ratings:9",
            "“ratings:9” is no value of “sort” and was left out; there are: a chart",
        ),
        ("charts/", "sort=ratings:1", ""),
        ("charts/", "board=hrad", "“hrad” is no value of “board” and was left out; there are: overall, hard"),
        ("", "page=2", "“2” is no value of “page” and was left out. Shown: page 1 of 1."),
        ("", "page=1", ""),
        ("", "page=-1", "“-1” is no value of “page”"),
        ("battles/", "page=99999", "“99999” is no value of “page” and was left out. Shown: page "),
        ("", "pin=Ember&pin=Embre", "“Embre” is no model of this board: nothing is kept on top."),
        ("report/", "source=judge:9", "“judge:9” is no value of “source” and was left out. Shown: People."),
        ("report/", "source=raters", ""),
    ],
)
def test_a_value_that_there_is_none_of_is_named_with_what_is_shown(ravi, page, asked, words):
    answer = ravi.get(f"/boards/joust/{page}?{asked}")
    assert answer.status_code == 200
    shown = unescape(answer.content.decode())
    assert words in shown if words else "was left out" not in shown


def test_every_page_about_boards_says_what_it_understands():
    silent = []
    for route, entry in routes(get_resolver()).items():
        view = entry.callback
        is_ours = view.__module__.startswith("arena.leaderboards") and not route.startswith("/api/")
        if is_ours and not hasattr(view, "understands") and view.__name__ not in OTHERS:
            silent.append((route, view.__name__))
    assert silent == []


def test_what_counts_visits_is_told_from_what_is_misspelt():
    for name in ("utm_medium", "fbclid", "gclid", "yclid", "_ga", "_hsenc", "pk_campaign", "mtm_kwd"):
        assert counts_visits(name), name
    for name in ("source", "page", "category", "pick", "clid", "mcp", "utmost1", "refs", "pkx"):
        assert not counts_visits(name), name
