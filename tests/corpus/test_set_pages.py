import pytest

from arena.corpus.models import Prompt, PromptSet
from arena.corpus.publishing import content_hash, publish
from arena.raters.models import Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(db) -> PromptSet:
    return PromptSet.objects.create(team=Team.default(), name="Start", licence="CC0")


def add(prompt_set: PromptSet, name: str, text: str, **fields) -> Prompt:
    messages = [{"role": "user", "content": text}]
    return Prompt.objects.create(prompt_set=prompt_set, external_id=name, messages=messages, **fields)


def turns(*texts: str, role: str = "user") -> dict[str, str]:
    data = {"turn-TOTAL_FORMS": str(len(texts)), "turn-INITIAL_FORMS": "0"}
    for number, text in enumerate(texts):
        data |= {f"turn-{number}-role": role, f"turn-{number}-content": text}
    return data


def test_a_set_is_made_and_filled_on_the_page(signed_in, cast):
    carol = signed_in("carol")
    made = carol.post("/prompt-sets/new/", {"name": "Mine", "licence": "CC BY 4.0", "is_internal": "on"})
    prompt_set = PromptSet.objects.get(name="Mine")
    assert made.url == f"/prompt-sets/{prompt_set.pk}/" and prompt_set.is_internal
    new = f"/prompt-sets/{prompt_set.pk}/prompts/new/"
    assert 'value="p1"' in carol.get(new).content.decode()
    typed = turns("Why?\r\nSay more.", "") | {
        "external_id": "p1",
        "tags": "a, b,, a",
        "language": "en",
        "specificity": "yes",
        "is_hard": "no",
    }
    assert carol.post(new, typed).status_code == 302
    prompt = prompt_set.prompts.get()
    assert prompt.messages == [{"role": "user", "content": "Why?\nSay more."}]
    assert (prompt.tags, prompt.specificity, prompt.is_hard) == (["a", "b"], True, False)
    assert "Why?" in prompt.rendered_html
    assert carol.get(new).content.decode().count('value="p2"') == 1


def test_a_name_can_be_taken_once(signed_in, draft):
    answer = signed_in("carol").post("/prompt-sets/new/", {"name": " Start "})
    assert answer.status_code == 422 and PromptSet.objects.count() == 1


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (turns(" ", "") | {"external_id": "p9"}, "it has no text"),
        (turns("Why?") | {"external_id": "taken"}, "has this id"),
        (turns("Why?", role="narrator") | {"external_id": "p9"}, "narrator"),
        ({"external_id": "p9"}, "it has no text"),
    ],
)
def test_a_prompt_that_makes_no_sense_is_refused_with_words(signed_in, draft, typed, words):
    add(draft, "taken", "?")
    answer = signed_in("carol").post(f"/prompt-sets/{draft.pk}/prompts/new/", typed)
    assert answer.status_code == 422 and words in answer.content.decode()
    assert draft.prompts.count() == 1


def test_a_turn_more_can_be_asked_for_without_losing_what_was_typed(signed_in, draft):
    typed = turns("Half a") | {"external_id": "p1", "act": "add-turn"}
    page = signed_in("carol").post(f"/prompt-sets/{draft.pk}/prompts/new/", typed)
    assert page.status_code == 200 and not draft.prompts.exists()
    assert "Half a" in page.content.decode() and 'name="turn-1-content"' in page.content.decode()


def test_a_row_is_changed_where_it_stands(signed_in, draft):
    prompt = add(draft, "p1", "Before")
    carol, htmx = signed_in("carol"), {"HTTP_HX_REQUEST": "true"}
    form = carol.get(f"/prompts/{prompt.pk}/edit/", **htmx).content.decode()
    assert form.lstrip().startswith("<tr") and "Before" in form and "<html" not in form
    row = carol.post(f"/prompts/{prompt.pk}/edit/", turns("After") | {"external_id": "p1"}, **htmx)
    assert row.content.decode().lstrip().startswith("<tr") and "After" in row.content.decode()
    assert "After" in carol.get(f"/prompts/{prompt.pk}/row/").content.decode()
    refused = carol.post(f"/prompts/{prompt.pk}/edit/", turns("") | {"external_id": "p1"}, **htmx)
    assert refused.status_code == 422 and refused.content.decode().lstrip().startswith("<tr")


def test_published_prompts_never_change_but_their_labels_do(signed_in, draft):
    prompt = add(draft, "p1", "Before")
    publish(draft)
    hashed = PromptSet.objects.get().content_hash
    typed = turns("After") | {"external_id": "p2", "is_hard": "yes"}
    signed_in("carol").post(f"/prompts/{prompt.pk}/edit/", typed)
    prompt.refresh_from_db()
    assert (prompt.text, prompt.external_id, prompt.is_hard) == ("Before", "p1", True)
    draft.refresh_from_db()
    assert content_hash(draft) == hashed == draft.content_hash
    assert signed_in("carol").post(f"/prompts/{prompt.pk}/remove/", follow=True).status_code == 200
    assert Prompt.objects.filter(pk=prompt.pk).exists()


