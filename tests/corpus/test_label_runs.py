import re
from collections import Counter

import pytest

from arena.corpus import label_asking
from arena.corpus.label_models import LabelCall, LabelChange, LabelRun, SpotCheck
from arena.corpus.label_planning import CannotLabelError, estimate, plan_run, read_progress, unlabelled
from arena.corpus.labels import set_labels
from arena.corpus.models import HARD_CRITERIA, Prompt, PromptSet
from arena.corpus.redaction import redact_prompt
from arena.endpoints.asking import do_one
from arena.endpoints.ledger import Claim, Later
from arena.endpoints.models import Call, Endpoint
from arena.raters.models import Team
from tests.corpus.generation_studio import let_time_pass
from tests.endpoints.fake_server import FakeServer, answer, error, status

pytestmark = pytest.mark.django_db
SIX = answer('{"criteria": [1, 2, 3, 4, 5, 6]}')
NONE_OF_IT = answer("I would rather not.")


@pytest.fixture
def server(settings):
    with FakeServer(SIX) as running:
        settings.ENDPOINT_ALLOWED_HOSTS = [running.host]
        yield running


@pytest.fixture
def prompt_set(db) -> PromptSet:
    made = PromptSet.objects.create(team=Team.default(), name="Start", status="published")
    for number in range(3):
        Prompt.objects.create(
            prompt_set=made, external_id=f"p{number}", messages=[{"role": "user", "content": f"Q{number}?"}]
        )
    return made


@pytest.fixture
def endpoint(server) -> Endpoint:
    fields = {"base_url": server.base_url, "model_id": "m", "timeout_seconds": 5}
    return Endpoint.objects.create(team=Team.default(), name="Labeller", **fields)


def work_off(endpoint: Endpoint, most: int = 100) -> None:
    for _ in range(most):
        found, _asker = do_one(endpoint.pk, [label_asking.ASKER])
        if found is None:
            return
        if isinstance(found, Later):
            let_time_pass()
    raise AssertionError("there is no end to it")


def run_all(prompt_set, endpoint, **options) -> LabelRun:
    run = plan_run(prompt_set, endpoint, **options)
    work_off(endpoint)
    run.refresh_from_db()
    return run


def failures() -> Counter:
    return Counter(LabelCall.objects.exclude(failure="").values_list("failure", flat=True))


def test_every_prompt_gets_its_labels_and_says_from_whom(prompt_set, endpoint):
    run = run_all(prompt_set, endpoint)
    assert run.status == LabelRun.Status.COMPLETED
    for prompt in prompt_set.prompts.all():
        assert prompt.is_hard is True
        assert [getattr(prompt, name) for name in HARD_CRITERIA] == [True] * 6 + [False]
    assert set(LabelChange.objects.values_list("source", "by")) == {("llm", "Labeller")}
    progress = read_progress(run)
    assert (progress.calls, progress.done, progress.labelled, progress.failed) == (3, 3, 3, 0)


def test_a_failure_is_unknown_and_never_not_hard(prompt_set, endpoint, server):
    server.default = NONE_OF_IT
    run = run_all(prompt_set, endpoint)
    assert run.status == LabelRun.Status.COMPLETED_WITH_FAILURES
    assert failures() == {"no_list": 3} and server.calls == 6  # each is asked once more
    assert not prompt_set.prompts.exclude(is_hard=None).exists()
    assert not LabelChange.objects.exists()


def test_what_failed_is_asked_again_and_what_stands_is_not(prompt_set, endpoint, server):
    server.script = [NONE_OF_IT, NONE_OF_IT]
    run = run_all(prompt_set, endpoint)
    assert failures() == {"no_list": 1}
    before = server.calls
    assert label_asking.ASKER.retry_failed(run) == 1
    work_off(endpoint)
    run.refresh_from_db()
    assert run.status == LabelRun.Status.COMPLETED and server.calls == before + 1
    assert prompt_set.prompts.filter(is_hard=True).count() == 3


def test_a_second_try_names_what_was_wrong_with_the_first(prompt_set, endpoint, server):
    server.script = [answer("[9]")]
    run_all(prompt_set, endpoint)
    said = [request.body["messages"][-1]["content"] for request in server.requests]
    assert sum("none of the seven" in words for words in said) == 1


def test_labels_of_people_stand(prompt_set, endpoint):
    prompt = prompt_set.prompts.first()
    set_labels({prompt.pk: {"specificity": False, "is_hard": False}}, source="hand", by="carol")
    run_all(prompt_set, endpoint)
    prompt.refresh_from_db()
    assert (prompt.specificity, prompt.complexity, prompt.is_hard) == (False, True, False)


def test_only_what_lacks_labels_is_asked_about_and_once_at_a_time(prompt_set, endpoint, server):
    first, second, third = prompt_set.prompts.order_by("pk")
    set_labels({first.pk: dict.fromkeys(HARD_CRITERIA, True)}, source="hand")
    redact_prompt(second, reason="x", by="carol")
    assert list(unlabelled(prompt_set)) == [third]
    plan_run(prompt_set, endpoint)
    with pytest.raises(CannotLabelError, match="nothing is missing"):
        plan_run(prompt_set, endpoint)
    assert LabelRun.objects.count() == 1


