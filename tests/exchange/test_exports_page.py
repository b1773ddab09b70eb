"""An export asked for on the page: made by the worker, downloaded, deleted, expired, or failed with words."""

import hashlib
import io
import threading
import zipfile
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from arena.campaigns.models import Campaign
from arena.corpus.redaction import redact_response
from arena.exchange import export_requests, tasks
from arena.exchange.export_models import Export
from arena.exchange.export_requests import do_export, request_export

PAGE = "/exports/small/"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()


@pytest.fixture
def queued(small_campaign, cast) -> Export:
    return request_export(small_campaign.campaign, Export.Layout.WHOLE, cast.ravi)


@pytest.fixture
def no_worker(monkeypatch):
    monkeypatch.setattr(tasks, "work_off_exports", lambda: None)


def files_left() -> list[str]:
    return sorted(path.name for path in export_requests.folder().iterdir())


def test_a_researcher_asks_waits_and_downloads(small_campaign, signed_in):
    ravi = signed_in("ravi")
    answer = ravi.post(f"{PAGE}new/", {"layout": "whole"}, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    made = Export.objects.get()
    page = answer.content.decode()
    assert "ready" in page and made.sha256 in page and "asked for by ravi" in page
    got = ravi.get(f"{PAGE}{made.public_id}.zip")
    packed = b"".join(got.streaming_content)
    assert got["Content-Disposition"] == f'attachment; filename="small-{made.created_at:%Y-%m-%d}.zip"'
    assert got["Cache-Control"] == "private, no-store"
    assert hashlib.sha256(packed).hexdigest() == made.sha256 and len(packed) == made.size
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert f"small-{made.created_at:%Y-%m-%d}/jsonl/prompts.jsonl" in archive.namelist()


def test_what_was_downloaded_can_be_brought_back(small_campaign, signed_in, tmp_path):
    ravi = signed_in("ravi")
    ravi.post(f"{PAGE}new/", {"layout": "whole"})
    file = tmp_path / "got.zip"
    file.write_bytes(b"".join(ravi.get(f"{PAGE}{Export.objects.get().public_id}.zip").streaming_content))
    small_campaign.prompt_set.name = "another"
    small_campaign.prompt_set.save()
    call_command("import_campaign", str(file), "--campaign", "again")
    assert Campaign.objects.get(slug="again").prompt_sets.get().prompts.count() == 4


def test_the_page_offers_the_140k_layout(small_campaign, signed_in):
    ravi = signed_in("ravi")
    assert 'value="arena_140k"' in ravi.get(PAGE).content.decode()
    ravi.post(f"{PAGE}new/", {"layout": "arena_140k"})
    got = ravi.get(f"{PAGE}{Export.objects.get().public_id}.zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(got.streaming_content))) as archive:
        assert any(name.endswith("/arena_140k.parquet") for name in archive.namelist())


def test_an_unknown_layout_starts_nothing(small_campaign, signed_in):
    answer = signed_in("ravi").post(f"{PAGE}new/", {"layout": "docx"}, follow=True)
    assert "nothing was started" in answer.content.decode() and not Export.objects.exists()


def test_asking_twice_while_one_is_open_starts_one(small_campaign, signed_in, no_worker):
    ravi = signed_in("ravi")
    for _ in range(2):
        ravi.post(f"{PAGE}new/", {"layout": "whole"})
    ravi.post(f"{PAGE}new/", {"layout": "arena_140k"})
    assert Export.objects.count() == 2


def test_while_it_is_written_the_page_says_how_far_it_is_and_looks_again(queued, signed_in):
    ravi = signed_in("ravi")
    assert "Waiting for the worker" in ravi.get(PAGE).content.decode()
    assert queued.claim_it()
    queued.update_mine(table="votes", rows=12000)
    part = ravi.get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert "Being written: votes, 12000 rows" in part and 'hx-trigger="every 2s"' in part
    assert "<html" not in part
    queued.update_mine(state=Export.State.FAILED)
    assert "hx-trigger" not in ravi.get(PAGE).content.decode()


def test_nobody_else_finds_the_page_or_the_file(queued, signed_in, client, cast):
    do_export(queued)
    paths = (PAGE, f"{PAGE}{queued.public_id}.zip")
    for name in ("alice", "mallory", "dora"):
        visitor = signed_in(name)
        assert [visitor.get(path).status_code for path in paths] == [404, 404], name
        assert visitor.post(f"{PAGE}new/", {"layout": "whole"}).status_code == 404
        assert visitor.post(f"{PAGE}{queued.public_id}/delete/").status_code == 404
        visitor.logout()
    assert [client.get(path).status_code for path in paths] == [302, 302]
    assert Export.objects.count() == 1


def test_another_campaigns_address_doesnt_give_the_file(queued, make_campaign, signed_in):
    make_campaign("other")
    do_export(queued)
    assert signed_in("ravi").get(f"/exports/other/{queued.public_id}.zip").status_code == 404


def test_a_file_that_isnt_ready_or_is_gone_is_not_found(queued, signed_in):
    ravi = signed_in("ravi")
    assert ravi.get(f"{PAGE}{queued.public_id}.zip").status_code == 404
    do_export(queued)
    export_requests.path_of(queued).unlink()
    assert ravi.get(f"{PAGE}{queued.public_id}.zip").status_code == 404


def test_deleting_removes_row_and_file(queued, signed_in):
    do_export(queued)
    assert len(files_left()) == 1
    answer = signed_in("ravi").post(f"{PAGE}{queued.public_id}/delete/", follow=True)
    assert "The export was deleted." in answer.content.decode()
    assert files_left() == [] and not Export.objects.exists()


def test_one_deleted_while_it_is_written_leaves_nothing(queued, monkeypatch):
    monkeypatch.setattr(export_requests, "BEAT_SECONDS", 0)
    beats = export_requests._beats

    def delete_midway(wanted):
        tell = beats(wanted)

        def told(table, rows):
            if table == "responses":
                export_requests.delete_export(Export.objects.get())
            tell(table, rows)

        return told

    monkeypatch.setattr(export_requests, "_beats", delete_midway)
    do_export(queued)
    assert files_left() == [] and not Export.objects.exists()


def test_expired_ones_and_what_a_killed_worker_left_are_removed(queued, settings):
    settings.EXPORT_DAYS = 2
    do_export(queued)
    assert queued.expires_at - queued.finished_at == timedelta(days=2)
    export_requests.remove_expired()
    assert len(files_left()) == 1
    leavings = export_requests.folder() / ".export-abc"
    leavings.mkdir()
    export_requests.remove_expired()
    assert leavings.exists(), "somebody may be writing it now"
    Export.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    export_requests.remove_expired()
    assert files_left() == [".export-abc"] and not Export.objects.exists()


def begun_of(wanted: Export) -> str:
    """As a worker leaves it that is killed midway."""
    left = export_requests.folder() / f".export-{wanted.public_id.hex}-abc"
    left.mkdir()
    (left / "responses.csv").write_text("a text")
    return left.name


def test_a_redaction_removes_what_a_killed_worker_had_begun_and_leaves_work_under_way(
    queued, small_campaign, make_campaign
):
    other = request_export(make_campaign("other").campaign, Export.Layout.WHOLE, None)
    assert queued.claim_it() and other.claim_it()
    begun_of(queued)
    under_way = begun_of(other)
    stray = export_requests.folder() / f"{'0' * 32}.zip"
    stray.write_text("of an export that was deleted while its worker was killed")
    redact_response(small_campaign.responses[0], reason="x", by="carol")
    assert files_left() == [under_way]
    Export.objects.update(beat_at=timezone.now() - Export.LEASE - timedelta(seconds=1))
    export_requests.remove_expired()
    assert files_left() == []


def test_the_next_worker_removes_what_the_last_had_begun(queued):
    begun_of(queued)
    do_export(queued)
    assert files_left() == [f"{queued.public_id.hex}.zip"]


def test_a_worker_whose_folder_is_taken_away_says_nothing(queued, monkeypatch, caplog):
    def delete_and_go_on(_folder):
        export_requests.delete_export(Export.objects.get())
        export_requests.remove_orphans()
        raise FileNotFoundError("responses.csv")

    monkeypatch.setattr("arena.exchange.exports.sums", delete_and_go_on)
    do_export(queued)
    assert files_left() == [] and "failed" not in caplog.text


def test_one_deleted_in_the_moment_of_its_claim_is_not_begun(queued, monkeypatch):
    refresh = Export.refresh_from_db

    def deleted_just_before(wanted, *args, **named):
        Export.objects.filter(pk=wanted.pk).delete()
        refresh(wanted, *args, **named)

    monkeypatch.setattr(Export, "refresh_from_db", deleted_just_before)
    do_export(queued)
    assert files_left() == [] and not Export.objects.exists()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            OSError(28, "No space left on device"),
            "written: No space left on device.",
        ),
        (KeyError("column"), "It ended in an error of ours."),
    ],
)
def test_a_failed_one_says_why(queued, signed_in, monkeypatch, error, words):
    def fails(*_args):
        raise error

    monkeypatch.setattr("arena.exchange.exports.sums", fails)
    do_export(queued)
    assert words in signed_in("ravi").get(PAGE).content.decode()
    assert files_left() == []
    again = request_export(queued.campaign, Export.Layout.WHOLE, None)
    assert again.pk != queued.pk and again.state == Export.State.QUEUED


