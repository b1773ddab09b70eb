"""Files that are imported over many transactions: hidden until the end, and nothing when there is no end."""

import json
import os
import threading
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.db import IntegrityError, connection
from django.urls import reverse
from django.utils import timezone

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Arrival, Competitor, Prompt, PromptSet, Response
from arena.exchange import import_responses, insertions, intake, rendering, shifts, tasks, uploads
from arena.exchange.imports import OvertakenError, finish, new_record, plan_import
from arena.exchange.models import Import, Origin
from arena.raters.models import Rater, Team

from .arena_rows import arena_140k, lines

pytestmark = pytest.mark.django_db

ROWS = 12


@pytest.fixture(autouse=True)
def small_steps(tmp_path, settings, monkeypatch):
    """Every file is a large one, and five rows are a batch."""
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(intake, "INLINE_BYTES", 0)
    monkeypatch.setattr(shifts, "ROWS", 5)


@pytest.fixture
def prompts(cast):
    prompt_set = PromptSet.objects.create(team=cast.team, name="Start")
    return [
        Prompt.objects.create(
            prompt_set=prompt_set, external_id=f"p{n}", messages=[{"role": "user", "content": f"Why {n}?"}]
        )
        for n in range(ROWS)
    ]


def responses(text: str = "Because") -> str:
    return "\n".join(
        json.dumps({"prompt_id": f"p{n}", "model": "Ember", "response": f"{text} {n}."}) for n in range(ROWS)
    )


def accept(kind: str = "responses", target: str = "Start", content: str | None = None) -> Import:
    content = responses() if content is None else content
    file = SimpleUploadedFile("file.jsonl", content.encode())
    return intake.accept(Team.default(), None, kind, target, file)


def checked(**options) -> Import:
    record = accept(**options)
    tasks.start(record)
    record.refresh_from_db()
    assert record.state == "previewed", record.errors
    return record


def state_of(record: Import) -> str:
    return Import.objects.get(pk=record.pk).state


def nothing_is_left(record: Import) -> bool:
    models = (Response, Competitor, Arrival)
    left = any(getattr(model, "stored", model.objects).exists() for model in models)
    return not left and Import.objects.get(pk=record.pk).arrival is None


class BrokenError(Exception):
    """What stands for a killed process: nobody catches it."""


@pytest.fixture
def at_row(monkeypatch):
    """at_row(8, act) calls `act` when the eighth response is made."""

    def arrange(number: int, act) -> None:
        original, count = import_responses.as_response, 0

        def as_response(*arguments):
            nonlocal count
            count += 1
            if count == number:
                act()
            return original(*arguments)

        monkeypatch.setattr(import_responses, "as_response", as_response)

    return arrange


def test_a_large_file_is_checked_and_stored_by_the_worker(prompts):
    record = checked()
    assert (record.added, record.done_rows) == (ROWS, 0)
    intake.confirm(record)
    tasks.start(record)
    record.refresh_from_db()
    assert (record.state, record.added, record.done_rows, record.stored_as) == ("done", ROWS, ROWS, "")
    assert Response.objects.count() == ROWS
    assert list(uploads.folder().iterdir()) == []


def test_until_the_last_row_is_stored_none_is_there(prompts, at_row):
    seen = []

    def look() -> None:
        seen.append((Response.objects.count(), Competitor.objects.count(), Response.stored.count()))
        seen.append((Import.objects.get().done_rows, Import.objects.get().total_rows))
        assert not prompts[0].responses.exists()

    record = checked()
    at_row(11, look)
    intake.confirm(record)
    tasks.start(record)
    assert seen == [(0, 0, 10), (10, ROWS)]
    assert (Response.objects.count(), Competitor.objects.count()) == (ROWS, 1)


def test_a_cancelled_import_leaves_nothing(prompts, at_row):
    record = checked()
    at_row(8, lambda: intake.cancel(record))
    intake.confirm(record)
    tasks.start(record)
    assert state_of(record) == "cancelled"
    assert nothing_is_left(record)
    assert list(uploads.folder().iterdir()) == []


