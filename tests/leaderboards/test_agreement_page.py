"""Who agrees with whom: the figures are those of `ratings` on the same rows, and low agreement is said."""

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from arena.battles.models import Battle
from arena.corpus.models import Prompt
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.agreement import campaign_agreement
from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.defaults import BOARDS, default_leaderboard
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.raters.models import Rater
from ratings.agreement import agreement_table, cohen_kappa, krippendorff_alpha

OUTCOMES = ("model_a", "model_b", "tie")


@pytest.fixture
def overlapping(make_campaign, cast_vote, cast):
    """make(agree) has three raters vote on the same 20 pairs; they agree on the first `agree` of them."""

    def make(agree: int):
        small = make_campaign(prompts=20, names=("Ember", "Fjord"))
        third = Rater.objects.create(team=cast.team, pseudonym="third")
        for number, prompt in enumerate(small.prompts):
            for place, rater in enumerate((cast.alice_rater, cast.bob_rater, third)):
                outcome = OUTCOMES[(number + (place if number >= agree else 0)) % 3]
                cast_vote(small, prompt, "Ember", "Fjord", outcome, rater)
        return small

    return make


def page_of(signed_in, small) -> str:
    return signed_in("ravi").get(reverse("board-agreement", args=[small.campaign.slug])).content.decode()


def test_peoples_alpha_and_agreement_are_those_of_the_table_of_their_votes(overlapping, signed_in):
    small = overlapping(17)
    figures = campaign_agreement.compute(small.campaign).figures
    table = np.array(
        [[(n + (place if n >= 17 else 0)) % 3 for n in range(20)] for place in range(3)], dtype=float
    )
    expected = krippendorff_alpha(table, range(20), sides=(0, 1))
    for name in ("estimate", "lower", "upper"):
        assert figures["people"]["alpha"][name] == pytest.approx(getattr(expected, name)), name
    assert figures["people"]["pairs"] == 20
    assert figures["people"]["two"]["every"]["n"] == 60
    assert figures["people"]["two"]["every"]["estimate"] == pytest.approx(17 / 20)
    assert "can be read in more than one way" not in page_of(signed_in, small)


@pytest.mark.parametrize(
    ("kappa", "said"),
    [
        (
            {"estimate": 0.4, "lower": 0.3, "upper": 0.55},
            "κ is 0.40 (0.30 … 0.55), all of its interval below 0.6",
        ),
        (
            {"estimate": 0.55, "lower": 0.4, "upper": 0.7},
            "isn’t settled: κ is 0.55 (0.40 … 0.70), and could be",
        ),
        (
            {"estimate": 0.65, "lower": 0.5, "upper": 0.8},
            "isn’t settled: κ is 0.65 (0.50 … 0.80), and could be",
        ),
        ({"estimate": 0.5, "lower": None, "upper": None}, "isn’t settled: κ is 0.50, of too little"),
        ({"estimate": 0.9, "lower": None, "upper": None}, "isn’t settled: κ is 0.90, of too little"),
        ({"estimate": 1.0, "lower": 1.0, "upper": 1.0, "clusters": 6}, "isn’t settled: κ is 1.00, of too"),
        ({"estimate": 1.0, "lower": 1.0, "upper": 1.0, "clusters": 20}, ""),
        ({"estimate": 0.8, "lower": 0.7, "upper": 0.9}, ""),
    ],
)
def test_that_people_agree_little_is_said_by_the_interval(overlapping, signed_in, kappa, said):
    small = overlapping(8)
    stored = campaign_agreement.compute(small.campaign)
    stored.figures["people"]["two"]["kappa"] |= kappa
    stored.figures["categories"] = []
    stored.save()
    page = page_of(signed_in, small).replace("\u00a0", " ")
    assert said in page
    assert ("can be read in more than one way" in page) == ("all of its" in said)
    assert ('<span class="tag bad">low</span>' in page) == ("all of its" in said)
    assert ("low or not: open" in page) == ("isn’t settled" in said)
    assert ("agree little" in page or "isn’t settled" in page) == bool(said)