def test_the_internal_flag_stands_once_published(signed_in, draft):
    add(draft, "p1", "?")
    publish(draft)
    change = {"licence": "MIT", "description": "Ours", "is_internal": "on", "name": "Other"}
    assert signed_in("carol").post(f"/prompt-sets/{draft.pk}/edit/", change).status_code == 302
    draft.refresh_from_db()
    assert (draft.licence, draft.description) == ("MIT", "Ours")
    assert not draft.is_internal and draft.name == "Start"


def test_prompts_of_a_draft_are_taken_out_until_they_have_responses(signed_in, draft, make_response):
    from arena.corpus.models import Competitor

    gone, kept = add(draft, "p1", "?"), add(draft, "p2", "?")
    make_response(kept, Competitor.objects.create(team=draft.team, name="Ember"), "Yes.")
    carol = signed_in("carol")
    carol.post(f"/prompts/{gone.pk}/remove/")
    page = carol.post(f"/prompts/{kept.pk}/remove/", follow=True).content.decode()
    assert "has responses" in page
    assert list(draft.prompts.all()) == [kept]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=Zebra", ["p1"]),
        ("q=zEBRA", ["p1"]),
        ("q=été", ["p2"]),
        ("q=%22quoted%22", ["p2"]),
        ("q=p3", ["p3"]),
        ("q=urgent", ["p3"]),
        ("category=maths", ["p2", "p3"]),
        ("category=maths&hard=yes", ["p2"]),
        ("hard=unknown", ["p1"]),
        ("language=fr", ["p2"]),
        ("q=nothing+like+it", []),
        ("hard=perhaps", []),
        ("category=other", []),
    ],
)
def test_prompts_are_found_by_words_tags_and_labels(signed_in, draft, query, found):
    add(draft, "p1", "A zebra")
    add(draft, "p2", 'L\'été "quoted"', category="maths", language="fr", is_hard=True)
    add(draft, "p3", "?", category="maths", tags=["urgent"], is_hard=False)
    page = signed_in("carol").get(f"/prompt-sets/{draft.pk}/?{query}").content.decode()
    assert [name for name in ("p1", "p2", "p3") if f"<bdi>{name}</bdi>" in page] == found


def test_typing_in_the_filter_swaps_the_list_alone(signed_in, draft):
    add(draft, "p1", "?")
    part = signed_in("carol").get(f"/prompt-sets/{draft.pk}/?q=p1", HTTP_HX_REQUEST="true").content.decode()
    assert part.lstrip().startswith('<div id="prompts"') and "<html" not in part


def test_a_label_is_set_for_the_chosen_prompts_or_for_all_found(signed_in, draft):
    prompts = [add(draft, f"p{n}", "?", category="a" if n < 60 else "b") for n in range(70)]
    carol, path = signed_in("carol"), f"/prompt-sets/{draft.pk}/labels/"
    chosen = {"label": "creativity", "value": "yes", "prompt": [prompts[0].pk, prompts[1].pk, "x", ""]}
    assert "2 prompts have another label" in carol.post(path, chosen, follow=True).content.decode()
    everything = {"label": "is_hard", "value": "no", "all": "on"}
    carol.post(path, everything | {"filter": "category=a"})
    assert (
        draft.prompts.filter(is_hard=False).count() == 60 and draft.prompts.filter(is_hard=None).count() == 10
    )
    for wrong in (
        {"label": "text", "value": "yes", "all": "on"},
        {"label": "is_hard", "value": "maybe", "all": "on"},
    ):
        assert "Choose a label" in carol.post(path, wrong, follow=True).content.decode()


def test_prompts_of_another_set_are_never_labelled(signed_in, draft):
    other = add(PromptSet.objects.create(team=draft.team, name="Other"), "p1", "?")
    choice = {"label": "is_hard", "value": "yes", "prompt": [other.pk]}
    answer = signed_in("carol").post(f"/prompt-sets/{draft.pk}/labels/", choice, follow=True)
    other.refresh_from_db()
    assert other.is_hard is None and "Choose the prompts first" in answer.content.decode()


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_others_change_nothing(signed_in, draft, who):
    prompt = add(draft, "p1", "?")
    visitor = signed_in(who)
    for path in (
        f"/prompt-sets/{draft.pk}/edit/",
        f"/prompt-sets/{draft.pk}/labels/",
        f"/prompt-sets/{draft.pk}/next/",
        f"/prompts/{prompt.pk}/edit/",
        f"/prompts/{prompt.pk}/remove/",
        f"/prompts/{prompt.pk}/redact/",
    ):
        assert (
            visitor.post(path, {"reason": "x", "all": "on", "label": "is_hard", "value": "yes"}).status_code
            == 404
        )
    assert PromptSet.objects.count() == 1 and draft.prompts.get().is_hard is None


def test_near_duplicates_are_listed_side_by_side(signed_in, draft):
    text = "Please write a short and friendly letter to the neighbours about the noise at night and the dog"
    add(draft, "p1", text)
    add(draft, "p2", text.replace("dog", "cat"))
    add(draft, "p3", "Something else altogether, about a river")
    page = signed_in("carol").get(f"/prompt-sets/{draft.pk}/duplicates/").content.decode()
    assert (
        "1 pair" in page
        and "<bdi>p1</bdi>" in page
        and "<bdi>p2</bdi>" in page
        and "<bdi>p3</bdi>" not in page
    )