def test_a_check_can_be_cancelled_before_anybody_is_at_it(prompts):
    record = accept()
    assert intake.cancel(record)
    tasks.start(record)
    assert state_of(record) == "cancelled" and Import.objects.get().finished_at
    assert not intake.cancel(record)


def test_a_killed_import_is_taken_up_again_and_ends_whole(prompts, at_row, monkeypatch):
    record = checked()
    intake.confirm(record)
    kill_at(8, at_row, monkeypatch, record)
    assert (state_of(record), Response.stored.count(), Response.objects.count()) == ("storing", 5, 0)

    tasks.sweep_imports.call_local()
    assert state_of(record) == "storing"  # its lease isn't over
    Import.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    tasks.sweep_imports.call_local()
    assert (state_of(record), Response.objects.count(), Response.stored.count()) == ("done", ROWS, ROWS)


def kill_at(number, at_row, monkeypatch, record) -> None:
    """A process that is killed doesn't clean up either."""
    with monkeypatch.context() as killed:
        killed.setattr("arena.exchange.imports.remove_rest", lambda _record: None)

        def die() -> None:
            raise BrokenError

        at_row(number, die)
        with pytest.raises(BrokenError):
            intake.work_on(record)


def test_a_file_that_breaks_every_worker_is_given_up_and_leaves_nothing(prompts, at_row, monkeypatch):
    record = checked()
    intake.confirm(record)
    kill_at(8, at_row, monkeypatch, record)
    Import.objects.update(leased_until=timezone.now() - timedelta(seconds=1), turn=intake.MAX_TURNS)
    tasks.sweep_imports.call_local()
    record.refresh_from_db()
    assert record.state == "refused" and "broken off" in record.errors[0]["reason"]
    assert nothing_is_left(record)


