import re
import threading
import time
from collections import Counter
from functools import partial
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.corpus.redaction import redact_response
from arena.endpoints import ledger
from arena.endpoints.asking import handle_failure
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.endpoints.tasks import endpoints_with_due_calls
from arena.judging import ending, runner
from arena.judging.models import JudgeCall, JudgeRun, Judgment
from arena.judging.planning import plan_run
from tests.endpoints import fake_server
from tests.endpoints.fake_server import answer, error, json_step, raw, status
from tests.judging.conftest import let_time_pass, prefers, verdict, work_off

pytestmark = pytest.mark.django_db

FIRST, TIE = verdict("first"), verdict("tie")


def run_all(court, **options) -> JudgeRun:
    run = plan_run(court.campaign, [court.judge], court.pks, **options)
    work_off(court.endpoint)
    run.refresh_from_db()
    return run


def outcomes(run) -> Counter:
    return Counter(run.judgments.values_list("outcome", flat=True))


def states() -> Counter:
    return Counter(Call.objects.values_list("state", flat=True))


def sweep() -> set[int]:
    runner.OF_BATTLES.tidy()
    return endpoints_with_due_calls([runner.OF_BATTLES])


def failures() -> Counter:
    return Counter(JudgeCall.objects.exclude(failure="").values_list("failure", flat=True))


# --- the happy path ---------------------------------------------------------------------------------------


def test_every_battle_is_asked_in_both_orders_and_resolved_in_sides(court, server):
    run = run_all(court)
    assert run.status == JudgeRun.Status.COMPLETED
    assert run.started_at
    assert run.finished_at
    # The judge wants "Reply 0", which stands on side a, on neither, on side b, and so on.
    found = run.judgments.order_by("battle_id").values_list("outcome", "base_outcome", "flip")
    expected = ["model_a", "tie", "model_b"] * 2
    assert list(found) == [(outcome, outcome, "none") for outcome in expected]
    assert states() == {"parsed": 12}
    assert server.calls == CallAttempt.objects.count() == 12


def test_the_two_orders_show_the_texts_the_other_way_round_and_no_name(court, server):
    run_all(court)
    seen = Counter()
    for received in server.requests:
        text = received.body["messages"][1]["content"]
        first, second = text.index("FIRST RESPONSE"), text.index("SECOND RESPONSE")
        seen[text[first:second].count("Reply 0"), text[second:].count("Reply 0")] += 1
        for name in ("Ember", "Fjord", "Grove"):
            assert name not in str(received.body)
    assert seen == {(1, 0): 4, (0, 1): 4, (0, 0): 4}


def test_an_attempt_keeps_request_reply_tokens_cost_and_latency(court):
    Endpoint.objects.update(input_price="2", output_price="10")
    run_all(court)
    attempt = CallAttempt.objects.first()
    assert attempt.request["messages"][0]["role"] == "system"
    assert attempt.raw_reply.startswith('{"id": "chatcmpl-1"')
    assert (attempt.tokens_in, attempt.tokens_out) == (120, 30)
    # 120 × $2 and 30 × $10 per million
    assert str(attempt.cost_usd) == "0.00054000"
    assert attempt.latency_ms is not None
    assert attempt.answering_model == "fake-judge"
    assert attempt.finish_reason == "stop"
    assert Call.objects.exclude(reserved_usd=0).count() == 0


def test_verdict_scores_and_reason_are_kept_per_order(court, server):
    server.default = answer(verdict("second", reason="The second is right."))
    run = run_all(court)
    call = JudgeCall.objects.first()
    assert (call.verdict, call.reason, call.failure) == ("second", "The second is right.", "")
    assert call.scores["first"] == {"factual": 4, "relevant": 4, "clarity": 4}
    # Always the second: a judge that looks at the place and not at the text.
    assert outcomes(run) == {"tie_unstable": 6}
    assert set(run.judgments.values_list("flip", flat=True)) == {"hard"}


def test_a_tie_in_one_order_is_a_soft_flip(court, server):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [answer(FIRST), answer(TIE)]
    work_off(court.endpoint)
    judgment = Judgment.objects.get()
    assert (judgment.outcome, judgment.flip, judgment.leaning) == ("tie_unstable", "soft", "model_a")


