"""Judgments that people see otherwise, and their votes beside a judgment."""

import pytest
from django.utils import timezone

from arena.battles.models import Battle, Retraction, Vote
from arena.judging import beside_people
from arena.judging.models import JudgeRun, Judgment
from arena.raters.models import Rater

pytestmark = pytest.mark.django_db


def judged(court, *outcomes: str) -> JudgeRun:
    run = JudgeRun.objects.create(campaign=court.campaign, status="completed")
    for battle, outcome in zip(court.battles, outcomes, strict=False):
        Judgment.objects.create(
            run=run, judge=court.judge, battle=battle, outcome=outcome, resolved_at=timezone.now()
        )
    return run


def vote(battle: Battle, outcome: str, turned: bool = False) -> Vote:
    """A vote on another battle of the same pair, with the sides exchanged or not."""
    names = ("a", "b") if not turned else ("b", "a")
    texts = [getattr(battle, f"response_{side}") for side in names]
    again = Battle.objects.create(
        campaign=battle.campaign,
        prompt=battle.prompt,
        response_a=texts[0],
        response_b=texts[1],
        competitor_a=texts[0].competitor,
        competitor_b=texts[1].competitor,
        drawn_at=timezone.now(),
    )
    number = Vote.objects.count()
    rater = Rater.objects.create(
        team=battle.campaign.team, pseudonym=f"rater {number}", admission=Rater.Admission.RECORDED
    )
    return Vote.objects.create(
        battle=again,
        rater=rater,
        outcome=outcome,
        idempotency_key=str(number),
        voted_at=timezone.now(),
        digest="0" * 64,
    )


def test_judgments_unlike_the_majority_are_found_whichever_side_the_voters_saw(court):
    run = judged(court, "model_a", "model_a", "tie_unstable", "no_verdict", "model_a", "model_b")
    first, second, third, fourth, fifth, sixth = court.battles
    vote(first, "model_b", turned=True)  # the same response wins
    vote(second, "model_a", turned=True)  # the other one
    vote(third, "both_bad")  # a tie like any other
    vote(fourth, "model_a")  # no verdict is no disagreement
    vote(fifth, "model_b")
    Retraction.objects.create(vote=vote(fifth, "model_b"))
    for outcome in ("model_a", "model_b"):
        vote(sixth, outcome)  # no majority
    found = Judgment.objects.filter(pk__in=beside_people.differing(run)).values_list("battle", flat=True)
    assert set(found) == {second.pk, fifth.pk}


def test_the_page_filters_them_and_a_judgment_tells_the_votes(court, signed_in):
    run = judged(court, "model_a", "model_a")
    vote(court.battles[0], "model_a", turned=True)
    carol = signed_in("carol")
    text = carol.get(f"/judging/runs/{run.pk}/?show=people").content.decode()
    first, second = run.judgments.order_by("pk")
    assert f"/judging/judgments/{first.pk}/" in text
    assert f"/judging/judgments/{second.pk}/" not in text
    page = carol.get(f"/judging/judgments/{first.pk}/").content.decode()
    assert "People on this pair:" in page
    assert "B is better 1" in page
    assert f'href="/judging/judgments/{second.pk}/" rel="next"' in page
