"""Where a campaign masks names, its judges read what its raters read."""

from __future__ import annotations

import pytest

from arena.corpus.leak_checks import Shown, check_unchecked
from arena.corpus.leaks import MASK
from arena.corpus.models import Response
from arena.endpoints.models import Call
from arena.judging import planning, probing
from arena.judging.planning import plan_run
from tests.endpoints.fake_server import answer
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
    ("policy", "state"), [("flag", "found"), ("exclude", "found"), ("mask", "dismissed")]
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


def test_a_response_scored_by_itself_is_masked_too(court, server, leaking):
    under(court, "mask")
    court.judge.rubric.mode = "pointwise"
    court.judge.rubric.save()
    server.default = answer(reply(3, 4, 5))
    probing.plan_scores(court.campaign, [court.judge], [leaking.pk])
    work_off(court.endpoint)
    assert len(sent(server)) == 1
    assert MASKED in sent(server)[0]