@pytest.mark.parametrize(
    ("verdicts", "side"),
    [((FIRST, TIE), "model_a"), ((verdict("second"), TIE), "model_b"), ((TIE, FIRST), "model_b")],
)
def test_soft_flips_found_before_sides_were_kept_get_theirs(court, server, verdicts, side):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [answer(verdict) for verdict in verdicts]
    work_off(court.endpoint)
    Judgment.objects.update(leaning="")
    import_module("arena.migrations.0022_sides_of_soft_flips").tell(apps, None)
    assert Judgment.objects.get().leaning == side


def test_what_the_endpoint_turns_out_to_be_is_remembered(court):
    run_all(court)
    court.endpoint.refresh_from_db()
    assert court.endpoint.answering_model == fake_server.MODEL


# --- replies that can't be read ---------------------------------------------------------------------------


def test_a_reply_that_cannot_be_read_is_asked_for_once_more(court, server):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [answer("I like the first.")]
    work_off(court.endpoint)
    assert states() == {"parsed": 2}
    again = server.requests[1].body["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert again[2]["content"] == "I like the first."
    assert "no JSON object" in again[3]["content"]


def test_a_second_unreadable_reply_is_a_failure_and_never_a_tie(court, server):
    server.default = answer("tie")
    run = run_all(court)
    assert run.status == JudgeRun.Status.COMPLETED_WITH_FAILURES
    assert outcomes(run) == {"no_verdict": 6}
    assert states() == {"parse_failed": 12}
    assert failures() == {"parse_failed:no_json": 12}
    assert server.calls == 24


def test_a_truncated_reply_gets_twice_the_room_once(court, server):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [answer(FIRST[:30], "length")]
    work_off(court.endpoint)
    assert [received.body["max_tokens"] for received in server.requests] == [1024, 2048, 1024]
    assert states() == {"parsed": 2}


def test_a_reply_truncated_twice_is_a_failure(court, server):
    server.default = answer(FIRST[:30], "length")
    run = run_all(court)
    assert outcomes(run) == {"no_verdict": 6}
    assert failures() == {"truncated": 12}
    assert server.calls == 24


def test_a_refusal_is_final_at_once(court, server):
    server.default = answer(None, refusal="I'd rather not.")
    run = run_all(court)
    assert (states(), failures()) == ({"refused": 12}, {"refused": 12})
    assert outcomes(run) == {"no_verdict": 6}
    assert server.calls == 12


def test_one_failed_order_leaves_no_verdict_and_the_other_order_is_kept(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [answer(FIRST), answer(None, "content_filter")]
    work_off(court.endpoint)
    judgment = run.judgments.get()
    assert (judgment.outcome, judgment.flip) == ("no_verdict", "none")
    assert sorted(JudgeCall.objects.values_list("verdict", "failure")) == [("", "refused"), ("first", "")]


# --- servers that fail ------------------------------------------------------------------------------------


def test_a_passing_failure_is_tried_again_after_the_wait_that_was_asked_for(court, server):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [status(429, retry_after=30)]
    before = timezone.now()
    runner.do_one(court.endpoint.pk)
    call = Call.objects.get(state=Call.State.RETRY_WAIT)
    assert (call.next_try_at - before).total_seconds() >= 30
    # A rate limit is the key's and not the call's: the other call waits too.
    found = runner.do_one(court.endpoint.pk)
    assert isinstance(found, ledger.Later)
    assert 25 < found.seconds <= 60
    assert server.calls == 1
    work_off(court.endpoint)
    assert states() == {"parsed": 2}


def test_six_failures_in_a_row_end_a_call(court, server):
    server.default = status(500)
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    work_off(court.endpoint)
    assert (states(), failures()) == ({"gave_up": 2}, {"server_error": 2})
    assert server.calls == 12
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED_WITH_FAILURES


def test_nothing_but_failures_rests_the_endpoint(court, server):
    server.default = status(500)
    plan_run(court.campaign, [court.judge], court.pks)
    for _ in range(ledger.CIRCUIT_FAILURES):
        assert isinstance(runner.do_one(court.endpoint.pk), ledger.Claim)
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Later)
    court.endpoint.refresh_from_db()
    assert court.endpoint.paused_until > timezone.now()
    assert server.calls == ledger.CIRCUIT_FAILURES


def test_a_refused_parameter_is_left_out_from_then_on_and_remembered(court, server):
    court.judge.parameters = {"temperature": 0, "seed": 7}
    court.judge.save()
    plan_run(court.campaign, [court.judge], court.pks)
    server.script = [error(400, "temperature is not supported", param="temperature")]
    work_off(court.endpoint)
    court.endpoint.refresh_from_db()
    assert court.endpoint.refused_parameters == ["temperature"]
    assert states() == {"parsed": 12}
    sent = [received.body for received in server.requests]
    assert ["temperature" in body for body in sent] == [True] + 12 * [False]
    assert all(body["seed"] == 7 for body in sent)


def test_a_server_that_refuses_both_limits_of_tokens_pauses_the_run(court, server):
    server.default = lambda body: error(
        400, "unsupported", param="max_tokens" if "max_tokens" in body else "max_completion_tokens"
    )
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    work_off(court.endpoint)
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.PAUSED
    assert server.calls == 2


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (error(401, "Incorrect API key"), "Is the key right"),
        (error(404, "no such model"), "Check the base URL"),
        (error(402, "Pay first"), "Pay first"),
        (error(302, Location="/elsewhere"), "Redirects aren't followed"),
    ],
)
def test_what_would_fail_every_call_pauses_the_run_with_words_and_costs_one_call(court, server, step, words):
    server.default = step
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint)
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.PAUSED
    assert words in run.status_reason
    assert server.calls == 1
    assert outcomes(run) == {"": 6}
    server.default = prefers("Reply 0")
    run.resume()
    work_off(court.endpoint)
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED


