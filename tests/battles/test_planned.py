"""Planned repeats and golds among a rater's battles."""

from __future__ import annotations

from html import escape

import pytest
from django.db import IntegrityError
from scipy.stats import binomtest

from arena.battles import draw, planned
from arena.battles.gold_models import Gold
from arena.battles.models import Battle, Vote
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt


@pytest.fixture
def rate(vote_on):
    """rate(campaign, rater, 30) votes on what is handed out; returns the battles in their order."""

    def votes(campaign, rater, number: int, outcome: str = "model_a") -> list[Battle]:
        battles = []
        for _ in range(number):
            battle = Battle.objects.get(pk=draw.hand_out(campaign, rater)[0].pk)
            vote_on(battle, outcome)
            battles.append(battle)
        return battles

    return votes


@pytest.fixture
def repeating(make_campaign):
    return make_campaign(prompts=30, repeat_share=0.5)


@pytest.fixture
def make_gold(make_response):
    def make(small, prompt=None, **fields) -> Gold:
        prompt = prompt or small.prompts[0]
        sides = [
            Competitor.objects.get_or_create(
                team=small.campaign.team, name=name, defaults={"status": "retired"}
            )[0]
            for name in ("Gold one", "Gold two")
        ]
        number = Gold.objects.count() + 1
        texts = [make_response(prompt, side, f"{side.name}, {number}", sample=number) for side in sides]
        options = {"expected": "model_a"} | fields
        return Gold.objects.create(
            campaign=small.campaign, prompt=prompt, response_a=texts[0], response_b=texts[1], **options
        )

    return make


def test_a_repeat_is_an_earlier_battle_with_its_sides_swapped(repeating, make_rater, rate):
    rater = make_rater(repeating.campaign.team)
    battles = rate(repeating.campaign, rater, 40)
    repeats = [battle for battle in battles if battle.kind == "repeat"]
    assert len(repeats) >= 5
    for repeat in repeats:
        first = repeat.repeat_of
        assert first.kind == "regular" and first.vote and first.rater == rater
        assert (first.response_a, first.response_b) == (repeat.response_b, repeat.response_a)
        assert (first.competitor_a, first.competitor_b) == (repeat.competitor_b, repeat.competitor_a)
        assert first.prompt == repeat.prompt
        assert repeat.propensity is None
    assert len({repeat.repeat_of_id for repeat in repeats}) == len(repeats), "a battle was repeated twice"


def test_ten_votes_at_least_lie_between_a_battle_and_its_repeat(repeating, make_rater, rate):
    battles = rate(repeating.campaign, make_rater(repeating.campaign.team), 40)
    place = {battle.pk: number for number, battle in enumerate(battles)}
    apart = [place[b.pk] - place[b.repeat_of_id] for b in battles if b.repeat_of_id]
    assert apart
    assert min(apart) > planned.REPEAT_AFTER


def test_repeats_come_as_often_as_the_campaign_says(make_campaign, make_rater, rate):
    small = make_campaign(prompts=60, repeat_share=0.2)
    raters = [make_rater(small.campaign.team) for _ in range(4)]
    battles = [battle for rater in raters for battle in rate(small.campaign, rater, 80)[20:]]
    repeats = sum(battle.kind == "repeat" for battle in battles)
    # The coin is a CSPRNG's and can't be seeded: one run in ten thousand may fail.
    assert binomtest(repeats, len(battles), 0.2).pvalue > 1e-4


def test_by_default_a_tenth_is_repeated():
    assert Campaign().repeat_share == pytest.approx(0.1)


def test_a_repeat_is_not_counted_for_its_pair(repeating, make_rater, rate):
    rate(repeating.campaign, make_rater(repeating.campaign.team), 30)
    regular = Battle.objects.filter(kind="regular").count()
    assert Battle.objects.filter(kind="repeat").exists()
    assert sum(PairCount.objects.values_list("battles", flat=True)) == regular


def test_an_undone_repeat_comes_back_as_the_same_repeat(repeating, make_rater, rate, sit_down):
    desk = sit_down(repeating)
    for _ in range(60):
        battle = desk.on_screen()
        if battle.kind == "repeat":
            break
        desk.vote(battle)
    desk.vote(battle)
    desk.act(battle, "undo")
    again = desk.on_screen()
    assert (again.kind, again.repeat_of, again.replaces) == ("repeat", battle.repeat_of, battle)
    assert {again.response_a, again.response_b} == {battle.response_a, battle.response_b}
    desk.act(again, "skip")
    regular = Battle.objects.filter(kind="regular").count()
    assert sum(PairCount.objects.values_list("battles", flat=True)) == regular


