from collections import Counter

import pytest
from django.utils import timezone

from arena.corpus import generate
from arena.corpus.generation_models import GenerationCall, GenerationRun
from arena.corpus.generation_planning import CannotGenerateError, estimate, plan_run
from arena.corpus.generation_progress import read_progress
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.redaction import redact_response
from arena.endpoints import ledger
from arena.endpoints.asking import do_one, handle_failure
from arena.endpoints.models import Call, CallAttempt, Endpoint
from tests.corpus.generation_studio import build_studio, let_time_pass, replies_with_its_name, work_off
from tests.endpoints.fake_server import FakeServer, Step, answer, completion, error, json_step, raw, status

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings):
    with FakeServer(replies_with_its_name) as running:
        settings.ENDPOINT_ALLOWED_HOSTS = [running.host]
        yield running


@pytest.fixture
def studio(server):
    return build_studio(server)


@pytest.fixture
def solo(server):
    """One model, one prompt: one call."""
    return build_studio(server, prompts=1, models=("alpha",))


def run_all(studio, **options) -> GenerationRun:
    run = plan_run(studio.prompt_set, studio.competitors, **options)
    work_off()
    run.refresh_from_db()
    return run


def failures() -> Counter:
    return Counter(GenerationCall.objects.exclude(failure="").values_list("failure", flat=True))


def claim_one(studio) -> ledger.Claim:
    found = ledger.claim(studio.endpoints[0].pk, generate.ASKER.eligible, generate.ASKER.prepare)
    assert isinstance(found, ledger.Claim)
    return found


# --- the happy path ---------------------------------------------------------------------------------------


def test_every_model_answers_every_prompt_once(studio, server):
    run = run_all(studio)
    assert run.status == GenerationRun.Status.COMPLETED
    assert run.started_at
    assert run.finished_at
    texts = Response.objects.values_list("competitor__name", "prompt__external_id", "text")
    assert sorted(texts) == [
        (name, f"p{n}", f"**{name.lower()}** on: Question {n}?")
        for name in ("Alpha", "Beta")
        for n in range(3)
    ]
    assert server.calls == 6


def test_a_response_is_counted_rendered_and_says_where_it_is_from(solo, server):
    Endpoint.objects.update(input_price=2, output_price=10)
    run_all(solo)
    response = Response.objects.get()
    assert (response.bold, response.words, response.is_blank) == (1, 4, False)
    assert response.rendered_html.startswith("<p")
    assert (response.finish_reason, response.tokens, response.answering_model) == ("stop", 30, "fake-judge")
    assert str(response.cost_usd) == "0.00054000"
    assert response.latency_ms is not None
    assert response.generation_call.recipe.run == GenerationRun.objects.get()


