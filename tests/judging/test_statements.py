"""What a judge call asks of the database: few statements, none of which grows with the run."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.endpoints import ledger
from arena.endpoints.models import CallAttempt
from arena.judging import ending, runner
from arena.judging.models import JudgeRun
from arena.judging.planning import plan_run
from tests.endpoints.fake_server import answer
from tests.judging.conftest import work_off

pytestmark = pytest.mark.django_db

WORK = ("SELECT", "INSERT", "UPDATE", "DELETE")


def statements_of_next_call(court) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        assert isinstance(runner.do_one(court.endpoint.pk), ledger.Claim)
    told = [query["sql"] for query in queries]
    return [sql for sql in told if sql.startswith(WORK)]


def test_a_call_takes_twelve_statements_whatever_the_size_of_its_run(make_court):
    court = make_court(battles=6)
    plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint, most=2)
    counts = [len(statements_of_next_call(court)) for _ in range(8)]
    # Claimed in six, its reply stored in one, read in four; the second order resolves the judgment in two.
    assert counts == [11, 13] * 4


def test_a_cap_costs_the_count_of_what_was_sent_and_no_more(make_court):
    court = make_court(battles=2)
    plan_run(court.campaign, [court.judge], court.pks, max_calls=100)
    work_off(court.endpoint, most=2)
    assert len(statements_of_next_call(court)) == 12


def test_the_next_call_and_the_last_judgment_are_found_by_index(court):
    run = plan_run(court.campaign, [court.judge], court.pks)
    looked_at = {"eligible": runner.OF_BATTLES.eligible, "endpoint": court.endpoint.pk}
    planned = ledger._planned.build(now=timezone.now(), **looked_at)
    unfinished = ending._unfinished.build(run=run.pk)
    if connection.vendor != "sqlite":
        # Of tables this small PostgreSQL's plan is chance; that the indexes are there isn't.
        with connection.cursor() as cursor:
            known = connection.introspection.get_constraints
            assert "open_calls_in_turn" in known(cursor, "arena_call")
            assert "judgments_of_run_by_outcome" in known(cursor, "arena_judgment")
        return
    for wanted, grows in ((planned, ("SCAN arena", "TEMP B-TREE")), (unfinished, ("SCAN U0",))):
        assert not [word for word in grows if word in wanted.explain()]
    assert "judgments_of_run_by_outcome" in unfinished.explain()


def test_a_second_try_is_numbered_after_the_first_even_when_the_run_is_tried_again(court, server):
    server.default = answer(None, refusal="No.")
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    work_off(court.endpoint)
    run.refresh_from_db()
    assert (ending.retry_failed(run), run.status) == (2, JudgeRun.Status.COMPLETED_WITH_FAILURES)
    work_off(court.endpoint)
    numbers = CallAttempt.objects.order_by("call", "number").values_list("number", flat=True)
    assert list(numbers) == [1, 2, 1, 2]
