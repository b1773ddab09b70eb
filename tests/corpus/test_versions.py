import pytest

from arena.corpus.models import Prompt, PromptSet
from arena.corpus.publishing import publish
from arena.corpus.redaction import redact_prompt
from arena.corpus.versions import changes, compare, draft_next
from arena.raters.models import Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def first(db) -> PromptSet:
    prompt_set = PromptSet.objects.create(team=Team.default(), name="Start", licence="CC0", is_internal=True)
    for name in ("p1", "p2", "p3"):
        messages = [{"role": "user", "content": f"Line one\nSay {name}"}]
        Prompt.objects.create(
            prompt_set=prompt_set, external_id=name, messages=messages, tags=["t"], creativity=True
        )
    publish(prompt_set)
    prompt_set.refresh_from_db()
    return prompt_set


def test_the_next_version_is_a_draft_with_the_same_prompts(first, signed_in):
    answer = signed_in("carol").post(f"/prompt-sets/{first.pk}/next/")
    draft = PromptSet.objects.get(version=2)
    assert answer.url == f"/prompt-sets/{draft.pk}/"
    assert (draft.status, draft.name, draft.licence, draft.is_internal) == ("draft", "Start", "CC0", True)
    assert compare(first, draft).is_empty and compare(first, draft).same == 3
    assert draft.prompts.first().creativity is True and draft.content_hash == ""
    publish(draft)
    draft.refresh_from_db()
    assert draft.content_hash == first.content_hash


def test_there_is_one_draft_of_a_name_at_a_time(first, signed_in):
    carol = signed_in("carol")
    carol.post(f"/prompt-sets/{first.pk}/next/")
    assert "is a draft already" in carol.post(f"/prompt-sets/{first.pk}/next/", follow=True).content.decode()
    assert PromptSet.objects.count() == 2


def test_a_redacted_prompt_stays_behind(first):
    redact_prompt(first.prompts.get(external_id="p2"), reason="personal", by="carol")
    assert list(draft_next(first).prompts.values_list("external_id", flat=True)) == ["p1", "p3"]


def test_what_changed_is_told_prompt_by_prompt_and_line_by_line(first, signed_in):
    draft = draft_next(first)
    draft.prompts.get(external_id="p1").delete()
    changed = draft.prompts.get(external_id="p2")
    changed.messages[0]["content"] = "Line one\nSay it <again>"
    changed.category = "speech"
    changed.save()
    Prompt.objects.create(prompt_set=draft, external_id="p4", messages=[{"role": "user", "content": "New"}])
    difference = compare(first, draft)
    assert [name for name, _text in difference.added] == ["p4"]
    assert [name for name, _text in difference.removed] == ["p1"]
    assert (difference.changed, difference.same) == (("p2",), 1)
    (change,) = changes(first, draft, difference.changed)
    assert [(f.field, f.before, f.after) for f in change.fields] == [("category", "", "speech")]
    assert [(line.kind, line.text) for line in change.text] == [
        ("same", "Line one"),
        ("removed", "Say p2"),
        ("added", "Say it <again>"),
    ]
    page = signed_in("carol").get(f"/prompt-sets/{draft.pk}/compare/").content.decode()
    assert "Say it &lt;again&gt;" in page and "from version 1 to 2" in page and "speech" in page


def test_a_first_version_has_nothing_to_be_compared_with(first, signed_in):
    page = signed_in("carol").get(f"/prompt-sets/{first.pk}/compare/?with=x").content.decode()
    assert "no earlier version" in page


def test_a_retired_set_is_no_longer_offered_and_stays_where_it_is_used(small_campaign, signed_in):
    carol, pk = signed_in("carol"), small_campaign.prompt_set.pk
    carol.post(f"/prompt-sets/{pk}/retire/")
    small_campaign.prompt_set.refresh_from_db()
    assert small_campaign.prompt_set.status == "retired"
    name = small_campaign.prompt_set.name
    carol.get("/prompt-sets/")  # where the message about it is read
    assert name not in carol.get("/campaigns/new/").content.decode()
    visitor = signed_in("alice")
    visitor.post(f"/join/{small_campaign.token}/")
    assert "Prompt number" in visitor.get("/campaigns/small/battle/").content.decode()
    carol.post(f"/prompt-sets/{pk}/reinstate/")
    assert name in carol.get("/campaigns/new/").content.decode()


def test_a_draft_cannot_be_retired(first):
    from arena.corpus.publishing import retire

    assert not retire(draft_next(first)) and retire(first)