def test_a_killed_command_is_swept_away(prompts, at_row, monkeypatch, tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_text(responses())
    plan = plan_import("responses", Team.default(), "Start", path, path.name)
    record = new_record(plan)
    with monkeypatch.context() as killed:
        killed.setattr(Import, "delete", lambda _self: None)
        killed.setattr("arena.exchange.imports.remove_rest", lambda _record: None)

        def die() -> None:
            raise BrokenError

        at_row(8, die)
        with pytest.raises(BrokenError):
            finish(record, plan)
    assert Response.stored.count() == 5
    Import.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    tasks.sweep_imports.call_local()
    record.refresh_from_db()
    assert record.state == "refused" and nothing_is_left(record)


def test_whoever_was_given_up_stores_nothing_more(prompts, at_row):
    record = checked()
    intake.confirm(record)
    at_row(8, lambda: Import.objects.update(turn=99))
    tasks.start(record)
    assert state_of(record) == "storing"
    assert not Response.objects.exists()


def test_an_import_that_was_overtaken_changes_nothing_and_can_be_tried_again(prompts, at_row):
    Competitor.objects.create(team=Team.default(), name="Ember")
    record = checked()
    intake.confirm(record)
    file = responses("Another").encode()
    other = plan_import("responses", Team.default(), "Start", file, "other.jsonl")
    at_row(1, lambda: finish(new_record(other), other))
    tasks.start(record)
    record.refresh_from_db()
    assert record.state == "previewed" and "Another import stored some of these rows" in record.notices[-1]
    assert {text.partition(" ")[0] for text in Response.stored.values_list("text", flat=True)} == {"Another"}
    intake.confirm(record)
    tasks.start(record)
    record.refresh_from_db()
    assert record.state == "refused" and record.error_count == ROWS


def test_a_row_that_is_under_way_stands_in_the_way_of_another_import(prompts, at_row):
    record = checked()
    intake.confirm(record)
    file = responses("Another").encode()
    other = plan_import("responses", Team.default(), "Start", file, "other.jsonl")
    refused = []

    def try_other() -> None:
        with pytest.raises(OvertakenError) as error:
            finish(new_record(other), other)
        refused.append(str(error.value))

    at_row(8, try_other)
    tasks.start(record)
    assert state_of(record) == "done" and "Another import" in refused[0]
    assert {text.partition(" ")[0] for text in Response.objects.values_list("text", flat=True)} == {"Because"}
    assert Import.objects.count() == 1


def test_a_set_published_meanwhile_takes_no_more_prompts(cast, monkeypatch):
    content = "\n".join(json.dumps({"id": f"q{n}", "prompt": f"How {n}?"}) for n in range(ROWS))
    prompt_set = PromptSet.objects.create(team=cast.team, name="Start")
    record = checked(kind="prompts", content=content)
    intake.confirm(record)
    original = shifts.Shift.land

    def publish_first(self, added):
        raise AssertionError("it landed")

    monkeypatch.setattr(shifts.Shift, "land", publish_first)
    monkeypatch.setattr(shifts, "insertions", publishing(prompt_set, shifts.insertions))
    tasks.start(record)
    monkeypatch.setattr(shifts.Shift, "land", original)
    record.refresh_from_db()
    assert record.state == "refused" and "takes no more prompts" in record.errors[0]["reason"]
    assert not Prompt.stored.exists() and PromptSet.objects.get().status == "published"


def publishing(prompt_set, insertions):
    def publish_and_insert(batch):
        PromptSet.objects.filter(pk=prompt_set.pk).update(status=PromptSet.Status.PUBLISHED)
        return insertions(batch)

    return publish_and_insert


def test_a_new_prompt_set_appears_with_its_prompts(cast):
    content = "\n".join(json.dumps({"id": f"q{n}", "prompt": f"How {n}?"}) for n in range(ROWS))
    record = checked(kind="prompts", target="Fresh", content=content)
    assert not PromptSet.stored.exists()
    intake.confirm(record)
    tasks.start(record)
    assert PromptSet.objects.get().prompts.count() == ROWS


def test_votes_and_their_texts_appear_together(cast, monkeypatch):
    rows = [arena_140k() | {"id": f"v{n}", "model_a": f"model {n}"} for n in range(ROWS)]
    record = checked(kind="votes", target="old", content=lines(*rows).decode())
    intake.confirm(record)
    seen = []
    original = shifts.Shift.land

    def look_and_land(self, added):
        assert connection.in_atomic_block
        seen.append((Prompt.objects.count(), Response.objects.count(), Response.stored.count()))
        original(self, added)

    monkeypatch.setattr(shifts.Shift, "land", look_and_land)
    tasks.start(record)
    assert seen == [(0, 0, ROWS + 1)]
    assert (Vote.objects.count(), Battle.objects.count(), Response.objects.count()) == (ROWS, ROWS, ROWS + 1)
    campaign = Campaign.objects.get()
    assert [one.prompts.count() for one in campaign.prompt_sets.all()] == [1]


def test_numbers_reserved_for_rows_are_given_to_no_others(cast):
    def rater(name: str) -> Rater:
        return Rater(team=cast.team, pseudonym=name, admission="recorded")

    reserved = [rater("one"), rater("two")]
    insertions.number(reserved)
    other = rater("other")
    other.save()
    assert len({row.pk for row in (*reserved, other, cast.alice_rater, cast.bob_rater)}) == 5
    insertions.execute(insertions.insertions(reserved))
    assert list(Rater.objects.filter(pk__in=[row.pk for row in reserved]).order_by("pk")) == reserved


def test_the_first_numbers_of_an_empty_table_can_be_reserved(cast):
    first, second = Origin(battle_id=1), Origin(battle_id=2)
    insertions.number([first, second])
    assert second.pk == first.pk + 1 and not Origin.objects.exists()


def test_votes_that_fail_leave_neither_texts_nor_campaign(cast, monkeypatch):
    record = checked(kind="votes", target="old", content=lines(arena_140k()).decode())
    intake.confirm(record)

    def refuse(*_arguments, **_options):
        raise IntegrityError

    monkeypatch.setattr("arena.exchange.insertions.Spool.store", refuse)
    tasks.start(record)
    assert state_of(record) == "previewed"
    assert not Campaign.objects.exists() and not Battle.objects.exists()
    assert not Prompt.stored.exists() and nothing_is_left(record)


def test_texts_rendered_in_other_processes_are_the_same(prompts, monkeypatch):
    monkeypatch.setattr(rendering, "MANY", 1)
    monkeypatch.setattr(rendering, "CHUNK", 3)
    texts = [f"**Bold** number {n}\n\n- one\n- two" for n in range(ROWS)]
    assert list(rendering.prepare_all(iter(texts), ROWS)) == [rendering.prepare(text) for text in texts]


def test_the_page_shows_progress_and_the_end(prompts, signed_in):
    carol = signed_in("carol")
    record = accept()
    Import.objects.update(
        state="storing", total_rows=ROWS, done_rows=5, leased_until=timezone.now() + shifts.LEASE
    )
    address = reverse("import", args=[record.public_id])
    page = carol.get(address).content.decode()
    assert f"5 of {ROWS} rows" in page and 'hx-trigger="every 1s"' in page and "Cancel" in page
    part = carol.get(address, headers={"HX-Request": "true"})
    assert part.content.decode().lstrip().startswith('<div id="live"') and "HX-Refresh" not in part
    Import.objects.update(state="done", leased_until=None)
    assert carol.get(address, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_the_page_cancels(prompts, signed_in):
    carol = signed_in("carol")
    record = accept()
    answer = carol.post(reverse("import-cancel", args=[record.public_id]), follow=True)
    assert "Cancelled. Nothing was changed." in answer.content.decode()
    assert state_of(record) == "cancelled"


@pytest.mark.parametrize("who", ["ravi", "dora"])
def test_others_cannot_cancel_or_reread(prompts, signed_in, who):
    record = accept()
    for name in ("import-cancel", "import-reread", "import-errors"):
        address = reverse(name, args=[record.public_id])
        visitor = signed_in(who)
        answer = visitor.get(address) if name == "import-errors" else visitor.post(address)
        assert answer.status_code == 404
    assert not Import.objects.get().is_cancelled


def test_an_upload_on_the_disk_is_moved_and_not_copied(prompts):
    upload = TemporaryUploadedFile("file.jsonl", "application/jsonl", 10, None)
    upload.write(responses().encode())
    upload.flush()
    inode = os.fstat(upload.file.fileno()).st_ino
    record = intake.accept(Team.default(), None, "responses", "Start", upload)
    assert uploads.path_of(record).stat().st_ino == inode


def test_files_that_no_import_knows_go_after_a_day(prompts):
    record = accept()
    stray, fresh = uploads.folder() / "stray", uploads.folder() / "fresh"
    for path in (stray, fresh):
        path.write_text("x")
    long_ago = (timezone.now() - timedelta(hours=25)).timestamp()
    os.utime(stray, (long_ago, long_ago))
    os.utime(uploads.path_of(record), (long_ago, long_ago))
    uploads.forget_stale()
    assert {path.name for path in uploads.folder().iterdir()} == {record.stored_as, "fresh"}


@pytest.mark.django_db(transaction=True)
def test_two_workers_do_not_store_the_same_file_twice(small_steps):
    prompt_set = PromptSet.objects.create(team=Team.default(), name="Start")
    for n in range(ROWS):
        Prompt.objects.create(prompt_set=prompt_set, external_id=f"p{n}", messages=[])
    record = checked()
    intake.confirm(record)
    errors = []

    def work() -> None:
        try:
            intake.work_on(Import.objects.get(pk=record.pk))
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    record.refresh_from_db()
    assert (record.state, record.turn, Response.objects.count()) == ("done", 2, ROWS)