def test_where_votes_reveal_there_is_no_repeat(make_campaign, make_rater, rate):
    small = make_campaign(prompts=30, repeat_share=0.5, reveal=Campaign.Reveal.AFTER_VOTE)
    battles = rate(small.campaign, make_rater(small.campaign.team), 25)
    assert {battle.kind for battle in battles} == {"regular"}


def test_what_a_withdrawn_model_wrote_is_not_repeated(repeating, make_rater, rate):
    rater = make_rater(repeating.campaign.team)
    rate(repeating.campaign, rater, 14)
    gone = repeating.competitors[0]
    Competitor.objects.filter(pk=gone.pk).update(status="withdrawn")
    later = rate(repeating.campaign, rater, 20)
    assert {battle.kind for battle in later} == {"regular", "repeat"}
    assert not [battle for battle in later if gone.pk in battle.pair]


def test_the_database_refuses_a_second_repeat(repeating, make_rater, rate):
    rate(repeating.campaign, make_rater(repeating.campaign.team), 30)
    repeat = Battle.objects.filter(kind="repeat").first()
    repeat.pk, repeat.public_id = None, "00000000-0000-4000-8000-000000000001"
    with pytest.raises(IntegrityError):
        repeat.save(force_insert=True)


# --- golds ------------------------------------------------------------------------------------------------


def test_golds_are_mixed_in_and_each_rater_meets_each_once(make_campaign, make_rater, rate, make_gold):
    small = make_campaign(prompts=30, gold_share=0.3)
    golds = {make_gold(small).pk for _ in range(3)}
    for _ in range(2):
        battles = rate(small.campaign, make_rater(small.campaign.team), 40)
        met = [battle.gold_id for battle in battles if battle.kind == "gold"]
        assert set(met) <= golds
        assert len(met) == len(set(met)) > 0
    assert Vote.objects.counted(small.campaign.pk).count() < Vote.objects.count()
    assert set(Vote.objects.counted(small.campaign.pk).values_list("battle__kind", flat=True)) == {"regular"}


def test_the_sides_of_a_gold_are_a_coin(make_campaign, make_rater, make_gold):
    small = make_campaign(prompts=2, gold_share=0.3)
    gold = make_gold(small)
    drawn = [
        planned.plan(small.campaign, make_rater(small.campaign.team), ["gold"], draw._random, gold.created_at)
        for _ in range(40)
    ]
    assert {battle.response_a_id for (battle,) in drawn} == {gold.response_a_id, gold.response_b_id}
    assert all(
        {b.response_a_id, b.response_b_id} == {gold.response_a_id, gold.response_b_id} for (b,) in drawn
    )


def test_a_retired_gold_and_one_in_another_language_are_not_drawn(make_campaign, make_rater, rate, make_gold):
    small = make_campaign(prompts=30, gold_share=0.3)
    retired = make_gold(small)
    Gold.objects.filter(pk=retired.pk).update(retired_at=retired.created_at)
    german = make_gold(small, small.prompts[1])
    Prompt.objects.filter(pk=small.prompts[1].pk).update(language="de")
    rater = make_rater(small.campaign.team, languages=["en"])
    assert {battle.kind for battle in rate(small.campaign, rater, 25)} == {"regular"}
    reads_german = make_rater(small.campaign.team, languages=["en", "de"])
    assert german.pk in {battle.gold_id for battle in rate(small.campaign, reads_german, 25)}


def test_a_gold_looks_like_any_other_battle(make_campaign, sit_down, make_gold):
    small = make_campaign(prompts=8, gold_share=0.3)
    for prompt in small.prompts[:4]:
        make_gold(small, prompt)
    desk, shells, kinds = sit_down(small), set(), set()
    while "<article" in (page := desk.look().content.decode()):
        battle = desk.open_battles()[0]
        kinds.add(battle.kind)
        article = page.split("<article")[1].split("</article>")[0]
        for text in (battle.prompt, battle.response_a, battle.response_b):
            article = article.replace(text.rendered_html, "", 1)
        for response in (battle.response_a, battle.response_b):
            article = article.replace(escape(response.text), "", 1)
        for secret in (str(battle.public_id), article.split('data-key="')[1].split('"')[0]):
            article = article.replace(secret, "")
        shells.add(article)
        desk.vote(battle)
    assert kinds == {"regular", "gold"}
    assert len(shells) == 1
