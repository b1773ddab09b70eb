"""A run again from what was recorded, while nothing can be reached."""

import pytest
from django.core.management import CommandError, call_command

from arena.corpus.models import Response
from arena.endpoints.models import Call, CallAttempt
from arena.endpoints.transport import GuardedTransport
from arena.judging.models import JudgeCall, JudgeRun, Judgment
from arena.judging.planning import plan_run
from arena.judging.replay import replay
from tests.endpoints.fake_server import answer, status
from tests.judging.conftest import verdict, work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def no_network(server, monkeypatch):
    """no_network() makes every request from then on an error."""

    def refuse(*arguments, **options):
        raise AssertionError("a replay sent a request")

    return lambda: monkeypatch.setattr(GuardedTransport, "handle_request", refuse)


def rows() -> list:
    judgments = Judgment.objects.order_by("pk").values_list("pk", "outcome", "base_outcome", "flip")
    calls = JudgeCall.objects.order_by("pk").values_list("pk", "verdict", "scores", "reason", "failure")
    return [*judgments, *calls]


def test_recorded_replies_give_the_same_judgments_without_network(court, server, no_network):
    """Verdicts, a flip, a reply read at the second try, a refusal, one never readable, a failing server."""
    server.script = [
        answer(verdict("first", reason="Because…")),
        answer(verdict("first")),
        answer("What?"),
        answer(None, refusal="No."),
        status(500),
        *[answer("Still nothing.")] * 3,
    ]
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint)
    before, attempts, asked = rows(), CallAttempt.objects.count(), server.calls
    no_network()
    found = replay(run)
    assert found.differences == ()
    assert (found.judgments, found.replies, found.without_reply) == (6, 12, 0)
    assert (rows(), CallAttempt.objects.count(), server.calls) == (before, attempts, asked)
    assert {"no_verdict", "tie"} <= set(Judgment.objects.values_list("outcome", flat=True))


def test_the_transport_that_a_replay_must_not_touch_is_the_one_that_sends(court, no_network):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    no_network()
    work_off(court.endpoint, most=1)
    assert "a replay sent a request" in CallAttempt.objects.get().error_text


def test_calls_that_ended_without_a_reply_stand_as_they_are(court, server):
    run = plan_run(court.campaign, [court.judge], court.pks, max_calls=4)
    work_off(court.endpoint)
    found = replay(run)
    assert (found.differences, found.replies, found.without_reply) == ((), 4, 8)


def test_failed_calls_that_were_asked_again_are_read_from_their_last_try(court, server):
    from arena.judging.ending import retry_failed

    server.script = [answer(None, refusal="No.")]
    run = plan_run(court.campaign, [court.judge], court.pks[:2])
    work_off(court.endpoint)
    assert replay(run).differences == ()
    run.refresh_from_db()
    assert retry_failed(run) == 1
    work_off(court.endpoint)
    assert replay(run).differences == ()
    assert set(Judgment.objects.values_list("outcome", flat=True)) <= {"model_a", "model_b", "tie"}


def test_the_rule_about_length_is_applied_again(court):
    Response.objects.filter(competitor__name="Ember").update(characters=1_000)
    run = plan_run(court.campaign, [court.judge], court.pks, verbosity_rule=True)
    work_off(court.endpoint)
    assert replay(run).differences == ()
    JudgeRun.objects.update(verbosity_rule=False)
    differing = replay(JudgeRun.objects.get()).differences
    assert {(d.what, d.stored) for d in differing} == {("outcome", "tie_verbose")}


def test_an_altered_judgment_is_found_and_named(court, capsys):
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint)
    call_command("replay_run", str(run.pk))
    assert "The same." in capsys.readouterr().out
    judgment = Judgment.objects.filter(outcome="tie").first()
    Judgment.objects.filter(pk=judgment.pk).update(outcome="model_a")
    JudgeCall.objects.filter(judgment=judgment, order="ab").update(verdict="first")
    with pytest.raises(CommandError, match="2 differences"):
        call_command("replay_run", str(run.pk))
    told = capsys.readouterr().out
    assert f"judgment {judgment.pk}, outcome: stored 'model_a', now 'tie'" in told
    assert "verdict in order ab: stored 'first', now 'tie'" in told


def test_open_judgments_are_counted_and_left_alone(court):
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint, most=4)
    found = replay(run)
    assert (found.judgments, found.unresolved, found.differences) == (2, 4, ())
    assert Call.objects.filter(state="planned").count() == 8


def test_what_cannot_be_replayed_gets_words(court):
    recorded = JudgeRun.objects.create(campaign=court.campaign, kind="recorded")
    with pytest.raises(CommandError, match="recorded elsewhere"):
        call_command("replay_run", str(recorded.pk))
    with pytest.raises(CommandError, match="no run 9999"):
        call_command("replay_run", "9999")
