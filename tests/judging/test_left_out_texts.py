"""Where a campaign leaves out responses that say who wrote them, judges are asked about none of them."""

from __future__ import annotations

import pytest

from arena.corpus.leak_checks import check_unchecked, dismiss, look_again
from arena.corpus.models import Response
from arena.judging import ending, probing
from arena.judging.models import JudgeCall, Judgment, Probe
from arena.judging.planning import plan_run
from arena.judging.progress import read_progress
from arena.judging.replay import replay
from tests.endpoints.fake_server import answer
from tests.judging.conftest import work_off
from tests.judging.test_scored_responses import reply

pytestmark = pytest.mark.django_db

SAYS_ITS_NAME = "My name is Ember, and this is Reply 0."
WORDS = "a response says who wrote it, which the campaign leaves out"


@pytest.fixture
def leaving_out(court):
    """Its campaign leaves leaks out; all were looked at, and the first one's leak not found."""
    court.campaign.leak_policy = "exclude"
    court.campaign.save()
    Response.objects.update(leak="clean")
    Response.objects.filter(pk=first_of(court).pk).update(text=SAYS_ITS_NAME)
    return court


def first_of(court) -> Response:
    response = court.battles[0].response_a
    assert response.competitor.name == "Ember"
    return response


def found_now() -> None:
    look_again(Response.objects.all())
    check_unchecked()


@pytest.mark.parametrize("looked_at", [True, False])
def test_a_leak_that_came_out_after_the_start_is_not_sent(leaving_out, server, signed_in, looked_at):
    """Where nobody has looked yet, since a name was added, it is looked at on the way."""
    run = plan_run(leaving_out.campaign, [leaving_out.judge], leaving_out.pks[:2])
    found_now() if looked_at else look_again(Response.objects.all())
    work_off(leaving_out.endpoint)
    assert len(server.requests) == 2, "the other battle's two orders"
    about = JudgeCall.objects.filter(judgment__battle=leaving_out.pks[0])
    assert set(about.values_list("call__state", "failure")) == {("bad_request", ending.LEAKING)}
    outcomes = dict(Judgment.objects.values_list("battle", "outcome"))
    assert outcomes.pop(leaving_out.pks[0]) == "no_verdict" and set(outcomes.values()) != {"no_verdict"}
    run.refresh_from_db()
    assert run.status == "completed_with_failures"
    assert read_progress(run).failures == {ending.LEAKING: 2}
    again = replay(run)
    assert (again.judgments, again.replies, again.without_reply, again.differences) == (2, 2, 2, ())
    page = signed_in("carol").get(f"/judging/runs/{run.pk}/").content.decode()
    assert WORDS in page


def test_a_leak_that_came_out_between_two_orders_leaves_no_verdict(leaving_out, server):
    run = plan_run(leaving_out.campaign, [leaving_out.judge], leaving_out.pks[:1])
    work_off(leaving_out.endpoint, most=1)
    found_now()
    work_off(leaving_out.endpoint)
    assert len(server.requests) == 1
    states = sorted(JudgeCall.objects.values_list("call__state", "failure"))
    assert states == [("bad_request", ending.LEAKING), ("parsed", "")]
    assert Judgment.objects.get().outcome == "no_verdict"
    assert replay(run).differences == ()


def test_what_an_admin_calls_no_leak_is_asked_when_tried_again(leaving_out, server):
    run = plan_run(leaving_out.campaign, [leaving_out.judge], leaving_out.pks[:1])
    found_now()
    work_off(leaving_out.endpoint)
    assert ending.retry_failed(run) == 2
    work_off(leaving_out.endpoint)
    assert server.requests == [], "it is a leak still"
    assert dismiss(Response.objects.get(pk=first_of(leaving_out).pk))
    assert ending.retry_failed(run) == 2
    look_again(Response.objects.all())  # what was dismissed stays so before anybody looks
    work_off(leaving_out.endpoint)
    assert len(server.requests) == 2
    assert Judgment.objects.get().outcome != "no_verdict"


@pytest.mark.parametrize("policy", ["flag", "mask"])
def test_other_campaigns_have_it_judged(leaving_out, server, policy):
    leaving_out.campaign.leak_policy = policy
    leaving_out.campaign.save()
    plan_run(leaving_out.campaign, [leaving_out.judge], leaving_out.pks[:1])
    found_now()
    work_off(leaving_out.endpoint)
    assert len(server.requests) == 2


def test_a_response_scored_by_itself_is_left_out_too(leaving_out, server):
    leaving_out.judge.rubric.mode = "pointwise"
    leaving_out.judge.rubric.save()
    server.default = answer(reply(3, 4, 5))
    first, other = first_of(leaving_out), leaving_out.battles[0].response_b
    probing.plan_scores(leaving_out.campaign, [leaving_out.judge], [first.pk, other.pk])
    found_now()
    work_off(leaving_out.endpoint)
    assert len(server.requests) == 1
    assert dict(Probe.objects.values_list("response", "failure")) == {first.pk: ending.LEAKING, other.pk: ""}


def test_canaries_have_no_leak_to_find(leaving_out, server):
    probing.plan_canaries(leaving_out.campaign, leaving_out.judge)
    work_off(leaving_out.endpoint)
    assert server.requests and not Probe.objects.filter(failure=ending.LEAKING).exists()
