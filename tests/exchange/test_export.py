"""A campaign leaves as files and comes back as it was."""

import csv
import hashlib
import json
import zipfile
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from arena.battles.models import Battle, BattleNote, Retraction, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, Response
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.exchange.export_extract import Extract
from arena.exchange.export_files import write_table
from arena.exchange.export_rows import rows_of
from arena.exchange.export_schema import TABLES, Column, TableSchema
from arena.exchange.formats.reading import read
from arena.judging.models import Judge, JudgeCall, Judgment
from arena.leaderboards.defaults import BOARDS, default_leaderboard, judges_of
from arena.leaderboards.fitting.snapshots import STANDING_FIELDS, take_snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.raters.models import Rater, Team
from arena.spreadsheet_text import escape, unescape

from .arena_rows import arena_55k, lines, pair

NASTY = '=1+1\t"quoted"\r\n\u2028\'@ كيف 🙂'
OUTCOMES = ("model_a", "model_b", "tie", "both_bad")
PAIR_FIELDS = ("first__name", "second__name", "difference", "lower", "upper", "p", "verdict", "details")
CATEGORY_FIELDS = ("category", "competitor__name", "rating", "lower", "upper", "battles")


@pytest.fixture
def run(capsys):
    def call(*arguments) -> str:
        call_command(*map(str, arguments))
        return capsys.readouterr().out

    return call