def test_a_lost_message_or_a_killed_worker_is_swept_up(queued):
    assert queued.claim_it()
    tasks.sweep_exports.call_local()
    queued.refresh_from_db()
    assert queued.state == Export.State.RUNNING, "its worker may be alive"
    Export.objects.update(beat_at=timezone.now() - Export.LEASE - timedelta(seconds=1))
    tasks.sweep_exports.call_local()
    queued.refresh_from_db()
    assert queued.state == Export.State.DONE and queued.attempts == 2


def test_one_that_kills_every_worker_is_given_up(queued):
    Export.objects.update(attempts=Export.MAX_ATTEMPTS)
    queued.refresh_from_db()
    do_export(queued)
    assert queued.state == Export.State.FAILED and "stopped 3 times" in queued.failure


def test_a_claimed_one_is_written_by_nobody_else(queued):
    other = Export.objects.get()
    assert queued.claim_it()
    do_export(other)
    assert other.state == Export.State.QUEUED and files_left() == []
    assert not other.claim_it()
    assert queued.update_mine(rows=1)


@pytest.mark.django_db(transaction=True)
def test_of_five_workers_one_writes(make_campaign):
    wanted = request_export(make_campaign().campaign, Export.Layout.WHOLE, None)

    def work():
        from django.db import connection

        try:
            do_export(Export.objects.get(pk=wanted.pk))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted.refresh_from_db()
    assert wanted.state == Export.State.DONE and wanted.attempts == 1 and len(files_left()) == 1
