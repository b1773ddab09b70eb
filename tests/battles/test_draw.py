from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from itertools import combinations

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from scipy.stats import binomtest

from arena.battles import ballots, draw
from arena.battles.models import Battle, BattleNote
from arena.battles.pair_models import PairCount
from arena.battles.pairing import propensities
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.raters.models import Team


def cells(battles) -> set[tuple]:
    return {(battle.prompt_id, battle.pair) for battle in battles}


@pytest.fixture
def rater(make_rater, small_campaign):
    return make_rater(small_campaign.campaign.team)


def test_a_rater_meets_every_prompt_and_pair_exactly_once(small_campaign, rater, draw_all):
    drawn = draw_all(small_campaign.campaign, rater)
    assert len(drawn) == len(cells(drawn)) == 4 * 3


def test_every_battle_knows_its_propensity_and_when_it_expires(small_campaign, rater, settings):
    (battle,) = draw.draw(small_campaign.campaign, rater)
    assert battle.propensity == pytest.approx(1 / 3)
    assert battle.expires_at - battle.drawn_at == timedelta(hours=settings.BATTLE_HOURS)
    assert {battle.response_a.competitor_id, battle.response_b.competitor_id} == set(battle.pair)
    assert battle.response_a.prompt_id == battle.response_b.prompt_id == battle.prompt_id


def test_the_pair_that_met_least_is_drawn_first(small_campaign, make_rater, draw_all):
    """Twelve battles a rater can have, four of each pair: never far apart on the way."""
    campaign = small_campaign.campaign
    for number in range(6):
        draw_all(campaign, make_rater(campaign.team, f"rater {number}"))
        counts = set(PairCount.objects.values_list("battles", flat=True))
        assert counts == {4 * (number + 1)}


def test_pair_counts_agree_with_the_battles_drawn(small_campaign, make_rater):
    campaign = small_campaign.campaign
    for number in range(5):
        rater = make_rater(campaign.team, f"rater {number}")
        for _ in range(3):
            draw.draw(campaign, rater)
    drawn = Counter(battle.pair for battle in Battle.objects.all())
    assert {(c.low_id, c.high_id): c.battles for c in PairCount.objects.all()} == drawn


def test_sides_are_a_fair_coin(make_campaign, make_rater, draw_all):
    small = make_campaign(prompts=40, names=("Ember", "Fjord"))
    for number in range(10):
        draw_all(small.campaign, make_rater(small.campaign.team, f"rater {number}"))
    left = Battle.objects.filter(competitor_a=small.competitors[0]).count()
    # The coin is a CSPRNG's and can't be seeded: one run in ten thousand may fail.
    assert binomtest(left, 400).pvalue > 1e-4


def test_prompts_of_an_unpublished_set_are_not_drawn(small_campaign, rater):
    PromptSet.objects.update(status=PromptSet.Status.DRAFT)
    assert draw.draw(small_campaign.campaign, rater) == []


def test_prompts_of_a_retired_set_are_drawn_where_it_is_in_use(small_campaign, rater):
    PromptSet.objects.update(status=PromptSet.Status.RETIRED)
    assert draw.draw(small_campaign.campaign, rater)


@pytest.mark.parametrize("status", [Competitor.Status.RETIRED, Competitor.Status.WITHDRAWN])
def test_a_competitor_that_left_is_not_drawn(small_campaign, rater, draw_all, status):
    gone = small_campaign.competitors[0]
    Competitor.objects.filter(pk=gone.pk).update(status=status)
    drawn = draw_all(small_campaign.campaign, rater)
    assert len(drawn) == 4
    assert all(gone.pk not in battle.pair for battle in drawn)


def test_competitors_and_prompts_of_other_campaigns_are_not_drawn(make_campaign, make_rater, draw_all):
    here = make_campaign("here", prompts=2)
    make_campaign("there", prompts=2, names=("Ember", "Heath"))
    drawn = draw_all(here.campaign, make_rater(here.campaign.team))
    assert {battle.prompt_id for battle in drawn} <= {prompt.pk for prompt in here.prompts}
    assert {c for battle in drawn for c in battle.pair} == {c.pk for c in here.competitors}


def test_blank_responses_are_not_drawn(small_campaign, rater, draw_all):
    blank = small_campaign.responses[0]
    Response.objects.filter(pk=blank.pk).update(is_blank=True, text="  ")
    drawn = draw_all(small_campaign.campaign, rater)
    assert len(drawn) == 12 - 2
    assert blank.pk not in {pk for battle in drawn for pk in (battle.response_a_id, battle.response_b_id)}


def test_a_response_without_rendered_html_is_not_drawn(small_campaign, rater, draw_all):
    Response.objects.filter(pk=small_campaign.responses[0].pk).update(renderer_version=0)
    assert len(draw_all(small_campaign.campaign, rater)) == 12 - 2