def test_system_prompt_and_parameters_are_sent_and_kept_with_the_run(solo, server):
    Endpoint.objects.update(parameters={"temperature": 1, "seed": 3})
    Competitor.objects.update(system_prompt="Be brief.", parameters={"temperature": 0})
    solo.competitors[0].refresh_from_db()
    plan_run(solo.prompt_set, solo.competitors)
    # What is changed after the start doesn't reach the run.
    Competitor.objects.update(system_prompt="Be long.", parameters={})
    Endpoint.objects.update(parameters={}, model_id="gamma")
    work_off()
    sent = server.requests[0].body
    assert sent["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (sent["temperature"], sent["seed"], sent["model"]) == (0, 3, "alpha")
    recipe = Response.objects.get().generation_call.recipe
    assert (recipe.system_prompt, recipe.model_id) == ("Be brief.", "alpha")
    assert recipe.parameters == {"temperature": 0, "seed": 3}


def test_several_samples_are_several_responses(solo):
    run_all(solo, samples=3)
    assert sorted(Response.objects.values_list("sample", flat=True)) == [1, 2, 3]


def test_only_what_is_missing_is_asked(studio, server, make_response):
    prompt = Prompt.objects.earliest("pk")
    make_response(prompt, studio.competitors[0], "Imported.")
    run_all(studio)
    assert server.calls == 5
    assert Response.objects.get(prompt=prompt, competitor=studio.competitors[0]).text == "Imported."
    with pytest.raises(CannotGenerateError, match="nothing is missing"):
        plan_run(studio.prompt_set, studio.competitors)


def test_two_runs_at_once_do_not_ask_for_the_same_response(studio, server):
    plan_run(studio.prompt_set, studio.competitors[:1])
    second = plan_run(studio.prompt_set, studio.competitors)
    assert second.calls().count() == 3
    work_off()
    assert Response.objects.count() == server.calls == 6


# --- what never becomes a response ------------------------------------------------------------------------

CUT = Step(200, b'{"choices": [{"message": {"content": "Half a', {"Content-Type": "application/json"}, cut=30)


@pytest.mark.parametrize(
    ("step", "state", "failure", "calls"),
    [
        (answer(""), "parse_failed", "empty", 2),
        (answer(" \n "), "parse_failed", "empty", 2),
        (answer(None), "parse_failed", "empty", 2),
        (answer("", "length"), "truncated", "truncated", 2),
        (answer("Half a", None), "parse_failed", "unfinished", 2),
        (answer("Half a", "error"), "parse_failed", "unfinished", 2),
        (answer("No.", "content_filter"), "refused", "refused", 1),
        (answer("", refusal="I can't."), "refused", "refused", 1),
        (error(400, "content management policy"), "refused", "refused", 1),
        (error(400, "maximum context length is 8"), "context_overflow", "context_overflow", 1),
        (error(400, "no"), "bad_request", "bad_request", 1),
        (status(500), "gave_up", "server_error", 6),
        (json_step({"error": {"message": "overloaded", "code": 503}}), "gave_up", "server_error", 6),
        (raw(b"<html>Gateway</html>"), "gave_up", "not_json", 6),
        (raw(b'{"choices": []}'), "gave_up", "malformed", 6),
        (raw(json_step(completion("x" * (2 << 20))).body), "gave_up", "too_large", 1),
        (CUT, "gave_up", "connection", 6),
    ],
)
def test_a_providers_failure_never_becomes_a_response(solo, server, step, state, failure, calls):
    server.default = step
    run = run_all(solo)
    assert not Response.objects.exists()
    assert run.status == GenerationRun.Status.COMPLETED_WITH_FAILURES
    assert Call.objects.get().state == state
    assert failures() == {failure: 1}
    assert server.calls == calls


def test_a_text_cut_at_the_limit_of_tokens_is_kept_and_counted(solo, server):
    server.default = answer("On and on", "length")
    run = run_all(solo)
    assert Response.objects.get().finish_reason == "length"
    assert read_progress(run).parts[0].at_the_limit == 1


def test_a_model_that_only_thought_gets_twice_the_room(solo, server):
    server.script = [answer("", "length", reasoning_content="Hm")]
    run_all(solo)
    assert [received.body["max_tokens"] for received in server.requests] == [1024, 2048]
    assert Response.objects.count() == 1


def test_a_wrong_key_pauses_the_run_and_costs_one_call(studio, server):
    server.default = error(401, "Incorrect API key")
    run = run_all(studio)
    assert run.status == GenerationRun.Status.PAUSED
    assert "Is the key right" in run.status_reason
    assert server.calls == 1
    server.default = replies_with_its_name
    assert run.resume()
    work_off()
    assert Response.objects.count() == 6


# --- what isn't sent --------------------------------------------------------------------------------------


def test_an_internal_set_is_never_sent_to_an_endpoint_that_is_not(studio, server):
    PromptSet.objects.update(is_internal=True)
    studio.prompt_set.refresh_from_db()
    with pytest.raises(CannotGenerateError, match="internal"):
        plan_run(studio.prompt_set, studio.competitors)
    Endpoint.objects.update(is_internal=True)
    for competitor in studio.competitors:
        competitor.endpoint.refresh_from_db()
    run = plan_run(studio.prompt_set, studio.competitors)
    # The endpoint moves out of the house after the start.
    Endpoint.objects.update(is_internal=False)
    work_off()
    run.refresh_from_db()
    assert server.calls == 0
    assert failures() == {"internal_text": 6}
    assert run.status == GenerationRun.Status.COMPLETED_WITH_FAILURES


def test_a_prompt_redacted_after_the_start_is_not_sent(solo, server):
    run = plan_run(solo.prompt_set, solo.competitors)
    Prompt.objects.update(tombstone={"reason": "personal"})
    work_off()
    run.refresh_from_db()
    assert (server.calls, run.status) == (0, GenerationRun.Status.COMPLETED)


def test_a_redacted_response_is_not_asked_for_again(studio, server):
    run_all(studio)
    before = server.calls
    redact_response(Response.objects.first(), reason="slander", by="carol")
    assert estimate(studio.prompt_set, studio.competitors, samples=1).calls == 0
    with pytest.raises(CannotGenerateError, match="nothing is missing"):
        plan_run(studio.prompt_set, studio.competitors)
    assert server.calls == before


def test_a_response_imported_meanwhile_stands_and_is_not_bought(solo, server, make_response):
    run = plan_run(solo.prompt_set, solo.competitors)
    make_response(Prompt.objects.get(), solo.competitors[0], "Imported.")
    work_off()
    run.refresh_from_db()
    assert (server.calls, run.status) == (0, GenerationRun.Status.COMPLETED)
    assert read_progress(run).parts[0].needless == 1


def test_a_response_imported_while_the_model_answers_stands(solo, server, make_response):
    plan_run(solo.prompt_set, solo.competitors)
    claim = claim_one(solo)
    ledger.send(claim)
    make_response(Prompt.objects.get(), solo.competitors[0], "Imported.")
    generate.ASKER.read(claim)
    assert Response.objects.get().text == "Imported."
    assert failures() == {"already_there": 1}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda s: PromptSet.objects.update(status="draft"), "publish it first"),
        (lambda s: Competitor.objects.update(endpoint=None), "has no endpoint"),
        (lambda s: Endpoint.objects.update(key_variable="NOT_SET_KEY"), "NOT_SET_KEY is not set"),
        (lambda s: Competitor.objects.update(parameters={"stream": True}), "stream"),
    ],
)
def test_a_run_that_could_not_work_is_not_planned(studio, spoil, words):
    spoil(studio)
    studio.prompt_set.refresh_from_db()
    with pytest.raises(CannotGenerateError, match=words):
        plan_run(studio.prompt_set, list(Competitor.objects.select_related("endpoint")))
    assert not GenerationRun.objects.exists()


