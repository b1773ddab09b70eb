import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena import giving_way
from arena.corpus import leak_checks
from arena.corpus.leak_checks import check_unchecked, look_again
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.redaction import redact_response
from arena.raters.models import Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def prompt(db) -> Prompt:
    prompt_set = PromptSet.objects.create(team=Team.default(), name="Start", status="published")
    return Prompt.objects.create(
        prompt_set=prompt_set, external_id="p1", messages=[{"role": "user", "content": "Who are you, Grok?"}]
    )


@pytest.fixture
def ember(db) -> Competitor:
    return Competitor.objects.create(
        team=Team.default(), name="Ember-2", aliases=["emb"], organisation="Northlight"
    )


@pytest.fixture
def texts(prompt, ember, make_response):
    fjord = Competitor.objects.create(team=ember.team, name="Fjord")
    return {
        "clean": make_response(prompt, ember, "A fine day. Grok said so.", sample=1),
        "own": make_response(prompt, ember, "This is **Ember-2** speaking.", sample=2),
        "maker": make_response(prompt, fjord, "I was made by Northlight.", sample=1),
        "other": make_response(prompt, fjord, "I'm Ember-2, not Fjord.", sample=2),
    }


def leaks(texts) -> dict[str, tuple[str, list[str]]]:
    for response in texts.values():
        response.refresh_from_db()
    return {name: (response.leak, response.leak_words) for name, response in texts.items()}


def test_responses_are_looked_at_once_with_all_names_of_the_team(texts):
    assert check_unchecked() == 4
    assert leaks(texts) == {
        "clean": ("clean", []),
        "own": ("found", ["Ember-2"]),
        "maker": ("found", ["Northlight"]),
        "other": ("found", ["Ember-2", "Fjord"]),
    }
    assert check_unchecked() == 0
    masked = Response.objects.get(pk=texts["own"].pk).masked_html
    assert "▇▇▇" in masked and "Ember" not in masked and "speaking" in masked
    assert Response.objects.get(pk=texts["clean"].pk).masked_html == ""


def test_the_campaigns_policy_says_which_may_fight(texts):
    def may_fight(policy: str) -> set[str]:
        fit = set(Response.objects.fit_to_fight(policy).values_list("pk", flat=True))
        return {name for name, response in texts.items() if response.pk in fit}

    assert may_fight("flag") == set(texts)
    assert may_fight("exclude") == may_fight("mask") == set()  # nobody has looked yet
    check_unchecked()
    assert (may_fight("flag"), may_fight("exclude"), may_fight("mask")) == (set(texts), {"clean"}, set(texts))
    with pytest.raises(ValueError, match="flag, exclude or mask"):
        Response.objects.fit_to_fight("hide")


def test_raters_see_the_masked_text_only_where_the_campaign_masks(texts):
    check_unchecked()
    own = Response.objects.get(pk=texts["own"].pk)
    assert "Ember" in own.html_under("flag") and "Ember" not in own.html_under("mask")
    clean = Response.objects.get(pk=texts["clean"].pk)
    assert clean.html_under("mask") == clean.html


def test_an_admin_says_that_it_is_none_and_that_stays(texts, signed_in, prompt):
    check_unchecked()
    carol, own = signed_in("carol"), texts["own"]
    page = carol.get(f"/prompt-sets/{prompt.prompt_set_id}/leaks/").content.decode()
    assert page.count("<mark>") == 4 and "Northlight" in page
    carol.post(f"/responses/{own.pk}/no-leak/")
    assert leaks(texts)["own"] == ("dismissed", ["Ember-2"])
    assert Response.objects.fit_to_fight("exclude").filter(pk=own.pk).exists()
    look_again(Response.objects.all())
    check_unchecked()
    assert leaks(texts)["own"] == ("dismissed", ["Ember-2"]) and leaks(texts)["maker"][0] == "found"
    assert (
        "Ember-2" in carol.get(f"/prompt-sets/{prompt.prompt_set_id}/leaks/?show=dismissed").content.decode()
    )
    carol.post(f"/responses/{own.pk}/leak/")
    assert leaks(texts)["own"][0] == "found"


def test_a_new_alias_has_the_responses_looked_at_anew(texts, signed_in, ember):
    check_unchecked()
    form = {"name": ember.name, "aliases": "emb\nfine day", "role": "contender", "status": "active"}
    assert signed_in("carol").post(f"/models/{ember.pk}/", form).status_code == 302
    assert leaks(texts)["clean"][0] == "unchecked"
    check_unchecked()
    assert leaks(texts)["clean"] == ("found", ["fine day"]) and leaks(texts)["maker"] == ("clean", [])


def test_a_redacted_response_has_no_words_left(texts):
    redact_response(texts["own"], reason="x", by="carol")
    check_unchecked()
    assert leaks(texts)["own"] == ("clean", [])


def test_what_is_clean_is_written_at_once_however_much_it_is(prompt, ember, make_response):
    """Votes wait while it is written."""

    def statements(responses: int) -> int:
        for sample in range(responses):
            make_response(prompt, ember, f"A fine day {sample}.", sample=Response.objects.count() + 1)
        with CaptureQueriesContext(connection) as queries:
            assert check_unchecked() == responses
        return len(queries)

    assert statements(40) == statements(3)


def test_however_many_are_looked_at_anew_votes_are_let_in_between(texts, monkeypatch):
    check_unchecked()
    monkeypatch.setattr(leak_checks, "_AGAIN", 2)
    pauses = []
    monkeypatch.setattr(giving_way.time, "sleep", pauses.append)
    assert look_again(Response.objects.all()) == 4
    assert len(pauses) == 2
    assert {leak for leak, _words in leaks(texts).values()} == {"unchecked"}
    assert look_again(Response.objects.all()) == 0


def test_a_turn_ends_in_time(texts):
    assert check_unchecked(until=time.monotonic() - 1) == 0


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_nobody_else_decides_about_leaks(texts, signed_in, who):
    check_unchecked()
    assert signed_in(who).post(f"/responses/{texts['own'].pk}/no-leak/").status_code == 404
    assert leaks(texts)["own"][0] == "found"


def test_a_battle_is_shown_with_the_words_masked(client, small_campaign):
    Response.objects.update(
        leak=Response.Leak.FOUND,
        leak_words=["Fjord"],
        masked_html="<p>I am ▇▇▇</p>",
        rendered_html="<p>Fjord!</p>",
    )
    small_campaign.campaign.leak_policy = "mask"
    small_campaign.campaign.save()
    client.post(f"/join/{small_campaign.token}/")
    page = client.get("/campaigns/small/battle/").content.decode()
    assert "I am ▇▇▇" in page and "Fjord!" not in page
