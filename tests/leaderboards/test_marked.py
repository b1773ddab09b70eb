"""By few raters nothing is told apart: tables mark the ranks and verdicts that nobody should rely on."""

import re

import pytest

from arena.leaderboards import downloads
from arena.leaderboards.boards.duels import mark_verdict
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, PairResult, Snapshot, Standing
from arena.leaderboards.sentences import say_marked
from tests.conftest import past_triggers

pytestmark = pytest.mark.django_db

NOTE = "† 3 raters are too few to rely on ranks, verdicts and moves marked so."


@pytest.fixture
def page_of(voted_campaign, signed_in):
    """page_of(raters) reads the pages of a board by so many raters, on which one pair is told apart."""

    def make(raters: int):
        small = voted_campaign(votes=300, raters=raters)
        for board in ensure_leaderboards(small.campaign):
            snapshot = snapshots.take_snapshot(board).snapshot
            pair = snapshot.pairs.get(first__name="Ember", second__name="Fjord")
            snapshot.pairs.filter(pk=pair.pk).update(verdict=PairResult.Verdict.DIFFERENT)
        ravi = signed_in("ravi")

        def read(page: str) -> str:
            number = Snapshot.objects.get(leaderboard__slug="joust-overall").pk
            address = f"/snapshots/{number}/" if page == "snapshot" else f"/boards/joust/{page}"
            text = re.sub(r"<[^>]+>", " ", ravi.get(address).content.decode())
            return " ".join(text.split())

        return read

    return make


@pytest.mark.parametrize("page", ["", "snapshot", "model/?name=Ember", "compare/?a=Ember&b=Fjord", "report/"])
def test_by_three_raters_ranks_and_verdicts_are_marked_and_the_mark_is_told(page_of, page):
    words = page_of(3)(page)
    assert NOTE in words
    ranks, verdicts = re.findall(r"\b\d+(?:–\d+)?†", words), words.count("ahead†")
    assert ranks or page.startswith("compare")
    assert verdicts or page in ("", "snapshot", "report/")
    assert not re.search(r"(undecided|different group)†", words)


@pytest.mark.parametrize("page", ["", "snapshot", "model/?name=Ember", "compare/?a=Ember&b=Fjord", "report/"])
def test_by_twenty_raters_nothing_is_marked(page_of, page):
    assert "†" not in page_of(20)(page)


def moves_on(visitor) -> list[tuple[str, str]]:
    page = visitor.get("/boards/joust/").content.decode()
    return re.findall(r'<td class="number move \w+-move (\w*)">([^ <]+)', page)


def test_a_coloured_move_is_marked_as_a_verdict_is_and_one_that_may_be_chance_is_not(page_of, signed_in):
    """Three raters' own moves have intervals too wide to be coloured: the newest snapshot is written here."""
    page_of(3)
    snapshot = Snapshot.objects.get(leaderboard__style_control=True)
    standings = list(snapshot.standings.all())
    snapshot.pk, snapshot._state.adding = None, True
    snapshot.counts = snapshot.counts | {
        "clear_shifts": {"of": 5, "competitors": [standings[0].competitor_id]}
    }
    snapshot.save()
    for number, one in enumerate(standings):
        one.pk, one.snapshot = None, snapshot
        one.shift, one.shift_lower, one.shift_upper = 40, 30 - 20 * number, 50
    Standing.objects.bulk_create(standings)
    ravi = signed_in("ravi")
    moves = moves_on(ravi)
    assert [words for kind, words in moves if kind] == ["+40†", "+40†"]
    assert all(words.endswith("†") == bool(kind) for kind, words in moves)
    assert "t equal length and format" not in ravi.get("/boards/joust/").context["page"].sentence


def test_by_twenty_raters_a_coloured_move_is_plain_and_told(page_of, signed_in):
    page_of(20)
    ravi = signed_in("ravi")
    assert any(kind for kind, _words in moves_on(ravi))
    assert "t equal length and format" in ravi.get("/boards/joust/").context["page"].sentence


def test_files_have_a_column_that_says_what_there_is_too_little_of(page_of, signed_in):
    page_of(3)
    ravi, board = signed_in("ravi"), Leaderboard.objects.get(slug="joust-overall")
    for name in ("pairs", "standings"):
        table = downloads.table_of(board.snapshots.get(), name)
        assert {line[list(table.columns).index("too_few")] for line in table.lines} == {"raters"}
    for address, column in (
        ("board", "overall_too_few"),
        ("model-boards", "too_few"),
        ("model-opponents", "too_few"),
        ("compare-boards", "too_few"),
        ("report-ratings", "too_few"),
        ("report-undecided", "too_few"),
    ):
        rows = ravi.get(f"/api/v1/campaigns/joust/tables/{address}.json").json()
        assert rows and {row[column] for row in rows} == {"raters"}, address


def test_by_twenty_raters_the_column_is_empty(page_of, signed_in):
    page_of(20)
    rows = signed_in("ravi").get("/api/v1/campaigns/joust/tables/compare-boards.json").json()
    assert rows and {row["too_few"] for row in rows} == {None}


def test_only_what_claims_something_is_marked(page_of):
    page_of(3)
    snapshot = Snapshot.objects.get(leaderboard__slug="joust-overall")
    marked = {one for one in PairResult.Verdict if mark_verdict("x", one, snapshot) == "x†"}
    verdict = PairResult.Verdict
    assert marked == {verdict.DIFFERENT, verdict.NEGLIGIBLE, verdict.EQUIVALENT}


def test_the_note_names_what_there_is_too_little_of_on_each_board_once():
    raters, many, prompts = (
        Snapshot(counts=counts, leaderboard=Leaderboard())
        for counts in (
            {"raters": 3, "effective_raters": 3.0},
            {"raters": 20, "effective_raters": 18.0},
            {"prompts": 4, "effective_prompts": 2.5},
        )
    )
    assert say_marked([raters, many, raters], ["1†"]) == NOTE
    assert say_marked([raters, prompts], ["–", "1–2†"]) == (
        "† 3 raters are too few; 4 prompts (effective 2.5) are too few"
        " to rely on ranks, verdicts and moves marked so."
    )
    assert say_marked([many], ["1†"]) == say_marked([], []) == ""


def test_where_nothing_is_marked_no_note_stands_and_without_ranks_none_is_called_a_set(page_of):
    read = page_of(3)
    past_triggers(lambda: Standing.objects.update(rank_lower=None, rank_upper=None, tied_first=False))
    PairResult.objects.update(verdict=PairResult.Verdict.UNDECIDED)
    for page in ("", "snapshot", "model/?name=Ember", "compare/?a=Ember&b=Fjord"):
        assert "†" not in read(page) and "Ranks are sets" not in read(page)