def test_a_budget_in_dollars_needs_prices(studio):
    with pytest.raises(CannotGenerateError, match="no prices"):
        plan_run(studio.prompt_set, studio.competitors, budget_usd=1)


def test_prompts_whose_turns_cannot_be_asked_are_left_out_and_counted(studio):
    Prompt.objects.filter(external_id="p0").update(messages=[{"role": "user", "content": "a"}] * 2)
    assert estimate(studio.prompt_set, studio.competitors, 1).unaskable == 1
    assert plan_run(studio.prompt_set, studio.competitors).calls().count() == 4


# --- budgets, pauses, ends --------------------------------------------------------------------------------


def test_a_cap_on_calls_is_kept_to_the_call(studio, server):
    run = run_all(studio, max_calls=4)
    assert server.calls == Response.objects.count() == 4
    assert run.status == GenerationRun.Status.COMPLETED_WITH_FAILURES
    assert failures() == {"budget_stopped": 2}
    assert "used up: 4 calls" in run.status_reason


def test_a_budget_in_dollars_is_never_exceeded(studio, server):
    Endpoint.objects.update(input_price=2, output_price=10)
    for competitor in studio.competitors:
        competitor.endpoint.refresh_from_db()
    # A call may cost about 1024 × $10 per million; it does cost 0.00054.
    run = run_all(studio, budget_usd="0.0115")
    spent = sum(CallAttempt.objects.values_list("cost_usd", flat=True))
    assert 0 < spent <= run.budget_usd
    assert run.status == GenerationRun.Status.COMPLETED_WITH_FAILURES
    assert Response.objects.count() == server.calls < 6


def test_a_cancelled_run_asks_no_more_and_keeps_what_came(studio, server):
    run = plan_run(studio.prompt_set, studio.competitors)
    work_off(most=2)
    held = claim_one(studio)
    assert generate.ASKER.cancel(run)
    assert not generate.ASKER.cancel(run)
    ledger.send(held)
    generate.ASKER.read(held)
    work_off()
    run.refresh_from_db()
    assert run.status == GenerationRun.Status.CANCELLED
    assert Response.objects.count() == server.calls == 3


