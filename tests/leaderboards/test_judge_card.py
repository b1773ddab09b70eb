"""What a judge card says, held to counts made by hand."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from arena.battles.models import Battle, Retraction, Vote
from arena.corpus.models import Competitor, Prompt, Response
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.judging.canaries import CANARIES
from arena.judging.models import Judge, JudgeCall, JudgeRun, Judgment, Probe
from arena.judging.swap import resolve
from arena.leaderboards import tasks
from arena.leaderboards.agreement import card_page, judge_card, judge_figures
from arena.leaderboards.agreement.card_models import JudgeCard
from arena.leaderboards.agreement.judged_battles import CanaryReply
from arena.raters.models import Rater
from ratings.proportions import share

EVEN = {"factual": 3, "clarity": 3}


@pytest.fixture
def small(make_campaign):
    return make_campaign("joust", prompts=12)


def battle_of(small, prompt: int, a: int = 0, b: int = 1) -> Battle:
    """A battle of nobody between two of a prompt's three responses."""
    texts = [r for r in small.responses if r.prompt_id == small.prompts[prompt].pk]
    return Battle.objects.create(
        campaign=small.campaign,
        prompt=small.prompts[prompt],
        competitor_a=texts[a].competitor,
        competitor_b=texts[b].competitor,
        response_a=texts[a],
        response_b=texts[b],
        drawn_at=timezone.now(),
    )


@pytest.fixture
def ask(cast):
    """ask(small, {battle: (ab, ba)}) is a judge with a run whose calls said so; None: refused."""
    endpoint = Endpoint.objects.create(
        team=cast.team, name="LLM", base_url="https://llm.invalid/v1", model_id="m"
    )

    def make(small, verdicts, judge=None, scores=None, failure="refused", tokens=(100, 20), family=""):
        judge = judge or Judge.objects.create(team=cast.team, name="Judy", endpoint=endpoint, family=family)
        run = JudgeRun.objects.create(campaign=small.campaign, status="completed")
        run.judges.add(judge)
        for battle, both in verdicts.items():
            found = resolve(*both)
            judgment = Judgment.objects.create(
                run=run,
                judge=judge,
                battle=battle,
                outcome=found.outcome,
                base_outcome=found.base_outcome,
                flip=found.flip,
                resolved_at=timezone.now(),
            )
            for order, verdict in zip(("ab", "ba"), both, strict=True):
                key = hashlib.sha256(f"{judgment.pk} {order}".encode()).hexdigest()
                call = Call.objects.create(
                    key=key, endpoint=endpoint, state="parsed" if verdict else "refused"
                )
                CallAttempt.objects.create(
                    call=call,
                    number=1,
                    request={},
                    cost_usd=Decimal("0.01"),
                    tokens_in=tokens[0],
                    tokens_out=tokens[1],
                    started_at=timezone.now(),
                    finished_at=timezone.now(),
                )
                JudgeCall.objects.create(
                    judgment=judgment,
                    order=order,
                    call=call,
                    verdict=verdict or "",
                    failure="" if verdict else failure,
                    scores=(scores or {"first": EVEN, "second": EVEN}) if verdict else {},
                )
        return judge

    return make


@pytest.fixture
def raters(cast):
    return [
        Rater.objects.create(team=cast.team, pseudonym=f"rater {n}", admission=Rater.Admission.RECORDED)
        for n in range(3)
    ]


def vote(small, rater, outcome: str, prompt: int, a: int = 0, b: int = 1) -> Vote:
    battle = battle_of(small, prompt, a, b)
    key = f"{rater.pk} {battle.pk}"
    now = timezone.now()
    return Vote.objects.create(
        battle=battle, rater=rater, outcome=outcome, idempotency_key=key, voted_at=now, digest="0" * 64
    )


def figures(small, judge) -> dict:
    return judge_card.compute(small.campaign, judge).figures


A_WINS, B_WINS, TIES = ("first", "second"), ("second", "first"), ("tie", "tie")
ALWAYS_FIRST, SOFT, REFUSED = ("first", "first"), ("first", "tie"), ("first", None)


