"""Tables to take away, a line to cite, what caches may keep, and how often the API may be asked."""

import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from django.core.cache import caches
from django.db import connection
from django.db.models import signals
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.leaderboards import downloads
from arena.leaderboards.boards.board_rows import in_order
from arena.leaderboards.citation import bibtex, cite
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import (
    CategoryRating,
    Leaderboard,
    PairResult,
    Snapshot,
    SnapshotChart,
    Standing,
)
from arena.spreadsheet_text import FORMULA_STARTS
from tests.conftest import past_triggers

API = "/api/v1"
LATEST = f"{API}/leaderboards/joust-overall/snapshots/latest"
DOC = Path(__file__).resolve().parents[2] / "docs" / "api.md"


@pytest.fixture(autouse=True)
def quick():
    caches["throttles"].clear()
    yield
    caches["throttles"].clear()


def taken(small, *names: str) -> dict[str, Snapshot]:
    """By slug; the overall board unless others are wanted."""
    wanted = {f"{small.campaign.slug}-{name}" for name in names or ("overall",)}
    boards = [board for board in ensure_leaderboards(small.campaign) if board.slug in wanted]
    return {board.slug: snapshots.take_snapshot(board).snapshot for board in boards}


def publish(campaign, visibility="public", status="closed") -> None:
    campaign.leaderboards.update(visibility=visibility)
    Campaign.objects.filter(pk=campaign.pk).update(status=status)


@pytest.fixture
def joust(voted_campaign, cast):
    small = voted_campaign("joust", votes=200)
    return small, taken(small)


def rows_of(content: bytes, kind: str) -> list[dict]:
    if kind == "csv":
        return list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    return json.loads(content) if kind == "json" else pq.read_table(io.BytesIO(content)).to_pylist()


def test_a_board_leads_to_the_page_about_the_api(joust, client):
    publish(joust[0].campaign)
    assert 'href="/api/v1/"' in client.get("/boards/joust/").content.decode()


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
@pytest.mark.parametrize(
    ("table", "count", "columns"),
    [
        ("standings", 5, {"model", "rating", "bootstrap_lower", "rank_upper"}),
        ("pairs", 10, {"model_a", "model_b", "difference", "p_adjusted", "verdict"}),
        ("categories", 10, {"category", "model", "rating"}),
        ("coefficients", 4, {"name", "points", "per_doubling"}),
        ("cautions", 3, {"code", "text", "look", "plan"}),
    ],
)
def test_every_table_comes_in_every_kind(joust, signed_in, table, count, columns, kind):
    board = "style" if table == "coefficients" else "overall"
    small, by_slug = joust
    snapshot = (by_slug | (taken(small, "style") if table == "coefficients" else {}))[f"joust-{board}"]
    response = signed_in("ravi").get(f"{API}/snapshots/{snapshot.pk}/{table}.{kind}")
    assert response["Content-Type"] == downloads.MEDIA_TYPES[kind]
    name = f"joust-{board}-snapshot-{snapshot.pk}-{table}.{kind}"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    rows = rows_of(response.content, kind)
    assert len(rows) == count and columns <= rows[0].keys()
    assert {str(row["snapshot"]) for row in rows} == {str(snapshot.pk)}


def test_json_and_parquet_hold_the_stored_numbers_exactly(joust, signed_in):
    snapshot = joust[1]["joust-overall"]
    stored = dict(snapshot.standings.values_list("competitor__name", "rating"))
    pairs = {
        (pair.first.name, pair.second.name): (pair.difference, pair.p, pair.verdict)
        for pair in snapshot.pairs.select_related("first", "second")
    }
    for kind in ("json", "parquet"):
        ravi = signed_in("ravi")
        standings = rows_of(ravi.get(f"{LATEST}/standings.{kind}").content, kind)
        assert {row["model"]: row["rating"] for row in standings} == stored
        told = rows_of(ravi.get(f"{LATEST}/pairs.{kind}").content, kind)
        assert {
            (row["model_a"], row["model_b"]): (row["difference"], row["p"], row["verdict"]) for row in told
        } == pairs


def test_two_lines_load_a_board_into_pandas(voted_campaign, cast, live_server):
    small = voted_campaign("joust", votes=200)
    snapshot = taken(small)["joust-overall"]
    publish(small.campaign)
    block, _of_other_kinds = re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)
    lines = block.strip().splitlines()
    assert len(lines) == 2
    here = block.replace("https://arena.example.org", live_server.url).replace(
        "spring-overall", "joust-overall"
    )
    names: dict = {}
    exec(here, names)
    board = names["board"]
    assert isinstance(board, pd.DataFrame) and len(board) == 5
    assert dict(zip(board["model"], board["rating"], strict=True)) == dict(
        snapshot.standings.values_list("competitor__name", "rating")
    )


