"""A text that is redacted while a judge thinks about it doesn't come back with the reply."""

from __future__ import annotations

import pytest

from arena.corpus.models import Prompt, Response
from arena.corpus.quotations import REDACTED
from arena.corpus.redaction import redact_prompt, redact_response
from arena.endpoints import ledger
from arena.endpoints.ledger import LOST, WITHDRAWN
from arena.endpoints.models import Call, CallAttempt
from arena.judging import ending
from arena.judging.models import JudgeCall, JudgeRun
from arena.judging.planning import plan_run
from arena.judging.replay import replay
from tests.endpoints.fake_server import answer, json_step
from tests.judging.conftest import verdict, work_off

pytestmark = pytest.mark.django_db
SECRET = "Zanzibar Quillfeather lives at 12 Nowhere Lane and asks for a letter to the council."


@pytest.fixture
def quoting(court, server):
    """A run about one battle whose prompt is SECRET, and a judge that repeats it in every reply."""
    Prompt.objects.filter(pk=court.battles[0].prompt_id).update(
        messages=[{"role": "user", "content": SECRET}]
    )
    server.default = answer(verdict("first", reason=f"It was asked: {SECRET}"))
    return plan_run(court.campaign, [court.judge], court.pks[:1])


def redact(court) -> None:
    redact_prompt(Prompt.objects.get(pk=court.battles[0].prompt_id), reason="x", by="carol")


def meanwhile(monkeypatch, place, name: str, act) -> None:
    """`act` happens once, just before the function goes on."""
    go_on, done = getattr(place, name), []

    def first_act(*args):
        if not done:
            done.append(True)
            act()
        return go_on(*args)

    monkeypatch.setattr(place, name, first_act)


def kept() -> str:
    calls = JudgeCall.objects.values_list("reason", "failure")
    columns = ("request", "raw_reply", "reply_text", "error_text")
    return f"{list(calls)} {list(CallAttempt.objects.values_list(*columns))}"


def test_a_reply_about_a_text_redacted_meanwhile_is_paid_for_and_not_kept(court, quoting, monkeypatch):
    meanwhile(monkeypatch, ledger, "ask", lambda: redact(court))
    work_off(court.endpoint)
    attempt = CallAttempt.objects.get()
    assert attempt.error_kind == WITHDRAWN and attempt.finished_at and attempt.cost_usd is not None
    assert attempt.http_status == 200
    assert "Quillfeather" not in kept()
    assert set(JudgeCall.objects.values_list("failure", flat=True)) == {"redacted"}
    quoting.refresh_from_db()
    assert quoting.status == JudgeRun.Status.COMPLETED_WITH_FAILURES


def test_an_error_that_repeats_the_text_is_not_kept_either(court, quoting, server, monkeypatch):
    server.default = json_step({"error": {"message": f"can't take: {SECRET}"}}, status=401)
    meanwhile(monkeypatch, ledger, "ask", lambda: redact(court))
    work_off(court.endpoint)
    quoting.refresh_from_db()
    court.endpoint.refresh_from_db()
    told = f"{kept()} {quoting.status_reason} {court.endpoint.rest_reason}"
    assert "Quillfeather" not in told


def test_a_worker_that_was_written_off_stores_no_redacted_text(court, quoting, monkeypatch):
    def write_off_and_redact() -> None:
        CallAttempt.objects.update(error_kind=LOST)
        redact(court)

    meanwhile(monkeypatch, ledger, "ask", write_off_and_redact)
    work_off(court.endpoint, most=1)
    assert "Quillfeather" not in kept()


def test_a_killed_workers_attempt_about_a_redacted_text_stays_withdrawn(court, quoting, monkeypatch):
    monkeypatch.setattr(ledger, "ask", lambda *_args: pytest.fail("killed"))
    with pytest.raises(BaseException, match="killed"):
        work_off(court.endpoint, most=1)
    monkeypatch.undo()
    redact(court)
    Call.objects.filter(state=Call.State.CLAIMED).update(lease_until="2020-01-01T00:00:00Z")
    work_off(court.endpoint)
    assert CallAttempt.objects.get().error_kind == WITHDRAWN
    assert not Call.objects.filter(state__in=Call.OPEN).exists()


def test_a_reason_that_is_written_after_the_redaction_comes_without_its_words(court, quoting, monkeypatch):
    meanwhile(monkeypatch, ending, "_columns", lambda: redact(court))
    work_off(court.endpoint)
    first = JudgeCall.objects.exclude(verdict="").get()
    assert (first.reason, first.verdict) == (REDACTED, "first")
    assert "Quillfeather" not in kept()


def test_a_response_redacted_meanwhile_is_treated_like_a_prompt(court, quoting, server, monkeypatch):
    response = Response.objects.get(pk=court.battles[0].response_a_id)
    said = response.text
    server.default = answer(verdict("first", reason=f"The first says {said}"))
    meanwhile(monkeypatch, ledger, "ask", lambda: redact_response(response, reason="x", by="carol"))
    work_off(court.endpoint)
    assert said not in kept()


def test_a_run_with_redacted_reasons_is_replayed_without_a_difference(court, quoting):
    work_off(court.endpoint)
    before = list(JudgeCall.objects.order_by("pk").values_list("verdict", "scores"))
    redact(court)
    assert "Quillfeather" not in kept()
    assert list(JudgeCall.objects.order_by("pk").values_list("verdict", "scores")) == before
    again = replay(quoting)
    assert (again.replies, again.differences) == (2, ())