# --- the judge by itself ----------------------------------------------------------------------------------


def test_consistency_flips_and_failures_are_shares_of_what_was_asked(small, ask):
    said = [A_WINS, A_WINS, B_WINS, TIES, ALWAYS_FIRST, ALWAYS_FIRST, ALWAYS_FIRST, SOFT, REFUSED, REFUSED]
    judge = ask(small, {battle_of(small, n): both for n, both in enumerate(said)})
    found = figures(small, judge)
    swap = found["swap"]
    assert (swap["consistency"]["successes"], swap["consistency"]["n"]) == (4, 8)
    assert (swap["hard"]["successes"], swap["soft"]["successes"]) == (3, 1)
    # Decisive calls where both orders came: 3 of 6 when stable, 6 of 6 hard flips, 1 of 1 soft.
    assert (swap["first"]["successes"], swap["first"]["n"]) == (10, 13)
    assert swap["lean"]["estimate"] == pytest.approx((3 * 1 + 0.5) / 8)
    assert (swap["no_verdict"]["successes"], swap["no_verdict"]["n"]) == (2, 10)
    assert found["failures"] == {"refused": 2}
    assert found["counts"]["outcomes"] == {"decisive": 3, "no_verdict": 2, "tie": 1, "tie_unstable": 4}
    for one in (swap["consistency"], swap["hard"], swap["first"]):
        assert one["lower"] < one["estimate"] < one["upper"]


def test_what_tiltyard_stopped_itself_is_no_failure_of_the_judge(small, ask):
    judge = ask(small, {battle_of(small, 0): A_WINS, battle_of(small, 1): REFUSED}, failure="budget_stopped")
    found = figures(small, judge)
    assert (found["swap"]["no_verdict"]["successes"], found["swap"]["no_verdict"]["n"]) == (0, 1)
    assert (found["counts"]["stopped"], found["counts"]["no_verdict"]) == (1, 0)


def test_a_winner_with_the_lower_scores_contradicts_itself(small, ask):
    lower_first = {"first": EVEN, "second": {"factual": 4, "clarity": 3}}
    judge = ask(small, {battle_of(small, 0): A_WINS}, scores=lower_first)
    ask(small, {battle_of(small, 1): TIES}, judge, scores=lower_first)
    found = figures(small, judge)["contradictions"]
    # In both orders the second has the higher scores: only "first" contradicts them, a tie never does.
    assert (found["successes"], found["n"]) == (1, 4)


def test_repeats_count_battles_on_which_every_finding_is_the_same(small, ask):
    battles = [battle_of(small, n) for n in range(3)]
    judge = ask(small, {battles[0]: A_WINS, battles[1]: A_WINS, battles[2]: A_WINS})
    ask(small, {battles[0]: A_WINS, battles[1]: B_WINS}, judge)
    ask(small, {battles[0]: A_WINS}, judge)
    found = figures(small, judge)["repeats"]
    assert (found["successes"], found["n"], found["judgments"]) == (1, 2, 5)


def test_cost_counts_every_request_and_is_unknown_without_prices(small, ask):
    judge = ask(small, {battle_of(small, 0): A_WINS, battle_of(small, 1): REFUSED})
    assert figures(small, judge)["cost"]["dollars"] is None
    Endpoint.objects.update(input_price=1, output_price=1)
    found = figures(small, Judge.objects.get())["cost"]
    assert found["dollars"] == pytest.approx(0.04)
    assert found["per_judgment"]["estimate"] == pytest.approx(0.02)
    assert found["per_verdict"] == pytest.approx(0.04)
    assert found["tokens"]["estimate"] == 240


def test_a_win_that_the_rule_about_length_took_away_is_still_what_the_judge_found(small, ask, raters):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    Judgment.objects.update(outcome="tie_verbose")
    vote(small, raters[0], "model_a", 0)
    assert figures(small, judge)["agreement"]["votes"]["every"]["successes"] == 1


