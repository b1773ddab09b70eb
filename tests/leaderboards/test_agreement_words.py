"""What low agreement means is said of people, of judges and of both, on its page as in the report."""

from types import SimpleNamespace

import pytest
from django.urls import reverse
from django.utils import timezone

from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.agreement.agreement_words import say_agreement
from arena.leaderboards.report.report_agreement import lay_out_agreement
from arena.leaderboards.report.report_draft import Draft
from arena.leaderboards.simulated_words import Simulated

REAL, MADE_UP = Simulated(0, 0), Simulated(9, 9)
TASTES = "Perhaps the guide can be read in more than one way, perhaps tastes differ"


def compared(estimate: float, lower: float | None = None, upper: float | None = None) -> dict:
    ends = {"lower": estimate - 0.05 if lower is None else lower, "upper": estimate + 0.05}
    if upper is not None:
        ends["upper"] = upper
    share = {"estimate": 0.7, "lower": 0.6, "upper": 0.8, "n": 60, "clusters": 20}
    return {"every": share, "decisive": share, "kappa": share | ends | {"estimate": estimate}}


def figures(people: dict | None, judges: dict, between: dict) -> dict:
    return {
        "people": {"two": people, "alpha": None},
        "judges": [{"judge": name, "with_people": found} for name, found in judges.items()],
        "between": [{"judges": list(names), "figures": found} for names, found in between.items()],
        "categories": [],
        "ambiguous_below": 0.6,
        "pairs": 20,
        "looked_at": 20,
    }


def texts(found: dict, simulated: Simulated = REAL) -> list[str]:
    return [one.text for one in say_agreement(found, simulated)]


LOW, HIGH, OPEN = compared(0.45), compared(0.8), compared(0.6)


def test_judges_that_agree_little_with_people_cannot_stand_in_for_them():
    judges = {"Jay": LOW, "Kite": HIGH, "Lark": compared(0.3), "Moth": OPEN}
    people, low, open_ = texts(figures(HIGH, judges, {}))
    assert people == "People agree with each other by κ = 0.6 or more: κ is 0.80 (0.75\u00a0…\u00a00.85)."
    assert low == (
        "Jay (κ 0.45) and Lark (κ 0.30) agree little with people: all of the interval of each κ lies below"
        " 0.6. None of them can stand in for people here."
    )
    assert (
        open_ == "Whether Moth (κ 0.60) agrees well with people isn’t settled: κ could be above 0.6 or below."
    )


def test_no_judge_can_agree_with_people_who_differ():
    _people, judge = texts(figures(LOW, {"Jay": LOW}, {}))
    assert judge.endswith(
        "It can’t stand in for people here. People agree little with each other too, so that no judge could"
        " agree much with them."
    )
    people, judge = texts(figures(LOW, {"Jay": LOW}, {}), MADE_UP)
    assert people.endswith("In simulated votes that says nothing about the guide.")
    assert judge.endswith("In simulated votes that says nothing about judges.")


def test_judges_that_agree_little_with_each_other_are_named_in_pairs():
    between = {("Jay", "Kite"): LOW, ("Jay", "Lark"): HIGH, ("Kite", "Lark"): compared(0.2)}
    (said,) = texts(figures(HIGH, {}, between))[1:]
    assert said == (
        "Judges agree little with each other, all of the interval of κ below 0.6: Jay with Kite (κ 0.45) and"
        " Kite with Lark (κ 0.20). What one judge’s board says may not be what another’s says."
    )


def test_where_nothing_can_be_compared_it_is_said_what_it_takes():
    nothing = "There is nothing to compare: no two people"
    (alone,) = texts(figures(None, {}, {}))
    assert alone.startswith(nothing) and alone.endswith("It takes votes of two people on the same pair.")
    (judged,) = texts(figures(None, {"Jay": None}, {}))
    assert judged.startswith(nothing) and "no person and judge" in judged
    people, judge, _between = texts(figures(None, {"Jay": None, "Kite": None}, {("Jay", "Kite"): OPEN}))
    assert people.startswith("No two people saw the same responses")
    assert judge.startswith("No vote stands on two responses that Jay and Kite judged: how far they agree")


@pytest.mark.parametrize("people", [LOW, HIGH, OPEN, None])
def test_the_report_says_what_the_page_says(small_campaign, signed_in, people):
    found = figures(people, {"Jay": LOW, "Kite": None}, {("Jay", "Kite"): LOW})
    CampaignAgreement.objects.create(
        campaign=small_campaign.campaign,
        figures=found,
        seen={"vote": 0},
        code_version="",
        computed_at=timezone.now(),
    )
    page = signed_in("ravi").get(reverse("board-agreement", args=["small"])).content.decode()
    draft = Draft()
    lay_out_agreement(SimpleNamespace(campaign=small_campaign.campaign), draft)
    told = [block.text for block in draft.blocks]
    for words in texts(found):
        assert words in page and words in told
    assert (TASTES in page) == (people is LOW)
