"""A damaged export is refused with the place of the damage, and nothing of it stays; or it comes in whole."""

import errno
import io
import json
import re
import shutil
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.battles import exclusions, seals
from arena.battles.gold_models import Gold
from arena.battles.models import Battle, BattleNote, Vote
from arena.campaigns.models import Campaign
from arena.corpus.label_models import SpotCheck
from arena.corpus.labels import set_labels
from arena.corpus.models import HARD_CRITERIA, Competitor, Prompt, PromptSet, Response
from arena.corpus.publishing import content_hash
from arena.corpus.redaction import redact_prompt, redact_response
from arena.counted import counted
from arena.exchange import archive
from arena.exchange.archive import ABOUT, READ
from arena.exchange.exports import SUMS, sums
from arena.exchange.import_campaign_rows import look_at_row
from arena.exchange.imports import finish, new_record, plan_import
from arena.exchange.models import Import
from arena.judging.calibration import hash_labels
from arena.judging.calibration_models import Calibration, CalibrationLabel
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.judging.starters import GENERAL
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.raters.models import Rater, Team

pytestmark = pytest.mark.django_db
ROWS = (
    Campaign,
    Prompt,
    Response,
    PromptSet,
    Competitor,
    Rater,
    Battle,
    Vote,
    Judge,
    Gold,
    BattleNote,
    Import,
)
MADE: dict[str, Path] = {}


def counts() -> list[int]:
    return [getattr(model, "stored", model._base_manager).count() for model in ROWS]


def use_all_of_it(small, cast) -> None:
    """So that every table that comes back has rows."""
    campaign, now = small.campaign, timezone.now()
    first, second, third = Vote.objects.order_by("pk")[:3]
    exclusions.exclude_vote(campaign, first.battle.public_id, cast.carol, "told me")
    exclusions.exclude_rater(campaign, third.rater, cast.carol, "asleep")
    BattleNote.objects.create(battle=first.battle, rater=first.rater, kind="reason", text="clear")
    prompts = list(Prompt.objects.order_by("pk"))
    set_labels({prompts[0].pk: {"specificity": True}}, source="hand", by="carol")
    SpotCheck.objects.create(prompt=prompts[0], criteria=dict.fromkeys(HARD_CRITERIA, True), at=now)
    good, bad = Response.objects.filter(prompt=prompts[0]).order_by("pk")[:2]
    Gold.objects.create(
        campaign=campaign, prompt=prompts[0], response_a=good, response_b=bad, expected="model_a"
    )
    rubric = Rubric.publish(campaign.team, "General", GENERAL)
    judge = Judge.objects.create(team=campaign.team, name="weigher", rubric=rubric)
    run = JudgeRun.objects.create(campaign=campaign, kind="recorded")
    run.judges.add(judge)
    told = {"outcome": "tie", "base_outcome": "tie", "flip": "none", "resolved_at": now}
    Judgment.objects.create(run=run, judge=judge, battle=second.battle, **told)
    numbers = {"seed": 1, "held_out_percent": 50, "least_votes": 1}
    hashed = hash_labels([(str(second.battle.public_id), "dev", "tie", 2)])
    calibration = Calibration.objects.create(campaign=campaign, name="first", sha256=hashed, **numbers)
    CalibrationLabel.objects.create(
        calibration=calibration, battle=second.battle, part="dev", outcome="tie", votes=2, agreeing=2
    )
    plan = AnalysisPlan.objects.create(campaign=campaign, question="Who is best?", boards=["overall"])
    assert plan.freeze(cast.carol)
    for prompt_set in PromptSet.objects.all():
        PromptSet.objects.filter(pk=prompt_set.pk).update(content_hash=content_hash(prompt_set))
    redact_response(Response.objects.latest("pk"), reason="names a person", by="carol")
    redact_prompt(prompts[-1], reason="names a person", by="carol")