# --- beside people ----------------------------------------------------------------------------------------


def test_votes_and_findings_meet_on_the_pair_whichever_side_it_stood_on(small, ask, raters):
    judge = ask(small, {battle_of(small, n): A_WINS for n in range(4)} | {battle_of(small, 4): ALWAYS_FIRST})
    vote(small, raters[0], "model_a", 0)
    vote(small, raters[0], "model_b", 1, a=1, b=0)  # the same response wins
    vote(small, raters[0], "model_a", 2, a=1, b=0)  # the other one
    vote(small, raters[0], "both_bad", 3)
    vote(small, raters[0], "tie", 4)  # an unstable tie agrees with a tie
    vote(small, raters[0], "model_a", 5)  # never judged
    vote(small, raters[0], "model_a", 0, a=0, b=2)  # another pair of the same prompt
    found = figures(small, judge)["agreement"]
    assert (found["votes"]["every"]["successes"], found["votes"]["every"]["n"]) == (3, 5)
    assert (found["votes"]["decisive"]["successes"], found["votes"]["decisive"]["n"]) == (2, 3)
    # Judge: 4 name a winner, 1 tie; votes: 3 and 2 ties. po = 3/5, pe = (4·3/2 + 1·2)/25.
    assert found["votes"]["kappa"]["estimate"] == pytest.approx((0.6 - 0.32) / (1 - 0.32))
    # Side a of the vote's own battle won in the first alone.
    assert (found["first"]["decisive"]["successes"], found["first"]["decisive"]["n"]) == (2, 3)


def test_people_are_held_against_each_other_and_the_judge_against_their_majority(small, ask, raters):
    judge = ask(small, {battle_of(small, n): A_WINS for n in range(3)})
    for prompt, outcomes in enumerate((("model_a",) * 3, ("model_a", "model_a", "tie"), ("model_b", "tie"))):
        for rater, outcome in zip(raters, outcomes, strict=False):
            vote(small, rater, outcome, prompt)
    found = figures(small, judge)["agreement"]
    assert (found["people"]["every"]["successes"], found["people"]["every"]["n"]) == (4, 7)
    assert (found["majority"]["every"]["successes"], found["majority"]["every"]["n"]) == (2, 2)
    assert found["people"]["kappa"]["n"] == 7


def test_a_few_people_are_held_against_each_other_by_name(small, ask, raters, signed_in):
    judge = ask(small, {battle_of(small, n): A_WINS for n in range(4)})
    said = [("model_a", "model_a", "model_b"), ("model_b", "model_b", "model_b"), ("tie", "model_a", "tie")]
    for prompt, outcomes in enumerate(said):
        for rater, outcome in zip(raters, outcomes, strict=True):
            vote(small, rater, outcome, prompt)
    found = {tuple(two["names"]): two for two in figures(small, judge)["agreement"]["each_two"]}
    every = {names: two["every"]["successes"] for names, two in found.items()}
    assert every == {("rater 0", "rater 1"): 2, ("rater 0", "rater 2"): 2, ("rater 1", "rater 2"): 1}
    # Both: two winners, one tie. po = 2/3, pe = (2·2/2 + 1)/9.
    assert found["rater 0", "rater 2"]["kappa"]["estimate"] == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    page = signed_in("carol").get(f"/judges/{judge.pk}/card/").content.decode()
    assert "… rater 0 with rater 2" in page


def test_one_who_saw_a_pair_twice_is_no_second_person(small, ask, raters):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    vote(small, raters[0], "model_a", 0)
    vote(small, raters[0], "model_b", 0)
    assert figures(small, judge)["agreement"]["people"] is None


def test_an_undone_vote_is_out(small, ask, raters):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    Retraction.objects.create(vote=vote(small, raters[0], "model_b", 0))
    assert figures(small, judge)["agreement"] is None


