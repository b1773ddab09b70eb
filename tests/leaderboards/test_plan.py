from dataclasses import replace

import numpy as np
import pytest
from django.utils import timezone
from scipy.stats import t

from arena.battles.models import Battle, Vote
from arena.corpus.models import Prompt
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.plan import (
    USUAL_TIES,
    Plan,
    detectable,
    prompts_of,
    raters_needed,
    rows,
    ties_of,
)
from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import fit_bradley_terry
from ratings.compare import effective_clusters_of_pairs
from ratings.comparisons import MODEL_A, MODEL_B
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.simulate import VoteModel, simulate_votes

USUAL = Plan(models=6, prompts=60, raters=20, votes_each=50, tie_share=0.25, taste=0.5)


@pytest.mark.parametrize(("models", "taste"), [(2, 0.0), (6, 0.0), (6, 0.5)])
def test_the_spread_reckoned_beforehand_is_that_of_simulated_campaigns(models, taste):
    truth = VoteModel((0.0,) * models, tie=0.7, raters=20, rater_sd=taste, prompts=60, prompt_sd=taste)
    differences, ties = [], []
    for seed in range(120):
        votes = simulate_votes(truth, 1000, seed=seed)
        strengths = fit_bradley_terry(votes.as_comparisons()).params
        differences.append(strengths[0] - strengths[1])
        ties.append(np.mean(~np.isin(votes.outcome, (MODEL_A, MODEL_B))))
    plan = Plan(models, 60, 20, 50, float(np.mean(ties)), taste)
    reckoned = np.sqrt(4 / plan.per_pair * (1 - plan.tie_share) * plan.design_effect)
    # The spread of 120 differences is itself known to about 13 % (95 %).
    assert 0.85 < reckoned / np.std(differences) < 1.25


@pytest.mark.parametrize("raters", [12, 24])
def test_simulated_boards_find_the_difference_as_often_as_promised(raters):
    """All pairs tested by Student's t with two-way clusters, as boards do; few raters make that strict."""
    wanted = Plan(5, 60, raters, 60, 0.0, 0.5)
    promised, options = detectable(wanted).points, LeaderboardOptions(bootstrap=0, check=False)

    def simulated(gap: float, people: int, votes: int, seed: int) -> tuple[float, float]:
        """The difference of the first and the last in points, and its p-value."""
        strengths = (gap / 2, 0.0, 0.0, 0.0, -gap / 2)
        truth = VoteModel(strengths, tie=0.0, raters=people, rater_sd=0.5, prompts=60, prompt_sd=0.5)
        board = fit_board(simulate_votes(truth, votes, seed=seed).as_comparisons(), options)
        i, j = (int(np.flatnonzero(board.order == c)[0]) for c in (0, 4))
        degrees = effective_clusters_of_pairs(board, np.array([i]), np.array([j]))[0] - 1
        difference = board.fit.params[i] - board.fit.params[j]
        error = board.covariance.difference_deviations[i, j]
        return float(POINTS_PER_LOG_ODDS * difference), float(2 * t.sf(abs(difference) / error, degrees))

    # Tastes draw the scores of a board together: the gap whose boards differ by what was promised.
    first = promised / POINTS_PER_LOG_ODDS
    shown = np.mean([simulated(first, raters, 60 * raters, 900 + seed)[0] for seed in range(40)])
    gap = first * promised / float(shown)
    found = [simulated(gap, raters, 60 * raters, seed)[1] < 0.05 / wanted.pairs for seed in range(120)]
    assert 0.68 < np.mean(found) < 0.93


def test_too_few_raters_for_a_strict_test_are_promised_nothing():
    assert detectable(replace(USUAL, models=7, raters=5)).points is None


def test_more_raters_find_smaller_differences():
    found = [row.points for row in rows(USUAL)]
    assert [row.raters for row in rows(USUAL)] == [5, 10, 20, 50, 100, 200]
    shown = [points for points in found if points is not None]
    assert shown == sorted(shown, reverse=True)
    assert all(points is None for points in found[: len(found) - len(shown)])


