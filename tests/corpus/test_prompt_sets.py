import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena.campaigns.models import Campaign
from arena.corpus import personal_in_sets
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.publishing import NotPublishableError, content_hash, publish
from arena.corpus.redaction import redact_response
from arena.raters.models import Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(db) -> PromptSet:
    return PromptSet.objects.create(team=Team.default(), name="Start")


def add(prompt_set: PromptSet, name: str, text: str, **fields) -> Prompt:
    messages = [{"role": "user", "content": text}]
    return Prompt.objects.create(prompt_set=prompt_set, external_id=name, messages=messages, **fields)


def test_a_set_is_published_once_with_the_hash_of_its_prompts(draft, signed_in):
    add(draft, "p1", "Why?")
    carol = signed_in("carol")
    assert "is published." in carol.post(f"/prompt-sets/{draft.pk}/publish/", follow=True).content.decode()
    draft.refresh_from_db()
    assert draft.status == "published" and draft.published_at and draft.content_hash == content_hash(draft)
    again = carol.post(f"/prompt-sets/{draft.pk}/publish/", follow=True).content.decode()
    assert "is published already" in again


def test_the_hash_depends_on_the_prompts_and_not_on_their_order(db):
    team = Team.default()
    one, two, three = (PromptSet.objects.create(team=team, name=name) for name in "abc")
    for prompt_set, names in ((one, "xy"), (two, "yx"), (three, "xy")):
        for name in names:
            add(prompt_set, name, f"Say {name}", category="c" if prompt_set == three else "")
    assert content_hash(one) == content_hash(two) != content_hash(three)


def test_the_hash_leaves_out_what_is_found_about_a_prompt(draft):
    add(draft, "p1", "Why?")
    before = content_hash(draft)
    draft.prompts.update(is_hard=True, creativity=False)
    assert content_hash(draft) == before


def test_an_empty_set_cannot_be_published(draft):
    with pytest.raises(NotPublishableError, match="holds no prompts"):
        publish(draft)
    draft.refresh_from_db()
    assert draft.status == "draft"


def test_the_page_shows_fifty_prompts_at_a_time_with_their_responses(signed_in, draft, make_response):
    prompts = [add(draft, f"p{number}", f"Question {number}?") for number in range(60)]
    ember = Competitor.objects.create(team=draft.team, name="Ember")
    make_response(prompts[0], ember, "Yes.")
    make_response(prompts[1], ember, " ")
    carol = signed_in("carol")
    first = carol.get(f"/prompt-sets/{draft.pk}/").content.decode()
    assert "Question 49?" in first and "Question 50?" not in first and "page 1 of 2" in first
    assert "<strong>1</strong> blank, never drawn" in first
    assert "Question 59?" in carol.get(f"/prompt-sets/{draft.pk}/?page=2").content.decode()


def test_a_page_takes_as_many_queries_whatever_the_size(signed_in, draft, django_assert_max_num_queries):
    for number in range(50):
        add(draft, f"p{number}", "?")
    carol = signed_in("carol")
    carol.get(f"/prompt-sets/{draft.pk}/")  # the first view looks for personal data
    with django_assert_max_num_queries(15):
        carol.get(f"/prompt-sets/{draft.pk}/")


def test_a_draft_names_the_prompts_with_personal_data_until_it_is_published(signed_in, draft):
    add(draft, "p1", "Write to jo.smith@example.org, please.")
    add(draft, "p2", "Write to nobody.")
    carol = signed_in("carol")
    page = carol.get(f"/prompt-sets/{draft.pk}/").content.decode()
    assert "1 prompt likely holds personal data" in page
    notice = page.split("personal data")[1].split("</p>")[0]
    assert ">p1</a>" in notice and ">p2</a>" not in notice
    carol.post(f"/prompt-sets/{draft.pk}/publish/")
    assert "personal data" not in carol.get(f"/prompt-sets/{draft.pk}/").content.decode()


def test_responses_with_personal_data_are_named_too_wherever_a_draft_is_published(
    signed_in, draft, make_response
):
    prompt = add(draft, "p1", "Whom may I ask?")
    ember = Competitor.objects.create(team=draft.team, name="Ember")
    response = make_response(prompt, ember, "Ask jo.smith@example.org.", sample=1)
    make_response(prompt, ember, "Ask nobody.", sample=2)
    campaign = Campaign.objects.create(team=draft.team, slug="tourney", name="Tourney")
    campaign.prompt_sets.add(draft)
    carol = signed_in("carol")
    pages = (f"/prompt-sets/{draft.pk}/", "/campaigns/tourney/")
    for page in pages:
        words = carol.get(page).content.decode()
        assert "1 response likely holds personal data" in words
        assert "p1 (<bdi>Ember</bdi>)" in words
    assert "personal data" not in signed_in("ravi").get(pages[1]).content.decode()
    redact_response(response, reason="an address", by="carol")
    for page in pages:
        assert "personal data" not in carol.get(page).content.decode()


@pytest.fixture
def looks(monkeypatch) -> list[str]:
    """The texts that are looked through, one after the other."""
    texts: list[str] = []
    found = personal_in_sets.kinds_in
    monkeypatch.setattr(personal_in_sets, "kinds_in", lambda text: texts.append(text) or found(text))
    return texts


