"""Every table of figures on a page is a file too, with its numbers unrounded, for whom the page is."""

import io
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from arena.campaigns.models import Campaign
from arena.leaderboards import snapshot_views
from arena.leaderboards.tables.every_table import PAGE_OF
from tests.leaderboards.full_campaign import (
    ask_of,
    draw_charts,
    fill,
    overall,
    pages_of,
    publish,
    rating,
    runs_of,
)

READ = {
    "csv": lambda content: pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""]),
    "json": lambda content: pd.DataFrame(json.loads(content)),
    "parquet": lambda content: pd.read_parquet(io.BytesIO(content)),
}
WITHOUT_FIGURES = {"board-downloads"}
"""Classes of tables that hold no figure but addresses."""
WITHOUT_FILES = {
    "api.html": ("parameters of an address",),
    "battles/exclusions.html": ("what is left out", "the roster"),
    "battles/golds.html": ("golds, to edit",),
    "campaigns/guide_edit.html": ("versions of a text",),
    "campaigns/links.html": ("links", "the roster"),
    "campaigns/list.html": ("campaigns",),
    "corpus/competitors.html": ("models, to edit",),
    "corpus/duplicates.html": ("pairs of prompts, to look at",),
    "corpus/generation_list.html": ("runs",),
    "corpus/generation_run.html": ("how far the work is",),
    "corpus/label_run.html": ("how far the work is",),
    "corpus/leaks.html": ("responses, to look at",),
    "corpus/list.html": ("prompt sets",),
    "corpus/page.html": ("prompts",),
    "endpoints/list.html": ("endpoints",),
    "endpoints/state.html": ("an endpoint's latest failures",),
    "exchange/list.html": ("imports",),
    "exchange/new.html": ("columns that a file may have",),
    "exchange/page.html": ("what is wrong with a file", "what it holds", "its first rows"),
    "exchange/reading.html": ("a preview of somebody's own file",),
    "home.html": ("campaigns",),
    "judging/definitions.html": ("judges and rubrics",),
    "judging/judgment.html": ("one reply of a judge's, read out",),
    "judging/run.html": ("failures of its calls", "canaries", "judgments"),
    "judging/list.html": ("runs",),
    "leaderboards/calibrations.html": ("calibrations",),
    "leaderboards/board.html": ("addresses of files",),
    "raters/members.html": ("people",),
    "raters/tokens.html": ("tokens",),
}
"""By template, tables that list things to choose, to act on or to look into: what they list."""
NUMBER = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?")
SAID = re.compile(r"p < 0\.001|p = 0\.05(?!\d)|(?<![\d.])95 %|\d+ \w{3} \d{4} \d\d:\d\d")
"""What is no figure of its own: a bound, a level, a time."""


@dataclass
class Shown:
    classes: set[str]
    rows: list[list[str]]
    files: list[str]
    codes: list[list[str]]
    """Beginnings of digests, by row: their digits are no figures."""


