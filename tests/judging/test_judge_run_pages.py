import pytest

from arena.endpoints import tasks
from arena.endpoints.desk import Desk
from arena.endpoints.models import Call, Endpoint
from arena.judging.models import JudgeCall, JudgeRun, Judgment
from arena.judging.planning import plan_run
from arena.raters.models import Team
from tests.endpoints.fake_server import answer
from tests.judging.conftest import verdict, work_off

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def carol(signed_in):
    return signed_in("carol")


@pytest.fixture
def fields(court):
    return {
        "campaign": court.campaign.pk,
        "judges": [court.judge.pk],
        "which": "all",
        "limit": 100,
        "seed": 7,
    }


def page(answered) -> str:
    return answered.content.decode().replace("&#x27;", "'")


# --- starting ---------------------------------------------------------------------------------------------


def test_the_form_takes_campaign_and_judge_as_given(carol, court):
    text = page(carol.get(f"/judging/new/?campaign={court.campaign.slug}"))
    assert f'<option value="{court.campaign.pk}" selected>' in text
    assert "checked" in text
    assert "Choose a campaign and a judge" in text


def test_an_estimate_tells_calls_before_the_start_and_starts_nothing(carol, fields):
    Endpoint.objects.update(input_price=1, output_price=1)
    part = page(carol.get("/judging/new/", fields, headers=HTMX))
    assert "<html" not in part
    for words in ("<strong>6</strong> battles", "<strong>12</strong> calls", "About $0.0", "Time unknown"):
        assert words in part
    assert "<html" in page(carol.get("/judging/new/", fields)), "without JavaScript it is a page"
    assert not JudgeRun.objects.exists()


def test_an_estimate_counts_what_is_left_out(carol, fields, court):
    repeated = court.battles[0]
    repeated.pk = repeated.public_id = None
    repeated._state.adding = True
    repeated.public_id = "00000000-0000-4000-8000-000000000001"
    repeated.response_a, repeated.response_b = repeated.response_b, repeated.response_a
    repeated.competitor_a, repeated.competitor_b = repeated.competitor_b, repeated.competitor_a
    repeated.save()
    part = page(carol.get("/judging/new/", fields | {"limit": 4}, headers=HTMX))
    assert "1 battle repeats a pair of responses" in part
    assert "2 more battles are left for another run" in part


def test_a_start_plans_both_orders_and_leads_to_the_run(carol, fields, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        answered = carol.post("/judging/new/", fields | {"max_calls": 50})
    run = JudgeRun.objects.get()
    assert answered["Location"] == f"/judging/runs/{run.pk}/"
    assert len(callbacks) == 1, "the queue is told once the rows are there"
    assert (run.status, run.seed, run.max_calls) == ("queued", 7, 50)
    assert (run.judgments.count(), Call.objects.filter(state="planned").count()) == (6, 12)
    assert set(JudgeCall.objects.values_list("order", flat=True)) == {"ab", "ba"}


def test_a_started_run_is_worked_off_by_the_queue(carol, fields, server, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        carol.post("/judging/new/", fields)
    assert JudgeRun.objects.get().status == "completed"
    assert server.calls == 12


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"judges": []}, "This field is required"),
        ({"limit": 0}, "greater than or equal to 1"),
        ({"which": "some"}, "Select a valid choice"),
        ({"which": "voted"}, "let people vote first"),
        ({"budget_usd": "5"}, "has no prices"),
    ],
)
def test_a_run_that_cannot_start_says_why_and_plans_nothing(carol, fields, change, words):
    answered = carol.post("/judging/new/", fields | change)
    assert answered.status_code == 422
    assert words in page(answered)
    assert not JudgeRun.objects.exists()


def test_a_missing_key_is_told_before_the_start(carol, fields):
    Endpoint.objects.update(key_variable="NO_SUCH_KEY")
    answered = carol.post("/judging/new/", fields)
    assert answered.status_code == 422
    assert "NO_SUCH_KEY is not set" in page(answered)
    assert not JudgeRun.objects.exists()


def test_another_teams_judge_or_campaign_cannot_be_chosen(carol, fields, court):
    other = Team.objects.get(slug="other")
    for rows in (court.judge, court.campaign):
        rows.__class__.objects.filter(pk=rows.pk).update(team=other)
        answered = carol.post("/judging/new/", fields)
        assert answered.status_code == 422
        assert "Select a valid choice" in page(answered)
    assert not JudgeRun.objects.exists()


# --- watching ---------------------------------------------------------------------------------------------


@pytest.fixture
def run(court):
    return plan_run(court.campaign, [court.judge], court.pks)


def test_the_run_page_moves_while_the_run_goes_on(carol, court, run, server):
    path = f"/judging/runs/{run.pk}/"
    server.script = [answer(verdict("first"))] * 2
    work_off(court.endpoint, most=4)
    whole, part = page(carol.get(path)), page(carol.get(path, headers=HTMX))
    assert "<html" not in part
    for text in (whole, part):
        assert '<progress max="12" value="4"' in text
        assert "<strong>4</strong> of 12 calls" in text
        assert "2 of 6 judgments are resolved" in text
        assert "50.0\u00a0% unstable (1 of 2 with a verdict)" in text
        assert 'hx-trigger="every 2s"' in text
    work_off(court.endpoint)
    done = carol.get(path, headers=HTMX)
    assert "every 2s" not in page(done)
    assert done["HX-Refresh"] == "true"
    assert done["Vary"].count("HX-Request") == 1