def test_a_drafts_texts_are_looked_through_when_they_change_and_not_when_they_are_viewed(
    signed_in, draft, make_response, looks
):
    first, second = add(draft, "p1", "Write to jo.smith@example.org."), add(draft, "p2", "Why?")
    ember = Competitor.objects.create(team=draft.team, name="Ember")
    answer = make_response(first, ember, "Ask al.brown@example.org.")
    campaign = Campaign.objects.create(team=draft.team, slug="tourney", name="Tourney")
    campaign.prompt_sets.add(draft)
    carol = signed_in("carol")

    def seen() -> tuple[int, int, list[str]]:
        """By each page, how often personal data is named; and what was looked through for both."""
        del looks[:]
        paths = (f"/prompt-sets/{draft.pk}/", "/campaigns/tourney/")
        pages = [carol.get(path).content.decode() for path in paths]
        return *(page.count("likely hold") for page in pages), sorted(looks)

    texts = sorted([answer.text, first.text, second.text])
    assert seen() == (2, 2, texts)
    assert seen() == (2, 2, [])
    edited = {"external_id": "p2", "turn-TOTAL_FORMS": 1, "turn-INITIAL_FORMS": 1}
    edited |= {"turn-0-role": "user", "turn-0-content": "Call +44 20 7946 0958?"}
    assert carol.post(f"/prompts/{second.pk}/edit/", edited).status_code == 302
    assert seen() == (2, 2, [answer.text, "Call +44 20 7946 0958?", first.text])
    assert "2 prompts likely hold" in carol.get("/campaigns/tourney/").content.decode()
    redact_response(answer, reason="an address", by="carol")
    assert seen() == (1, 1, []), "what is gone isn't named, and the others needn't be looked at for it"
    carol.post(f"/prompts/{second.pk}/remove/")
    assert seen() == (1, 1, [first.text])
    add(draft, "p3", "Who?")
    assert seen() == (1, 1, ["Who?", first.text])
    assert seen()[2] == []


def test_a_campaigns_page_takes_as_many_queries_whatever_its_draft_holds(
    signed_in, draft, django_assert_max_num_queries
):
    campaign = Campaign.objects.create(team=draft.team, slug="tourney", name="Tourney")
    campaign.prompt_sets.add(draft)
    carol = signed_in("carol")
    add(draft, "p0", "Write to jo0@example.org")
    carol.get("/campaigns/tourney/")
    with CaptureQueriesContext(connection) as asked:
        carol.get("/campaigns/tourney/")
        few = len(asked)
    for number in range(1, 60):
        add(draft, f"p{number}", f"Write to jo{number}@example.org")
    carol.get("/campaigns/tourney/")
    with django_assert_max_num_queries(few):
        page = carol.get("/campaigns/tourney/").content.decode()
    assert "60 prompts likely hold personal data" in page


@pytest.mark.parametrize("bound", ["TEXTS_LOOKED_AT", "CHARACTERS_LOOKED_AT"])
def test_a_draft_says_how_far_personal_data_was_looked_for(signed_in, draft, monkeypatch, bound):
    for number in range(3):
        add(draft, f"p{number}", f"Write to jo{number}@example.org")
    carol = signed_in("carol")
    page = carol.get(f"/prompt-sets/{draft.pk}/").content.decode()
    assert "3 prompts likely hold" in page and "was looked for" not in page
    looked_at = {"TEXTS_LOOKED_AT": 2, "CHARACTERS_LOOKED_AT": 60}[bound]
    monkeypatch.setattr(personal_in_sets, bound, looked_at)
    page = carol.get(f"/prompt-sets/{draft.pk}/").content.decode()
    assert "2 prompts likely hold" in page
    assert "looked for in the first 2 prompts only" in page


def test_a_huge_prompt_is_cut_in_the_list(signed_in, draft):
    add(draft, "p1", "word " * 100_000)
    assert len(signed_in("carol").get(f"/prompt-sets/{draft.pk}/").content) < 20_000


def test_markup_in_prompts_and_names_is_shown_as_text(signed_in, draft):
    add(draft, "<i>p</i>", "<script>alert(1)</script>", category="<b>")
    Competitor.objects.create(team=draft.team, name="<img src=x onerror=alert(1)>")
    carol = signed_in("carol")
    for path in (f"/prompt-sets/{draft.pk}/", "/models/", "/prompt-sets/"):
        page = carol.get(path).content.decode()
        assert "<script>alert" not in page and "<img src=x" not in page and "<i>p</i>" not in page


def test_the_lists_say_what_to_do_when_empty(signed_in, cast):
    carol = signed_in("carol")
    assert "No prompt set yet" in carol.get("/prompt-sets/").content.decode()
    assert "No model yet" in carol.get("/models/").content.decode()


def test_models_are_listed_with_their_responses(signed_in, small_campaign):
    Response.objects.filter(competitor__name="Ember").update(is_blank=True)
    page = signed_in("carol").get("/models/").content.decode()
    assert page.count('<td class="number">4</td>') >= 3


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_others_find_no_prompt_set(signed_in, draft, who):
    add(draft, "p1", "?")
    visitor = signed_in(who)
    assert visitor.get(f"/prompt-sets/{draft.pk}/").status_code == 404
    assert visitor.post(f"/prompt-sets/{draft.pk}/publish/").status_code == 404
    draft.refresh_from_db()
    assert draft.status == "draft"


def test_publishing_is_refused_by_get(signed_in, draft):
    assert signed_in("carol").get(f"/prompt-sets/{draft.pk}/publish/").status_code == 405