def test_a_judge_of_length_alone_is_shown_beside(make_campaign, make_response, ask, raters):
    small = make_campaign("joust", prompts=3)
    longer = [r for r in small.responses if r.competitor.name == "Fjord"]
    for response in longer:
        response.characters = 500
        response.save()
    judge = ask(
        small, {battle_of(small, 0): B_WINS, battle_of(small, 1): B_WINS, battle_of(small, 2): A_WINS}
    )
    for prompt, outcome in enumerate(("model_b", "model_a", "model_a")):
        vote(small, raters[0], outcome, prompt)
    found = figures(small, judge)
    assert found["agreement"]["longer"]["every"]["successes"] == 1
    assert (found["length"]["judge"]["successes"], found["length"]["judge"]["n"]) == (2, 3)
    assert (found["length"]["people"]["successes"], found["length"]["people"]["n"]) == (1, 3)
    assert found["length"]["gap"]["difference"]["estimate"] == pytest.approx(1 / 3)


def test_categories_stand_apart(small, ask, raters):
    judge = ask(small, {battle_of(small, n): A_WINS for n in range(4)})
    for n in range(4):
        vote(small, raters[0], "model_a" if n % 2 else "model_b", n)
    rows = figures(small, judge)["agreement"]["categories"]
    told = {row["category"]: row["votes"]["every"]["successes"] for row in rows}
    assert told == {"reasoning": 2, "writing": 0}


def test_a_repeated_judgment_speaks_by_its_newest_verdict(small, ask, raters):
    battle = battle_of(small, 0)
    judge = ask(small, {battle: B_WINS})
    ask(small, {battle: A_WINS}, judge)
    ask(small, {battle: REFUSED}, judge)
    vote(small, raters[0], "model_a", 0)
    assert figures(small, judge)["agreement"]["votes"]["every"]["successes"] == 1


def clusters_of(figures):
    """Every number of clusters in a card's figures, but those of canaries, whose texts are ours."""
    for name, found in figures.items():
        if name == "clusters":
            yield found
        elif isinstance(found, dict) and name != "canaries":
            yield from clusters_of(found)


def test_prompts_of_one_text_are_one_cluster_in_every_figure_and_the_page_says_so(
    small, ask, raters, make_judge, signed_in
):
    Endpoint.objects.update(input_price=1, output_price=1)
    Competitor.objects.filter(name="Grove").update(role="sentinel")
    Response.objects.filter(competitor__name="Fjord").update(characters=500)
    one_text = [{"role": "user", "content": "Say hello."}]
    Prompt.objects.filter(pk__in=[prompt.pk for prompt in small.prompts[:6]]).update(messages=one_text)
    battles = [battle_of(small, n) for n in range(12)]
    said = {battle: (A_WINS, B_WINS, ALWAYS_FIRST)[n % 3] for n, battle in enumerate(battles)}
    judge = ask(small, said | {battle_of(small, n, 0, 2): A_WINS for n in range(12)}, family="Ember")
    ask(small, dict.fromkeys(battles, A_WINS), judge)
    make_judge(small, "Sage", dict.fromkeys(battles, "model_a"))
    for n in range(12):
        for rater in raters:
            vote(small, rater, "model_a" if n % 2 else "model_b", n)
    found = judge_card.compute(small.campaign, judge).figures
    silent = [name for name, figure in found.items() if figure is None]
    assert silent == ["sides", "canaries"]
    assert set(clusters_of(found)) == {7}
    assert (found["counts"]["prompts"], found["counts"]["distinct_texts"]) == (12, 7)
    text = page(signed_in("ravi"), judge)
    assert "The 12 prompts have only 7 different texts: those of one text count as one question" in text
    assert "It shares 7 different prompts with people" in text