@pytest.fixture
def export(request, tmp_path, tmp_path_factory) -> Path:
    """What is read of an export, which is written once; the campaign isn't here any more."""
    if not MADE:
        used, cast = request.getfixturevalue("used"), request.getfixturevalue("cast")
        whole = tmp_path_factory.mktemp("whole") / "small"
        with transaction.atomic():
            small = used()
            use_all_of_it(small, cast)
            # All of this is one open transaction, for whose end a seal on PostgreSQL would wait.
            request.getfixturevalue("monkeypatch").setattr(seals, "_settled", seals._highest)
            assert seals.seal_votes()
            call_command("export_campaign", small.campaign.slug, "--out", str(whole))
            transaction.set_rollback(True)
        for path in [path for path in whole.rglob("*") if path.is_file()]:
            if str(path.relative_to(whole)) not in READ:
                path.unlink()
        MADE["export"] = whole
    shutil.copytree(MADE["export"], tmp_path / "small")
    (tmp_path / "small" / SUMS).write_text(sums(tmp_path / "small"))
    return tmp_path / "small"


def planned(source: Path, **options):
    return plan_import("campaign", Team.default(), "", source, source.name, **options)


def rows_of(folder: Path, table: str) -> list:
    return [json.loads(line) for line in (folder / "jsonl" / f"{table}.jsonl").open()]


def write(folder: Path, table: str, rows: list) -> None:
    path = folder / "jsonl" / f"{table}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / SUMS).write_text(sums(folder))


def refused(source: Path, words: str, **options) -> str:
    before = counts()
    plan = planned(source, **options)
    assert not plan.is_sound, "it would come in"
    assert words in str(plan.errors[0]), plan.errors
    assert counts() == before
    return str(plan.errors[0])


def test_an_undamaged_one_comes_in_whole(export):
    for name in READ - {SUMS, ABOUT}:
        table = Path(name).stem
        for row in rows_of(export, table):
            look_at_row(table, row)
    plan = planned(export)
    assert plan.errors == ()
    told = {table: rows for table, rows, _known in plan.contents["tables"]}
    assert told["judgments"] == len(rows_of(export, "judgments")) > 0
    assert plan.count == sum(told.values()), "a row counts once"
    finish(new_record(plan), plan)
    assert Vote.objects.count() == len(rows_of(export, "votes"))
    assert PromptSet.objects.get().content_hash == content_hash(PromptSet.objects.get())


TWICE = ("prompt_sets", "prompts", "models", "responses", "raters", "guides", "golds", "battles", "votes")
TWICE_TOO = ("exclusions", "notes", "judges", "judge_runs", "judgments", "calibrations", "calibration_labels")


@pytest.mark.parametrize("table", TWICE + TWICE_TOO)
def test_no_row_stands_twice(export, table):
    rows = rows_of(export, table)
    write(export, table, [*rows, rows[0]])
    told = refused(export, f"{table}.jsonl: ")
    assert f"line {len(rows) + 1}" in told and ("twice" in told or "another vote" in told)


def third_model(rows: list[dict]) -> str:
    told = {row[side] for row in rows for side in ("model_a", "model_b")}
    return min(told - {rows[0]["model_a"], rows[0]["model_b"]})