def test_the_address_says_which_kind_whatever_is_accepted(joust, signed_in):
    for accepted in ("text/csv", "text/html", "application/json"):
        response = signed_in("ravi").get(f"{LATEST}/standings.csv", headers={"Accept": accepted})
        assert response.status_code == 200 and response["Content-Type"].startswith("text/csv")


@pytest.mark.parametrize("file", ["votes.csv", "standings.xlsx"])
def test_an_unknown_table_is_not_found_and_the_known_are_named(joust, signed_in, file):
    response = signed_in("ravi").get(f"{LATEST}/{file}")
    assert response.status_code == 404
    assert "standings, pairs, categories, coefficients, cautions" in response.json()["detail"]
    assert "csv, json, parquet" in response.json()["detail"]


def test_pairs_of_an_older_snapshot_are_gone_and_it_says_so(joust, signed_in, cast, cast_vote):
    small, by_slug = joust
    older = by_slug["joust-overall"]
    cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    taken(small)
    ravi = signed_in("ravi")
    gone = ravi.get(f"{API}/snapshots/{older.pk}/pairs.csv")
    assert gone.status_code == 404 and "newest snapshot" in gone.json()["detail"]
    assert ravi.get(f"{API}/snapshots/{older.pk}/standings.csv").status_code == 200


def test_tables_are_hidden_from_who_may_not_see_the_board(joust, signed_in, client):
    small, by_slug = joust
    paths = [f"{LATEST}/standings.csv", f"{API}/snapshots/{by_slug['joust-overall'].pk}/pairs.json"]
    assert [client.get(path).status_code for path in paths] == [404, 404]
    publish(small.campaign, "signed_in")
    assert [client.get(path).status_code for path in paths] == [404, 404]
    assert [signed_in("mallory").get(path).status_code for path in paths] == [200, 200]
    publish(small.campaign, "public")
    assert [Client().get(path).status_code for path in paths] == [200, 200]
    publish(small.campaign, "public", status="open")
    assert [Client().get(path).status_code for path in paths] == [404, 404], "raters vote blind"


# --- caches -----------------------------------------------------------------------------------------------


def addresses(snapshot: Snapshot) -> tuple[str, str]:
    return f"{API}/snapshots/{snapshot.pk}/", f"{API}/snapshots/{snapshot.pk}/standings.parquet"


def test_a_snapshots_own_address_may_be_kept_and_is_asked_about_each_time(joust, client):
    small, by_slug = joust
    publish(small.campaign)
    known = {}
    for path in addresses(by_slug["joust-overall"]):
        response = client.get(path)
        assert response["Cache-Control"] == "public, no-cache"
        assert {"Cookie", "Authorization"} <= set(response["Vary"].split(", "))
        known[path] = {"If-None-Match": response["ETag"]}
        assert client.get(path, headers=known[path]).status_code == 304
    Competitor.objects.filter(name="Ember").update(name="Cinder")
    assert [client.get(path, headers=tag).status_code for path, tag in known.items()] == [200, 200]
    publish(small.campaign, "private")
    assert [client.get(path, headers=tag).status_code for path, tag in known.items()] == [404, 404]


def test_what_only_some_may_see_is_kept_by_their_browsers_alone(joust, signed_in):
    small, by_slug = joust
    publish(small.campaign, "signed_in")
    for path in addresses(by_slug["joust-overall"]):
        assert signed_in("mallory").get(path)["Cache-Control"] == "private, no-cache"


def test_nothing_is_kept_while_raters_vote_blind(joust, signed_in):
    small, by_slug = joust
    publish(small.campaign, status="open")
    ravi = signed_in("ravi")
    for path in (*addresses(by_slug["joust-overall"]), f"{LATEST}/", f"{LATEST}/standings.csv"):
        assert ravi.get(path)["Cache-Control"] == "private, no-store", path


def test_the_newest_is_asked_about_each_time_and_answers_304_while_nothing_is_new(
    joust, client, cast, cast_vote
):
    small, _by_slug = joust
    publish(small.campaign)
    for path in (f"{LATEST}/", f"{LATEST}/standings.csv"):
        first = client.get(path)
        assert first["Cache-Control"] == "public, no-cache"
        again = client.get(path, headers={"If-None-Match": first["ETag"]})
        assert again.status_code == 304 and not again.content and again["ETag"] == first["ETag"]
        cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
        taken(small)
        newer = client.get(path, headers={"If-None-Match": first["ETag"]})
        assert newer.status_code == 200 and newer["ETag"] != first["ETag"]