def test_a_key_that_went_missing_pauses_the_run(court, server, monkeypatch):
    monkeypatch.setenv("JUDGE_API_KEY", "sk-0123456789")
    Endpoint.objects.update(key_variable="JUDGE_API_KEY")
    court.judge.refresh_from_db()
    run = plan_run(court.campaign, [court.judge], court.pks)
    monkeypatch.delenv("JUDGE_API_KEY")
    work_off(court.endpoint)
    run.refresh_from_db()
    assert (run.status, server.calls) == (JudgeRun.Status.PAUSED, 0)
    assert "JUDGE_API_KEY is not set" in run.status_reason


def test_a_call_that_makes_the_client_fail_is_not_taken_up_again(court, server, monkeypatch):
    def fail(config, payload):
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr("arena.endpoints.client._post", fail)
    run = plan_run(court.campaign, [court.judge], court.pks)
    assert work_off(court.endpoint) == 12, "each call once"
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED_WITH_FAILURES
    assert set(CallAttempt.objects.values_list("error_kind", flat=True)) == {"unsendable"}


def test_a_host_that_is_not_allowed_is_never_asked(court, server, settings):
    settings.ENDPOINT_ALLOWED_HOSTS = []
    run = run_all(court)
    assert (run.status, server.calls) == (JudgeRun.Status.PAUSED, 0)
    assert "ENDPOINT_ALLOWED_HOSTS" in run.status_reason


def test_structured_output_is_lowered_once_and_remembered(court, server):
    def picky(body):
        if body.get("response_format", {}).get("type") in ("json_schema", "json_object"):
            return error(400, "response_format is not supported")
        return answer(FIRST)

    server.default = picky
    run_all(court)
    court.endpoint.refresh_from_db()
    assert court.endpoint.structured_mode == "prompt"
    assert states() == {"parsed": 12}
    # The first call goes down two steps, the other eleven need none.
    assert server.calls == 14


def test_a_bad_request_of_unknown_cause_is_tried_in_a_humbler_form_and_then_ends(court, server):
    server.default = json_step({"error": "what?"}, 400)
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    work_off(court.endpoint)
    court.endpoint.refresh_from_db()
    assert court.endpoint.structured_mode == "json_schema", "what never worked is not remembered"
    assert (states(), server.calls) == ({"bad_request": 2}, 6)
    assert outcomes(run) == {"no_verdict": 1}


def test_the_field_for_the_token_limit_is_corrected(court, server):
    def modern(body):
        if "max_tokens" in body:
            return error(400, "Use 'max_completion_tokens' instead.", param="max_tokens")
        return answer(FIRST)

    server.default = modern
    run_all(court)
    court.endpoint.refresh_from_db()
    assert court.endpoint.max_tokens_field == "max_completion_tokens"
    assert court.endpoint.structured_mode == "json_schema"
    assert server.calls == 13