class Tables(HTMLParser):
    """The tables of a page, each with the rows of its body and the files named under it, before the next."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[Shown] = []
        self.part = self.take = ""
        self.in_code = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.handle_data(" ")
        if tag == "table":
            self.found.append(Shown(set((given.get("class") or "").split()), [], [], []))
        elif tag in ("tbody", "thead", "tfoot"):
            self.part = tag
        elif tag == "tr" and self.part == "tbody":
            self.found[-1].rows.append([])
            self.found[-1].codes.append([])
        elif tag == "code" and self.part == "tbody":
            self.in_code = True
        elif tag in ("td", "th") and self.part == "tbody":
            self.found[-1].rows[-1].append("")
        elif tag == "p":
            self.take = "take" if "take" in (given.get("class") or "").split() else ""
        elif tag == "a" and self.take and self.found:
            self.found[-1].files.append(given["href"])

    def handle_endtag(self, tag):
        self.handle_data(" ")
        if tag == "code":
            self.in_code = False
        elif tag == "tbody":
            self.part = ""
        elif tag == "p":
            self.take = ""

    def handle_data(self, data):
        if self.in_code:
            self.found[-1].codes[-1].append(data)
        elif self.part == "tbody" and self.found and self.found[-1].rows and self.found[-1].rows[-1]:
            self.found[-1].rows[-1][-1] += data


def figures_in(cells: list[str]) -> list[tuple[float, int]]:
    """Numbers as written, with the places behind their points."""
    found = []
    for cell in cells:
        for written in NUMBER.findall(SAID.sub("", cell)):
            plain = written.replace(",", "").replace("−", "-")
            found.append((float(plain), len(plain.partition(".")[2])))
    return found


def holds(numbers: list[float], shown: tuple[float, int]) -> bool:
    value, places = shown
    nearly = 0.5000001 * 10**-places
    return any(abs(one - value) <= nearly or abs(100 * one - value) <= nearly for one in numbers)


def numbers_of(rows: pd.DataFrame) -> list[float]:
    numeric = rows.select_dtypes(["number"]).to_numpy().ravel()
    said = [text for column in rows.select_dtypes(["object", "string"]) for text in rows[column].dropna()]
    named = [figure for text in said for figure, _places in figures_in([str(text)])]
    return [float(one) for one in numeric if pd.notna(one)] + named


def plain(frame: pd.DataFrame) -> list[list[object]]:
    """CSV has no empty text beside nothing, and no flag beside a word."""
    rows = frame.astype(object).to_numpy().tolist()
    return [[None if pd.isna(one) or one == "" else one for one in row] for row in rows]


@pytest.fixture
def full(voted_campaign, cast_vote, cast, signed_in):
    small = voted_campaign("joust", votes=300)
    fill(small, cast, cast_vote, signed_in("carol"))
    return small


def test_every_table_of_a_page_has_files_that_hold_its_numbers_in_its_order(full, signed_in, cast):
    draw_charts(full.campaign)
    carol, seen = signed_in("carol"), Seen(set(), set())
    for name, path in pages_of(full).items():
        visit(carol, name, path, seen)
    publish(full.campaign)
    alice = rating(Client(), full.campaign, cast.alice_rater)
    visit(alice, "my votes", reverse("my-votes-board", args=["joust"]), seen)
    assert seen.tables == PAGE_OF.keys() | {"board", "standings", "spot-check"}, (
        "a file whose table nobody saw"
    )
    with_figures = {
        name
        for name, tables in templates_with_tables().items()
        if len(tables) > len(WITHOUT_FILES.get(name, ()))
    }
    assert with_figures and with_figures <= seen.templates, "a table of figures that nobody saw"


@dataclass
class Seen:
    """Of the pages that were visited: the names of their tables' files, and their templates."""

    tables: set[str]
    templates: set[str]


def visit(visitor, name: str, path: str, seen: Seen) -> None:
    response = visitor.get(path)
    assert response.status_code == 200, name
    found = [one for one in Tables(response.content.decode()).found if not one.classes & WITHOUT_FIGURES]
    assert found, name
    for table in found:
        kinds = [file.partition("?")[0].rpartition(".")[2] for file in table.files]
        assert kinds == list(READ), (name, "a table without its files", table)
        compare(table, [visitor.get(file).content for file in table.files])
        seen.tables.add(table.files[0].partition("?")[0].rpartition("/")[2].removesuffix(".csv"))
    seen.templates |= {one.name.partition("#")[0] for one in response.templates if one.name}


def templates_with_tables() -> dict[str, list[str]]:
    """Name to its tables, each from its tag to the next one's."""
    root = Path(settings.BASE_DIR) / "templates"
    parts = {str(path.relative_to(root)): path.read_text().split("<table") for path in root.rglob("*.html")}
    return {name: tables for name, (_before, *tables) in parts.items() if tables}


