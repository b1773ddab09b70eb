"""Texts of golds are no model's: they are counted and listed apart from responses."""

import pytest

from arena.battles import golds
from arena.corpus.redaction import redact_response

pytestmark = pytest.mark.django_db


@pytest.fixture
def gold(small_campaign, cast):
    prompt = small_campaign.prompts[0]
    row = golds.Row(prompt, "A careful text.", "A careless text.", "model_a", "quality")
    return golds.add(small_campaign.campaign, [row], cast.carol)[0]


def page(visitor, path: str) -> str:
    answer = visitor.get(path)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_a_gold_is_no_model_and_no_response_of_its_prompt_set(signed_in, small_campaign, gold):
    shown = page(signed_in("carol"), f"/prompt-sets/{small_campaign.prompt_set.pk}/")
    assert "<strong>12</strong> responses" in shown and "<strong>3</strong> models" in shown
    assert "<strong>1</strong> gold" in shown


def test_a_prompts_page_lists_the_texts_of_golds_by_themselves(signed_in, small_campaign, gold):
    shown = page(signed_in("carol"), f"/prompts/{gold.prompt_id}/")
    responses, texts = shown.split("Texts of golds")
    assert "Gold text 1" in texts and "Gold text 1" not in responses
    assert "Ember" in responses and "Ember" not in texts


def test_the_list_of_models_says_what_a_holder_of_golds_is(signed_in, gold):
    assert "texts of golds, no model" in page(signed_in("carol"), "/models/")


def test_leaks_are_counted_without_golds(signed_in, small_campaign, gold):
    shown = page(signed_in("carol"), f"/prompt-sets/{small_campaign.prompt_set.pk}/leaks/")
    assert "<strong>12</strong> not looked at yet" in shown
    assert "12 responses haven't been looked at yet" in shown and "None so far." in shown


def test_redacted_prompts_and_responses_are_counted_each(signed_in, small_campaign):
    redact_response(small_campaign.responses[0], reason="private", by="carol")
    shown = page(signed_in("carol"), f"/prompt-sets/{small_campaign.prompt_set.pk}/")
    assert "0 prompts, 1 response" in shown
    shown = page(signed_in("carol"), f"/prompts/{small_campaign.prompts[0].pk}/")
    assert "Judges&#x27; words may still quote it" in shown.replace("'", "&#x27;")
