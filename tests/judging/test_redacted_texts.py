"""A judge run asks nothing about what was redacted, and offers no retry of what can't succeed."""

import pytest

from arena.corpus.redaction import redact_prompt
from arena.judging import ending
from arena.judging.choosing import choose_battles
from arena.judging.models import JudgeRun
from arena.judging.progress import Progress

pytestmark = pytest.mark.django_db


def test_a_battle_with_a_redacted_text_is_left_out_and_counted(court):
    redact_prompt(court.battles[0].prompt, reason="private", by="carol")
    gone = sum(battle.prompt_id == court.battles[0].prompt_id for battle in court.battles)
    choice = choose_battles(court.campaign, [court.judge], "all")
    assert (len(choice.battles), choice.redacted) == (len(court.pks) - gone, gone)


def test_only_failures_that_may_fare_better_are_offered_again():
    states = {"bad_request": 3, "parsed": 1}
    told = {"outcomes": {}, "attempts": 4, "tokens": 0, "cost_usd": None, "seconds_left": None}
    told["stability"] = None
    assert Progress(states=states, failures={ending.TEXT_GONE: 3}, **told).retriable == 0
    assert Progress(states=states, failures={ending.TEXT_GONE: 2, "x": 1}, **told).retriable == 1


def test_a_run_whose_failures_are_all_redacted_is_not_opened_again(small_campaign):
    run = JudgeRun.objects.create(
        campaign=small_campaign.campaign, status=JudgeRun.Status.COMPLETED_WITH_FAILURES
    )
    assert ending.retry_failed(run) == 0
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED_WITH_FAILURES