def test_failures_are_counted_by_kind_and_can_be_retried(carol, court, run, server):
    path = f"/judging/runs/{run.pk}/"
    server.default = answer(None, refusal="No.")
    work_off(court.endpoint)
    text = page(carol.get(path))
    assert 'the model refused</span></td><td class="number">12</td>' in text
    assert "completed with failures" in text
    assert "Retry failed calls" in text
    server.default = answer(verdict("tie"))
    assert "12 failed calls are asked again." in page(carol.post(f"{path}retry/", follow=True))
    work_off(court.endpoint)
    assert "completed</span>" in page(carol.get(path))


def test_a_run_can_be_paused_continued_and_cancelled(carol, court, run, server):
    path = f"/judging/runs/{run.pk}/"
    assert "by an admin" in page(carol.post(f"{path}pause/", follow=True))
    assert work_off(court.endpoint) == 0
    carol.post(f"{path}resume/")
    work_off(court.endpoint, most=2)
    assert "The run is cancelled" in page(carol.post(f"{path}cancel/", follow=True))
    work_off(court.endpoint)
    run.refresh_from_db()
    assert (run.status, server.calls) == ("cancelled", 2)


def test_a_run_whose_planning_broke_off_is_not_continued(carol, run):
    JudgeRun.objects.update(status="paused", status_reason="being planned")
    assert "Start a new one" in page(carol.post(f"/judging/runs/{run.pk}/resume/", follow=True))
    run.refresh_from_db()
    assert run.status == "paused"


def test_judgments_can_be_filtered(carol, court, run, server):
    server.script = [answer(verdict("first"))] * 2 + [answer(None, refusal="No.")]
    work_off(court.endpoint)
    rows = {
        shown: page(carol.get(f"/judging/runs/{run.pk}/?show={shown}")).count("/judging/judgments/")
        for shown in ("all", "unstable", "failed")
    }
    assert rows == {"all": 6, "unstable": 1, "failed": 1}


def test_a_judgment_is_read_with_both_orders_side_by_side(carol, court, run, server):
    server.script = [
        answer(verdict("first", reason="<b>Bold</b> claims.")),
        answer("What?"),
        answer(None, refusal="No."),
    ]
    work_off(court.endpoint)
    judgment = Judgment.objects.order_by("pk")[0]
    text = page(carol.get(f"/judging/judgments/{judgment.pk}/"))
    assert "A shown first" in text
    assert "B shown first" in text
    assert "&lt;b&gt;Bold&lt;/b&gt; claims." in text
    assert "<strong>the first (A)</strong>" in text
    assert "<td>factual</td>" in text
    assert 'the model refused <code class="quiet">refused</code>' in text
    assert "no verdict" in text
    assert "2 requests" in text
    assert "<pre>What?</pre>" in text


def test_the_list_shows_runs_with_their_counts(carol, court, run, server):
    server.default = answer(verdict("second"))
    work_off(court.endpoint)
    text = page(carol.get("/judging/"))
    assert f"Run {run.pk}" in text
    assert "6 / 6" in text
    assert "Judy" in text


def test_without_a_judge_the_list_says_what_is_needed(carol, cast):
    assert "No judge yet" in page(carol.get("/judging/"))


# --- who may --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_only_the_teams_admins_see_or_touch_a_run(signed_in, court, run, who):
    visitor = signed_in(who)
    judgment = Judgment.objects.first()
    assert visitor.get(f"/judging/runs/{run.pk}/").status_code == 404
    assert visitor.get(f"/judging/judgments/{judgment.pk}/").status_code == 404
    for act in ("pause", "resume", "cancel", "retry"):
        assert visitor.post(f"/judging/runs/{run.pk}/{act}/").status_code == 404
    assert court.campaign.name not in page(visitor.get("/judging/"))
    run.refresh_from_db()
    assert run.status == "queued"


def test_acts_are_posts_and_strangers_sign_in(client, carol, run):
    for act in ("pause", "resume", "cancel", "retry"):
        assert carol.get(f"/judging/runs/{run.pk}/{act}/").status_code == 405
    for path in ("/judging/", "/judging/new/", f"/judging/runs/{run.pk}/", "/judging/judgments/1/"):
        assert client.get(path)["Location"].startswith("/accounts/login/")


# --- the queue --------------------------------------------------------------------------------------------


def test_a_message_about_an_endpoint_that_is_gone_or_idle_does_no_harm(court):
    tasks.work(court.endpoint.pk)
    tasks.work(0)


def test_a_repeated_message_buys_nothing_twice(court, run, server):
    for _ in range(3):
        tasks.work(court.endpoint.pk)
    assert server.calls == 12
    assert JudgeRun.objects.get().status == "completed"


def test_a_lost_message_is_made_up_for_by_the_sweep(court, run, server):
    tasks.sweep_calls()
    assert JudgeRun.objects.get().status == "completed"
    assert server.calls == 12


def test_no_more_workers_are_called_than_an_endpoint_has_seats():
    desk = Desk()
    assert [desk.call(1, 2) for _ in range(3)] == [True, True, False]
    assert desk.arrive(1, 2)
    assert not desk.call(1, 2)
    assert desk.arrive(1, 2)
    assert not desk.arrive(1, 2), "a message too many finds no seat"
    desk.leave(1)
    assert desk.call(1, 2)
    assert desk.call(2, 1), "each endpoint has seats of its own"


def test_one_wake_up_is_enough():
    desk = Desk()
    far = 1e12
    assert desk.should_wake(1, far)
    assert not desk.should_wake(1, far + 1)
    assert desk.should_wake(1, far - 1)