def test_a_context_that_is_too_long_ends_only_that_call(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks[:2])
    server.script = [error(400, "maximum context length is 10 tokens")]
    work_off(court.endpoint)
    assert states() == {"context_overflow": 1, "parsed": 3}
    assert outcomes(run) == {"no_verdict": 1, "tie": 1}


def test_garbage_and_giants_become_typed_failures(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    server.default = raw(b"x" * 10_000_000)
    work_off(court.endpoint)
    assert failures() == {"too_large": 2}
    assert outcomes(run) == {"no_verdict": 1}
    assert server.calls == 2


# --- workers that die -------------------------------------------------------------------------------------


def claim_one(court) -> ledger.Claim:
    claim = ledger.claim(court.endpoint.pk, runner.OF_BATTLES.eligible, runner.OF_BATTLES.prepare)
    assert isinstance(claim, ledger.Claim)
    return claim


def test_a_call_whose_worker_died_before_the_reply_is_asked_again(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    dead = claim_one(court)
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Claim), "the other order"
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Later), "the lease is held"
    work_off(court.endpoint)
    assert outcomes(run) == {"model_a": 1}
    assert CallAttempt.objects.get(pk=dead.attempt_id).error_kind == ledger.LOST
    assert (CallAttempt.objects.count(), server.calls) == (3, 2)