@pytest.mark.parametrize("table, model", [("pairs", PairResult), ("categories", CategoryRating)])
def test_rows_become_no_objects_and_aren_t_read_for_who_has_them(joust, signed_in, table, model):
    """With 250 models there are 31,125 pairs."""
    ravi, made = signed_in("ravi"), []

    def count(sender, **_told) -> None:
        made.append(sender)

    signals.pre_init.connect(count, sender=model)
    try:
        first = ravi.get(f"{LATEST}/{table}.json")
    finally:
        signals.pre_init.disconnect(count, sender=model)
    assert len(first.json()) >= 10 and made == []
    with CaptureQueriesContext(connection) as asked:
        assert ravi.get(f"{LATEST}/{table}.json", headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert not [query for query in asked if model._meta.db_table in query["sql"]]
    Competitor.objects.filter(name="Ember").update(name="Cinder")
    renamed = ravi.get(f"{LATEST}/{table}.json", headers={"If-None-Match": first["ETag"]})
    assert renamed.status_code == 200 and b"Cinder" in renamed.content


def test_tables_and_kinds_have_tags_of_their_own(joust, signed_in):
    ravi = signed_in("ravi")
    tags = {
        ravi.get(f"{LATEST}/{file}")["ETag"]
        for file in ("", "standings.csv", "standings.json", "pairs.csv", "pairs.json")
    }
    assert len(tags) == 5


# --- citation ---------------------------------------------------------------------------------------------


def test_a_citation_names_team_board_votes_method_software_digest_and_address(joust, settings, signed_in):
    snapshot = joust[1]["joust-overall"]
    settings.PUBLIC_URL = "https://arena.example.org"
    line = cite(snapshot)
    assert line == (
        f"Default team. Joust: overall, people. Snapshot {snapshot.pk}, 200 votes of 20 raters up to "
        f"{snapshot.cutoff:%Y-%m-%d %H:%M} UTC. Exploratory. Bradley-Terry model, ties half a win, "
        f"95\u00a0% intervals clustered by rater and prompt. Tiltyard {snapshot.code_version.split()[0]}. "
        f"SHA-256 of the votes {snapshot.vote_digest}. "
        f"https://arena.example.org/snapshots/{snapshot.pk}/"
    )
    assert signed_in("ravi").get(f"{LATEST}/").json()["citation"] == line
    settings.PUBLIC_URL = ""
    assert cite(snapshot) == line.removesuffix(f" https://arena.example.org/snapshots/{snapshot.pk}/")


def test_a_snapshots_page_has_its_reference_as_a_line_and_as_bibtex_to_copy(joust, settings, signed_in):
    snapshot = joust[1]["joust-overall"]
    settings.PUBLIC_URL = "https://arena.example.org"
    snapshot.leaderboard.campaign.team.name = "Wit & {Sons_1"
    entry = bibtex(snapshot)
    assert entry.startswith(f"@misc{{tiltyard-joust-overall-{snapshot.pk},\n")
    assert "author = {{Wit \\& \\textbraceleft{}Sons\\_1}}" in entry
    assert entry.count("{") == entry.count("}")
    assert f"url = {{https://arena.example.org/snapshots/{snapshot.pk}/}}" in entry
    page = signed_in("ravi").get(f"/snapshots/{snapshot.pk}/").content.decode()
    assert 'data-copies="reference"' in page and 'data-copies="bibtex"' in page
    assert "@misc{" in page and ">Parquet</a>" in page and "PARQUET" not in page


def test_boards_of_a_campaign_named_by_a_question_have_no_second_mark_behind_it(make_campaign):
    asked = make_campaign("asked", name="Do they differ?").campaign
    assert ensure_leaderboards(asked)[0].name == "Do they differ? – overall, people"


@pytest.mark.parametrize(
    ("options", "counts", "style", "said"),
    [
        (
            {},
            {},
            True,
            "Bradley-Terry model, ties half a win, controlled for style, 95\u00a0% intervals clustered",
        ),
        ({"ties": "drop"}, {}, False, "Bradley-Terry model, ties left out, 95\u00a0%"),
        ({"ties": "davidson", "confidence": 0.9}, {}, False, "Davidson’s model of ties, 90\u00a0% intervals"),
        ({}, {"combined": {"used": True}}, False, "ties half a win, judgments by PPI++, 95\u00a0%"),
        ({}, {"combined": {"used": False}}, False, "ties half a win, 95\u00a0% intervals"),
        (
            {},
            {"interval_method": "model-based"},
            False,
            "95\u00a0% intervals with votes taken as independent",
        ),
    ],
)
def test_a_citation_says_how_the_ratings_were_computed(joust, options, counts, style, said):
    snapshot = joust[1]["joust-overall"]
    snapshot.options |= options
    snapshot.counts |= counts
    snapshot.leaderboard.style_control = style
    assert said in cite(snapshot)


def test_a_judges_citation_counts_judgments(small_campaign, cast, cast_vote, make_judge):
    battles = [
        cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater).battle
        for prompt in small_campaign.prompts
    ]
    outcomes = dict(zip(battles, ("model_a", "model_b", "tie", "tie"), strict=True))
    judge = make_judge(small_campaign, "Sage", outcomes)
    board = Leaderboard.objects.create(
        campaign=small_campaign.campaign, slug="sage", name="Sage's", source="judge", judge=judge
    )
    assert "4 judgments up to" in cite(snapshots.take_snapshot(board).snapshot)