def test_more_votes_of_the_same_people_stop_helping():
    tenfold = detectable(replace(USUAL, votes_each=500)).points
    more_people = detectable(replace(USUAL, raters=200)).points
    assert more_people < tenfold < detectable(USUAL).points


def test_the_raters_needed_are_the_fewest_that_find_the_margin():
    needed = raters_needed(USUAL, 70)
    assert detectable(replace(USUAL, raters=needed)).points <= 70
    assert detectable(replace(USUAL, raters=needed - 1)).points > 70


def test_too_few_prompts_are_made_up_for_by_no_number_of_raters():
    assert raters_needed(replace(USUAL, prompts=3), 20) is None


def test_a_handful_of_votes_shows_nothing():
    assert detectable(Plan(20, 5, 1, 5, 0.0, 0.5)).points is None


@pytest.mark.django_db
def test_the_page_reckons_with_the_campaigns_models_prompts_and_quota(signed_in, small_campaign):
    type(small_campaign.campaign).objects.update(quota=30)
    page = signed_in("ravi").get("/campaigns/small/plan/").content.decode()
    assert "20 raters with 30 votes each" in page
    assert "the 3 models" in page
    assert "4 prompts" in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong", ["raters=0", "votes=x", "margin=0", "tastes=none", "margin=nan", "raters=1e9"]
)
def test_figures_that_make_no_sense_are_refused(signed_in, small_campaign, wrong):
    assert signed_in("ravi").get(f"/campaigns/small/plan/?{wrong}").status_code == 422


@pytest.mark.django_db
def test_the_margin_is_the_plans_or_the_one_that_a_plan_begins_with(signed_in, small_campaign):
    ravi = signed_in("ravi")
    assert ravi.get("/campaigns/small/plan/").context["form"]["margin"].value() == "10"
    AnalysisPlan.objects.create(campaign=small_campaign.campaign, question="?", margin=0.5)
    page = ravi.get("/campaigns/small/plan/")
    assert page.status_code == 200
    assert page.context["form"]["margin"].value() == "0.5"


@pytest.mark.django_db
def test_without_models_there_is_nothing_to_reckon(signed_in, small_campaign):
    small_campaign.campaign.competitors.clear()
    page = signed_in("ravi").get("/campaigns/small/plan/").content.decode()
    assert "It takes two active models" in page


@pytest.mark.django_db
@pytest.mark.parametrize("kind", [Battle.Kind.REGULAR, Battle.Kind.RECORDED])
def test_ties_are_those_of_the_votes_once_there_are_enough(make_campaign, cast, kind):
    campaign = make_campaign(prompts=20).campaign
    first, second, third = campaign.competitors.order_by("pk")
    prompts = list(campaign.prompt_sets.get().prompts.all())

    def vote(number: int, outcome: str) -> None:
        rater = (cast.alice_rater, cast.bob_rater)[number // 20 % 2]
        battle = Battle.objects.create(
            campaign=campaign,
            prompt=prompts[number % 20],
            competitor_a=first,
            competitor_b=second if number < 40 else third,
            rater=rater,
            drawn_at=timezone.now(),
            kind=kind,
        )
        Vote.objects.create(
            battle=battle,
            rater=rater,
            outcome=outcome,
            idempotency_key=f"key-{number}",
            voted_at=timezone.now(),
            digest="",
        )

    for number in range(49):
        vote(number, "both_bad")
    assert ties_of(campaign).share == USUAL_TIES
    vote(49, "model_a")
    assert ties_of(campaign).share == 49 / 50


def test_prompts_of_one_text_are_reckoned_with_as_one(voted_campaign):
    small = voted_campaign(votes=0)
    assert prompts_of(small.campaign) == 24
    same = [prompt.pk for prompt in small.prompts[:6]]
    Prompt.objects.filter(pk__in=same).update(messages=[{"role": "user", "content": "Say hello"}])
    assert prompts_of(small.campaign) == 19