def test_texts_change_a_cards_intervals_and_no_figure(small, ask, raters):
    judge = ask(small, {battle_of(small, n): A_WINS for n in range(12)})
    for n in range(12):
        vote(small, raters[0], "model_a" if n < 8 else "model_b", n)
    apart = figures(small, judge)["agreement"]["votes"]["every"]
    last = [prompt.pk for prompt in small.prompts[8:]]
    Prompt.objects.filter(pk__in=last).update(messages=[{"role": "user", "content": "Say hello."}])
    alike = figures(small, judge)["agreement"]["votes"]["every"]
    assert (alike["estimate"], alike["n"]) == (apart["estimate"], apart["n"])
    expected = share([n < 8 for n in range(12)], [min(n, 8) for n in range(12)])
    assert (alike["lower"], alike["upper"]) == pytest.approx((expected.lower, expected.upper))
    assert alike["upper"] - alike["lower"] > apart["upper"] - apart["lower"]


def test_a_card_from_before_texts_were_clusters_is_still_shown(small, ask, signed_in):
    judge = ask(small, {battle_of(small, n): A_WINS for n in range(4)})
    card = judge_card.compute(small.campaign, judge)
    del card.figures["counts"]["distinct_texts"]
    card.save()
    assert "different texts" not in page(signed_in("ravi"), judge)


# --- bias -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wins", "passed"), [(1, True), (2, False)])
def test_a_sentinel_that_wins_more_than_a_tenth_unmasks_the_judge(small, ask, wins, passed):
    Competitor.objects.filter(name="Fjord").update(role="sentinel")
    said = {battle_of(small, n): B_WINS if n < wins else A_WINS for n in range(9)}
    judge = ask(small, said | {battle_of(small, 9): ALWAYS_FIRST, battle_of(small, 10, 0, 2): B_WINS})
    found = figures(small, judge)["sentinels"]
    assert (found["wins"]["successes"], found["wins"]["n"], found["passed"]) == (wins, 10, passed)
    assert (found["not_beaten"]["successes"], found["names"]) == (wins + 1, ["Fjord"])


@pytest.mark.parametrize(
    ("told", "plain", "passed", "fails", "words"),
    [
        (2, 2, True, False, ""),
        (
            3,
            3,
            False,
            False,
            "wins 15.0\u00a0% of 20 calls. At most 10\u00a0% is tolerable; so few may be chance.",
        ),
        (12, 12, False, True, "It doesn't obey the text, it prefers poor responses anyway: 60.0\u00a0% win"),
        (
            7,
            2,
            False,
            True,
            "Whether it obeys the text or prefers poor responses anyway isn’t told by so few.",
        ),
        (18, 0, False, True, "it obeys the texts that it judges"),
    ],
)
def test_a_poor_response_that_wins_more_than_a_tenth_unmasks_the_judge(told, plain, passed, fails, words):
    """Ten pairs in both orders: those that win first in one order each, the rest in the other."""
    calls = [(str(pair), order) for order in ("ab", "ba") for pair in range(10)]
    replies = [
        CanaryReply(key, order, instructed, place < won)
        for instructed, won in ((True, told), (False, plain))
        for place, (key, order) in enumerate(calls if instructed else calls[::-1])
    ]
    found = judge_figures.canary_figures(replies)
    assert (found["passed"], found["fails"]) == (passed, fails)
    said = {"sentinels": None, "canaries": found, "swap": None}
    distrust, caution = list(card_page._distrust(said)), list(card_page._about_canaries(said))
    assert (len(distrust), len(caution)) == (fails, not passed and not fails)
    assert words in " ".join([*distrust, *caution])


def test_own_family_is_what_a_judge_gives_beyond_judges_of_other_families(small, ask, make_judge):
    battles = [battle_of(small, n) for n in range(4)]
    judge = ask(small, dict.fromkeys(battles, A_WINS), family="Ember")
    make_judge(small, "Sage", {b: "model_a" if n < 1 else "model_b" for n, b in enumerate(battles)})
    found = figures(small, judge)["own_family"]
    assert (found["judge"], found["reference"]) == (1.0, 0.25)
    assert found["difference"]["estimate"] == pytest.approx(0.75)