# --- throttles --------------------------------------------------------------------------------------------


def test_a_stranger_who_asks_too_often_waits(joust, client, settings):
    publish(joust[0].campaign)
    settings.API_PER_MINUTE_ANONYMOUS = 3
    assert [client.get(f"{LATEST}/standings.csv").status_code for _ in range(4)] == [200, 200, 200, 429]
    late = client.get(f"{API}/leaderboards/")
    assert late.status_code == 429 and 0 < int(late["Retry-After"]) <= 60


def test_asking_with_head_counts_as_asking(joust, client, settings):
    publish(joust[0].campaign)
    settings.API_PER_MINUTE_ANONYMOUS = 2
    file = f"{LATEST}/standings.csv"
    assert [client.head(file).status_code for _ in range(2)] + [client.get(file).status_code] == [
        200,
        200,
        429,
    ]


def test_strangers_behind_our_proxy_are_told_apart(joust, client, settings):
    settings.API_PER_MINUTE_ANONYMOUS, settings.PROXY_COUNT = 1, 1

    def ask(address: str) -> int:
        forwarded = {"X-Forwarded-For": f"203.0.113.77, {address}"}
        return client.get(f"{API}/leaderboards/", headers=forwarded).status_code

    assert [ask("203.0.113.1"), ask("203.0.113.1"), ask("203.0.113.2")] == [200, 429, 200]


def test_an_account_is_counted_by_itself_wherever_it_comes_from(joust, signed_in, settings):
    settings.API_PER_MINUTE, settings.API_PER_MINUTE_ANONYMOUS = 2, 1
    ravi = signed_in("ravi")
    asked = [
        ravi.get(f"{API}/leaderboards/", REMOTE_ADDR=f"203.0.113.{number}").status_code for number in range(3)
    ]
    assert asked == [200, 200, 429]
    assert signed_in("carol").get(f"{API}/leaderboards/").status_code == 200


# --- files ------------------------------------------------------------------------------------------------

texts = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"))
lines_of_two = st.lists(st.tuples(texts, st.none() | st.floats(allow_nan=False, allow_infinity=False)))


@given(lines_of_two)
def test_any_table_survives_as_json_and_parquet_and_is_no_formula_in_csv(lines):
    table = downloads.Table({"name": "text", "value": "number"}, list(lines))
    for kind in ("json", "parquet"):
        rows = rows_of(downloads.as_file(table, kind), kind)
        assert [(row["name"], row["value"]) for row in rows] == lines
    cells = [row[0] for row in csv.reader(io.StringIO(downloads.as_file(table, "csv").decode(), newline=""))]
    assert len(cells) == len(lines) + 1
    assert not any(cell.startswith(FORMULA_STARTS) and not cell.isspace() for cell in cells[1:])


def test_a_renamed_model_has_its_new_name(joust, signed_in):
    Competitor.objects.filter(name="Ember").update(name="=Ember")
    ravi = signed_in("ravi")
    assert "'=Ember" in ravi.get(f"{LATEST}/pairs.csv").content.decode()
    assert any(row["model"] == "=Ember" for row in ravi.get(f"{LATEST}/standings.json").json())