CHANGED = {
    "a vote by another rater": ("votes", "rater", lambda rows: rows[-1]["rater"], "who the battle was drawn"),
    "a vote on another model": ("votes", "model_a", "Nobody", "doesn't hold"),
    "a vote on a third model": ("votes", "model_a", third_model, "isn't what the battle has"),
    "a vote of another kind": ("votes", "kind", "gold", "isn't what the battle has"),
    "a note by another rater": ("notes", "rater", lambda rows: rows[-1]["rater"], "who the battle was drawn"),
    "an unknown status": ("models", "status", "zz", "known are active"),
    "an unknown role": ("models", "role", "king", "known are contender"),
    "an unknown status of a set": ("prompt_sets", "status", "zz", "known are draft"),
    "a forged seal": ("seals", "sha256", "0" * 64, "isn't that of the digests of votes"),
    "a forged seal before": ("seals", "previous_sha256", "0" * 64, "isn't that of the digests of votes"),
    "a forged digest of a sealed vote": ("votes", "digest", "0" * 64, "isn't that of the digests of votes"),
    "a seal over nothing": ("seals", "votes", 0, "can't be over so many"),
    "a seal over more than there is room for": ("seals", "votes", 10**6, "can't be over so many"),
    "a seal that ends before it begins": ("seals", "last_vote", 0, "can't be over so many"),
    "a seal after no seal": ("seals", "previous_sha256", "\ud800", "half of a surrogate pair"),
    "a seal after another word": ("seals", "previous_sha256", "none", "is no SHA-256"),
    "a seal without end": ("seals", "last_vote", "x", "a whole number"),
    "a forged hash of a set": ("prompt_sets", "content_hash", "0" * 64, "that of the set's prompts"),
    "another prompt in a set": ("prompts", "category", "other", "that of the set's prompts"),
    "a forged hash of a guide": ("guides", "sha256", "0" * 64, "that of the guide's text"),
    "a forged hash of a rubric": ("judges", "rubric_sha256", "0" * 64, "that of the rubric's text"),
    "a forged hash of a calibration": ("calibrations", "sha256", "0" * 64, "have the SHA-256"),
    "another label": ("calibration_labels", "outcome", "model_a", "have the SHA-256"),
    "a label of the other part": ("calibration_labels", "part", "held_out", "have the SHA-256"),
    "more votes for a label": ("calibration_labels", "votes", 3, "have the SHA-256"),
    "another plan": ("analysis_plans", "question", "Which?", "isn't what was frozen"),
    "a forged hash of a plan": ("analysis_plans", "sha256", "0" * 64, "isn't what was frozen"),
    "another text of a vote": ("votes", "prompt_text", "0" * 16, "the prompt's text gives"),
    "another text of a judgment": ("judgments", "prompt_text", "0" * 16, "the prompt's text gives"),
    "no digest of a vote": ("votes", "digest", "abc", "is no sha256"),
    "no list of aliases": ("models", "aliases", "abc", "a list of texts is needed"),
    "no list of languages": ("raters", "languages", "fr", "a list of texts is needed"),
    "an unknown admission": ("raters", "admission", "vip", "known are"),
    "no UUID": ("battles", "battle_id", "zz", "an export writes a UUID"),
    "a battle with itself": ("battles", "model_b", lambda rows: rows[0]["model_a"], "is on both sides"),
    "a replaced battle to come": ("battles", "replaces", lambda rows: rows[-1]["battle_id"], "doesn't hold"),
    "a response that isn't there": ("battles", "sample_a", 99, "doesn't hold"),
    "an endless number": ("battles", "propensity", "1e400", "the number 1e400 is too large"),
    "no number that fits": ("votes", "dwell_ms", 10**30, "a whole number is needed"),
    "a time without a zone": ("votes", "voted_at", "2026-01-01T00:00:00", "has no time zone"),
    "no day": ("votes", "voted_at", "2026-13-45T00:00:00Z", "is no time that there is"),
    "no time at all": ("votes", "voted_at", None, "is null"),
    "no amount": ("responses", "cost_usd", "", "an amount is needed"),
    "a word for a number": ("responses", "words", "x", "a whole number is needed"),
    "a tombstone of nothing": ("responses", "tombstone", {"x": 1}, "which a tombstone tells"),
    "a text for a tombstone": ("prompts", "tombstone", "x", "an object is needed"),
    "labels of nothing": ("label_changes", "was", {}, "an object of is_hard"),
    "garbage for labels": ("label_changes", "was", "garbage", "an object of is_hard"),
    "another team": ("raters", "team", 2, "knows no such column"),
    "an endless number within an object": ("models", "parameters", {"temperature": "1e400"}, "is too large"),
    "a key twice": ("models", "parameters", {"seed": 1, "seed\u200b": 2}, "'seed' stands twice"),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_no_export_says_is_refused_with_its_place(export, case):
    table, column, value, words = CHANGED[case]
    rows = rows_of(export, table)
    rows[0][column] = value(rows) if callable(value) else value
    write(export, table, rows)
    path = export / "jsonl" / f"{table}.jsonl"
    path.write_text(path.read_text().replace('"1e400"', "1e400").replace("seed\\u200b", "seed"))
    (export / SUMS).write_text(sums(export))
    assert ".jsonl: " in refused(export, words)


@pytest.mark.parametrize("table", sorted(Path(name).stem for name in READ if name.startswith("jsonl/")))
def test_no_table_is_missing(export, table):
    (export / "jsonl" / f"{table}.jsonl").unlink()
    refused(export, f"jsonl/{table}.jsonl is missing from the export")
    (export / SUMS).write_text(sums(export))
    refused(export, f"jsonl/{table}.jsonl is missing from the export")


@pytest.mark.parametrize("table", ["models", "votes", "seals"])
def test_bytes_that_are_no_text_are_refused_with_their_table(export, table):
    path = export / "jsonl" / f"{table}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'":', b'\xff":', 1))
    (export / SUMS).write_text(sums(export))
    refused(export, f"{table}.jsonl: ")


@pytest.mark.parametrize("table", ["votes", "seals", "notes", "judgments", "spot_checks"])
def test_a_row_that_was_taken_out_is_missed(export, table):
    rows = rows_of(export, table)
    told = counted(len(rows) - 1, "line"), counted(len(rows), "row")
    write(export, table, rows[:-1])
    refused(export, f"{table}.jsonl: it has {told[0]}, and campaign.json says {told[1]}")


def test_a_row_that_was_put_in_is_one_too_many(export):
    rows = rows_of(export, "notes")
    write(export, "notes", [*rows, rows[0] | {"kind": "comment", "text": "slipped in"}])
    refused(export, "notes.jsonl: it has")


def test_a_seal_over_votes_of_other_campaigns_too_says_nothing_about_these(export):
    (seal,) = rows_of(export, "seals")
    more = {"votes": seal["votes"] + 1, "last_vote": seal["last_vote"] + 1, "sha256": "0" * 64}
    write(export, "seals", [seal | more])
    assert planned(export).is_sound


def test_of_a_vote_that_was_slipped_under_a_seal_there_is_one_too_many(export):
    (seal,) = rows_of(export, "seals")
    write(export, "seals", [seal | {"votes": seal["votes"] - 1}])
    refused(export, f"it is over {seal['votes'] - 1} votes, and the export holds {seal['votes']} of them")


@pytest.mark.parametrize("table", ["analysis_plans", "votes", "prompts", "models", "raters", "responses"])
@pytest.mark.parametrize(
    "line", [b"null", b"[1]", b"{}", b'{"a": "\xff"}', b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"]
)
def test_what_is_no_row_is_refused_with_its_line(export, table, line):
    path = export / "jsonl" / f"{table}.jsonl"
    path.write_bytes(line + b"\n" + path.read_bytes())
    (export / SUMS).write_text(sums(export))
    assert refused(export, f"{table}.jsonl: ").startswith("line 1")


ABOUT_CHANGED = {
    "no object": lambda told: [],
    "no name": lambda told: {name: value for name, value in told.items() if name != "name"},
    "no address": lambda told: {name: value for name, value in told.items() if name != "campaign"},
    "no setting": lambda told: {name: value for name, value in told.items() if name != "repeat_share"},
    "no layout": lambda told: {name: value for name, value in told.items() if name != "layout"},
    "a layout to come": lambda told: told | {"layout": 4},
    "a layout in words": lambda told: told | {"layout": "3"},
    "a word for a share": lambda told: told | {"repeat_share": "x"},
    "a share that is no number": lambda told: told | {"repeat_share": float("nan")},
    "a share too large": lambda told: told | {"repeat_share": 7.5},
    "a huge quota": lambda told: told | {"quota": 10**30},
    "a quota below one": lambda told: told | {"quota": -1},
    "a name without end": lambda told: told | {"name": "x" * 5000},
    "a name of nothing": lambda told: told | {"name": None},
    "a name with U+0000": lambda told: told | {"name": "a\0b"},
    "an address elsewhere": lambda told: told | {"campaign": "../../x"},
    "no time": lambda told: told | {"ends_at": "soon"},
    "a number for a time": lambda told: told | {"ends_at": 5},
    "no day": lambda told: told | {"ends_at": "2026-13-45T00:00:00Z"},
    "a time without a zone": lambda told: told | {"ends_at": "2026-12-01T00:00:00"},
    "a list for a report": lambda told: told | {"report": [1]},
    "an object for a text": lambda told: told | {"report": {"capability": {"x": 1}}},
    "half a pair in a text": lambda told: told | {"report": {"capability": "\ud800"}},
    "an unknown key": lambda told: told | {"team": 2},
    "no counts": lambda told: {name: value for name, value in told.items() if name != "rows"},
    "a list for counts": lambda told: told | {"rows": []},
    "a word for a count": lambda told: told | {"rows": told["rows"] | {"votes": "all"}},
    "no count of a table": lambda told: told | {"rows": {"votes": told["rows"]["votes"]}},
    "a count of no table": lambda told: told | {"rows": told["rows"] | {"wishes": 0}},
}


@pytest.mark.parametrize("case", ABOUT_CHANGED)
def test_settings_that_no_export_has_are_refused(export, case):
    told = ABOUT_CHANGED[case](json.loads((export / ABOUT).read_text()))
    (export / ABOUT).write_text(json.dumps(told))
    (export / SUMS).write_text(sums(export))
    words = {"a layout to come": "the layout 4", "a layout in words": "the layout 3"}
    refused(export, words.get(case, "no address" if case == "an address elsewhere" else ABOUT))


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe{", b"[" * 100_000, b'{"layout": ' + b"9" * 5000])
def test_settings_that_are_no_json_are_refused(export, content):
    (export / ABOUT).write_bytes(content)
    (export / SUMS).write_text(sums(export))
    refused(export, ABOUT)


@pytest.mark.parametrize("lacks", ["jsonl/votes", "campaign.json", ""])
def test_sums_name_every_file(export, lacks):
    """Else what they don't name could say anything."""
    rows = rows_of(export, "votes")
    told = (export / SUMS).read_text().splitlines(keepends=True)
    write(export, "votes", [row | {"winner": "tie"} for row in rows])
    (export / SUMS).write_text("".join(line for line in told if lacks and lacks not in line))
    refused(export, SUMS if lacks != "campaign.json" else "")


@pytest.mark.parametrize("name", ["a" * 5000, "a\0b", "../../etc/passwd", "", "gone.txt"])
def test_sums_that_name_what_no_export_holds(export, name):
    (export / SUMS).write_text((export / SUMS).read_text() + f"{'0' * 64}  {name}\n")
    refused(export, "")


def test_a_file_that_the_export_did_not_have_is_refused(export):
    (export / "jsonl" / ".DS_Store").write_bytes(b"left by a file manager")
    assert planned(export).is_sound
    (export / "more.csv").write_text("x")
    refused(export, "more.csv isn't in SHA256SUMS")


def packed(folder: Path, change=bytes, *also: tuple[str, bytes]) -> Path:
    target = folder.with_suffix(".zip")
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as entries:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entries.write(path, f"{folder.name}/{path.relative_to(folder)}")
        for name, content in also:
            entries.writestr(name, content)
    target.write_bytes(change(held.getvalue()))
    return target


def in_each_entry(offset: int, value: int):
    def change(content: bytes) -> bytes:
        changed, at = bytearray(content), content.find(b"PK\1\2")
        while at >= 0:
            changed[at + offset] = value
            at = content.find(b"PK\1\2", at + 4)
        return bytes(changed)

    return change


def flipped(start: int, end: int):
    def change(content: bytes) -> bytes:
        return content[:start] + bytes(byte ^ 0xFF for byte in content[start:end]) + content[end:]

    return change


BROKEN = {
    "encrypted": in_each_entry(8, 1),
    "an unknown method": in_each_entry(10, 99),
    "another method": in_each_entry(10, 14),
    "of a later version": in_each_entry(6, 99),
    "flipped": flipped(2000, 2100),
    "flipped at the end": flipped(-300, -200),
    "without its beginning": lambda content: content[500:],
    "half of it": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-10],
    "no entries": lambda content: b"PK\5\6" + bytes(18),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_archive_is_refused(export, case):
    refused(packed(export, BROKEN[case]), "")


@pytest.mark.parametrize("name", ["small/" + "a" * 3000, "small/jsonl/votes.jsonl/x", "small/more.txt"])
def test_an_entry_that_the_export_did_not_have(export, name):
    refused(packed(export, bytes, (name, b"x")), "isn't in SHA256SUMS")


def test_the_command_unpacks_no_more_than_it_may_and_than_there_is_room_for(export, monkeypatch):
    bomb = packed(export, bytes, ("small/zeros.bin", bytes(32 << 20)))
    refused(bomb, "holds more than 16 MB", most_unpacked=16 << 20)
    before = counts()
    with pytest.raises(CommandError, match=r"holds more than 0 MB.*--unpacked-gb"):
        call_command("import_campaign", str(bomb), unpacked_gb=0)
    monkeypatch.setattr(archive.shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(1, 1, 0))
    refused(packed(export), "0 MB are free; make room")
    assert counts() == before


FAULTS = (RuntimeError("ours"), ValueError("ours"), PermissionError(errno.EACCES, "ours"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_ours_is_no_damage_of_the_archive(export, monkeypatch, fault):
    monkeypatch.setattr(archive, "_compare", Mock(side_effect=fault))
    with pytest.raises(type(fault)):
        planned(packed(export))


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_meanwhile_is_told(export, monkeypatch, reason):
    monkeypatch.setattr(archive, "_compare", Mock(side_effect=OSError(reason, "no room")))
    refused(packed(export), "is full; make room and try again")


GONE = object()
VALUES = [None, True, 0, -1, 7, 2**31, 2**70, 1.5, 1e308, "", "x", "x" * 5000, "a\0b", "\ud800", [], [1], {}]
VALUES += [
    ["x"],
    {"a": 1},
    [{}],
    "2026-01-01T00:00:00",
    "2026-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    GONE,
]


def test_one_value_of_another_kind_comes_in_or_is_named(export):
    """And nothing else happens, whichever value of whichever row it is."""
    tables = {Path(name).stem: rows_of(export, Path(name).stem) for name in READ if "jsonl/" in name}
    places = sorted((table, column) for table, rows in tables.items() if rows for column in rows[0])
    before = counts()

    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(places), st.data())
    def change(place, data):
        table, column = place
        rows = [dict(row) for row in tables[table]]
        row = rows[data.draw(st.integers(0, len(rows) - 1), "row")]
        value = data.draw(st.sampled_from(VALUES), "value")
        row[column] = value
        if value is GONE:
            del row[column]
        write(export, table, rows)
        try:
            comes_in_or_is_named(export)
        finally:
            write(export, table, tables[table])
        assert counts() == before

    change()


def comes_in_or_is_named(export: Path) -> None:
    plan = planned(export)
    if not plan.is_sound:
        assert re.match(r"line \d+(, column \S+)?: \w+\.jsonl: ", str(plan.errors[0])), plan.errors[0]
        return
    whole = ((Vote, "votes"), (Battle, "battles"), (Rater, "raters"), (Prompt, "prompts"))
    with transaction.atomic():
        before = [model.objects.count() for model, _table in whole]
        finish(new_record(plan), plan)
        for (model, table), there in zip(whole, before, strict=True):
            assert model.objects.count() == there + len(rows_of(export, table)), table
        transaction.set_rollback(True)
