"""Every table of figures on a page is a file too, with its numbers unrounded, for whom the page is."""

import io
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urlencode

import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.battles.models import Battle, BattleNote, Vote
from arena.campaigns.models import Campaign
from arena.endpoints.models import Endpoint
from arena.judging import calibration
from arena.judging.calibration_models import Measurement
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.leaderboards.agreement import campaign_agreement, judge_card, judge_run_figures
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.reading.reading_models import Reading
from arena.leaderboards.tables.every_table import PAGE_OF

READ = {
    "csv": lambda content: pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""]),
    "json": lambda content: pd.DataFrame(json.loads(content)),
    "parquet": lambda content: pd.read_parquet(io.BytesIO(content)),
}
RARE = {
    *("chart-price", "chart-elo"),  # no response here has a price, and nothing is drawn
    "judge-wordings",  # of runs of a kind of their own
    *("report-answers", "report-planned", "report-plans"),  # of studies with a plan
    *("report-sentinels", "report-exclusions"),  # there are none here
}
WITHOUT_FIGURES = {"board-downloads"}
"""Classes of tables that hold no figure but addresses."""
NUMBER = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?")
SAID = re.compile(r"p < 0\.001|p = 0\.05|95 %|\d+ \w{3} \d{4} \d\d:\d\d")
"""What is no figure of its own: a bound, a level, a time."""


@dataclass
class Shown:
    classes: set[str]
    rows: list[list[str]]
    files: list[str]


class Tables(HTMLParser):
    """The tables of a page, each with the rows of its body and the files named under it, before the next."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[Shown] = []
        self.part = self.take = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.handle_data(" ")
        if tag == "table":
            self.found.append(Shown(set((given.get("class") or "").split()), [], []))
        elif tag in ("tbody", "thead", "tfoot"):
            self.part = tag
        elif tag == "tr" and self.part == "tbody":
            self.found[-1].rows.append([])
        elif tag in ("td", "th") and self.part == "tbody":
            self.found[-1].rows[-1].append("")
        elif tag == "p":
            self.take = "take" if "take" in (given.get("class") or "").split() else ""
        elif tag == "a" and self.take and self.found:
            self.found[-1].files.append(given["href"])

    def handle_endtag(self, tag):
        self.handle_data(" ")
        if tag == "tbody":
            self.part = ""
        elif tag == "p":
            self.take = ""

    def handle_data(self, data):
        if self.part == "tbody" and self.found and self.found[-1].rows and self.found[-1].rows[-1]:
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
def full(voted_campaign, cast_vote, cast, settings):
    """A campaign with two snapshots of its boards, judged, calibrated, read, and its agreement computed."""
    settings.BOOTSTRAP_RESAMPLES = 2
    small = voted_campaign("joust", votes=300)
    for _time in range(2):
        for board in ensure_leaderboards(small.campaign):
            if not board.judge_id:
                take_snapshot(board)
        cast_vote(small, small.prompts[0], "Ember", "Fjord", "model_a", cast.alice_rater)
    read_a_battle(small, cast)
    judge_by_length(small)
    campaign_agreement.compute(small.campaign)
    return small


def read_a_battle(small, cast) -> None:
    vote = Vote.objects.filter(battle__campaign=small.campaign, outcome="model_a").first()
    Reading.objects.create(battle=vote.battle, reader=cast.ravi, side="b", failure="wrong")
    BattleNote.objects.create(battle=vote.battle, rater=vote.rater, kind="reason", text="clear")


def judge_by_length(small) -> None:
    """A judge with a card, measured against labels that are fixed."""
    campaign = small.campaign
    sheet = "0" * 64
    endpoint = Endpoint.objects.create(
        team=campaign.team, name="LLM", base_url="https://llm.invalid/v1", model_id="m"
    )
    rubric = Rubric.objects.create(team=campaign.team, name="r", instructions="r", criteria=[], sha256=sheet)
    judge = Judge.objects.create(team=campaign.team, name="Sage", endpoint=endpoint, rubric=rubric)
    labels = calibration.fix_labels(campaign, "First", seed=1)
    run = JudgeRun.objects.create(campaign=campaign, status="completed")
    run.judges.add(judge)
    for number, battle in enumerate(
        Battle.objects.filter(calibration_labels__calibration=labels).order_by("pk")
    ):
        outcome = ("model_a", "model_b", "tie")[number % 3]
        Judgment.objects.create(
            run=run,
            judge=judge,
            battle=battle,
            outcome=outcome,
            base_outcome=outcome,
            resolved_at=timezone.now(),
        )
    Measurement.objects.create(
        calibration=labels, judge=judge, part="dev", run=run, endpoint=endpoint, rubric_sha256=sheet
    )
    judge_run_figures.compute_due()
    judge_card.compute(campaign, judge)


def pages_of(campaign: Campaign) -> dict[str, str]:
    slug = campaign.slug
    newest = campaign.leaderboards.get(slug=f"{slug}-overall").snapshots.first()
    two = urlencode({"a": "Heron", "b": "Ember"})
    return {
        "board": f"{reverse('board', args=[slug])}?board=overall",
        "board of hard prompts": f"{reverse('board', args=[slug])}?board=hard&interval=bootstrap&sort=name",
        "charts": reverse("board-charts", args=[slug]),
        "charts of style": f"{reverse('board-charts', args=[slug])}?board=style",
        "model": f"{reverse('board-model', args=[slug])}?name=Fjord",
        "compare": f"{reverse('board-compare', args=[slug])}?{two}",
        "diff": reverse("snapshot-diff", args=[slug, f"{slug}-overall"]),
        "snapshot": reverse("snapshot", args=[newest.pk]),
        "reader": reverse("battle-reader", args=[slug]),
        "report": reverse("board-report", args=[slug]),
        "agreement": reverse("board-agreement", args=[slug]),
        "judge's card": reverse("judge-card", args=[Judge.objects.get().pk]),
        "calibration": reverse("calibration", args=[campaign.calibrations.first().pk]),
    }


def test_every_table_of_a_page_has_files_that_hold_its_numbers_in_its_order(full, signed_in):
    ravi = signed_in("ravi")
    taken = set()
    for name, path in pages_of(full.campaign).items():
        response = ravi.get(path)
        assert response.status_code == 200, name
        found = [one for one in Tables(response.content.decode()).found if not one.classes & WITHOUT_FIGURES]
        assert found, name
        for table in found:
            kinds = [file.partition("?")[0].rpartition(".")[2] for file in table.files]
            assert kinds == list(READ), (name, "a table without its files", table)
            compare(table, [ravi.get(file).content for file in table.files])
            taken.add(table.files[0].partition("?")[0].rpartition("/")[2].removesuffix(".csv"))
    assert taken >= PAGE_OF.keys() - RARE, "a file without a table that was seen"


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


def address(table: str, kind: str = "csv", **asked: str) -> str:
    return reverse("page-table", args=["joust", table, kind]) + (f"?{urlencode(asked)}" if asked else "")


def publish(campaign, visibility="public", status="closed") -> None:
    campaign.leaderboards.update(visibility=visibility)
    Campaign.objects.filter(pk=campaign.pk).update(status=status)


FOR_THE_TEAM = ("agreement", "judge", "report", "reader", "calibration")


def asked_of(campaign: Campaign, table: str) -> dict[str, str]:
    """What a page can't choose by itself."""
    needed = {
        "leaderboard": f"{campaign.slug}-overall",
        "judge": str(Judge.objects.get().pk),
        "calibration": str(campaign.calibrations.get().pk),
    }
    return {name: value for name, value in needed.items() if name in PAGE_OF[table].asks}


