from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from arena.battles.models import Battle, Retraction, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt, Response
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.judging import ending, planning
from arena.judging.choosing import CannotPlanError, choose_battles
from arena.judging.models import Judge, JudgeRun, Rubric
from arena.judging.planning import estimate, plan_run

pytestmark = pytest.mark.django_db


def choose(court, which="all", limit=None, seed=0):
    return choose_battles(court.campaign, [court.judge], which, limit, seed)


def again(battle, **changes) -> Battle:
    """Another battle like this one."""
    names = ("campaign", "prompt", "competitor_a", "competitor_b", "response_a", "response_b")
    fields = {name: getattr(battle, name) for name in names} | {"drawn_at": timezone.now()}
    return Battle.objects.create(**(fields | changes))


def vote_on(battle, rater, key: str) -> Vote:
    return Vote.objects.create(
        battle=battle,
        rater=rater,
        outcome="tie",
        idempotency_key=key,
        voted_at=timezone.now(),
        digest="0" * 64,
    )


def test_a_pair_of_responses_is_judged_once_whichever_side_they_stand_on(court):
    battle = court.battles[0]
    again(battle)
    again(
        battle,
        competitor_a=battle.competitor_b,
        competitor_b=battle.competitor_a,
        response_a=battle.response_b,
        response_b=battle.response_a,
    )
    choice = choose(court)
    assert sorted(choice.battles) == court.pks
    assert choice.repeated == 2


def test_what_cannot_be_judged_is_counted_and_left_out(court):
    first, second = court.battles[:2]
    again(first, prompt=None, response_a=None, response_b=None, kind=Battle.Kind.RECORDED)
    again(first, response_b=None)
    again(second, kind=Battle.Kind.GOLD)
    Response.objects.filter(pk__in=[second.response_a_id, second.response_b_id]).update(text_hash="f" * 64)
    choice = choose(court)
    assert (choice.without_texts, choice.identical) == (2, 1)
    assert sorted(choice.battles) == sorted(set(court.pks) - {second.pk})


@pytest.fixture
def leaks(court):
    """One response with a leak, one that an admin called none, one nobody has looked at, the others clean."""
    Response.objects.update(leak="clean")
    found, dismissed, unlooked = (court.battles[at].response_a for at in (0, 1, 3))
    for response, leak in ((found, "found"), (dismissed, "dismissed"), (unlooked, "unchecked")):
        Response.objects.filter(pk=response.pk).update(leak=leak)
    return found, unlooked


@pytest.mark.parametrize(
    ("policy", "which", "leaking", "unlooked"),
    [
        ("exclude", "all", 2, 2),
        ("exclude", "voted", 1, 1),
        ("exclude", "pairs", 2, 2),
        ("mask", "all", 0, 0),
        ("mask", "pairs", 0, 2),
        ("flag", "all", 0, 0),
        ("flag", "pairs", 0, 0),
    ],
)
def test_battles_with_a_leak_are_judged_only_where_the_policy_shows_them(
    court, leaks, cast, policy, which, leaking, unlooked
):
    """Each response is in two of the six battles."""
    for at in (0, 1, 3):
        vote_on(court.battles[at], cast.alice_rater, str(at))
    court.campaign.leak_policy = policy
    court.campaign.save(update_fields=["leak_policy"])
    choice = choose(court, which)
    assert (choice.leaking, choice.unlooked) == (leaking, unlooked)
    assert len(choice.battles) == (3 if which == "voted" else 6) - leaking - unlooked
    kept = Battle.objects.filter(pk__in=choice.battles)
    out = {text.pk for text, count in zip(leaks, (leaking, unlooked), strict=True) if count}
    assert not out & {pk for pair in kept.values_list("response_a", "response_b") for pk in pair}


def test_command_and_page_say_how_many_battles_leak_and_the_run_is_without_them(
    court, leaks, signed_in, capsys
):
    Campaign.objects.update(leak_policy="exclude")
    form = {
        "campaign": court.campaign.pk,
        "judges": [court.judge.pk],
        "which": "all",
        "limit": 100,
        "seed": 0,
    }
    page = signed_in("carol").get("/judging/new/", form).content.decode()
    assert "2 battles have a response that says who wrote it, which this campaign leaves out" in page
    assert "2 battles have a response that nobody has looked through for leaks yet" in page
    call_command("run_judges", court.campaign.slug, "--battles", "all")
    told = capsys.readouterr().out
    assert (
        "Left out: 2 battles with a response that says who wrote it, which the campaign leaves out." in told
    )
    assert "Left out: 2 battles with a response that nobody has looked through for leaks yet." in told
    assert JudgeRun.objects.get().judgments.count() == 2


