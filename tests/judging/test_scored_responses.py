"""Responses scored by themselves: what a reply says, and the means of a run."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.corpus.models import Response
from arena.endpoints.models import Call
from arena.judging import probing
from arena.judging.choosing import CannotPlanError, NewPair
from arena.judging.models import JudgeRun, Probe, Rubric
from arena.judging.planning import plan_run
from arena.judging.replay import replay
from arena.judging.verdict import Score, VerdictFailure, read_score
from tests.endpoints.fake_server import answer, status
from tests.judging.conftest import work_off
from tests.judging.replies import CRITERIA


def reply(*points: int, reason: object = "Because.", **changes) -> str:
    scores = dict(zip(("factual", "relevant", "clarity"), points, strict=False))
    return json.dumps({"reason": reason, "scores": scores} | changes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (reply(3, 4, 5), (3, 4, 5)),
        ("```json\n" + reply(1, 1, 1) + "\n```", (1, 1, 1)),
        ("First " + reply(2, 2, 2) + " and again " + reply(2, 2, 2), (2, 2, 2)),
        ("<think>" + reply(5, 5, 5) + "</think>" + reply(1, 2, 3), (1, 2, 3)),
        (reply(2, 2, 2) + reply(3, 2, 2), "conflict"),
        (reply(3, 4), "bad_scores"),
        (reply(3, 4, 6), "bad_scores"),
        (reply(3, 4, True), "bad_scores"),
        (reply(3, 4, 5, reason=None), "bad_reason"),
        (reply(3, 4, 5, reason="<why, in a few sentences>"), "echoed_form"),
        (
            '{"reason": "x", "scores": {"factual": 1, "factual": 5, "relevant": 1, "clarity": 1}}',
            "duplicate_key",
        ),
        ('{"reason": "x", "winner": "first"}', "no_scores"),
        ("Four out of five.", "no_json"),
    ],
)
def test_each_reply_has_its_one_right_reading(text, expected):
    found = read_score(text, "stop", None, CRITERIA)
    if isinstance(expected, str):
        assert (found.kind, found.detail) == ("parse_failed", expected)
    else:
        assert isinstance(found, Score)
        assert tuple(found.scores.values()) == expected


@given(st.text(max_size=200), st.sampled_from(["stop", "length", None]))
def test_reading_never_raises(text, finish_reason):
    assert isinstance(read_score(text, finish_reason, None, CRITERIA), VerdictFailure)


@pytest.fixture
def scorer(court, server):
    """The court's judge with a pointwise rubric on a server that likes the first competitor's texts."""
    Rubric.objects.update(mode="pointwise")
    court.judge.rubric.refresh_from_db()

    def score(body: dict):
        return answer(reply(5, 4, 3) if "Reply 0" in body["messages"][1]["content"] else reply(1, 2, 3))

    server.default = score
    return court


def test_every_response_of_the_battles_is_scored_once(scorer, server):
    run = probing.plan_scores(scorer.campaign, [scorer.judge], probing.responses_of(scorer.pks))
    work_off(scorer.endpoint)
    run.refresh_from_db()
    assert (run.status, run.kind, server.calls) == ("completed", "scores", 6)
    rows = [(row.competitor, row.n, row.mean) for row in probing.score_rows(run)]
    assert rows == [("Ember", 2, 4.0), ("Fjord", 2, 2.0), ("Grove", 2, 2.0)]
    assert probing.score_rows(run)[0].criteria == (("factual", 5), ("relevant", 4), ("clarity", 3))
    assert all("SECOND RESPONSE" not in str(request.body) for request in server.requests)
    assert replay(run).differences == ()
    Probe.objects.filter(pk=run.probes.first().pk).update(scores={"factual": 1})
    assert [difference.what for difference in replay(run).differences] == ["scores"]


def test_a_reply_that_cannot_be_read_is_asked_for_once_more_and_then_failed_and_retried(scorer, server):
    server.script = [answer("Nice.")] * 2
    run = probing.plan_scores(scorer.campaign, [scorer.judge], probing.responses_of(scorer.pks[:1]))
    work_off(scorer.endpoint)
    run.refresh_from_db()
    assert run.status == "completed_with_failures"
    assert sorted(run.probes.values_list("failure", flat=True)) == ["", "parse_failed:no_json"]
    from arena.judging.ending import retry_failed

    assert retry_failed(run) == 1
    work_off(scorer.endpoint)
    run.refresh_from_db()
    assert run.status == "completed"
    assert not run.probes.exclude(failure="").exists()


def test_a_scores_run_can_be_capped_cancelled_and_paused(scorer, server):
    responses = probing.responses_of(scorer.pks)
    run = probing.plan_scores(scorer.campaign, [scorer.judge], responses, max_calls=4)
    work_off(scorer.endpoint)
    run.refresh_from_db()
    assert (run.status, server.calls) == ("completed_with_failures", 4)
    assert run.probes.filter(failure="budget_stopped").count() == 2
    from arena.judging.ending import cancel

    other = probing.plan_scores(scorer.campaign, [scorer.judge], responses)
    assert cancel(other)
    assert work_off(scorer.endpoint) == 0
    assert set(other.calls().values_list("state", flat=True)) == {"cancelled"}


def test_a_server_that_refuses_every_call_pauses_the_run(scorer, server):
    server.default = status(401)
    run = probing.plan_scores(scorer.campaign, [scorer.judge], probing.responses_of(scorer.pks))
    work_off(scorer.endpoint)
    run.refresh_from_db()
    assert (run.status, server.calls) == ("paused", 1)


def test_internal_texts_never_leave_the_house_one_by_one_either(scorer, server):
    run = probing.plan_scores(scorer.campaign, [scorer.judge], probing.responses_of(scorer.pks))
    prompt_set = Response.objects.first().prompt.prompt_set
    type(prompt_set).objects.update(is_internal=True)
    work_off(scorer.endpoint)
    assert server.calls == 0
    assert set(run.probes.values_list("failure", flat=True)) == {"internal_text"}


def test_judges_that_compare_score_nothing_and_judges_that_score_compare_nothing(court):
    with pytest.raises(CannotPlanError, match="compares two responses"):
        probing.plan_scores(court.campaign, [court.judge], [1])
    Rubric.objects.update(mode="pointwise")
    court.judge.rubric.refresh_from_db()
    with pytest.raises(CannotPlanError, match="scores one response by itself"):
        plan_run(court.campaign, [court.judge], court.pks)
    with pytest.raises(CannotPlanError, match="no response"):
        probing.plan_scores(court.campaign, [court.judge], [])
    assert not JudgeRun.objects.exists()


def test_responses_are_those_of_the_battles_each_once_new_pairs_too(court):
    battle = court.battles[0]
    new = NewPair(battle.prompt_id, battle.response_b_id, 777, 1, 2)
    assert probing.responses_of([battle.pk, new]) == [battle.response_a_id, battle.response_b_id, 777]


def test_the_pages_plan_scores_and_show_means(scorer, server, signed_in):
    carol = signed_in("carol")
    fields = {"campaign": scorer.campaign.pk, "judges": [scorer.judge.pk], "which": "all", "limit": 100}
    part = carol.get("/judging/new/", fields, headers={"HX-Request": "true"}).content.decode()
    assert "<strong>6</strong> responses" in part
    assert "<strong>6</strong> calls" in part
    path = carol.post("/judging/new/", fields)["Location"]
    assert Call.objects.count() == 6
    work_off(scorer.endpoint)
    text = carol.get(path).content.decode()
    assert "Mean scores" in text
    assert "factual 5.00" in text
    assert "scores of single responses" in carol.get("/judging/").content.decode()


def test_comparing_and_scoring_judges_need_a_run_each(scorer, signed_in):
    rubric = Rubric.objects.create(
        team=scorer.campaign.team,
        name="Pairs",
        instructions="x",
        criteria=scorer.judge.rubric.criteria,
        sha256="1" * 64,
    )
    other = type(scorer.judge).objects.create(
        team=scorer.campaign.team, name="Pia", endpoint=scorer.endpoint, rubric=rubric
    )
    fields = {
        "campaign": scorer.campaign.pk,
        "judges": [scorer.judge.pk, other.pk],
        "which": "all",
        "limit": 9,
    }
    answered = signed_in("carol").post("/judging/new/", fields)
    assert answered.status_code == 422
    assert "need a run each" in answered.content.decode()