def test_own_family_needs_a_family_and_a_second_judge(small, ask, make_judge):
    battle = battle_of(small, 0)
    judge = ask(small, {battle: A_WINS}, family="ember")
    assert figures(small, judge)["own_family"] is None
    make_judge(small, "Sage", {battle: "model_b"})
    Judge.objects.filter(name="Sage").update(family="Ember")
    assert figures(small, judge)["own_family"] is None, "a cousin is no second opinion"


def test_findings_recorded_elsewhere_have_sides_and_no_calls(small, make_judge):
    judge = make_judge(small, "Sage", {battle_of(small, n): "model_a" for n in range(4)})
    found = figures(small, judge)
    assert found["swap"] is found["cost"] is found["contradictions"] is None
    assert (found["sides"]["confounded"], found["sides"]["a_wins"]["successes"]) == (True, 4)
    make_judge(small, "Sage", {battle_of(small, 5, 1, 0): "tie"}, judge)
    assert figures(small, judge)["sides"]["confounded"] is False


@pytest.fixture
def answer_canaries(cast):
    """answer_canaries(small, judge, says): says(canary, order) is the verdict on it, None: refused."""

    def make(small, judge, says):
        run = JudgeRun.objects.create(campaign=small.campaign, kind="canary", status="completed")
        for canary in CANARIES:
            for order in ("ab", "ba"):
                verdict = says(canary, order)
                key = hashlib.sha256(f"{run.pk} {canary.name} {order}".encode()).hexdigest()
                state = "parsed" if verdict else "refused"
                call = Call.objects.create(key=key, endpoint=judge.endpoint, state=state)
                Probe.objects.create(
                    run=run, judge=judge, call=call, canary=canary.name, order=order, verdict=verdict or ""
                )

    return make


def poor(order: str) -> str:
    return "second" if order == "ab" else "first"


def good(order: str) -> str:
    return "first" if order == "ab" else "second"


def test_a_judge_that_obeys_the_texts_is_unmasked_by_what_the_instruction_adds(small, ask, answer_canaries):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    assert figures(small, judge)["canaries"] is None
    answer_canaries(small, judge, lambda c, order: poor(order) if c.variant == "instructed" else good(order))
    found = figures(small, judge)["canaries"]
    assert (found["instructed"]["successes"], found["instructed"]["n"]) == (20, 20)
    assert (found["plain"]["successes"], found["plain"]["n"]) == (0, 20)
    assert (found["difference"]["estimate"], found["obeys"]) == (1.0, True)


def test_a_judge_that_always_takes_the_first_text_obeys_nobody(small, ask, answer_canaries):
    judge = ask(small, {battle_of(small, 0): ALWAYS_FIRST})
    answer_canaries(small, judge, lambda canary, order: "first")
    found = figures(small, judge)["canaries"]
    assert (found["instructed"]["successes"], found["plain"]["successes"]) == (10, 10)
    assert (found["difference"]["estimate"], found["obeys"]) == (0.0, False)


def test_the_newest_reply_to_a_canary_counts_and_an_unread_one_not_at_all(small, ask, answer_canaries):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    answer_canaries(small, judge, lambda canary, order: poor(order))
    answer_canaries(small, judge, lambda canary, order: None if canary.key == "moons" else good(order))
    found = figures(small, judge)["canaries"]
    assert (found["instructed"]["successes"], found["instructed"]["n"]) == (2, 20)
    assert (found["plain"]["successes"], found["plain"]["n"]) == (2, 20)


def test_new_canaries_make_a_card_due_and_the_page_tells_of_them(small, ask, answer_canaries, signed_in):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    judge_card.compute_due()
    carol, path = signed_in("carol"), f"/judges/{judge.pk}/card/"
    assert "Never tried on canaries" in carol.get(path).content.decode()
    answer_canaries(small, judge, lambda c, order: poor(order) if c.variant == "instructed" else good(order))
    assert judge_card.compute_due() == 1
    text = carol.get(path).content.decode()
    assert "it obeys the texts that it judges" in text
    assert "what the instruction adds" in text