def test_a_judge_is_laid_beside_people_and_beside_another_judge(overlapping, cast, signed_in):
    small = overlapping(20)
    battles = [Battle.objects.filter(prompt=prompt).earliest("pk") for prompt in small.prompts]
    run = JudgeRun.objects.create(campaign=small.campaign)
    told = {"Sage": [n % 3 for n in range(20)], "Owl": [0 if n < 5 else n % 3 for n in range(20)]}
    for name, outcomes in told.items():
        judge = Judge.objects.create(team=cast.team, name=name)
        for battle, outcome in zip(battles, outcomes, strict=True):
            Judgment.objects.create(
                run=run, judge=judge, battle=battle, outcome=OUTCOMES[outcome], resolved_at=timezone.now()
            )
    figures = campaign_agreement.compute(small.campaign).figures
    by_judge = {one["judge"]: one["with_people"] for one in figures["judges"]}
    assert by_judge["Sage"]["every"]["estimate"] == 1
    assert by_judge["Owl"]["every"]["n"] == 60
    (between,) = figures["between"]
    table = agreement_table(told["Sage"], told["Owl"], 3)
    expected = cohen_kappa(table + table[[1, 0, 2]][:, [1, 0, 2]])  # each pair named both ways
    assert between["figures"]["kappa"]["estimate"] == pytest.approx(expected.estimate)
    page = page_of(signed_in, small)
    assert "Owl with people" in page
    assert "Sage with Owl" in page
    assert {one["category"] for one in figures["categories"]} == {"reasoning", "writing"}


def test_agreement_does_not_hang_on_whose_responses_came_first(make_campaign, cast_vote, cast):
    """The same votes, where a file named the models in another order."""
    found = []
    for slug, names in (("one", ("Ember", "Fjord")), ("other", ("Fjord", "Ember"))):
        small = make_campaign(slug, prompts=12, names=names)
        judge = Judge.objects.create(team=cast.team, name=f"Sage {slug}")
        run = JudgeRun.objects.create(campaign=small.campaign)
        for number, prompt in enumerate(small.prompts):
            # Ember mostly wins, so that whoever is called the first mostly wins, or mostly loses.
            outcomes = ("model_a", "model_b" if number % 4 == 0 else "tie" if number % 4 == 1 else "model_a")
            for rater, outcome in zip((cast.alice_rater, cast.bob_rater), outcomes, strict=True):
                vote = cast_vote(small, prompt, "Ember", "Fjord", outcome, rater)
            Judgment.objects.create(
                run=run,
                judge=judge,
                battle=vote.battle,
                outcome="tie" if number % 3 == 0 else "model_a",
                resolved_at=timezone.now(),
            )
        figures = campaign_agreement.compute(small.campaign).figures
        found.append((figures["people"], figures["judges"][0]["with_people"]))
    assert found[0] == found[1]


def test_prompts_of_one_text_are_one_cluster_and_the_page_says_so(overlapping, signed_in):
    small = overlapping(17)
    one_text = [{"role": "user", "content": "Say hello."}]
    last = [prompt.pk for prompt in small.prompts[12:]]
    Prompt.objects.filter(pk__in=last).update(messages=one_text, category="writing")
    figures = campaign_agreement.compute(small.campaign).figures
    table = np.array(
        [[(n + (place if n >= 17 else 0)) % 3 for n in range(20)] for place in range(3)], dtype=float
    )
    expected = krippendorff_alpha(table, [min(n, 12) for n in range(20)], sides=(0, 1))
    alpha, two = figures["people"]["alpha"], figures["people"]["two"]
    assert (alpha["clusters"], two["every"]["clusters"], two["kappa"]["clusters"]) == (13, 13, 13)
    assert (alpha["lower"], alpha["upper"]) == pytest.approx((expected.lower, expected.upper))
    assert (figures["prompts"], figures["distinct_texts"]) == (20, 13)
    assert "The 20 prompts have only 13 different texts" in page_of(signed_in, small)


