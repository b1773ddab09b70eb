"""Plans written and frozen through the site's forms, and votes that come after them."""

import itertools

from django.urls import reverse
from django.utils import timezone

from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from tests.leaderboards.simulated_votes import NAMES

DRAFT = {
    "question": "Is Ember better than Fjord?",
    "margin": "25",
    "ties": "drop",
    "both_bad": "drop",
    "boards": ["overall", "style"],
    "raters": "20",
    "votes": "600",
}


def write_and_freeze(carol, slug="joust", **changes):
    assert carol.post(reverse("analysis-plan-save", args=[slug]), DRAFT | changes).status_code == 302
    assert freeze(carol, slug, though_it_cannot_answer="1").status_code == 302


def freeze(carol, slug="joust", follow=False, **sent):
    """Presses the button of the draft as it stands on the page now."""
    draft = AnalysisPlan.objects.get(campaign__slug=slug, frozen_at=None)
    sent = {"as_read": draft.as_read} | sent
    return carol.post(reverse("analysis-plan-freeze", args=[slug]), sent, follow=follow)


def record_votes(small, cast_vote, raters, kind="regular", numbers=range(240)):
    """240 votes by two people, on all pairs in turn."""
    pairs = list(itertools.combinations(NAMES, 2))
    for number in numbers:
        prompt, (a, b) = small.prompts[number // 10], pairs[number % 10]
        outcome = "model_b" if number % 7 == 0 else "model_a"
        cast_vote(small, prompt, a, b, outcome, raters[number % 3], at=timezone.now(), kind=kind)