def test_two_sides_are_never_rendered_by_different_versions(small_campaign, rater, draw_all):
    """What one of them does otherwise would tell which text is the newer one."""
    ember, _fjord, grove = small_campaign.competitors
    Response.objects.filter(competitor=grove).update(renderer_version=2)
    assert draw_all(small_campaign.campaign, rater) == []
    Response.objects.filter(competitor=ember).update(renderer_version=2)
    battles = draw_all(small_campaign.campaign, rater)
    assert {battle.pair for battle in battles} == {(ember.pk, grove.pk)}
    assert len(battles) == len(small_campaign.prompts)


def test_identical_texts_never_fight(small_campaign, rater, draw_all):
    one, other = small_campaign.responses[0], small_campaign.responses[1]
    Response.objects.filter(pk=other.pk).update(text=one.text, text_hash=one.text_hash)
    drawn = draw_all(small_campaign.campaign, rater)
    assert len(drawn) == 11
    assert (one.prompt_id, (one.competitor_id, other.competitor_id)) not in cells(drawn)


def test_a_rater_gets_prompts_in_languages_they_read(small_campaign, make_rater, draw_all):
    german, unknown = small_campaign.prompts[:2]
    Prompt.objects.filter(pk=german.pk).update(language="de")
    Prompt.objects.filter(pk=unknown.pk).update(language="")
    rater = make_rater(small_campaign.campaign.team, languages=["de"])
    drawn = draw_all(small_campaign.campaign, rater)
    assert {battle.prompt_id for battle in drawn} == {german.pk, unknown.pk}


@pytest.mark.parametrize("status", [Campaign.Status.DRAFT, Campaign.Status.PAUSED, Campaign.Status.CLOSED])
def test_only_an_open_campaign_hands_out_battles(small_campaign, rater, status):
    campaign = small_campaign.campaign
    campaign.status = status
    assert draw.hand_out(campaign, rater) == []
    assert not Battle.objects.exists()


def test_open_battles_are_handed_out_again_in_the_same_order(small_campaign, rater):
    campaign = small_campaign.campaign
    first = [battle.pk for battle in draw.hand_out(campaign, rater)]
    assert [battle.pk for battle in draw.hand_out(campaign, rater)] == first
    assert len(first) == draw.ON_PAGE
    assert Battle.objects.count() == draw.LEASES


def test_after_a_vote_the_next_is_at_hand_and_two_are_drawn_when_no_other_waits(
    small_campaign, rater, vote_on
):
    campaign = small_campaign.campaign
    draw.hand_out(campaign, rater)
    waiting = lambda: Battle.objects.waiting(rater.pk, campaign.pk, timezone.now())  # noqa: E731
    first, second, third, fourth = waiting()
    vote_on(first)
    assert [battle.pk for battle in draw.hand_out(campaign, rater)] == [second.pk, third.pk]
    assert waiting().count() == 3
    vote_on(second)
    assert [battle.pk for battle in draw.hand_out(campaign, rater)] == [third.pk, fourth.pk]
    assert waiting().count() == draw.LEASES


def test_battles_drawn_together_are_drawn_as_one_after_the_other(make_campaign, make_rater):
    small = make_campaign(prompts=30)
    together = draw.draw(small.campaign, make_rater(small.campaign.team), 4)
    assert len(together) == len({battle.prompt_id for battle in together}) == 4
    pairs = list(combinations([competitor.pk for competitor in small.competitors], 2))
    seen = Counter()
    for battle in together:
        assert battle.propensity == propensities(pairs, seen)[battle.pair]
        seen[battle.pair] += 1
    assert {(c.low_id, c.high_id): c.battles for c in PairCount.objects.all()} == seen


def test_two_raters_never_share_a_battle(small_campaign, make_rater):
    campaign = small_campaign.campaign
    one, other = (draw.hand_out(campaign, make_rater(campaign.team, name)) for name in ("one", "other"))
    assert not {battle.pk for battle in one} & {battle.pk for battle in other}


def test_a_skipped_battle_is_not_shown_again_and_not_counted(small_campaign, rater, draw_all):
    campaign = small_campaign.campaign
    battle = draw.hand_out(campaign, rater, 1)[0]
    skipped = Battle.objects.with_ballot().get(pk=battle.pk)
    ballots.skip(skipped, rater)
    ballots.skip(skipped, rater)
    assert BattleNote.objects.count() == 1
    assert PairCount.objects.get(low=skipped.pair[0], high=skipped.pair[1]).battles == 0
    assert (skipped.prompt_id, skipped.pair) not in cells(draw_all(campaign, rater))


def test_a_vote_on_a_skipped_battle_counts_its_pair_again(small_campaign, rater, vote_on):
    battle = draw.hand_out(small_campaign.campaign, rater, 1)[0]
    ballots.skip(Battle.objects.with_ballot().get(pk=battle.pk), rater)
    vote_on(battle)
    assert PairCount.objects.get(low=battle.pair[0], high=battle.pair[1]).battles == 1
    with pytest.raises(ballots.AlreadyVotedError):
        ballots.skip(battle, rater)
    assert PairCount.objects.get(low=battle.pair[0], high=battle.pair[1]).battles == 1