def test_figures_from_before_texts_were_clusters_are_still_shown(overlapping, signed_in):
    small = overlapping(17)
    stored = campaign_agreement.compute(small.campaign)
    del stored.figures["prompts"], stored.figures["distinct_texts"]
    stored.save()
    page = page_of(signed_in, small)
    assert "people with people" in page
    assert "different texts" not in page


def test_figures_without_an_interval_stand_alone_and_minus_is_a_minus(overlapping, signed_in):
    small = overlapping(17)
    stored = campaign_agreement.compute(small.campaign)
    two = stored.figures["people"]["two"]
    two["kappa"] |= {"estimate": -0.05, "lower": -0.2, "upper": 0.1}
    two["every"] |= {"estimate": 1.0, "lower": 0.01, "upper": 1.0, "effective_clusters": 1.0}
    two["decisive"] = two["every"] | {"effective_clusters": 9.0, "lower": 0.7}
    stored.figures["people"]["alpha"] |= {"estimate": 1.0, "lower": None, "upper": None}
    stored.save()
    (people, *_rest) = signed_in("ravi").get(reverse("board-agreement", args=["small"])).context["lines"]
    assert (people.every, people.decisive) == ("100\u00a0%", "100\u00a0% (70\u00a0…\u00a0100)")
    assert (people.kappa, people.alpha) == ("−0.05 (−0.20\u00a0…\u00a00.10)", "1.00")


def test_without_overlap_the_page_says_what_it_takes(small_campaign, signed_in, cast_vote, cast):
    assert "it takes two who saw the same pair" in page_of(signed_in, small_campaign)
    cast_vote(small_campaign, small_campaign.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater)
    figures = campaign_agreement.compute(small_campaign.campaign).figures
    assert figures["people"] == {"pairs": 0, "raters": 0, "two": None, "alpha": None}
    assert page_of(signed_in, small_campaign)


def test_new_rows_make_it_due_and_nothing_new_does_not(overlapping, cast_vote, cast, settings):
    small = overlapping(20)
    settings.SNAPSHOT_MINUTES = 0
    another = Rater.objects.create(team=cast.team, pseudonym="x")
    assert campaign_agreement.compute_due() == 1
    assert campaign_agreement.compute_due() == 0
    cast_vote(small, small.prompts[0], "Ember", "Fjord", "tie", another)
    assert campaign_agreement.compute_due() == 1
    assert CampaignAgreement.objects.count() == 1


def test_figures_are_computed_anew_with_a_snapshot_and_say_until_then_that_votes_came(
    overlapping, cast, cast_vote, signed_in
):
    small = overlapping(17)
    assert campaign_agreement.compute_due() == 1
    assert "Votes came since" not in page_of(signed_in, small)
    late = Rater.objects.create(team=cast.team, pseudonym="late")
    cast_vote(small, small.prompts[0], "Ember", "Fjord", "tie", late)
    assert campaign_agreement.compute_due() == 0
    assert "Votes came since" in page_of(signed_in, small)
    take_snapshot(default_leaderboard(small.campaign, BOARDS[0], None))
    assert [campaign_agreement.compute_due(), campaign_agreement.compute_due()] == [1, 0]
    assert "Votes came since" not in page_of(signed_in, small)


def test_one_answer_throughout_is_not_taken_for_nobody_compared(overlapping, signed_in):
    small = overlapping(8)
    stored = campaign_agreement.compute(small.campaign)
    people = stored.figures["people"]
    people["two"]["kappa"] = people["alpha"] = None
    stored.save()
    told = "All 60 pairs of verdicts about the same responses are of one and the same answer"
    assert told in page_of(signed_in, small)


def test_agreement_on_few_prompts_says_on_how_few(overlapping, signed_in):
    small = overlapping(20)
    stored = campaign_agreement.compute(small.campaign)
    assert "prompts: too few" not in page_of(signed_in, small)
    people = stored.figures["people"]
    people["two"]["every"]["clusters"] = 3
    stored.save()
    assert "3 prompts: too few" in page_of(signed_in, small)
    assert "That rests on 3 prompts, which are too few to rely on." in page_of(signed_in, small)
