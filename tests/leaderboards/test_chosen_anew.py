"""Whoever has seen votes could choose prompt sets and models by them: no board passes for registered then."""

from datetime import timedelta

import pytest
from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.choice_models import Choice
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.registration import chosen_since_votes, models_chosen_since_votes
from arena.leaderboards.plans.registration_words import say_status
from arena.raters.models import Rater
from tests.leaderboards.plans_by_hand import record_votes, write_and_freeze
from tests.leaderboards.test_boards import text_of

EXPLORES = "exploratory: prompt sets were added or taken out after votes were in"


@pytest.fixture
def study(voted_campaign, cast_vote, cast, signed_in, settings):
    """A campaign with a frozen plan, and who votes on: vote(range(160))."""
    settings.BOOTSTRAP_RESAMPLES = 0
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), boards=["overall", "hard", "style"])
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    return small, lambda numbers: record_votes(small, cast_vote, raters, numbers=numbers)


def taken(small):
    return [snapshots.take_snapshot(board).snapshot for board in ensure_leaderboards(small.campaign)[:3]]


def change(carol, campaign, part, **chosen):
    answer = carol.post(f"/campaigns/{campaign.slug}/edit/", {"part": part, **chosen})
    assert answer.status_code == 302, answer.content.decode()


@pytest.mark.parametrize("how", ["exchanged", "added", "taken out and back"])
def test_prompt_sets_chosen_after_the_first_vote_leave_every_board_exploratory(
    study, make_campaign, signed_in, how
):
    small, vote = study
    carol, own = signed_in("carol"), small.prompt_set.pk
    other = make_campaign("other", prompts=2).prompt_set.pk
    vote(range(160))
    plan = AnalysisPlan.objects.get()
    before = taken(small)
    assert {one.plan for one in before} == {plan}
    if how == "taken out and back":
        change(carol, small.campaign, "prompts", prompt_sets=[other])
    change(
        carol,
        small.campaign,
        "prompts",
        prompt_sets={"exchanged": [other], "added": [own, other], "taken out and back": [own]}[how],
    )
    vote(range(160, 200))
    after = taken(small)
    assert {one.plan for one in after} == {None}
    assert {say_status(one) for one in after} == {EXPLORES}
    assert all("registered" in say_status(one) for one in before), "what was shown stays as it was"
    assert EXPLORES.removeprefix("exploratory: ") in text_of(signed_in("ravi").get("/boards/joust/"))


def test_prompt_sets_chosen_between_the_freeze_and_the_first_vote_were_chosen_blind(
    study, make_campaign, signed_in
):
    small, vote = study
    other = make_campaign("other", prompts=2).prompt_set.pk
    told = "a set added or taken out leaves every board exploratory"
    assert told in text_of(signed_in("carol").get("/campaigns/joust/"))
    change(signed_in("carol"), small.campaign, "prompts", prompt_sets=[small.prompt_set.pk, other])
    vote(range(160))
    assert Choice.objects.filter(of="prompt_sets").exists()
    assert {one.plan for one in taken(small)} == {AnalysisPlan.objects.get()}


def test_models_chosen_after_the_first_vote_are_named_beside_what_is_registered(study, signed_in):
    small, vote = study
    vote(range(160))
    early = taken(small)[0]
    models = dict(small.campaign.competitors.values_list("name", "pk"))
    without = [pk for name, pk in models.items() if name != "Inlet"]
    change(signed_in("carol"), small.campaign, "models", competitors=without)
    vote(range(160, 200))
    late = taken(small)[0]
    assert late.plan == AnalysisPlan.objects.get()
    ravi = signed_in("ravi")
    told = {
        one.pk: [
            caution["text"]
            for caution in ravi.get(f"/api/v1/snapshots/{one.pk}/").json()["cautions"]
            if caution["code"] == "models_chosen"
        ]
        for one in (early, late)
    }
    assert told[early.pk] == []
    (words,) = told[late.pk]
    assert words.startswith("Models were chosen anew after the first vote (taken out: Inlet):")
    assert words in text_of(ravi.get("/boards/joust/"))


def test_what_a_campaign_is_given_before_it_opens_is_no_choice_anew(make_campaign):
    assert make_campaign("draft", status="draft", opened_at=None) and not Choice.objects.exists()


def test_nobody_chooses_past_the_record(small_campaign):
    with pytest.raises(TypeError, match="from the campaign's side"):
        small_campaign.prompt_set.campaigns.clear()


def test_a_model_that_is_withdrawn_after_the_first_vote_was_taken_out_of_the_draw(study, signed_in):
    small, vote = study
    vote(range(160))
    inlet = small.campaign.competitors.get(name="Inlet")
    inlet.status = "withdrawn"
    inlet.save(update_fields=["status"])
    inlet.organisation = "Elsewhere"
    inlet.save()
    (choice,) = Choice.objects.filter(of="models", campaign=small.campaign)
    assert (choice.taken_out, choice.added) == (["Inlet"], [])
    vote(range(160, 200))
    taken(small)
    words = "Models were chosen anew after the first vote (taken out: Inlet)"
    assert words in text_of(signed_in("ravi").get("/boards/joust/"))


@pytest.mark.parametrize("late", [False, True], ids=["before the judge's verdicts", "after them"])
def test_of_a_judges_board_the_first_outcome_is_a_judgment(study, cast, make_campaign, signed_in, late):
    small, _vote = study
    plan = AnalysisPlan.objects.get()
    judge = Judge.objects.create(team=cast.team, name="Sage")
    Judge.objects.filter(pk=judge.pk).update(created_at=plan.frozen_at - timedelta(days=1))
    other = make_campaign("other", prompts=2).prompt_set.pk
    choose = lambda: change(  # noqa: E731
        signed_in("carol"), small.campaign, "prompts", prompt_sets=[small.prompt_set.pk, other]
    )
    if not late:
        choose()
    run = JudgeRun.objects.create(campaign=small.campaign)
    run.judges.add(judge)
    for number, prompt in enumerate(small.prompts):
        battle = Battle.objects.create(
            campaign=small.campaign,
            prompt=prompt,
            competitor_a=small.competitors[number % 5],
            competitor_b=small.competitors[(number + 1) % 5],
            drawn_at=timezone.now(),
        )
        Judgment.objects.create(
            run=run, judge=judge, battle=battle, outcome="model_a", resolved_at=timezone.now()
        )
    if late:
        choose()
    board = Leaderboard(campaign=small.campaign, source="judge", judge=judge)
    assert chosen_since_votes(board) == late
    assert not chosen_since_votes(Leaderboard(campaign=small.campaign))


def test_many_choices_of_models_cost_a_page_few_questions(study, django_assert_max_num_queries):
    small, vote = study
    vote(range(160))
    snapshot = taken(small)[0]
    for _ in range(64):
        Choice.objects.create(campaign=small.campaign, of="models", added=["Ember"])
    Choice.objects.update(at=snapshot.taken_at)
    fresh = Snapshot.objects.select_related("leaderboard__campaign").get(pk=snapshot.pk)
    with django_assert_max_num_queries(9):
        assert len(models_chosen_since_votes(fresh)) == 64
