"""Which way a panel of judges decides."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.judging.models import Judge, Rubric
from arena.judging.panel import decide, default_quorum
from arena.judging.planning import plan_run
from tests.endpoints.fake_server import answer
from tests.judging.conftest import verdict, work_off

A, B, TIE, UNSTABLE, VERBOSE, NONE = "model_a", "model_b", "tie", "tie_unstable", "tie_verbose", "no_verdict"


@pytest.mark.parametrize(
    ("outcomes", "decided"),
    [
        ([A], A),
        ([UNSTABLE], TIE),
        ([NONE], NONE),
        ([A, A, B], A),
        ([A, A, UNSTABLE], A),
        ([B, B, NONE], B),
        ([A, B, TIE], "tie_split"),
        ([A, B], "tie_split"),
        ([A, TIE], "tie_split"),
        ([TIE, UNSTABLE, A], TIE),
        ([VERBOSE, UNSTABLE, B], TIE),
        ([A, B, NONE], "tie_split"),
        ([A, NONE], NONE),
        ([A, NONE, NONE], NONE),
        ([A, A, B, B], "tie_split"),
        ([A, A, A, B, B], A),
        ([A, A, B, TIE, UNSTABLE], "tie_split"),
        ([A, A, B, TIE], "tie_split"),
        ([A, A, A, NONE, NONE], A),
        ([A, A, NONE, NONE], NONE),
    ],
)
def test_a_strict_majority_of_those_with_a_verdict_decides_in_any_order(outcomes, decided):
    assert {decide(order) for order in permutations(outcomes)} == {decided}


def test_a_quorum_may_be_lower_or_higher():
    assert decide([A, NONE, NONE], quorum=1) == A
    assert decide([A, A, NONE], quorum=3) == NONE


@given(st.lists(st.sampled_from([A, B, TIE, UNSTABLE, VERBOSE, NONE]), min_size=1, max_size=9))
def test_sides_are_treated_alike(outcomes):
    swapped = {A: B, B: A}
    mirrored = decide([swapped.get(outcome, outcome) for outcome in outcomes])
    assert mirrored == swapped.get(decide(outcomes), decide(outcomes))


@pytest.mark.parametrize(
    ("outcomes", "quorum", "words"),
    [
        ([], None, "at least one judge"),
        ([A], 2, "choose 1 to 1"),
        ([A], 0, "quorum"),
        (["first"], None, "first"),
    ],
)
def test_what_cannot_be_decided_is_an_error(outcomes, quorum, words):
    with pytest.raises(ValueError, match=words):
        decide(outcomes, quorum)


def test_the_usual_quorum_is_more_than_half():
    assert [default_quorum(judges) for judges in (1, 2, 3, 4, 5)] == [1, 2, 2, 3, 3]


@pytest.mark.django_db
def test_the_run_page_tells_how_its_judges_decided_together(court, server, signed_in):
    """Judy and Otto agree on what the server likes; Otto is refused the last four calls."""
    otto = Judge.objects.create(
        team=court.judge.team, name="Otto", endpoint=court.endpoint, rubric=Rubric.objects.get()
    )
    run = plan_run(court.campaign, [court.judge, otto], court.pks)
    carol = signed_in("carol")
    assert "As a panel" not in carol.get(f"/judging/runs/{run.pk}/").content.decode()
    work_off(court.endpoint, most=20)
    server.default = answer(None, refusal="No.")
    work_off(court.endpoint)
    text = carol.get(f"/judging/runs/{run.pk}/").content.decode()
    for words in ("<strong>3</strong> won", "<strong>1</strong> ties", "<strong>2</strong> without a quorum"):
        assert words in text, words


@pytest.mark.django_db
def test_one_judge_is_no_panel(court, server, signed_in):
    server.default = answer(verdict("tie"))
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint)
    assert "As a panel" not in signed_in("carol").get(f"/judging/runs/{run.pk}/").content.decode()