def test_a_vote_beside_a_skip_counts_its_pair_again(small_campaign, rater):
    battle = draw.hand_out(small_campaign.campaign, rater, 1)[0]
    read_before = Battle.objects.with_ballot().get(pk=battle.pk)
    ballots.skip(battle, rater)
    ballots.cast(read_before, rater, "model_a", "idempotency-key-1")
    assert PairCount.objects.get(low=battle.pair[0], high=battle.pair[1]).battles == 1


def expire(**which) -> None:
    Battle.objects.filter(**which).update(expires_at=timezone.now() - timedelta(minutes=1))


def test_what_a_rater_left_open_comes_back_after_it_expired(small_campaign, rater, draw_all):
    campaign = small_campaign.campaign
    draw.hand_out(campaign, rater)
    lost = list(Battle.objects.all())
    expire()
    drawn = draw_all(campaign, rater)
    assert len(cells(drawn)) == len(drawn) == 12
    returned = {battle.replaces_id for battle in drawn if battle.replaces_id}
    assert returned == {battle.pk for battle in lost}
    assert sum(PairCount.objects.values_list("battles", flat=True)) == 12


def test_the_database_refuses_a_second_meeting_that_a_race_would_make(small_campaign, rater):
    (battle,) = draw.draw(small_campaign.campaign, rater)
    a, b = battle.competitor_a_id, battle.competitor_b_id
    with pytest.raises(IntegrityError):
        Battle.objects.create(
            campaign=battle.campaign,
            rater=rater,
            prompt=battle.prompt,
            competitor_a_id=b,
            competitor_b_id=a,
            drawn_at=timezone.now(),
        )


def test_a_battle_drawn_in_another_tab_at_the_same_moment_leads_to_another_draw(
    small_campaign, rater, monkeypatch
):
    campaign = small_campaign.campaign
    for _ in range(11):
        draw.draw(campaign, rater)
    looks = []
    see = draw.desks.desks_of

    def first_look_is_too_early(*args):
        looks.append(args)
        return defaultdict(draw.desks.Desk) if len(looks) < draw.ATTEMPTS else see(*args)

    monkeypatch.setattr(draw.desks, "desks_of", first_look_is_too_early)
    assert len(draw.draw(campaign, rater)) == 1
    assert len(cells(Battle.objects.all())) == Battle.objects.count() == 12


def test_where_votes_reveal_no_model_comes_twice_on_a_prompt(make_campaign, make_rater, vote_on):
    small = make_campaign(
        reveal=Campaign.Reveal.AFTER_VOTE, names=("Ember", "Fjord", "Grove", "Heath", "Inlet")
    )
    rater = make_rater(small.campaign.team)
    met = Counter()
    while battles := draw.hand_out(small.campaign, rater):
        battle = Battle.objects.get(pk=battles[0].pk)
        met.update((battle.prompt_id, competitor) for competitor in battle.pair)
        vote_on(battle)
    assert set(met.values()) == {1}
    assert len(met) == 4 * 4


def test_what_was_revealed_in_one_campaign_is_not_drawn_in_another(
    make_campaign, make_rater, vote_on, draw_all
):
    small = make_campaign(prompts=2, reveal=Campaign.Reveal.AFTER_CLOSE)
    rater = make_rater(Team.default())
    (battle,) = draw.draw(small.campaign, rater)
    vote_on(battle)
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    other = make_campaign("other", prompts=1)
    other.campaign.prompt_sets.set([small.prompt_set])
    drawn = draw_all(other.campaign, rater)
    assert {b.prompt_id for b in drawn} == {p.pk for p in small.prompts} - {battle.prompt_id}


def test_a_draw_asks_no_more_of_the_database_when_there_are_many_votes(make_campaign, make_rater, vote_on):
    small = make_campaign(prompts=30)
    rater = make_rater(small.campaign.team)

    def statements() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            draw.draw(small.campaign, make_rater(small.campaign.team))
        return len(queries)

    draw.draw(small.campaign, rater)
    few = statements()
    for _ in range(60):
        vote_on(*draw.draw(small.campaign, rater))
    assert statements() <= few


def test_two_draws_of_the_same_two_pairs_count_them_in_one_order(small_campaign, rater):
    """In two orders each would hold what the other waits for, and the database would break one off."""
    first, second, *_rest = sorted(small_campaign.campaign.competitors.values_list("pk", flat=True))
    low, high = (first, second), (second, second + 1)
    statements = []
    for pairs in ({low: 1, high: 1}, {high: 1, low: 1}):
        with CaptureQueriesContext(connection) as queries:
            PairCount.objects.add(small_campaign.campaign.pk, pairs, (rater.pk, -1))
        statements.append(queries[0]["sql"])
    assert statements[0] == statements[1]