def test_a_call_that_fails_after_the_cancel_is_cancelled_too(solo, server):
    run = plan_run(solo.prompt_set, solo.competitors)
    server.script = [status(500)]
    held = claim_one(solo)
    generate.ASKER.cancel(run)
    handle_failure(generate.ASKER, held, ledger.send(held))
    assert Call.objects.get().state == "cancelled"


def test_a_call_held_by_a_dead_worker_ends_with_its_cancelled_run(solo):
    run = plan_run(solo.prompt_set, solo.competitors)
    claim_one(solo)
    generate.ASKER.cancel(run)
    let_time_pass()
    generate.ASKER.tidy()
    assert Call.objects.get().state == "cancelled"


def test_a_paused_run_waits_and_goes_on(studio, server):
    run = plan_run(studio.prompt_set, studio.competitors)
    run.pause("by an admin")
    work_off()
    assert server.calls == 0
    run.resume()
    work_off()
    assert server.calls == 6


def test_failed_calls_are_tried_again_on_demand(studio, server):
    server.script = [error(400, "no")] * 2
    run = run_all(studio)
    assert Response.objects.count() == 4
    assert generate.ASKER.retry_failed(run) == 2
    assert generate.ASKER.retry_failed(run) == 0
    work_off()
    run.refresh_from_db()
    assert run.status == GenerationRun.Status.COMPLETED
    assert Response.objects.count() == 6
    assert CallAttempt.objects.count() == 8


def test_a_reply_that_nobody_read_is_read_and_not_bought_again(solo, server):
    plan_run(solo.prompt_set, solo.competitors)
    ledger.send(claim_one(solo))
    let_time_pass()
    work_off()
    assert (server.calls, Response.objects.count()) == (1, 1)


def test_a_worker_that_lost_its_lease_stores_no_second_response(solo, server):
    plan_run(solo.prompt_set, solo.competitors)
    slow = claim_one(solo)
    let_time_pass()
    quick = claim_one(solo)
    ledger.send(quick)
    generate.ASKER.read(quick)
    ledger.send(slow)
    generate.ASKER.read(slow)
    assert Response.objects.count() == 1
    assert Counter(CallAttempt.objects.values_list("error_kind", flat=True)) == {"": 1, "lost": 1}


# --- what is told -----------------------------------------------------------------------------------------


def test_an_estimate_counts_what_is_missing_and_what_it_would_take(studio, make_response):
    make_response(Prompt.objects.earliest("pk"), studio.competitors[0], "Imported.")
    before = estimate(studio.prompt_set, studio.competitors, 2)
    assert [(share.there, share.missing) for share in before.shares] == [(1, 5), (0, 6)]
    assert (before.calls, before.usd, before.seconds) == (11, None, None)
    Endpoint.objects.update(input_price=2, output_price=10)
    call = Call.objects.create(key="k", endpoint=studio.endpoints[0], state="parsed")
    other = Call.objects.create(key="l", endpoint=studio.endpoints[1], state="parsed")
    for one in (call, other):
        CallAttempt.objects.create(
            call=one, number=1, request={}, latency_ms=8000, tokens_out=100, started_at=timezone.now()
        )
    competitors = list(Competitor.objects.select_related("endpoint").order_by("name"))
    after = estimate(studio.prompt_set, competitors, 2)
    assert 0.011 < after.usd < 0.02
    # Six calls of eight seconds at four a time; the endpoints work side by side.
    assert after.seconds == 12


def test_progress_is_told_by_model(studio, server):
    server.script = [error(400, "no")]
    run = run_all(studio)
    progress = read_progress(run)
    assert [(part.recipe.competitor.name, part.written, part.failed) for part in progress.parts] in (
        [("Alpha", 2, 1), ("Beta", 3, 0)],
        [("Alpha", 3, 0), ("Beta", 2, 1)],
    )
    assert (progress.calls, progress.done, progress.requests, progress.waiting) == (6, 6, 6, 0)
    assert progress.failures == {"bad_request": 1}


def test_an_endpoint_that_has_nothing_due_is_left_alone(studio):
    assert do_one(studio.endpoints[0].pk, [generate.ASKER]) == (None, None)
