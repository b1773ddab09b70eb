"""What a redaction couldn't take out at once stays noted, and is taken out later."""

from __future__ import annotations

import json
import threading

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from arena.broken_off import done_again
from arena.corpus import redaction, sweeping
from arena.corpus.models import Prompt, Response
from arena.corpus.redaction import redact_prompt, redact_prompt_everywhere, redact_response
from arena.corpus.redaction_models import Sweep
from arena.corpus.sweep_tasks import sweep_up_by_the_minute
from arena.corpus.versions import draft_next
from arena.endpoints.models import CallAttempt, Endpoint
from arena.exchange import export_requests
from arena.exchange.export_models import Export
from arena.judging.models import JudgeCall
from tests.corpus.judged_call import judged

SECRET = "Zanzibar Quillfeather lives at 12 Nowhere Lane and asks for a letter to the council."


@pytest.fixture
def response(small_campaign, cast, settings, tmp_path) -> Response:
    """It says SECRET; a judge was asked about it and repeats it, and an export that holds it is ready."""
    settings.DATA_DIR = tmp_path
    a = small_campaign.responses[0]
    Response.objects.filter(pk=a.pk).update(text=SECRET)
    endpoint = Endpoint.objects.create(
        team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m"
    )
    asked, reason = f"BEGIN {SECRET} END", f"It says {SECRET}"
    judged(small_campaign, a.prompt, endpoint, asked, SECRET, reason, finished_at=timezone.now())
    export_requests.do_export(export_requests.request_export(small_campaign.campaign, "whole", None))
    return Response.objects.get(pk=a.pk)


def left() -> str:
    kept = [*CallAttempt.objects.values_list("request", "raw_reply", "reply_text")]
    kept += [*JudgeCall.objects.values_list("reason"), *Sweep.objects.values_list("texts")]
    return json.dumps(kept)


def fails(*_args, **_named):
    raise OperationalError("the connection is gone")


STEPS = [
    (sweeping, "_end_open_battles"),
    (sweeping, "_let_claims_end"),
    (sweeping, "_take_out"),
    (sweeping, "_blank_other_copies"),
    (sweeping.text_is_gone, "send"),
    (sweeping.text_redacted, "send"),
    (Export, "delete"),
    (sweeping, "_take_out_again"),
    (sweeping, "_take_out_of_row"),
    (sweeping, "_forget_on_disk"),
]


@pytest.mark.django_db
@pytest.mark.parametrize("again", ["click", "minute"])
@pytest.mark.parametrize(("where", "name"), STEPS)
def test_whichever_step_fails_is_done_later_and_the_others_at_once(
    response, signed_in, monkeypatch, where, name, again
):
    carol, path = signed_in("carol"), f"/responses/{response.pk}/redact/"
    with monkeypatch.context() as broken:
        broken.setattr(where, name, fails)
        page = carol.post(path, {"reason": "x"}, follow=True).content.decode()
    assert Response.objects.get(pk=response.pk).text == ""
    (sweep,) = Sweep.objects.all()
    is_of_disk = name == "_forget_on_disk"
    assert sweep.texts == ([] if is_of_disk else [SECRET])
    assert ("tried again each minute" in page) == (not is_of_disk)
    if again == "click":
        carol.post(path, {"reason": "again"})
    else:
        sweep_up_by_the_minute.call_local()
    assert "Quillfeather" not in left() and not Sweep.objects.exists()
    assert not Export.objects.exists() and not list(export_requests.folder().iterdir())
    assert Response.objects.get(pk=response.pk).tombstone["reason"] == "x"


@pytest.mark.django_db
def test_a_redaction_that_fails_before_its_end_has_not_happened(response, monkeypatch):
    monkeypatch.setattr(redaction.Sweep.objects, "create", fails)
    with pytest.raises(OperationalError):
        redact_response(response, reason="x", by="carol")
    assert Response.objects.get(pk=response.pk).text == SECRET


@pytest.mark.django_db
def test_copies_made_while_others_are_redacted_are_redacted_too(small_campaign, monkeypatch):
    prompt = Prompt.objects.get(pk=small_campaign.prompts[0].pk)
    lay, drafts = redaction._lay_prompt_to_rest, []

    def copied_just_before(*args):
        if not drafts:
            drafts.append(draft_next(small_campaign.prompt_set))
        return lay(*args)

    monkeypatch.setattr(redaction, "_lay_prompt_to_rest", copied_just_before)
    gone = redact_prompt_everywhere(prompt, reason="x", by="carol")
    copy = drafts[0].prompts.get(external_id=prompt.external_id)
    assert copy.tombstone["by"] == "carol" and [each.pk for each in gone] == [prompt.pk, copy.pk]


@pytest.mark.django_db(transaction=True)
def test_a_redaction_begun_while_the_next_version_is_copied_reaches_the_copy(small_campaign, monkeypatch):
    prompt = Prompt.objects.get(pk=small_campaign.prompts[0].pk)
    copy, gone = Prompt.objects.bulk_create, []

    def redact() -> None:
        try:
            gone.extend(redact_prompt_everywhere(prompt, reason="x", by="carol"))
        finally:
            connection.close()

    redaction_beside = threading.Thread(target=redact)

    def copied_and_not_yet_stored(rows, **named):
        made = copy(rows, **named)
        redaction_beside.start()
        redaction_beside.join(timeout=1)  # if it doesn't wait, it is over now
        return made

    monkeypatch.setattr(Prompt.objects, "bulk_create", copied_and_not_yet_stored)
    draft = draft_next(small_campaign.prompt_set)
    redaction_beside.join()
    assert draft.prompts.get(external_id=prompt.external_id).tombstone and len(gone) == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_that_wait_for_each_other_both_are_done(small_campaign):
    first, second = (prompt.pk for prompt in small_campaign.prompts[:2])
    both_hold = threading.Barrier(2)
    errors: list[BaseException] = []

    def relabel(pks: list[int], category: str) -> None:
        tried = []

        @done_again
        def act() -> None:
            with transaction.atomic():
                Prompt.objects.filter(pk=pks[0]).update(category=category)
                if not tried and connection.features.has_select_for_update:  # elsewhere one writes alone
                    tried.append(True)
                    both_hold.wait(timeout=60)
                Prompt.objects.filter(pk=pks[1]).update(category=category)

        try:
            act()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=relabel, args=(pks, category))
        for pks, category in (([first, second], "one"), ([second, first], "two"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(set(Prompt.objects.filter(pk__in=[first, second]).values_list("category", flat=True))) == 1


@pytest.mark.django_db
def test_a_part_of_a_larger_transaction_is_not_repeated_by_itself():
    calls = []

    @done_again
    def act() -> None:
        calls.append(1)
        raise OperationalError("deadlock detected")

    with pytest.raises(OperationalError):
        act()
    assert calls == [1]


@pytest.mark.django_db
def test_a_prompt_that_is_gone_altogether_is_no_error(small_campaign):
    copy = draft_next(small_campaign.prompt_set).prompts.first()
    Prompt.objects.filter(pk=copy.pk).delete()
    assert not redact_prompt(copy, reason="x", by="carol")
