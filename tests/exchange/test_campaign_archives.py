"""A whole campaign comes in by its page: looked at first, then all of it or nothing."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from knox.models import AuthToken

from arena.battles import ballots, seals
from arena.battles.models import Battle, Retraction, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.exchange import archive, import_campaign, intake, tasks, uploads
from arena.exchange.exports import SUMS, sums
from arena.exchange.forms import ImportForm
from arena.exchange.models import Import
from arena.judging.models import Judge
from arena.raters.models import Membership, Rater, Team

from .import_pages import page_of
from .used_campaign import people_say

pytestmark = pytest.mark.django_db
ROWS = (Campaign, Prompt, Response, PromptSet, Competitor, Rater, Battle, Vote, Judge)


@pytest.fixture(autouse=True)
def own_place(settings, tmp_path):
    settings.BOOTSTRAP_RESAMPLES = 20
    settings.DATA_DIR = tmp_path / "data"


@pytest.fixture
def exported(used, cast, tmp_path) -> Path:
    """The folder of a used campaign's export; the campaign isn't here any more."""
    with transaction.atomic():
        campaign = used().campaign
        (tmp_path / "says").write_text(json.dumps(people_say(campaign)))
        call_command("export_campaign", campaign.slug, "--out", str(tmp_path / "small"))
        transaction.set_rollback(True)
    return tmp_path / "small"


def zipped(folder: Path, **also: bytes) -> bytes:
    """The folder as an archive with sums that fit; `also`: other entries."""
    (folder / SUMS).write_text(sums(folder))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            target.write(path, f"{folder.name}/{path.relative_to(folder)}")
        for name, content in also.items():
            target.writestr(name, content)
    return packed.getvalue()


def changed(folder: Path, table: str, change: Callable[[list[dict]], object]) -> None:
    path = folder / "jsonl" / f"{table}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def carol(signed_in) -> Client:
    return signed_in("carol")


def sent(visitor: Client, content: bytes, target: str = "", name: str = "small.zip") -> Import:
    data = {"target": target, "file": SimpleUploadedFile(name, content)}
    answer = visitor.post(f"{reverse('import-new')}?kind=campaign", data)
    assert answer.status_code == 302, answer.content.decode()
    return Import.objects.latest("pk")


def counts() -> list[int]:
    return [getattr(model, "stored", model._base_manager).count() for model in ROWS]


def kept() -> list[str]:
    return [path.name for path in uploads.folder().iterdir()]


def refused(visitor: Client, content: bytes, words: str, line: int | None = None) -> Import:
    before = counts()
    record = sent(visitor, content)
    assert record.state == "refused", record.contents
    assert words in record.errors[0]["reason"], record.errors
    if line is not None:
        assert record.errors[0]["line"] == line
    assert words in page_of(visitor, record)
    assert counts() == before and len(kept()) == 1, "nothing but the archive is here"
    return record


def test_it_is_looked_at_then_brought_in_and_says_the_same(carol, exported, tmp_path):
    before = counts()
    record = sent(carol, zipped(exported))
    assert (record.state, record.target, record.error_count) == ("previewed", "small", 0)
    assert counts() == before, "nothing is stored before it is confirmed"
    page = page_of(carol, record)
    told = json.loads((exported / "campaign.json").read_text())["rows"]
    found = {name: (rows, known) for name, rows, known in record.contents["tables"]}
    for name in ("prompts", "responses", "battles", "votes", "raters", "notes"):
        assert found[name] == (told[name], 0)
    new = sum(rows - known for rows, known in found.values())
    assert record.added == new and f"<strong>{new:,}</strong> rows to add" in page
    assert "Bring in the campaign" in page and "Nothing is stored yet" in page
    carol.post(reverse("import-confirm", args=[record.public_id]))
    record.refresh_from_db()
    assert (record.state, record.added, record.done_rows) == ("done", new, record.total_rows)
    campaign = Campaign.objects.get()
    assert (campaign.slug, campaign.status) == ("small", "draft")
    assert json.loads(json.dumps(people_say(campaign))) == json.loads((tmp_path / "says").read_text())
    assert kept() == []
    assert reverse("campaign", args=["small"]) in page_of(carol, record)


def test_undone_votes_come_back_with_the_time_of_their_undo(carol, exported):
    times = {row["retracted_at"] for row in _table(exported, "votes") if row["retracted_at"]}
    record = sent(carol, zipped(exported))
    carol.post(reverse("import-confirm", args=[record.public_id]))
    at = Retraction.objects.values_list("at", flat=True)
    assert {moment.isoformat(timespec="microseconds") for moment in at} == times and len(times) > 0


def test_votes_get_their_numbers_with_the_campaign_so_that_seals_hold(carol, exported, monkeypatch):
    """Votes that are cast while it is made ready have lower numbers, and may be sealed already."""
    record = sent(carol, zipped(exported))
    keep, before = import_campaign.Return.store_kept, []

    def vote_then_keep(back):
        assert not Vote.objects.exists()
        Vote.objects.bulk_create([Vote(**_others_vote(back.team))])
        assert seals.seal_votes()
        before.append(Vote.objects.get().pk)
        keep(back)

    monkeypatch.setattr(import_campaign.Return, "store_kept", vote_then_keep)
    carol.post(reverse("import-confirm", args=[record.public_id]))
    assert min(Vote.objects.exclude(pk=before[0]).values_list("pk", flat=True)) > before[0]
    assert seals.seal_votes()
    report = seals.verify()
    assert (report.fault, report.unsealed, report.votes) == (None, 0, Vote.objects.count())


def _others_vote(team: Team) -> dict:
    """Of another campaign."""
    campaign = Campaign.objects.create(team=team, slug="other", name="Other")
    a, b = Competitor.stored.order_by("pk")[:2]
    rater = Rater.objects.create(team=team, pseudonym="other", admission="link")
    fields = {"campaign": campaign, "competitor_a": a, "competitor_b": b, "rater": rater}
    battle = Battle.objects.create(**fields, drawn_at=timezone.now())
    vote = Vote(battle=battle, rater=rater, outcome="tie", idempotency_key="other", voted_at=timezone.now())
    told = ("battle", "rater", "outcome", "idempotency_key", "voted_at")
    return {name: getattr(vote, name) for name in told} | {"digest": ballots.digest(vote)}


def _table(folder: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in (folder / "jsonl" / f"{name}.jsonl").open()]


def test_what_is_here_already_is_said_before_anything_is_stored(carol, exported, cast):
    known = Competitor.objects.create(team=cast.team, name="Ember", organisation="Ours")
    record = sent(carol, zipped(exported))
    found = {name: (rows, here) for name, rows, here in record.contents["tables"]}
    assert found["models"] == (3, 1)
    assert "1 model of these names" in " ".join(record.notices) and "Ember" in " ".join(record.notices)
    carol.post(reverse("import-confirm", args=[record.public_id]))
    assert Competitor.objects.get(name="Ember") == known and known.organisation == "Ours"
    assert Campaign.objects.get().competitors.filter(pk=known.pk).exists()


def test_the_same_export_twice_conflicts_and_another_address_alone_does_not_help(carol, exported):
    packed = zipped(exported)
    record = sent(carol, packed)
    carol.post(reverse("import-confirm", args=[record.public_id]))
    record = refused(carol, packed, "There is a campaign “small” already")
    carol.post(reverse("import-reread", args=[record.public_id]), {"target": "again"})
    record.refresh_from_db()
    assert (record.state, record.target) == ("refused", "again")
    assert "prompt_sets.jsonl: There is a prompt set" in record.errors[0]["reason"]
    PromptSet.objects.update(name="Renamed")
    carol.post(reverse("import-reread", args=[record.public_id]), {"target": "again"})
    record.refresh_from_db()
    assert "raters.jsonl: There is a rater" in record.errors[0]["reason"]
    Rater.objects.update(team=Membership.objects.get(user__username="dora").team)
    carol.post(reverse("import-reread", args=[record.public_id]), {"target": "again"})
    record.refresh_from_db()
    assert "battles.jsonl: The battle" in record.errors[0]["reason"] and record.errors[0]["line"] == 1


def test_another_address_can_be_chosen(carol, exported, make_campaign):
    Campaign.objects.create(team=Team.default(), slug="small", name="Ours")
    record = refused(carol, zipped(exported), "There is a campaign “small” already")
    carol.post(reverse("import-reread", args=[record.public_id]), {"target": "theirs"})
    record.refresh_from_db()
    assert record.state == "previewed" and "address was “small”" in " ".join(record.notices)
    carol.post(reverse("import-confirm", args=[record.public_id]))
    assert Campaign.objects.get(slug="theirs").battles.exists()


def test_it_is_dropped_and_leaves_nothing(carol, exported):
    before = counts()
    record = sent(carol, zipped(exported))
    carol.post(reverse("import-discard", args=[record.public_id]))
    assert not Import.objects.filter(pk=record.pk).exists()
    assert counts() == before and kept() == []


def test_work_on_it_is_the_workers_and_can_be_cancelled(carol, exported, monkeypatch):
    monkeypatch.setattr(tasks, "work_off_imports", lambda: None)
    record = sent(carol, zipped(exported))
    assert record.state == "checking", "however small it is"
    assert "Being checked" in page_of(carol, record)
    intake.work_on(record)
    before = counts()
    carol.post(reverse("import-confirm", args=[record.public_id]))
    record.refresh_from_db()
    assert record.state == "storing" and "<progress" in page_of(carol, record)
    look = import_campaign.bring_golds

    def cancel_then_look(back):
        intake.cancel(record)
        look(back)

    monkeypatch.setattr(import_campaign, "bring_golds", cancel_then_look)
    monkeypatch.setattr(intake, "NOTE_SECONDS", 0.0)
    intake.work_on(record)
    record.refresh_from_db()
    assert record.state == "cancelled"
    assert counts() == before and kept() == [], "texts that were stored already are removed"


def test_what_fails_at_the_very_end_leaves_nothing(carol, exported, monkeypatch):
    record = sent(carol, zipped(exported))
    before = counts()
    # Another takes the address in the last moment.
    keep = import_campaign.Return.store_kept

    def too_late(back):
        Campaign.objects.create(team=back.team, slug="small", name="Faster")
        keep(back)

    monkeypatch.setattr(import_campaign.Return, "store_kept", too_late)
    carol.post(reverse("import-confirm", args=[record.public_id]))
    record.refresh_from_db()
    assert record.state == "refused" and "here already" in record.errors[0]["reason"]
    assert counts() == before


def clean(rows: list[dict], **changes) -> None:
    rows[1].update(changes)


WRONG = {
    "a battle of a prompt that isn't there": ("battles", {"prompt_id": "nowhere"}, "doesn't hold"),
    "an unknown kind": ("battles", {"kind": "duel"}, "is unknown; known are regular"),
    "no time": ("battles", {"drawn_at": "soon"}, "is no time; an export writes"),
    "a vote of a battle that isn't there": ("votes", {"vote_id": "1234"}, "doesn't hold"),
    "an unknown outcome": ("votes", {"winner": "both_great"}, "both_great"),
    "a negative time": ("votes", {"dwell_ms": -5}, "greater than or equal to 0"),
    "a number that is a word": ("votes", {"dwell_ms": "long"}, "a whole number is needed"),
    "a name that is too long": ("raters", {"rater": "x" * 200}, "at most 120 characters"),
    "a U+0000": ("responses", {"response": "a\0b"}, "U+0000"),
    "half a pair": ("prompts", {"category": "\ud800"}, "surrogate"),
    "a list for a text": ("guides", {"text": ["a"]}, "guides.jsonl"),
    "the same battle again": ("battles", {"battle_id": None}, "battles.jsonl"),
    "a response of no model": ("responses", {"model": "Nobody"}, "'Nobody'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_file_and_line(carol, exported, case):
    table, change, words = WRONG[case]
    line = 1 if table == "guides" else 2
    changed(exported, table, lambda rows: rows[line - 1].update(change))
    record = refused(carol, zipped(exported), words, line)
    assert record.errors[0]["reason"].startswith(f"{table}.jsonl: ")


def test_a_row_that_stands_twice_or_is_none(carol, exported):
    changed(exported, "battles", lambda rows: rows.append(rows[0]))
    count = len(_table(exported, "battles"))
    refused(carol, zipped(exported), "stands twice", count)
    path = exported / "jsonl" / "votes.jsonl"
    for line, words in (
        ("[1]\n", "holds no object"),
        ("{\n", "JSONDecodeError"),
        ('{"a": NaN}\n', "NaN"),
        ("[" * 100_000 + "\n", "Recursion"),
        ("{}\n", "is missing; get the export again"),
    ):
        uploads.forget(Import.objects.latest("pk"))
        changed(exported, "battles", lambda rows: rows.__delitem__(slice(count - 1, None)))
        path.write_text(line)
        refused(carol, zipped(exported), words, 1)


def entry(name: str, content: bytes = b"x", link: bool = False) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.external_attr = (0o120777 if link else 0o100600) << 16
    return info, content


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (entry("../../escaped.txt"), "is no file of an export"),
        (entry("/etc/escaped.txt"), "is no file of an export"),
        (entry(""), "is no file of an export"),
        (entry("small/..\\escaped.txt"), "is no file of an export"),
        (entry("small/jsonl/link.jsonl", b"/etc/passwd", link=True), "is no file of an export"),
        (entry(f"other/{SUMS}", b""), "holds 2 exports"),
    ],
)
def test_no_file_leaves_the_place_it_is_unpacked_in(carol, exported, tmp_path, extra, words):
    packed = io.BytesIO(zipped(exported))
    with zipfile.ZipFile(packed, "a") as target:
        target.writestr(*extra)
    refused(carol, packed.getvalue(), words)
    assert not list(tmp_path.rglob("*escaped*")) and not Path("/etc/escaped.txt").exists()


def test_sums_that_name_a_file_elsewhere_are_refused(carol, exported):
    packed = io.BytesIO(zipped(exported))
    hostile = (exported / SUMS).read_text() + f"{'0' * 64}  ../../etc/passwd\n"
    with zipfile.ZipFile(packed) as before:
        content = {name: before.read(name) for name in before.namelist()}
    again = io.BytesIO()
    with zipfile.ZipFile(again, "w") as target:
        for name, held in (content | {f"small/{SUMS}": hostile.encode()}).items():
            target.writestr(name, held)
    refused(carol, again.getvalue(), "is no file of an export")


def test_an_archive_that_unpacks_without_end_is_stopped(carol, exported, settings, monkeypatch):
    settings.MAX_UPLOAD_MB = 1
    zeros = bytes(64 * 1024 * 1024)
    refused(carol, zipped(exported, **{"small/csv/zeros.csv": zeros}), "holds more than 20 MB")
    monkeypatch.setattr(archive, "MOST_FILES", 3)
    uploads.forget(Import.objects.latest("pk"))
    refused(carol, zipped(exported), "an export holds 3 at most")


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_a_damaged_archive_is_refused(carol, exported, place):
    packed = bytearray(zipped(exported))
    at = int(len(packed) * place)
    packed[at : at + 200] = bytes(200)
    record = sent(carol, bytes(packed))
    assert record.state == "refused" and len(record.errors) == 1


@pytest.mark.parametrize("content", [b"", b"id,prompt\n1,a\n"])
def test_what_is_no_archive_is_refused_under_the_name_it_was_sent_with(carol, content):
    record = refused(carol, content, "small.zip is neither the folder nor the .zip")
    assert record.stored_as not in page_of(carol, record)


def test_a_download_that_was_cut_short_is_called_that(carol, exported):
    packed = zipped(exported)
    refused(carol, packed[: len(packed) // 2], "small.zip has a beginning and no end")


def test_a_file_that_was_changed_or_left_out_is_refused(carol, exported):
    packed = zipped(exported)
    for change, words in (("dropped", "is missing"), ("changed", "isn't as it was exported")):
        again = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(packed)) as before, zipfile.ZipFile(again, "w") as target:
            for name in before.namelist():
                if name.endswith("parquet/votes.parquet"):
                    if change == "changed":
                        target.writestr(name, before.read(name) + b" ")
                else:
                    target.writestr(name, before.read(name))
        for record in Import.objects.all():
            uploads.forget(record)
        refused(carol, again.getvalue(), f"parquet/votes.parquet {words}")


def test_more_than_one_transaction_should_hold_is_the_commands(carol, exported, monkeypatch):
    monkeypatch.setattr(import_campaign, "MOST_AT_ONCE", 20)
    if connection.features.has_select_for_update:  # nobody waits there
        assert sent(carol, zipped(exported)).state == "previewed"
    else:
        refused(carol, zipped(exported), "manage.py import_campaign")
    call_command("import_campaign", str(exported))
    assert Import.objects.latest("pk").state == "done"


def test_what_is_too_large_to_be_sent_is_the_commands_too(carol, settings):
    settings.MAX_UPLOAD_MB = 1
    data = {"target": "", "file": SimpleUploadedFile("small.zip", bytes(1024 * 1024 + 1))}
    form = ImportForm(data, data, kind="campaign", team=Team.default())
    assert "import_campaign" in str(form.errors["file"])
    answer = carol.post(f"{reverse('import-new')}?kind=campaign", data)
    assert answer.status_code == 413 and kept() == [] and not Import.objects.exists()
    page = answer.content.decode()
    assert "import_campaign FILE.zip" in page and "a .zip can’t be split" in page
    assert f'href="{reverse("import-new")}?kind=campaign"' in page and reverse("campaign-list") in page


def test_a_folder_left_by_a_killed_worker_goes(carol, exported, monkeypatch):
    left = uploads.folder() / "0123.abc"
    (left / "jsonl").mkdir(parents=True)
    (left / "jsonl" / "votes.jsonl").write_text("{}")
    os.utime(left, (0, 0))
    uploads.forget_stale()
    assert not left.exists()


def test_it_belongs_to_its_team(signed_in, carol, exported):
    packed = zipped(exported)
    for name in ("alice", "ravi", "mallory"):
        other = signed_in(name)
        assert other.get(f"{reverse('import-new')}?kind=campaign").status_code == 404
        data = {"target": "", "file": SimpleUploadedFile("small.zip", packed)}
        assert other.post(f"{reverse('import-new')}?kind=campaign", data).status_code == 404
    assert Client().post(f"{reverse('import-new')}?kind=campaign").status_code == 302
    assert not Import.objects.exists()
    record = sent(carol, packed)
    for name in ("alice", "ravi", "mallory", "dora"):
        other = signed_in(name)
        assert other.get(reverse("import", args=[record.public_id])).status_code == 404
        for act in ("confirm", "reread", "discard", "cancel"):
            path = reverse(f"import-{act}", args=[record.public_id])
            assert other.post(path, {"target": "mine"}).status_code == 404
    record.refresh_from_db()
    assert (record.state, record.target) == ("previewed", "small")
    theirs = sent(signed_in("dora"), packed)
    signed_in("dora").post(reverse("import-confirm", args=[theirs.public_id]))
    campaign = Campaign.objects.get()
    assert campaign.team == theirs.team != record.team
    assert {rater.team for rater in Rater.objects.filter(battles__campaign=campaign)} == {theirs.team}


def test_a_program_brings_it_in_too(cast, exported):
    _token, secret = AuthToken.objects.create(user=cast.carol)
    program = Client(headers={"Authorization": f"Token {secret}"})
    data = {"kind": "campaign", "target": "by-program", "confirm": "true"}
    file = SimpleUploadedFile("small.zip", zipped(exported))
    answer = program.post("/api/v1/imports/", data | {"file": file})
    assert answer.status_code == 201, answer.content
    assert Import.objects.get().state == "done" and Campaign.objects.get().slug == "by-program"