def test_a_reply_that_was_saved_and_not_read_is_read_and_not_bought_again(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    ledger.send(claim_one(court))  # and here the worker dies
    assert server.calls == 1
    work_off(court.endpoint)
    assert outcomes(run) == {"model_a": 1}
    assert (CallAttempt.objects.count(), server.calls) == (2, 2)


def test_whoever_lost_the_lease_stores_the_reply_and_decides_nothing(court, server):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    slow = claim_one(court)
    let_time_pass()
    quick = claim_one(court)
    assert quick.call_id == slow.call_id
    server.script = [answer(verdict("second")), answer(FIRST)]
    ledger.send(slow)
    runner.OF_BATTLES.read(slow)
    assert Call.objects.get(pk=slow.call_id).state == Call.State.CLAIMED
    ledger.send(quick)
    runner.OF_BATTLES.read(quick)
    assert JudgeCall.objects.get(call=slow.call_id).verdict == "first"
    late = CallAttempt.objects.get(pk=slow.attempt_id)
    assert late.error_kind == ledger.LOST
    assert "second" in late.raw_reply


def test_a_failure_that_nobody_decided_on_is_tried_again(court, server):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [status(500)]
    ledger.send(claim_one(court))
    work_off(court.endpoint)
    assert states() == {"parsed": 2}
    assert server.calls == 3


def test_a_call_that_kills_its_workers_ends_at_last(court, server):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    for _ in range(2):
        for _ in range(ledger.MOST_ATTEMPTS):
            claim_one(court)
            let_time_pass()
        assert isinstance(runner.do_one(court.endpoint.pk), ledger.Ended)
    assert (states(), failures()) == ({"gave_up": 2}, {"too_many_attempts": 2})
    assert JudgeRun.objects.get().status == JudgeRun.Status.COMPLETED_WITH_FAILURES


def test_a_run_whose_end_nobody_saw_is_finished_by_the_sweep(court):
    run = run_all(court)
    JudgeRun.objects.update(status=JudgeRun.Status.RUNNING, finished_at=None)
    assert sweep() == set()
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED


def test_the_sweep_names_the_endpoints_that_have_calls_due(court):
    run = plan_run(court.campaign, [court.judge], court.pks)
    assert sweep() == {court.endpoint.pk}
    run.pause("by an admin")
    assert sweep() == set()


# --- cancel, pause, retry ---------------------------------------------------------------------------------


def test_a_cancelled_run_asks_no_more_and_keeps_what_it_has(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint, most=3)
    held = claim_one(court)
    assert ending.cancel(run)
    assert not ending.cancel(run)
    ledger.send(held)
    runner.OF_BATTLES.read(held)
    work_off(court.endpoint)
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.CANCELLED
    assert states() == {"parsed": 4, "cancelled": 8}
    assert outcomes(run) == {"model_a": 1, "tie": 1, "no_verdict": 4}
    assert server.calls == 4


def test_a_call_that_fails_after_the_cancel_is_cancelled_too(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [status(500)]
    held = claim_one(court)
    ending.cancel(run)
    handle_failure(runner.OF_BATTLES, held, ledger.send(held))
    assert states() == {"cancelled": 2}
    assert outcomes(run) == {"no_verdict": 1}


def touched_first(act) -> list[str]:
    """Judgments and calls in the order in which a transaction first takes hold of a row of each."""
    with CaptureQueriesContext(connection) as statements:
        act()
    is_locking = connection.vendor == "postgresql"  # SQLite has one writer, and no word for it
    order: dict[str, None] = {}
    for statement in statements:
        sql = statement["sql"].replace('"', "")
        if found := re.search(r"^UPDATE arena_(judgment|call) ", sql):
            order[found[1]] = None
        elif (
            sql.startswith("SELECT")
            and "FROM arena_judgment " in sql
            and ("FOR UPDATE" in sql or not is_locking)
        ):
            order["judgment"] = None
    return list(order)


def test_whoever_ends_calls_takes_hold_of_their_judgments_first(court, server):
    """In two orders each would hold what the other waits for, and the database would break one off."""
    acts = {
        "stop": lambda run: transaction.atomic(runner.OF_BATTLES.stop_for_budget)(run, "used up"),
        "tidy": lambda run: ending.end_waiting(run, Call.State.CANCELLED, abandoned=True),
        "cancel": ending.cancel,
    }
    for name, act in acts.items():
        run = plan_run(court.campaign, [court.judge], court.pks)
        assert touched_first(partial(act, run)) == ["judgment", "call"], name
        assert set(run.judgments.values_list("outcome", flat=True)) == {"no_verdict"}
    plan_run(court.campaign, [court.judge], court.pks)
    end = partial(ending.close, claim_one(court), Call.State.GAVE_UP, failure="gave_up")
    assert touched_first(end) == ["judgment", "call"]


def test_a_call_held_by_a_dead_worker_does_not_keep_a_cancelled_run_open(court):
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    claim_one(court)
    ending.cancel(run)
    assert outcomes(run) == {"": 1}
    let_time_pass()
    sweep()
    assert outcomes(run) == {"no_verdict": 1}
    assert states() == {"cancelled": 2}


def test_a_paused_run_waits_and_goes_on(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint, most=3)
    assert run.pause("by an admin")
    assert work_off(court.endpoint) == 0
    assert run.resume()
    work_off(court.endpoint)
    assert (states(), server.calls) == ({"parsed": 12}, 12)


def test_failed_calls_are_retried_and_parsed_ones_are_not(court, server):
    server.script = [status(500)] * 6 + [answer(None, refusal="No.")]
    run = plan_run(court.campaign, [court.judge], court.pks)
    for _ in range(20):
        work_off(court.endpoint)
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED_WITH_FAILURES
    bought, failed = server.calls, sum(failures().values())
    assert failed > 0
    assert ending.retry_failed(run) == failed
    assert ending.retry_failed(run) == 0
    work_off(court.endpoint)
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED
    assert server.calls == bought + failed
    assert outcomes(run) == {"model_a": 2, "tie": 2, "model_b": 2}
    assert failures() == {}


# --- limits -----------------------------------------------------------------------------------------------


def test_a_cap_on_calls_is_kept_to_the_call(court, server):
    server.default = answer("unreadable")
    run = run_all(court, max_calls=7)
    assert server.calls == 7
    assert run.status == JudgeRun.Status.COMPLETED_WITH_FAILURES
    assert run.status_reason == "budget: used up: 7 calls"
    assert set(states()) == {"parse_failed", "budget_stopped"}
    assert outcomes(run) == {"no_verdict": 6}


def test_a_budget_in_dollars_is_never_exceeded(court, server):
    # A call costs 120 × $100 + 30 × $100 per million = $0.015; reserved is $0.2 or so.
    Endpoint.objects.update(input_price=100, output_price=100)
    court.judge.endpoint.refresh_from_db()
    run = run_all(court, budget_usd="0.30")
    spent = sum(CallAttempt.objects.values_list("cost_usd", flat=True))
    assert 0 < spent <= 0.30
    assert 0 < server.calls < 12
    assert "could exceed $0.30" in run.status_reason
    assert "budget_stopped" in states()


def test_money_on_its_way_is_reserved_and_waited_for(court):
    Endpoint.objects.update(input_price=100, output_price=100)
    court.judge.endpoint.refresh_from_db()
    plan_run(court.campaign, [court.judge], court.pks, budget_usd="0.30")
    held = claim_one(court)
    assert Call.objects.get(pk=held.call_id).reserved_usd > 0.1
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Later)
    assert states()["budget_stopped"] == 0
    ledger.send(held)
    runner.OF_BATTLES.read(held)
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Claim)