def test_pairs_of_a_board_that_is_taken_anew_meanwhile_are_gone_and_not_empty(
    joust, signed_in, cast, cast_vote, monkeypatch
):
    small, by_slug = joust
    ravi, snapshot, read = signed_in("ravi"), by_slug["joust-overall"], downloads.table_of

    def after_the_next(asked, table):
        cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
        taken(small)
        return read(asked, table)

    monkeypatch.setattr(downloads, "table_of", after_the_next)
    response = ravi.get(f"{API}/snapshots/{snapshot.pk}/pairs.csv")
    assert response.status_code == 404
    assert "public" not in response.get("Cache-Control", "")


@pytest.mark.parametrize("renamed", ["a model", "a model's organisation", "the board", "the team"])
def test_a_new_name_is_told_to_whoever_has_the_old_one(joust, client, renamed):
    small, by_slug = joust
    publish(small.campaign)
    own = [f"{API}/snapshots/{by_slug['joust-overall'].pk}/{end}" for end in ("", "pairs.parquet")]
    paths = [f"{LATEST}/", f"{LATEST}/standings.json", "/boards/joust/joust-overall.json", *own]
    known = {path: client.get(path)["ETag"] for path in paths}
    ember = Competitor.objects.filter(name="Ember")
    if renamed == "a model":
        ember.update(name="Cinder")
    elif renamed == "the board":
        small.campaign.leaderboards.update(name="Renamed")
    elif renamed == "the team":
        type(small.campaign.team).objects.update(name="Renamed")
    else:
        ember.update(organisation="Cinder works")
    for path, etag in known.items():
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 200, path


PAGES = (
    "/boards/",
    "/boards/joust/",
    "/boards/joust/?board=hard",
    "/boards/joust/compare/",
    "/boards/joust/model/",
    "/boards/joust/charts/",
    "/boards/joust/joust-overall/snapshots/",
    "/boards/joust/joust-overall/diff/",
)
FILES = (
    *(f"/boards/joust/joust-overall{end}" for end in (".csv", ".json")),
    *(f"/boards/joust/joust-overall/win-rates{end}" for end in (".svg", ".svg?download", ".png", ".vl.json")),
)


def test_pages_and_files_of_boards_say_what_caches_may_keep(joust, client, signed_in):
    small, by_slug = joust
    snapshot = by_slug["joust-overall"]
    charts = {"spec": {"mark": "bar"}, "light": "<svg/>", "dark": "<svg/>", "png": b"png"}
    SnapshotChart.objects.create(snapshot=snapshot, name="win-rates", **charts)
    ravi = signed_in("ravi")
    for path in (*PAGES, f"/snapshots/{snapshot.pk}/", *FILES):
        assert ravi.get(path)["Cache-Control"] == "private, no-store", path
    publish(small.campaign, visibility="private")
    for path in FILES:
        assert ravi.get(path)["Cache-Control"] == "private, no-cache", path
    publish(small.campaign)
    for path in (*PAGES, f"/snapshots/{snapshot.pk}/"):
        assert ravi.get(path)["Cache-Control"] == "private, no-store", path
        assert client.get(path)["Cache-Control"] == "private, no-cache", path
    for path in FILES:
        response = client.get(path)
        assert response["Cache-Control"] == "public, no-cache", path
        assert "Cookie" in response["Vary"]
        again = client.get(path, headers={"If-None-Match": response["ETag"]})
        assert again.status_code == 304, path


def test_a_board_begins_with_the_same_model_in_every_form(joust, signed_in):
    """Rank sets overlap: of few votes, the last model may reach to the first place, and still stands last."""
    snapshot = joust[1]["joust-overall"]
    last = in_order(snapshot.standings.all())[-1]
    ranks = {"rank_lower": 1, "rank_upper": 1}
    past_triggers(Standing.objects.filter(pk=last.pk).update, **ranks)
    listed = [one.competitor.name for one in in_order(snapshot.standings.select_related("competitor"))]
    assert listed[-1] == last.competitor.name
    ravi = signed_in("ravi")
    for kind in ("csv", "json", "parquet"):
        rows = rows_of(ravi.get(f"{LATEST}/standings.{kind}").content, kind)
        assert [row["model"] for row in rows] == listed, kind
    whole = ravi.get(f"{API}/snapshots/{snapshot.pk}/").json()
    assert [one["competitor"] for one in whole["standings"]] == listed
    assert (
        ravi.get("/boards/joust/joust-overall.csv").content.decode().splitlines()[1].split(",")[3]
        == listed[0]
    )
    for page in (f"/snapshots/{snapshot.pk}/", "/boards/joust/?board=overall"):
        html = ravi.get(page).content.decode().split("<tbody>")[1]
        places = [html.index(name) for name in listed]
        assert places == sorted(places), page