def test_every_template_names_the_files_of_each_table_or_holds_none_of_figures():
    bare = {
        name: [table[:80] for table in tables if "{% take" not in table]
        for name, tables in templates_with_tables().items()
    }
    listed = {name: WITHOUT_FILES.get(name, ()) for name in bare}
    assert WITHOUT_FILES.keys() <= bare.keys()
    assert {name: found for name, found in bare.items() if len(found) != len(listed[name])} == {}


def compare(table: Shown, contents: list[bytes]) -> None:
    csv, exact, parquet = (read(content) for read, content in zip(READ.values(), contents, strict=True))
    assert list(csv.columns) == list(exact.columns) == list(parquet.columns)
    assert len(parquet) and plain(csv) == plain(exact) == plain(parquet), table.files
    together = len(parquet) == len(table.rows)
    for place, cells in enumerate(table.rows):
        rows = parquet.iloc[[place]] if together else parquet
        known = numbers_of(rows)
        for figure in figures_in(cells):
            assert holds(known, figure), (table.files[0], cells, figure, rows.to_dict("records"))
        texts = {str(text) for text in rows.to_numpy().ravel()}
        for code in table.codes[place]:
            assert any(text.startswith(code.strip()) for text in texts), (table.files[0], code)


def address(table: str, kind: str = "csv", **asked: str) -> str:
    return reverse("page-table", args=["joust", table, kind]) + (f"?{urlencode(asked)}" if asked else "")


FOR_ADMINS = ("judge-scores", "judge-wordings")
FOR_THE_TEAM = ("agreement", "judge", "report", "reader", "calibration", "parts", "plan-")


def test_a_file_is_for_whom_its_page_is(full, signed_in):
    asked, runs = ask_of(full), runs_of(full.campaign)

    def statuses(table: str, *who: Client) -> set[int]:
        known = {name: value for name, value in asked.items() if name in PAGE_OF[table].asks}
        known |= {"run": str(runs[table].pk)} if table in runs else {}
        return {one.get(address(table, **known)).status_code for one in who}

    others = (signed_in("mallory"), signed_in("alice"), signed_in("dora"), Client())
    for table in PAGE_OF:
        assert statuses(table, signed_in("carol")) == {200}, table
        assert statuses(table, signed_in("ravi")) == {404 if table in FOR_ADMINS else 200}, table
        assert statuses(table, *others) == {404}, table
    publish(full.campaign)
    for table in PAGE_OF:
        wanted = 404 if table.startswith(FOR_THE_TEAM) else 200
        assert statuses(table, Client(), signed_in("dora")) == {wanted}, table
    assert Client().get("/api/v1/campaigns/none/tables/model-boards.csv").status_code == 404


def test_a_plan_that_isnt_frozen_is_for_those_who_may_write_it(full, signed_in):
    publish(full.campaign)
    draft = address("analysis-plan-assumptions", "json", version="2")
    assert signed_in("carol").get(draft).json()[0]["plan"] == 2
    assert {one.get(draft).status_code for one in (signed_in("ravi"), signed_in("dora"), Client())} == {404}
    frozen = Client().get(address("analysis-plan-assumptions", "json")).json()
    assert frozen[0]["plan"] == 1 and frozen[0]["plan_frozen_at"]


def test_numbers_that_the_planning_page_refuses_are_refused_by_its_files(small_campaign, signed_in):
    ravi = signed_in("ravi")
    refused = ravi.get(reverse("page-table", args=["small", "plan-raters", "csv"]), {"raters": "0"})
    assert refused.status_code == 400 and "raters" in refused.json()
    assert ravi.get(reverse("campaign-plan", args=["small"]), {"raters": "0"}).status_code == 422