def some_votes() -> list[dict]:
    models = ("tern", "puffin", "gull")
    return [
        {
            "prompt_id": f"p{(number * 3 + 4) % 5}",
            "model_a": models[number % 3],
            "model_b": models[(number + 1 + number % 2) % 3],
            "winner": OUTCOMES[(number * 7 // 3) % 4],
            "rater": f"person {number % 4}",
            "vote_id": number,
            "dwell_ms": number,
        }
        for number in range(60)
    ]


@pytest.fixture
def spring(db, run, tmp_path) -> Campaign:
    return make_spring(run, tmp_path)


def make_spring(run, tmp_path) -> Campaign:
    """Prompts, responses, votes, judgments of two kinds and a battle of another arena; texts that bite.

    Raters and prompts have their numbers in another order than the one they appear in.
    """
    Rater.objects.bulk_create(
        Rater(team=Team.default(), pseudonym=f"person {n}", admission=Rater.Admission.RECORDED)
        for n in (3, 1, 0, 2)
    )
    prompts = [{"id": f"p{n}", "prompt": NASTY + str(n), "hard": n % 2, "tags": ["a"]} for n in range(5)]
    texts = {"tern": NASTY, "puffin": "- a\n- b", "gull": ""}
    responses = [
        {"prompt_id": f"p{n}", "model": model, "response": text + str(n) * bool(text), "tokens": n}
        for n in range(5)
        for model, text in texts.items()
    ]
    judged = [
        row | {"winner": "tie_unstable" if number % 3 else "model_a", "rater": "weigher"}
        for number, row in enumerate(some_votes())
    ]
    for name, rows in (
        ("prompts", prompts),
        ("responses", responses),
        ("votes", some_votes()),
        ("judged", judged),
    ):
        (tmp_path / f"{name}.jsonl").write_bytes(lines(*rows))
    (tmp_path / "55k.jsonl").write_bytes(lines(arena_55k()))
    (tmp_path / "pair.jsonl").write_bytes(lines(pair()))
    run("import_prompts", tmp_path / "prompts.jsonl", "--set", "Birds")
    run("import_responses", tmp_path / "responses.jsonl", "--set", "Birds")
    run("import_votes", tmp_path / "votes.jsonl", "--campaign", "spring")
    run("import_votes", tmp_path / "judged.jsonl", "--campaign", "spring", "--judges")
    run("import_votes", tmp_path / "55k.jsonl", "--campaign", "spring")
    run("import_votes", tmp_path / "pair.jsonl", "--campaign", "spring")
    last = Vote.objects.latest("pk")
    Retraction.objects.create(vote=last)
    BattleNote.objects.create(battle=last.battle, rater=last.rater, kind="comment", text=NASTY)
    return Campaign.objects.get()


def boards(campaign: Campaign) -> list[dict]:
    """What the boards of people and of one judge say, by names instead of numbers."""
    judge = Judge.objects.get(name="weigher") if judges_of(campaign) else None
    whose = [None] if judge is None else [None, judge]
    return [board_of(campaign, board, judge) for judge in whose for board in BOARDS]


def board_of(campaign: Campaign, board, judge: Judge | None) -> dict:
    taken = take_snapshot(default_leaderboard(campaign, board, judge))
    if taken.snapshot is None:
        return {"state": taken.state}
    snapshot = taken.snapshot
    named = [name for name in STANDING_FIELDS if name != "competitor_id"]
    return {
        "digest": snapshot.vote_digest,
        "standings": repr(list(snapshot.standings.order_by("pk").values("competitor__name", *named))),
        "pairs": repr(list(snapshot.pairs.order_by("pk").values(*PAIR_FIELDS))),
        "categories": repr(list(snapshot.category_ratings.order_by("pk").values(*CATEGORY_FIELDS))),
        "coefficients": snapshot.coefficients,
        "warnings": snapshot.warnings,
        "options": snapshot.options,
        # Of the row itself, and so another in another database.
        "counts": {name: count for name, count in snapshot.counts.items() if name != "last_id"},
    }


@pytest.fixture
def exported(db, run, tmp_path):
    """exported(name) is what the boards said; the instance is empty again, and the export is there."""

    def make(name: str) -> list[dict]:
        with transaction.atomic():
            said = boards(make_spring(run, tmp_path))
            run("export_campaign", "spring", "--out", tmp_path / name)
            transaction.set_rollback(True)
        assert not Vote.objects.exists() and not Competitor.objects.exists()
        return said

    return make


def test_an_exports_citation_identifies_its_frozen_plans(spring, run, tmp_path):
    campaign = Campaign.objects.get(slug="spring")
    plan = AnalysisPlan.objects.create(campaign=campaign, question="Which sings best?", boards=["overall"])
    plan.freeze(None)
    AnalysisPlan.objects.create(campaign=campaign, version=2, question="A draft?")
    run("export_campaign", "spring", "--out", tmp_path / "out")
    told = (tmp_path / "out" / "CITATION.cff").read_text()
    assert f"identifiers:\n  - type: other\n    value: sha256:{plan.sha256}\n" in told
    assert told.count('    description: "analysis plan 1, frozen ') == told.count("- type: other") == 1


def jsonl(folder, table: str) -> list[dict]:
    return [json.loads(line) for line in (folder / "jsonl" / f"{table}.jsonl").open(encoding="utf-8")]


def test_an_export_says_what_it_holds(spring, run, tmp_path):
    out = run("export_campaign", "spring", "--out", tmp_path / "out")
    assert "61 votes" in out and "61 judgments" in out
    folder = tmp_path / "out"
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        wanted, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == wanted
    assert len((folder / "SHA256SUMS").read_text().splitlines()) == 3 * len(TABLES) + 4
    assert "* Birds v1: none given" in (folder / "README.md").read_text()
    cited = (folder / "CITATION.cff").read_text()
    assert "type: dataset" in cited
    assert "abstract:" not in cited  # nobody has described the campaign, and its title is no abstract
    schema = json.loads((folder / "schema.json").read_text())
    for table in schema["tables"]:
        for row in jsonl(folder, table["name"]):
            assert list(row) == [column["name"] for column in table["columns"]]


def test_texts_are_exact_in_jsonl_and_parquet_and_safe_in_csv(spring, run, tmp_path):
    run("export_campaign", "spring", "--out", tmp_path / "out")
    texts = list(Response.objects.order_by("competitor", "prompt", "sample").values_list("text", flat=True))
    assert [row["response"] for row in jsonl(tmp_path / "out", "responses")] == texts
    table = pq.read_table(tmp_path / "out" / "parquet" / "responses.parquet")
    assert table.column("response").to_pylist() == texts
    with (tmp_path / "out" / "csv" / "responses.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [row["response"] for row in csv.DictReader(file)]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    assert [unescape(cell) for cell in cells] == texts


def test_raters_have_another_name_in_every_export(spring, run, tmp_path):
    names = []
    for place in ("one", "two"):
        run("export_campaign", "spring", "--out", tmp_path / place)
        whole = b"".join(path.read_bytes() for path in (tmp_path / place).rglob("*") if path.is_file())
        assert b"person 1" not in whole
        assert not any(str(rater.public_id).encode() in whole for rater in Rater.objects.all())
        votes = jsonl(tmp_path / place, "votes")
        names.append([vote["rater"] for vote in votes])
        assert {vote["rater"] for vote in votes} <= {
            row["rater"] for row in jsonl(tmp_path / place, "raters")
        }
    assert set(names[0]).isdisjoint(names[1])
    assert len(set(names[0])) == len(set(names[1])) == 5


def test_what_was_taken_back_stays_with_its_time(spring, run, tmp_path):
    run("export_campaign", "spring", "--out", tmp_path / "out")
    assert [bool(row["retracted_at"]) for row in jsonl(tmp_path / "out", "votes")].count(True) == 1
    assert jsonl(tmp_path / "out", "notes")[0]["text"] == NASTY


def test_raw_replies_of_judges_are_in(spring, run, tmp_path):
    endpoint = Endpoint.objects.create(
        team=Team.default(), name="E", base_url="https://llm.invalid/v1", model_id="m"
    )
    call = Call.objects.create(key="k", endpoint=endpoint, state="parsed")
    CallAttempt.objects.create(call=call, number=1, request={}, raw_reply=NASTY, started_at=timezone.now())
    JudgeCall.objects.create(judgment=Judgment.objects.earliest("pk"), order="ab", call=call, verdict="first")
    run("export_campaign", "spring", "--out", tmp_path / "out")
    (row,) = jsonl(tmp_path / "out", "judge_calls")
    assert row["attempts"][0]["raw_reply"] == NASTY and row["verdict"] == "first"
    assert row["vote_id"] in {judgment["vote_id"] for judgment in jsonl(tmp_path / "out", "judgments")}


def test_nothing_is_written_over(spring, run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        run("export_campaign", "spring", "--out", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    with pytest.raises(CommandError, match="There is no campaign “autumn”"):
        run("export_campaign", "autumn", "--out", tmp_path / "new")


def test_an_export_that_fails_leaves_nothing(spring, run, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.exchange.exports.sums", lambda _folder: 1 / 0)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError):
        run("export_campaign", "spring", "--out", tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before


def test_an_export_gives_an_empty_instance_the_same_boards_bit_for_bit(exported, run, tmp_path):
    before = exported("out.zip")
    assert sum("standings" in board for board in before) >= 4
    assert "bootstrap_lower" in before[0]["standings"]
    assert "“spring” imported" in run("import_campaign", tmp_path / "out.zip")
    assert boards(Campaign.objects.get()) == before
    assert Prompt.objects.get(external_id="p3").tags == ["a"]
    assert BattleNote.objects.get().text == NASTY and Retraction.objects.count() == 1
    assert set(Rater.objects.values_list("admission", flat=True)) == {"recorded"}
    with pytest.raises(CommandError, match="There is a campaign “spring” already"):
        run("import_campaign", tmp_path / "out.zip")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_its_tables_alone_give_the_same_boards_of_people_bit_for_bit(exported, run, tmp_path, kind):
    before = exported("out")[: len(BOARDS)]
    folder = tmp_path / "out" / kind
    birds = jsonl(tmp_path / "out", "prompts")
    assert {row["prompt_set"] for row in birds} == {"Birds", "spring (imported)"}
    run("import_prompts", folder / f"prompts.{kind}", "--set", "Birds")
    run("import_responses", folder / f"responses.{kind}", "--set", "Birds")
    out = run("import_votes", folder / f"votes.{kind}", "--campaign", "spring")
    assert "1 row skipped that were taken back by their raters" in out
    told = ("digest", "standings", "pairs", "categories", "coefficients", "warnings")
    after = boards(Campaign.objects.get())
    assert [{name: board.get(name) for name in told} for board in after] == [
        {name: board.get(name) for name in told} for board in before
    ]


def test_a_changed_file_is_not_brought_back(spring, run, tmp_path):
    run("export_campaign", "spring", "--out", tmp_path / "out")
    votes = tmp_path / "out" / "jsonl" / "votes.jsonl"
    votes.write_text(votes.read_text().replace("model_a", "model_b", 1))
    with pytest.raises(CommandError, match=r"jsonl/votes.jsonl isn't as it was exported"):
        run("import_campaign", tmp_path / "out", "--campaign", "again")
    votes.unlink()
    with pytest.raises(CommandError, match=r"jsonl/votes.jsonl is missing"):
        run("import_campaign", tmp_path / "out", "--campaign", "again")
    assert Campaign.objects.count() == 1


def test_what_is_here_already_is_not_brought_back_and_nothing_changes(spring, run, tmp_path):
    run("export_campaign", "spring", "--out", tmp_path / "out.zip")
    with pytest.raises(CommandError, match="There is a campaign “spring” already"):
        run("import_campaign", tmp_path / "out.zip")
    with pytest.raises(CommandError, match="There is a prompt set “Birds v1” already"):
        run("import_campaign", tmp_path / "out.zip", "--campaign", "again")
    assert Campaign.objects.count() == 1


def test_what_is_no_export_is_refused(db, run, tmp_path):
    (tmp_path / "folder").mkdir()
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    (tmp_path / "text.txt").write_text("x")
    for name, words in (
        ("folder", "has no SHA256SUMS"),
        ("other.zip", "0 exports"),
        ("text.txt", "is neither"),
    ):
        with pytest.raises(CommandError, match=words):
            run("import_campaign", tmp_path / name)
    with pytest.raises(CommandError, match="There is no"):
        run("import_campaign", tmp_path / "nowhere")


def test_votes_that_come_while_it_is_written_are_not_in(spring, tmp_path):
    extract = Extract(spring)
    battle = Battle.objects.exclude(vote=None).latest("pk")
    vote = Vote.objects.exclude(pk=battle.vote.pk).latest("pk")
    late = Battle.objects.create(
        campaign=spring,
        kind="recorded",
        competitor_a=battle.competitor_a,
        competitor_b=battle.competitor_b,
        rater=battle.rater,
        drawn_at=timezone.now(),
    )
    Vote.objects.create(
        battle=late,
        rater=vote.rater,
        outcome="tie",
        idempotency_key="late",
        voted_at=timezone.now(),
        digest="d",
    )
    assert len(list(rows_of(extract, "votes"))) == 61
    assert str(late.public_id) not in {row["battle_id"] for row in rows_of(extract, "battles")}


storable = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"))


@given(storable)
def test_an_escaped_cell_is_no_formula_and_comes_back(text):
    starts = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
    assert text.isspace() or not escape(text).startswith(starts)
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", "'"])
def test_what_begins_like_a_formula_has_an_apostrophe_before_it(start):
    assert escape(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize("blank", ["", "\n", "\t", "\r\n", "\n\n \t", " "])
def test_a_blank_text_stays_blank_in_csv(blank):
    assert escape(blank) == blank


@given(st.lists(st.tuples(storable.filter(str.strip), storable), min_size=1, max_size=4))
def test_any_table_of_text_survives_export_and_import(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("table")
    columns = tuple(Column(name, "text", "") for name in ("prompt_id", "model", "response"))
    rows = [{"prompt_id": f"p{n}", "model": "m", "response": text} for n, (_other, text) in enumerate(pairs)]
    assert write_table(TableSchema("responses", "", columns), iter(rows), folder) == len(rows)
    texts = [row["response"] for row in rows]
    for kind in ("jsonl", "parquet", "csv"):
        reading = read("responses", folder / kind / f"responses.{kind}", f"responses.{kind}")
        assert not reading.errors, reading.errors
        found = [row.text for row in reading.rows]
        assert (list(map(unescape, found)) if kind == "csv" else found) == texts


def test_times_are_exact_to_the_microsecond(tmp_path):
    moment = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
    columns = (Column("at", "time", ""), Column("n", "number", ""), Column("facts", "json", ""))
    row = {"at": moment, "n": -0.1 + 0.3, "facts": {"a": [1, None]}}
    write_table(
        TableSchema("t", "", columns), iter([row, row | {"at": moment + timedelta(days=1)}]), tmp_path
    )
    first = json.loads((tmp_path / "jsonl" / "t.jsonl").read_text().splitlines()[0])
    assert first == {"at": "2026-01-02T03:04:05.678901+00:00", "n": -0.1 + 0.3, "facts": {"a": [1, None]}}
    table = pq.read_table(tmp_path / "parquet" / "t.parquet").to_pylist()
    assert (
        table[0]["at"] == moment
        and table[0]["n"] == -0.1 + 0.3
        and json.loads(table[0]["facts"]) == row["facts"]
    )