def test_what_may_have_been_charged_costs_what_was_reserved(court, server):
    Endpoint.objects.update(input_price=100, output_price=100, timeout_seconds=1)
    server.script = [fake_server.hang(0.1), status(500), answer(FIRST)]
    plan_run(court.campaign, [court.judge], court.pks[:1])
    for _ in range(3):
        runner.do_one(court.endpoint.pk)
        let_time_pass()
    costs = dict(CallAttempt.objects.values_list("error_kind", "cost_usd"))
    assert costs["connection"] > 0.1
    assert costs["server_error"] == 0
    assert float(costs[""]) == 0.015


def test_requests_per_minute_are_shared_by_all_workers(court, server):
    Endpoint.objects.update(requests_per_minute=3)
    plan_run(court.campaign, [court.judge], court.pks)
    found = [runner.do_one(court.endpoint.pk) for _ in range(4)]
    assert [type(one) for one in found] == [ledger.Claim] * 3 + [ledger.Later]
    assert 50 < found[3].seconds <= 60
    CallAttempt.objects.filter(number=1).update(started_at=timezone.now() - timezone.timedelta(seconds=61))
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Claim)


def test_tokens_per_minute_count_what_is_on_its_way(court):
    Endpoint.objects.update(tokens_per_minute=1200, max_tokens=1000)
    plan_run(court.campaign, [court.judge], court.pks)
    claim_one(court)
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Claim), "1,000 on their way, of 1,200"
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Claim), "and 150 used"
    assert isinstance(runner.do_one(court.endpoint.pk), ledger.Later)


def test_no_more_calls_are_held_than_the_endpoint_takes_at_once(court):
    Endpoint.objects.update(concurrency=2)
    plan_run(court.campaign, [court.judge], court.pks)
    claim_one(court)
    claim_one(court)
    found = ledger.claim(court.endpoint.pk, runner.OF_BATTLES.eligible, runner.OF_BATTLES.prepare)
    assert isinstance(found, ledger.Later)
    assert 25 < found.seconds <= 30


def test_internal_texts_never_reach_a_strangers_endpoint(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks)
    court.battles[0].prompt.prompt_set.__class__.objects.update(is_internal=True)
    work_off(court.endpoint)
    assert server.calls == 0
    assert failures() == {"internal_text": 12}
    assert outcomes(run) == {"no_verdict": 6}


def test_what_was_redacted_is_never_judged(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks)
    for battle in court.battles:
        redact_response(battle.response_b, reason="slander", by="carol")
    work_off(court.endpoint)
    assert server.calls == 0
    assert failures() == {"redacted": 12}
    assert outcomes(run) == {"no_verdict": 6}


# --- many workers at once ---------------------------------------------------------------------------------


def work_in_threads(court, count: int) -> None:
    def serve() -> None:
        try:
            while (found := runner.do_one(court.endpoint.pk)) is not None:
                if isinstance(found, ledger.Later):
                    time.sleep(0.05)
        finally:
            connection.close()

    threads = [threading.Thread(target=serve) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_eight_workers_buy_nothing_twice_and_lose_nothing(make_court, server):
    court = make_court(battles=30, concurrency=3)
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_in_threads(court, 8)
    assert states() == {"parsed": 60}
    assert server.calls == CallAttempt.objects.count() == 60
    assert server.most_in_flight <= 3
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED


@pytest.mark.django_db(transaction=True)
def test_eight_workers_keep_a_cap_on_calls(make_court, server):
    court = make_court(battles=60, concurrency=8)
    run = plan_run(court.campaign, [court.judge], court.pks, max_calls=100)
    work_in_threads(court, 8)
    assert server.calls == CallAttempt.objects.count() == 100
    assert states() == {"parsed": 100, "budget_stopped": 20}
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED_WITH_FAILURES