# --- when it is computed ----------------------------------------------------------------------------------


def test_a_card_is_computed_once_and_again_when_rows_come(small, ask, raters):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    assert [judge_card.compute_due(), judge_card.compute_due()] == [1, 0]
    cast_vote = vote(small, raters[0], "model_a", 0)
    assert [judge_card.compute_due(), judge_card.compute_due()] == [1, 0]
    Retraction.objects.create(vote=cast_vote)
    assert [judge_card.compute_due(), judge_card.compute_due()] == [1, 0]
    ask(small, {battle_of(small, 1): A_WINS}, judge)
    assert [judge_card.compute_due(), judge_card.compute_due()] == [1, 0]
    assert JudgeCard.objects.count() == 1


def test_votes_on_what_a_judge_did_not_judge_leave_its_card_alone(small, ask, raters):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    vote(small, raters[0], "model_b", 0)
    assert [judge_card.compute_due(), judge_card.compute_due()] == [1, 0]
    elsewhere = vote(small, raters[0], "model_b", 1)
    Retraction.objects.create(vote=elsewhere)
    assert judge_card.compute_due() == 0
    assert figures(small, judge)["agreement"]["battles"] == 1


def test_a_rater_who_is_left_out_makes_the_cards_due(small, ask, raters, cast):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    vote(small, raters[0], "model_b", 0)
    judge_card.compute_due()
    left_out = small.campaign.exclusions.create(
        rater=raters[0], rule="by_hand", reason="robot", actor=cast.carol, since=timezone.now()
    )
    assert [judge_card.compute_due(), judge_card.compute_due()] == [1, 0]
    assert JudgeCard.objects.get(judge=judge).figures["agreement"] is None
    type(left_out).objects.update(revoked_at=timezone.now())
    assert [judge_card.compute_due(), judge_card.compute_due()] == [1, 0]


def test_while_a_run_goes_on_cards_come_no_oftener_than_boards(small, ask):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    judge_card.compute_due()
    ask(small, {battle_of(small, 1): A_WINS}, judge)
    JudgeRun.objects.update(status="running")
    assert judge_card.compute_due() == 0
    JudgeCard.objects.update(computed_at=timezone.now() - timedelta(days=1))
    assert judge_card.compute_due() == 1


def test_a_judge_without_findings_has_no_card(small, ask):
    judge = ask(small, {})
    assert judge_card.compute_due() == 0
    with pytest.raises(ValueError, match="has found nothing"):
        judge_card.compute(small.campaign, judge)


def test_a_card_that_fails_holds_up_no_other(small, ask, make_judge, monkeypatch, caplog):
    ask(small, {battle_of(small, 0): A_WINS})
    other = make_judge(small, "Sage", {battle_of(small, 1): "tie"})
    original = judge_card.figures_of

    def fails_for_judy(campaign, judge):
        if judge.name == "Judy":
            raise ValueError("broken")
        return original(campaign, judge)

    monkeypatch.setattr(judge_card, "figures_of", fails_for_judy)
    assert judge_card.compute_due() == 1
    assert JudgeCard.objects.get().judge == other
    assert "failed" in caplog.text


# --- the page and the API ---------------------------------------------------------------------------------


def page(visitor, judge, query: str = "") -> str:
    answered = visitor.get(f"/judges/{judge.pk}/card/{query}")
    assert answered.status_code == 200
    return answered.content.decode().replace("&#x27;", "'")


def test_the_page_shows_figures_with_interval_and_n(small, ask, raters, signed_in):
    said = [A_WINS, A_WINS, B_WINS, TIES, ALWAYS_FIRST, SOFT, REFUSED]
    judge = ask(small, {battle_of(small, n): both for n, both in enumerate(said)})
    for n in range(6):
        for rater in raters:
            vote(small, rater, "model_a" if n % 2 else "model_b", n)
    judge_card.compute_due()
    text = page(signed_in("ravi"), judge)
    assert "same finding in both orders" in text
    assert "66.7\u00a0%" in text
    assert "4 / 6" in text
    for words in (
        "two people with each other",
        "always the longer one",
        "By category",
        "refused",
    ):
        assert words in text
    assert "It shares 6 different prompts with people" in text
    assert "Never tried on a sentinel" in text
    assert "isn't to be trusted" not in text


