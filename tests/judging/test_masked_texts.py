"""Where a campaign masks names, its judges read what its raters read."""

from __future__ import annotations

import pytest

from arena.corpus.leak_checks import Shown, check_unchecked
from arena.corpus.leaks import MASK
from arena.corpus.models import Response
from arena.endpoints.models import Call
from arena.judging import ending, planning, probing
from arena.judging.models import JudgeCall, Judgment
from arena.judging.planning import plan_run
from tests.endpoints.fake_server import answer, status
from tests.judging.conftest import work_off
from tests.judging.test_scored_responses import reply

pytestmark = pytest.mark.django_db

SAYS_ITS_NAME = "My name is Ember, and this is Reply 0. Ask Ember again."
MASKED = f"My name is {MASK}, and this is Reply 0. Ask {MASK} again."


@pytest.fixture
def leaking(court):
    """The first battle's side a says whose it is."""
    response = court.battles[0].response_a
    assert response.competitor.name == "Ember"
    Response.objects.filter(pk=response.pk).update(text=SAYS_ITS_NAME)
    response.refresh_from_db()
    return response


def under(court, policy: str) -> None:
    court.campaign.leak_policy = policy
    court.campaign.save()


def sent(server) -> list[str]:
    return [received.body["messages"][1]["content"] for received in server.requests]


@pytest.mark.parametrize("looked_at", [True, False])
def test_judges_read_the_text_that_raters_see(court, server, leaking, looked_at):
    under(court, "mask")
    if looked_at:
        check_unchecked()
        leaking.refresh_from_db()
        assert MASKED in leaking.html_under("mask")
    plan_run(court.campaign, [court.judge], court.pks[:1])
    work_off(court.endpoint)
    assert [text.count(MASKED) for text in sent(server)] == [1, 1]
    assert not [text for text in sent(server) if "Ember" in text]


@pytest.mark.parametrize(
    ("policy", "state"), [("flag", "found"), ("exclude", "dismissed"), ("mask", "dismissed")]
)
def test_what_raters_see_as_written_judges_do_too(court, server, leaking, policy, state):
    Response.objects.filter(pk=leaking.pk).update(leak=state)
    under(court, policy)
    plan_run(court.campaign, [court.judge], court.pks[:1])
    work_off(court.endpoint)
    assert [text.count(SAYS_ITS_NAME) for text in sent(server)] == [1, 1]


def test_a_call_is_keyed_by_the_text_that_is_sent(court, leaking):
    under(court, "mask")
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    battle = planning._with_texts(court.pks[:1]).get()
    keys = {
        policy: planning._key(run, court.judge, battle, "ab", 1, Shown(policy)) for policy in ("mask", "flag")
    }
    assert keys["mask"] != keys["flag"]
    planned = Call.objects.values_list("key", flat=True)
    assert (keys["mask"] in planned, keys["flag"] in planned) == (True, False)


@pytest.mark.parametrize(
    ("planned", "sent_as", "expected"),
    [("found", "dismissed", SAYS_ITS_NAME), ("dismissed", "found", MASKED)],
)
def test_what_is_found_or_dismissed_after_the_start_is_sent_as_raters_see_it_now(
    court, server, leaking, planned, sent_as, expected
):
    under(court, "mask")
    Response.objects.filter(pk=leaking.pk).update(leak=planned)
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    planned_keys = set(Call.objects.values_list("key", flat=True))
    Response.objects.filter(pk=leaking.pk).update(leak=sent_as)
    work_off(court.endpoint)
    assert [text.count(expected) for text in sent(server)] == [1, 1]
    battle = planning._with_texts(court.pks[:1]).get()
    keys = {
        planning._key(run, court.judge, battle, order, 1, Shown(court.campaign.leak_policy))
        for order in ("ab", "ba")
    }
    assert set(Call.objects.values_list("key", flat=True)) == keys
    assert not keys & planned_keys, "a call is keyed by the text that is sent"


def test_a_changed_policy_counts_for_the_calls_that_are_still_to_come(court, server, leaking):
    under(court, "flag")
    plan_run(court.campaign, [court.judge], court.pks[:1])
    under(court, "mask")
    work_off(court.endpoint)
    assert [text.count(MASKED) for text in sent(server)] == [1, 1]


@pytest.mark.parametrize("back", [False, True])
def test_two_orders_that_read_different_texts_decide_nothing(court, server, leaking, back):
    """The first order is asked while the name is masked, the second after an admin called it no leak.

    Or the other way round from what was planned, and back again.
    """
    under(court, "mask")
    before, between = ("dismissed", "found") if back else ("found", "dismissed")
    Response.objects.filter(pk=leaking.pk).update(leak=before)
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    if back:
        Response.objects.filter(pk=leaking.pk).update(leak=between)
    work_off(court.endpoint, most=1)
    Response.objects.filter(pk=leaking.pk).update(leak=before if back else between)
    work_off(court.endpoint)
    assert len(sent(server)) == 1
    states = JudgeCall.objects.order_by("pk").values_list("call__state", "failure")
    assert sorted(states) == [("bad_request", "text_changed"), ("parsed", "")]
    assert Judgment.objects.get().outcome == "no_verdict"
    run.refresh_from_db()
    assert run.status == "completed_with_failures"
    assert not ending.retriable(run).exists(), "the same again would fail again"


def test_a_call_that_failed_before_its_text_changed_is_sent_with_the_new_one(court, server, leaking):
    under(court, "mask")
    plan_run(court.campaign, [court.judge], court.pks[:1])
    server.script = [status(503)]
    work_off(court.endpoint, most=1)
    Response.objects.filter(pk=leaking.pk).update(leak="dismissed")
    work_off(court.endpoint)
    assert [text.count(SAYS_ITS_NAME) for text in sent(server)] == [0, 1, 1]
    assert set(Call.objects.values_list("state", flat=True)) == {"parsed"}


def test_a_response_scored_by_itself_is_masked_too(court, server, leaking):
    under(court, "mask")
    court.judge.rubric.mode = "pointwise"
    court.judge.rubric.save()
    server.default = answer(reply(3, 4, 5))
    probing.plan_scores(court.campaign, [court.judge], [leaking.pk])
    work_off(court.endpoint)
    assert len(sent(server)) == 1
    assert MASKED in sent(server)[0]