def test_a_file_is_for_whom_its_page_is(full, signed_in):
    ravi, others = signed_in("ravi"), (signed_in("mallory"), signed_in("alice"), Client())
    known = [
        table
        for table in PAGE_OF
        if ravi.get(address(table, **asked_of(full.campaign, table))).status_code == 200
    ]
    assert set(known) == PAGE_OF.keys() - {"judge-wordings"}
    for table in known:
        assert {one.get(address(table, **asked_of(full.campaign, table))).status_code for one in others} == {
            404
        }, table
    publish(full.campaign)
    for table in known:
        wanted = 404 if table.startswith(FOR_THE_TEAM) else 200
        assert {one.get(address(table, **asked_of(full.campaign, table))).status_code for one in others} == {
            wanted
        }, table
    assert Client().get("/api/v1/campaigns/none/tables/model-boards.csv").status_code == 404


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


def test_a_parameter_that_a_table_doesnt_know_is_refused(small_campaign, signed_in):
    response = signed_in("ravi").get(reverse("page-table", args=["small", "diff", "csv"]) + "?a=Ember")
    assert response.status_code == 400 and "leaderboard" in response.json()["a"][0]


def test_a_table_or_kind_that_isnt_there_is_refused_with_those_there_are(small_campaign, signed_in):
    for table, kind in (("model-boards", "xlsx"), ("nothing", "csv")):
        response = signed_in("ravi").get(reverse("page-table", args=["small", table, kind]))
        assert response.status_code == 404 and "model-boards" in response.json()["detail"]
