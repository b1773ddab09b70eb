"""Every pair of responses to a prompt, also where nobody met yet."""

import pytest
from django.core.management import call_command

from arena.battles.models import Battle
from arena.corpus.models import Competitor, Response
from arena.endpoints.models import Endpoint
from arena.judging.choosing import NewPair, choose_battles, create_missing
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.judging.planning import estimate, plan_run
from tests.judging.conftest import work_off

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def sparse(court):
    """Two prompts with three responses each; one of the six pairs has a battle."""
    Battle.objects.exclude(pk=court.battles[0].pk).delete()
    return court


def choose(court, limit=None, seed=0):
    return choose_battles(court.campaign, [court.judge], "pairs", limit, seed)


def pair_keys(battles) -> list:
    return [(b.prompt_id, frozenset((b.response_a_id, b.response_b_id))) for b in battles]


def test_all_pairs_are_chosen_and_looking_makes_no_battle(sparse):
    choice = choose(sparse)
    assert (len(choice.battles), choice.new, choice.over_limit) == (6, 5, 0)
    assert sparse.battles[0].pk in choice.battles
    assert estimate([sparse.judge], choice.battles).calls == 12
    assert Battle.objects.count() == 1


def test_a_start_makes_each_missing_battle_once(sparse):
    choice = choose(sparse)
    for _ in range(2):  # the second asks for the same new pairs, as if it had looked before the first began
        plan_run(sparse.campaign, [sparse.judge], choice.battles)
    battles = list(Battle.objects.all())
    assert len(battles) == len(set(pair_keys(battles))) == 6
    assert {battle.rater_id for battle in battles} == {None}
    assert [run.judgments.count() for run in JudgeRun.objects.all()] == [6, 6]
    assert choose(sparse).new == 0


def test_sides_and_competitors_belong_together(sparse):
    create_missing(sparse.campaign, choose(sparse).battles)
    for battle in Battle.objects.select_related("response_a", "response_b"):
        assert battle.competitor_a_id == battle.response_a.competitor_id
        assert battle.competitor_b_id == battle.response_b.competitor_id
        assert battle.response_a.prompt_id == battle.response_b.prompt_id == battle.prompt_id


def test_entries_keep_their_order(sparse):
    entries = choose(sparse, seed=3).battles
    made = Battle.objects.in_bulk(ids := create_missing(sparse.campaign, entries))
    assert pair_keys(made[pk] for pk in ids) == [
        entry.key if isinstance(entry, NewPair) else pair_keys([sparse.battles[0]])[0] for entry in entries
    ]


def test_those_judged_least_come_first(sparse):
    plan_run(sparse.campaign, [sparse.judge], choose(sparse, limit=4).battles)
    work_off(sparse.endpoint)
    judged = set(Judgment.objects.values_list("battle", flat=True))
    second = choose(sparse, limit=2, seed=9)
    assert not judged & set(second.battles)
    assert second.over_limit == 4


def test_identical_retired_and_internal_responses_are_out(sparse):
    prompt = sparse.battles[0].prompt
    Response.objects.filter(prompt=prompt, competitor__name__in=["Ember", "Fjord"]).update(text_hash="f" * 64)
    assert (len(choose(sparse).battles), choose(sparse).identical) == (5, 1)
    Competitor.objects.filter(name="Grove").update(status="retired")
    assert (len(choose(sparse).battles), choose(sparse).identical) == (1, 1)
    prompt.prompt_set.__class__.objects.update(is_internal=True)
    assert (choose(sparse).battles, choose(sparse).internal) == ((), 1)
    Endpoint.objects.update(is_internal=True)
    sparse.judge.refresh_from_db()
    assert len(choose(sparse).battles) == 1


def test_the_family_policy_knows_pairs_without_a_battle(sparse):
    Judge.objects.update(family="ember")
    sparse.judge.refresh_from_db()
    told = estimate([sparse.judge], choose(sparse).battles)
    assert (told.judgments, told.own_family, told.unjudged) == (2, 4, 4)
    run = plan_run(sparse.campaign, [sparse.judge], choose(sparse).battles)
    assert (run.judgments.count(), run.own_family_pairs) == (2, 4)


def test_the_page_tells_how_many_battles_are_new(sparse, signed_in):
    fields = {"campaign": sparse.campaign.pk, "judges": [sparse.judge.pk], "which": "pairs", "limit": 4}
    part = signed_in("carol").get("/judging/new/", fields | {"seed": 1}, headers=HTMX).content.decode()
    assert "<strong>4</strong> battles" in part
    assert "made at the start" in part


def test_the_command_judges_every_pair(sparse, server):
    call_command("run_judges", "small", "--battles", "pairs", "--here")
    assert (Battle.objects.count(), server.calls) == (6, 12)
    assert Judgment.objects.exclude(outcome="no_verdict").count() == 6