def test_voted_battles_are_those_whose_vote_stands(court, cast):
    kept, undone = court.battles[0], court.battles[1]
    vote_on(kept, cast.alice_rater, "a")
    Retraction.objects.create(vote=vote_on(undone, cast.alice_rater, "b"))
    assert choose(court, "voted").battles == (kept.pk,)


def test_internal_prompts_are_for_internal_endpoints(court):
    court.battles[0].prompt.prompt_set.__class__.objects.update(is_internal=True)
    assert (choose(court).battles, choose(court).internal) == ((), 6)
    Endpoint.objects.update(is_internal=True)
    court.judge.refresh_from_db()
    assert len(choose(court).battles) == 6


def test_a_seed_draws_the_same_battles_again(court):
    assert choose(court, limit=3, seed=5) == choose(court, limit=3, seed=5)
    assert choose(court, limit=3).over_limit == 3
    assert len({choose(court, limit=3, seed=seed).battles for seed in range(10)}) > 1


def test_an_unknown_choice_is_refused(court):
    with pytest.raises(CannotPlanError, match="one of voted, all, fewest, pairs"):
        choose(court, "best")


def test_every_call_has_a_key_of_its_own(court):
    for _ in range(2):
        plan_run(court.campaign, [court.judge], court.pks, replicates=2)
    keys = list(Call.objects.values_list("key", flat=True))
    assert len(keys) == len(set(keys)) == 48


def test_no_call_can_be_taken_and_no_run_ends_before_all_are_planned(court, monkeypatch):
    seen = []
    original = planning._plan_judgments

    def spy(run, *rest):
        ending.finish(run.pk)  # as the consumer does each minute, and at the end of any call
        seen.append(JudgeRun.objects.get(pk=run.pk).status)
        original(run, *rest)

    monkeypatch.setattr(planning, "_plan_judgments", spy)
    run = plan_run(court.campaign, [court.judge], court.pks)
    assert seen == ["paused"]
    assert (run.status, run.status_reason) == ("queued", "")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda judge: Judge.objects.update(endpoint=None), "recorded elsewhere"),
        (lambda judge: Judge.objects.update(parameters={"model": "x"}), "sets itself: model"),
        (lambda judge: Endpoint.objects.update(key_variable="SECRET_KEY"), "never sent anywhere"),
        (lambda judge: Endpoint.objects.update(key_file="/no/such/key"), "can't be read"),
        (lambda judge: type(judge.rubric).objects.update(criteria=[]), "three to seven"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_not_planned(court, spoil, words):
    spoil(court.judge)
    court.judge.refresh_from_db()
    with pytest.raises(CannotPlanError, match=words):
        plan_run(court.campaign, [court.judge], court.pks)
    assert not Call.objects.exists()


def test_no_judge_and_no_battle_are_told(court):
    with pytest.raises(CannotPlanError, match="no judge was chosen"):
        plan_run(court.campaign, [], court.pks)
    with pytest.raises(CannotPlanError, match="no battle to judge"):
        plan_run(court.campaign, [court.judge], [])


def test_an_estimate_knows_calls_dollars_and_time(court):
    Endpoint.objects.update(input_price=10, output_price=10)
    court.judge.refresh_from_db()
    before = estimate([court.judge], court.pks)
    assert (before.judgments, before.calls, before.seconds) == (6, 12, None)
    # A prompt of some 500 tokens and a reply of 250 at $10 a million, twelve times.
    assert 0.05 < before.usd < 0.15
    call = Call.objects.create(key="1" * 64, endpoint=court.endpoint)
    now = timezone.now()
    CallAttempt.objects.create(
        call=call,
        number=1,
        request={},
        latency_ms=2000,
        started_at=now,
        finished_at=now + timedelta(seconds=2),
    )
    assert estimate([court.judge], court.pks).seconds == 6  # 12 calls of 2 s, four at once


def test_an_estimate_without_prices_has_no_dollars(court):
    assert estimate([court.judge], court.pks).usd is None


def test_a_judge_by_reference_gets_only_prompts_that_have_one(court):
    Rubric.objects.update(mode="reference")
    court.judge.rubric.refresh_from_db()
    prompt = court.battles[0].prompt
    Prompt.objects.filter(pk=prompt.pk).update(reference="Thus.")
    for which in ("all", "pairs"):
        choice = choose(court, which)
        assert set(choice.battles) == {b.pk for b in court.battles if b.prompt_id == prompt.pk}
        assert choice.without_reference == 3