def test_a_file_is_asked_about_each_time_and_a_new_name_makes_it_another(full, signed_in):
    publish(full.campaign)
    stranger = Client()
    first = stranger.get(address("model-opponents", "json", name="Fjord"))
    assert first["Cache-Control"] == "public, no-cache" and "Authorization" in first["Vary"]
    again = {"HTTP_IF_NONE_MATCH": first["ETag"]}
    assert stranger.get(address("model-opponents", "json", name="Fjord"), **again).status_code == 304
    assert stranger.get(address("model-opponents", "csv", name="Fjord"), **again).status_code == 200
    ember = next(one for one in full.competitors if one.name == "Ember")
    type(ember).objects.filter(pk=ember.pk).update(name="=Ember")
    renamed = stranger.get(address("model-opponents", "json", name="Fjord"), **again)
    assert renamed.status_code == 200 and "=Ember" in renamed.content.decode()
    assert "'=Ember" in stranger.get(address("model-opponents", name="Fjord")).content.decode()
    mine = signed_in("ravi").get(address("model-opponents", name="Fjord"))
    assert mine["Cache-Control"] == "private, no-cache"
    publish(full.campaign, status="open")
    Campaign.objects.filter(pk=full.campaign.pk).update(reveal=Campaign.Reveal.NEVER)
    assert stranger.get(address("model-opponents", name="Fjord")).status_code == 404
    assert "no-store" in signed_in("ravi").get(address("model-opponents", name="Fjord"))["Cache-Control"]


def test_the_document_of_the_api_names_every_table_and_what_they_understand(client, db):
    document = client.get("/api/v1/schema/", HTTP_ACCEPT="application/vnd.oai.openapi+json").json()
    told = document["paths"]["/api/v1/campaigns/{slug}/tables/{table}.{kind}"]["get"]
    by_name = {one["name"]: one for one in told["parameters"]}
    assert set(by_name["table"]["schema"]["enum"]) == set(PAGE_OF)
    for page in PAGE_OF.values():
        assert page.asks.keys() <= by_name.keys()


def test_the_documents_name_every_table_and_what_it_is_asked_by():
    told = (Path(settings.BASE_DIR) / "docs" / "api.md").read_text()
    lines = [line for line in told.splitlines() if line.startswith("| ")]
    for table, page in PAGE_OF.items():
        named = [line for line in lines if f"`{table}`" in line]
        assert named and all(f"`{name}`" in named[0] for name in page.asks), table


def test_the_file_of_a_boards_snapshots_holds_all_of_them(full, signed_in, monkeypatch):
    monkeypatch.setattr(snapshot_views, "AT_ONCE", 1)
    ravi, board = signed_in("ravi"), overall(full.campaign)
    page = ravi.get(reverse("snapshot-list", args=["joust", board.slug])).content.decode()
    taken = list(board.snapshots.order_by("-pk"))
    assert [table.rows[0][0].strip() for table in Tables(page).found] == [str(taken[0].pk)]
    rows = ravi.get(address("snapshots", "json", leaderboard=board.slug)).json()
    assert [(row["snapshot"], row["vote_digest"]) for row in rows] == [
        (one.pk, one.vote_digest) for one in taken
    ]
    assert [(row["registered"], row["look"], row["votes_cast"]) for row in rows] == [
        (True, "interim look", one.counts["votes"] + 1)
        for one in taken  # one is left out by hand
    ]


def test_a_parameter_that_a_table_doesnt_know_is_refused(small_campaign, signed_in):
    response = signed_in("ravi").get(reverse("page-table", args=["small", "diff", "csv"]) + "?a=Ember")
    assert response.status_code == 400 and "leaderboard" in response.json()["a"][0]


def test_a_table_or_kind_that_isnt_there_is_refused_with_those_there_are(small_campaign, signed_in):
    for table, kind in (("model-boards", "xlsx"), ("nothing", "csv")):
        response = signed_in("ravi").get(reverse("page-table", args=["small", table, kind]))
        assert response.status_code == 404 and "model-boards" in response.json()["detail"]
