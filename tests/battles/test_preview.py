"""The team looks at a battle as its raters see it, and leaves no trace."""

from __future__ import annotations

import re
from collections import Counter
from html import escape

import pytest
from django.test import Client

from arena.battles import preview
from arena.battles.models import Battle, BattleNote, Vote
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, PromptSet, Response

ADDRESS = "/campaigns/small/preview/"
CANARIES = ("quilldrake-zx81", "vostrik-70b", "bromeliad-ultra")


def text(answer) -> str:
    return answer.content.decode()


@pytest.mark.parametrize("who", ["ravi", "carol"])
def test_the_team_sees_a_prompt_and_two_different_responses_to_it(small_campaign, signed_in, who):
    answer = signed_in(who).get(ADDRESS)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    shown = [one for one in small_campaign.responses if one.rendered_html in text(answer)]
    assert len(shown) == 2
    assert len({one.prompt_id for one in shown}) == 1
    assert shown[0].prompt.rendered_html in text(answer)
    assert shown[0].competitor_id != shown[1].competitor_id


@pytest.mark.parametrize("who", ["mallory", "alice", "dora"])
def test_nobody_else_finds_it(small_campaign, signed_in, who):
    assert signed_in(who).get(ADDRESS).status_code == 404


def test_a_stranger_is_sent_to_sign_in_and_nobody_can_post(small_campaign, signed_in):
    assert Client().get(ADDRESS).url.startswith("/accounts/login/")
    assert signed_in("carol").post(ADDRESS).status_code == 405


def test_nothing_is_stored_or_counted(small_campaign, signed_in):
    carol = signed_in("carol")
    for _ in range(5):
        carol.get(ADDRESS)
    for model in (Battle, Vote, BattleNote, PairCount):
        assert not model.objects.exists(), model


def test_nothing_on_the_page_can_be_sent_but_signing_out(small_campaign, signed_in):
    page = text(signed_in("carol").get(ADDRESS)).split('id="content"')[1]
    assert "<form" not in page and "formaction" not in page and "hx-" not in page
    assert "battle.js" not in page
    votes = page.split('class="votes"')[1].split("</div>")[0]
    assert votes.count("<button") == votes.count("disabled>") == 4


def test_it_is_blind(make_campaign, signed_in):
    make_campaign(names=CANARIES)
    carol = signed_in("carol")
    for _ in range(10):
        page = text(carol.get(ADDRESS))
        assert [name for name in CANARIES if name in page] == []


def test_every_pair_and_both_sides_come_up(make_campaign):
    small = make_campaign(prompts=1)
    seen = Counter()
    for _ in range(200):
        battle = preview.example(small.campaign)
        seen[battle.competitor_a_id, battle.competitor_b_id] += 1
    # Six orders, each missing from 200 draws with probability (5/6)^200, about 1e-16.
    assert len(seen) == 6


@pytest.mark.parametrize("status", ["draft", "paused", "closed"])
def test_it_needs_no_open_campaign(small_campaign, signed_in, status):
    Campaign.objects.update(status=status)
    assert "<article" in text(signed_in("carol").get(ADDRESS))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda: Response.objects.update(text_hash="0" * 64),
        lambda: Response.objects.update(is_blank=True),
        lambda: PromptSet.objects.update(status=PromptSet.Status.DRAFT),
        lambda: Competitor.objects.exclude(name="Ember").update(status=Competitor.Status.WITHDRAWN),
    ],
    ids=["identical", "blank", "unpublished", "alone"],
)
def test_without_two_texts_to_compare_it_says_so(small_campaign, signed_in, spoil):
    spoil()
    page = text(signed_in("carol").get(ADDRESS))
    assert "<article" not in page
    assert "There is no battle to preview yet" in page


def test_a_response_that_fights_nobody_is_never_shown(small_campaign):
    """One prompt's responses are identical: only the other prompts come up."""
    same = small_campaign.prompts[0]
    Response.objects.filter(prompt=same).update(text_hash="0" * 64)
    shown = {preview.example(small_campaign.campaign).prompt.pk for _ in range(60)}
    assert shown <= {prompt.pk for prompt in small_campaign.prompts[1:]}
    assert len(shown) > 1


def test_the_article_is_the_same_as_a_raters(small_campaign, signed_in, sit_down):
    def frame(page: str, texts) -> str:
        article = re.search(r"<article.*?</article>", page, re.DOTALL)[0]
        for one in texts:
            article = article.replace(one, "")
        return re.sub(r'data-(battle|key)="[^"]+"', "", article)

    texts = [one.rendered_html for one in (*small_campaign.prompts, *small_campaign.responses)]
    texts += [escape(one.text) for one in small_campaign.responses]
    theirs = frame(text(sit_down(small_campaign).look()), texts)
    assert frame(text(signed_in("carol").get(ADDRESS)), texts) == theirs