def test_an_internal_set_never_goes_to_an_endpoint_that_is_not(prompt_set, endpoint, server):
    run = plan_run(prompt_set, endpoint)
    PromptSet.objects.update(is_internal=True)
    work_off(endpoint)
    run.refresh_from_db()
    assert server.calls == 0 and failures() == {"internal_text": 3}
    with pytest.raises(CannotLabelError, match="is internal"):
        plan_run(PromptSet.objects.get(), endpoint)
    Endpoint.objects.update(is_internal=True)
    endpoint.refresh_from_db()
    assert run_all(PromptSet.objects.get(), endpoint).status == LabelRun.Status.COMPLETED


def test_a_prompt_redacted_meanwhile_is_not_sent(prompt_set, endpoint, server):
    plan_run(prompt_set, endpoint)
    for prompt in prompt_set.prompts.all():
        redact_prompt(prompt, reason="x", by="carol")
    work_off(endpoint)
    assert server.calls == 0 and failures() == {"redacted": 3}


def test_errors_of_the_server_are_waited_out(prompt_set, endpoint, server):
    server.script = [status(500), status(429)]
    assert run_all(prompt_set, endpoint).status == LabelRun.Status.COMPLETED


def test_a_wrong_key_pauses_the_run(prompt_set, endpoint, server):
    server.default = error(401, "no such key")
    run = plan_run(prompt_set, endpoint)
    assert isinstance(do_one(endpoint.pk, [label_asking.ASKER])[0], Claim)
    run.refresh_from_db()
    assert run.status == LabelRun.Status.PAUSED
    assert re.search(r"\w.* \(since \d{4}-\d\d-\d\d \d\d:\d\d UTC\)$", run.status_reason)


def test_a_budget_is_never_exceeded(prompt_set, endpoint, server):
    with pytest.raises(CannotLabelError, match="no prices"):
        plan_run(prompt_set, endpoint, budget_usd=1)
    Endpoint.objects.update(input_price=1, output_price=1)
    endpoint.refresh_from_db()
    assert estimate(prompt_set, endpoint).usd > 0
    run = run_all(prompt_set, endpoint, budget_usd=0)
    assert server.calls == 0 and failures() == {"budget_stopped": 3}
    assert "budget" in run.status_reason


def test_a_run_is_started_watched_and_cancelled_on_the_page(prompt_set, endpoint, signed_in, monkeypatch):
    monkeypatch.setattr("arena.corpus.label_views.enqueue", lambda run: None)
    carol, path = signed_in("carol"), f"/prompt-sets/{prompt_set.pk}/label-runs/new/"
    part = carol.get(f"{path}?endpoint={endpoint.pk}", HTTP_HX_REQUEST="true").content.decode()
    assert "<strong>3</strong>" in part and "<html" not in part
    assert "3 prompts lack a label" in carol.get(path).content.decode()
    assert carol.post(path, {}).status_code == 422
    estimated = carol.post(path, {"endpoint": endpoint.pk, "act": "estimate"})
    assert estimated.status_code == 200 and not LabelRun.objects.exists()
    assert carol.post(path, {"endpoint": endpoint.pk}).status_code == 302
    run = LabelRun.objects.get()
    live = carol.get(f"/label-runs/{run.pk}/", HTTP_HX_REQUEST="true")
    assert "of 3 calls" in live.content.decode() and "HX-Refresh" not in live.headers
    for act, expected in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        carol.post(f"/label-runs/{run.pk}/{act}/")
        run.refresh_from_db()
        assert run.status == expected
    assert set(Call.objects.values_list("state", flat=True)) == {"cancelled"}
    ended = carol.get(f"/label-runs/{run.pk}/", HTTP_HX_REQUEST="true")
    assert ended.headers["HX-Refresh"] == "true" and "unknown" in ended.content.decode()


def test_a_spot_check_hides_what_the_llm_said_and_tells_how_far_they_agree(prompt_set, endpoint, signed_in):
    carol, path = signed_in("carol"), f"/prompt-sets/{prompt_set.pk}/spot-check/"
    assert "labelled by an LLM yet" in carol.get(path).content.decode()
    run_all(prompt_set, endpoint)
    page = carol.get(path).content.decode()
    assert "checked" not in page and "0 done" in page
    yes = dict.fromkeys(HARD_CRITERIA, "yes")
    shown = prompt_set.prompts.first()
    assert carol.post(path, {"prompt": shown.pk, "specificity": "yes"}).status_code == 422
    for prompt, said in zip(prompt_set.prompts.all(), (yes, yes, yes | {"complexity": "no"}), strict=True):
        assert carol.post(path, said | {"prompt": prompt.pk}).status_code == 302
    carol.post(path, dict.fromkeys(HARD_CRITERIA, "no") | {"prompt": shown.pk})  # once a person
    assert SpotCheck.objects.count() == 3
    page = carol.get(path).content.decode()
    assert "You have seen every prompt" in page and "on 3 checks" in page and "67&nbsp;%" in page
    assert "1 done" not in signed_in("ravi").get(path).content.decode()


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_nobody_else_starts_or_sees_a_run(prompt_set, endpoint, signed_in, who):
    run = plan_run(prompt_set, endpoint)
    visitor = signed_in(who)
    assert (
        visitor.post(f"/prompt-sets/{prompt_set.pk}/label-runs/new/", {"endpoint": endpoint.pk}).status_code
        == 404
    )
    for path in (f"/label-runs/{run.pk}/", f"/prompt-sets/{prompt_set.pk}/spot-check/"):
        assert visitor.get(path).status_code == 404
    assert visitor.post(f"/label-runs/{run.pk}/cancel/").status_code == 404
    assert LabelRun.objects.count() == 1
