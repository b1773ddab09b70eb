"""What a campaign's page says of its prompts, responses and plan agrees with itself."""

import pytest

from arena.campaigns.models import Campaign
from arena.corpus.models import PromptSet
from arena.corpus.redaction import redact_prompt
from arena.leaderboards.plans.analysis_plan import AnalysisPlan

pytestmark = pytest.mark.django_db


def page(visitor, path: str = "/campaigns/small/") -> str:
    answer = visitor.get(path)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_responses_to_an_unpublished_set_are_counted_and_said_to_wait(signed_in, small_campaign):
    PromptSet.objects.update(status=PromptSet.Status.DRAFT)
    Campaign.objects.update(status=Campaign.Status.DRAFT, opened_at=None)
    shown = page(signed_in("carol"))
    assert "<strong>12</strong> responses that can be drawn once their prompts are published" in shown
    PromptSet.objects.update(status=PromptSet.Status.PUBLISHED)
    assert "once their prompts are published" not in page(signed_in("carol"))


def test_a_redacted_prompt_lacks_no_responses(signed_in, small_campaign):
    redact_prompt(small_campaign.prompts[0], reason="private", by="carol")
    shown = page(signed_in("carol"))
    assert "3 of 3 prompts" in shown and "lack responses" not in shown
    assert "4 prompts, 1 of them redacted" in shown


def test_a_plan_is_an_optional_step_on_the_page_and_stands_beside_the_empty_board(signed_in, small_campaign):
    carol, plan = signed_in("carol"), "/campaigns/small/analysis-plan/"
    shown = page(carol)
    assert 'class="step optional" id="plan"' in shown and plan in shown
    assert plan in page(carol, "/boards/small/")
    AnalysisPlan.objects.create(campaign=small_campaign.campaign, question="Which?", boards=["overall"])
    assert "version 1 is a draft: freeze it" in page(carol)


def test_a_set_is_chosen_beforehand_and_says_that_it_is_a_draft(signed_in, small_campaign, cast):
    draft = PromptSet.objects.create(team=cast.team, name="Drafted")
    theirs = PromptSet.objects.create(team=cast.other_team, name="Theirs")
    shown = page(signed_in("carol"), f"/campaigns/new/?set={draft.pk}&set={theirs.pk}&set=x")
    assert "Drafted v1 (draft)" in shown.replace("Draft)", "draft)") and "Theirs" not in shown
    form = signed_in("carol").get(f"/campaigns/new/?set={draft.pk}").context["form"]
    assert [one.pk for one in form["prompt_sets"].initial] == [draft.pk]