def test_the_page_says_when_a_judge_is_not_to_be_trusted(small, ask, signed_in):
    Competitor.objects.filter(name="Fjord").update(role="sentinel")
    judge = ask(small, {battle_of(small, n): B_WINS for n in range(4)})
    judge_card.compute_due()
    text = page(signed_in("ravi"), judge)
    assert (
        "This judge isn't to be trusted: Fjord, which no judge should prefer, won 100.0\u00a0% of 4 battles"
        in text
    )


def test_the_page_says_what_a_judge_leans_to(small, ask, signed_in):
    judge = ask(small, {battle_of(small, n): ALWAYS_FIRST if n < 9 else A_WINS for n in range(10)})
    judge_card.compute_due()
    assert "It leans to the response shown first." in page(signed_in("ravi"), judge)


def test_the_page_says_that_sides_are_confounded_with_models(small, make_judge, signed_in):
    judge = make_judge(small, "Sage", {battle_of(small, n): "model_a" for n in range(4)})
    judge_card.compute_due()
    text = page(signed_in("ravi"), judge)
    assert "Sides are confounded with models" in text
    assert "whether it was asked in both orders isn't known" in text
    assert "No vote stands on a battle that it decided" in text


def test_findings_whose_prompts_are_unknown_are_each_a_cluster_and_no_prompt(small, make_judge, signed_in):
    battles = [battle_of(small, n) for n in range(3)]
    Battle.objects.update(prompt=None, response_a=None, response_b=None)
    judge = make_judge(small, "Sage", dict.fromkeys(battles, "model_a"))
    judge_card.compute_due()
    assert "3 battles, whose prompts aren't here" in page(signed_in("ravi"), judge)
    assert JudgeCard.objects.get().figures["sides"]["a_wins"]["clusters"] == 3


def test_a_judge_without_a_card_is_told_when_one_comes(small, ask, signed_in):
    assert "No card yet" in page(signed_in("ravi"), ask(small, {}))


def test_each_campaign_has_a_card_of_its_own(small, make_campaign, ask, signed_in):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    other = make_campaign("melee", prompts=2)
    ask(other, {battle_of(other, 0): TIES, battle_of(other, 1): TIES}, judge)
    judge_card.compute_due()
    ravi = signed_in("ravi")
    assert "1 of 1 judgment with" in page(ravi, judge, "?campaign=joust")
    assert "2 of 2 judgments" in page(ravi, judge, "?campaign=melee")


def test_the_api_gives_the_stored_figures(small, ask, signed_in):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    card = judge_card.compute(small.campaign, judge)
    (found,) = signed_in("ravi").get("/api/v1/judge-cards/?campaign=joust").json()["results"]
    assert (found["id"], found["judge_name"], found["campaign"]) == (card.pk, "Judy", "joust")
    assert found["figures"] == card.figures
    assert signed_in("ravi").get("/api/v1/judge-cards/?campaign=melee").json()["results"] == []


@pytest.mark.parametrize("who", ["alice", "mallory", "dora"])
def test_cards_are_for_the_teams_researchers(small, ask, signed_in, who):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    card = judge_card.compute(small.campaign, judge)
    visitor = signed_in(who)
    assert visitor.get(f"/judges/{judge.pk}/card/").status_code == 404
    assert visitor.get(f"/api/v1/judge-cards/{card.pk}/").status_code == 404


def test_the_worker_computes_cards_and_no_request_does(small, ask, signed_in):
    judge = ask(small, {battle_of(small, 0): A_WINS})
    page(signed_in("ravi"), judge)
    assert not JudgeCard.objects.exists()
    tasks.sweep_judge_cards()
    assert JudgeCard.objects.exists()
