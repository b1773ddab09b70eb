"""People's votes with a judge's help: joined by prompt and pair, refused aloud, replayed to the byte."""

import itertools

import numpy as np
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from arena.battles.models import Battle, Vote
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.boards import board_facts
from arena.leaderboards.boards.caution_codes import code_of
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots, sources
from arena.leaderboards.models import Leaderboard
from ratings.comparisons import OUTCOMES, Comparisons
from ratings.prediction_powered import _too_little
from tests.leaderboards.simulated_votes import STRENGTHS
from tests.leaderboards.test_boards import text_of


def said_by_people(small) -> dict:
    """The winner by prompt and pair, None for a tie."""
    fields = ("battle__prompt", "battle__competitor_a", "battle__competitor_b", "outcome")
    said = {}
    for prompt, a, b, outcome in Vote.objects.filter(battle__campaign=small.campaign).values_list(*fields):
        said[prompt, frozenset((a, b))] = {"model_a": a, "model_b": b}.get(outcome)
    return said


def judge_all_pairs(small, *, agreement: float = 3.0, copies: float = 0.0, seed: int = 1) -> Judge:
    """A judge on every prompt and pair; the larger `agreement`, the more it ranks models as people do.

    copies: how often it says what a person said of the same two responses; without that it knows the models,
    but no battle, and narrows nothing.
    """
    said = said_by_people(small)
    rng = np.random.default_rng(seed)
    judge = Judge.objects.create(team=small.campaign.team, name="Judge")
    run = JudgeRun.objects.create(campaign=small.campaign)
    models, now = len(small.competitors), timezone.now()
    battles, outcomes = [], []
    for p, prompt in enumerate(small.prompts):
        for i, j in itertools.combinations(range(models), 2):
            a, b = (i, j) if rng.random() < 0.5 else (j, i)
            battles.append(
                Battle(
                    campaign=small.campaign,
                    kind=Battle.Kind.RECORDED,
                    prompt=prompt,
                    competitor_a=small.competitors[a],
                    competitor_b=small.competitors[b],
                    response_a=small.responses[p * models + a],
                    response_b=small.responses[p * models + b],
                    drawn_at=now,
                )
            )
            chance = 1 / (1 + np.exp(agreement * (STRENGTHS[b] - STRENGTHS[a])))
            outcome = "model_a" if rng.random() < chance else "model_b"
            pair = frozenset((small.competitors[a].pk, small.competitors[b].pk))
            if (prompt.pk, pair) in said and rng.random() < copies:
                winner = said[prompt.pk, pair]
                outcome = {small.competitors[a].pk: "model_a", None: "tie"}.get(winner, "model_b")
            outcomes.append(outcome)
    Judgment.objects.bulk_create(
        Judgment(run=run, judge=judge, battle=battle, outcome=outcome, resolved_at=now)
        for battle, outcome in zip(Battle.objects.bulk_create(battles), outcomes, strict=True)
    )
    return judge


def combined_of(campaign) -> Leaderboard:
    boards = ensure_leaderboards(campaign)
    return next(board for board in boards if board.source == "combined" and board.subset == "all")


def test_a_vote_and_a_verdict_meet_on_prompt_and_pair_whichever_side_was_first(
    small_campaign, cast_vote, cast
):
    small = small_campaign
    p0, p1 = small.prompts[:2]
    vote = cast_vote(small, p0, "Ember", "Fjord", "model_a", cast.alice_rater).battle
    judge = Judge.objects.create(team=cast.team, name="Judge")
    run = JudgeRun.objects.create(campaign=small.campaign)
    sides = {"competitor_a": vote.competitor_b, "competitor_b": vote.competitor_a}
    sides |= {"response_a": vote.response_b, "response_b": vote.response_a}
    turned = Battle.objects.create(
        campaign=small.campaign, kind="recorded", prompt=p0, drawn_at=timezone.now(), **sides
    )
    elsewhere = cast_vote(small, p1, "Ember", "Fjord", "tie", cast.bob_rater).battle
    further = Battle.objects.create(
        campaign=small.campaign,
        kind="recorded",
        prompt=small.prompts[2],
        competitor_a=vote.competitor_a,
        competitor_b=vote.competitor_b,
        response_a=small.responses[6],
        response_b=small.responses[7],
        drawn_at=timezone.now(),
    )
    for battle, outcome in ((turned, "model_b"), (further, "model_a")):
        Judgment.objects.create(
            run=run, judge=judge, battle=battle, outcome=outcome, resolved_at=timezone.now()
        )
    board = combined_of(small.campaign)
    rows, _cutoff = sources.Round().rows_of(board)
    assert len(rows.comparisons) == 2
    assert rows.both.tolist() == [0]
    assert [OUTCOMES[code] for code in rows.verdict] == ["model_a"]
    assert len(rows.judged) == 1
    assert elsewhere.prompt != p0
    assert rows.judged.prompt.tolist() == [2]


def test_a_judge_like_people_adds_votes_and_the_board_says_how_many(voted_campaign, signed_in):
    small = voted_campaign(votes=160)
    judge_all_pairs(small, copies=0.9)
    board = combined_of(small.campaign)
    run = snapshots.take_snapshot(board)
    combined = run.snapshot.counts["combined"]
    assert combined["used"], combined
    assert combined["gain"] > 0
    assert 0 < combined["lam"] <= 1
    assert combined["p_help"] < 0.05
    assert 0 < combined["narrower"] < 1
    alone = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    widths = [sum(s.upper - s.lower for s in snapshot.standings.all()) for snapshot in (run.snapshot, alone)]
    assert widths[0] < widths[1]
    page = signed_in("ravi").get(reverse("board", args=["joust"]), {"source": f"combined:{board.judge_id}"})
    narrower = f"intervals are {100 * combined['narrower']:.0f}\u00a0% narrower than people’s alone"
    assert f"effective votes, an estimate; {narrower}" in page.content.decode()
    assert "People combined with Judge" in page.content.decode()
    assert f"weighs {combined['lam'] * 160 / combined['judged']:.2f} of a vote" in page.content.decode()
    facts = text_of(signed_in("ravi").get(reverse("snapshot", args=[run.snapshot.pk])))
    assert "160 votes" in facts and "160 judgments" not in facts
    assert f"{run.snapshot.counts['raters']} raters" in facts


def test_the_same_rows_give_the_same_bytes(voted_campaign, capsys):
    small = voted_campaign(votes=160)
    judge_all_pairs(small, copies=0.9)
    snapshot = snapshots.take_snapshot(combined_of(small.campaign)).snapshot
    assert snapshot.counts["combined"]["used"]
    judge_more = Judgment.objects.first()
    Judgment.objects.create(
        run=JudgeRun.objects.create(campaign=small.campaign),
        judge=judge_more.judge,
        battle=judge_more.battle,
        outcome="tie",
        resolved_at=timezone.now(),
    )
    call_command("replay_snapshot", str(snapshot.pk))
    assert "same" in capsys.readouterr().out


def test_too_few_votes_leave_people_alone_and_say_why(voted_campaign):
    small = voted_campaign(votes=60)
    judge_all_pairs(small)
    snapshot = snapshots.take_snapshot(combined_of(small.campaign)).snapshot
    assert snapshot.counts["combined"]["used"] is False
    assert "fewer than 100" in snapshot.warnings[0]
    people = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    ratings = [dict(s.standings.values_list("competitor__name", "rating")) for s in (snapshot, people)]
    assert ratings[0] == ratings[1]
    # The same votes, and checked by the same engine.
    assert snapshot.counts["check"] == people.counts["check"] is not None


def test_a_panel_that_cannot_be_used_is_called_a_panel(voted_campaign):
    small = voted_campaign(votes=60)
    judge_all_pairs(small)
    second = Judge.objects.create(team=small.campaign.team, name="Second")
    for one in Judgment.objects.all():
        Judgment.objects.create(
            run=one.run,
            judge=second,
            battle=one.battle,
            outcome=one.outcome,
            resolved_at=one.resolved_at,
        )
    (board,) = (
        one
        for one in ensure_leaderboards(small.campaign)
        if (one.source, one.subset) == ("combined", "all") and one.judge is None
    )
    snapshot = snapshots.take_snapshot(board).snapshot
    assert snapshot.warnings[0].startswith("People's votes alone, for the panel of judges can't be used: ")
    assert "the judge " not in snapshot.warnings[0]
    assert board_facts.say_alone(snapshot) == "people alone: the panel of judges can’t be used"
    assert code_of(snapshot.warnings[0]) == "judge_not_used"


def test_reasons_against_a_judge_say_what_they_mean():
    people = Comparisons.of(2, [0] * 4, [1] * 4, [0, 1, 0, 1], rater=[0, 0, 0, 1], prompt=[0, 1, 2, 3])
    reasons = _too_little(people, people.select(np.zeros(4, dtype=bool)), 100, 10)
    assert reasons[1:] == (
        "the judge judged nothing beyond what people voted on, and so adds nothing",
        "people's votes tell as much as those of 1.6 equally busy raters would, and it takes 10",
        "people's votes tell as much as those of 4.0 equally busy prompts would, and it takes 10",
    )


def test_a_judge_who_knows_the_models_but_no_battle_is_not_used_and_the_board_says_why(
    voted_campaign, signed_in
):
    small = voted_campaign(votes=300)
    judge_all_pairs(small)
    snapshot = snapshots.take_snapshot(combined_of(small.campaign)).snapshot
    assert snapshot.counts["combined"]["used"] is False
    assert snapshot.counts["combined"]["refused"] is False
    assert "its help can't be told from chance (p = 0." in snapshot.warnings[0]


def test_a_judge_who_knows_few_of_the_votes_does_not_cost_the_others(voted_campaign):
    small = voted_campaign(votes=600)
    judge = judge_all_pairs(small)
    known = Vote.objects.order_by("pk")[:110].values_list("battle__prompt", flat=True)
    Judgment.objects.filter(judge=judge).exclude(battle__prompt__in=set(list(known)[:6])).delete()
    snapshot = snapshots.take_snapshot(combined_of(small.campaign)).snapshot
    assert snapshot.counts["combined"]["used"] is False
    assert snapshot.counts["votes"] == 600


def test_a_judge_or_two_make_one_combined_board_of_each_subset(voted_campaign):
    small = voted_campaign(votes=30)
    assert not [b for b in ensure_leaderboards(small.campaign) if b.source == "combined"]
    judge_all_pairs(small)
    combined = [b for b in ensure_leaderboards(small.campaign) if b.source == "combined"]
    assert [(b.subset, b.style_control) for b in combined] == [("all", False), ("hard", False)]
    assert {b.judge.name for b in combined} == {"Judge"}


def test_a_combined_board_that_no_judge_has_helped_says_so(small_campaign, cast, cast_vote):
    judge = Judge.objects.create(team=small_campaign.campaign.team, name="Judge")
    cast_vote(small_campaign, small_campaign.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater)
    board = Leaderboard.objects.create(
        campaign=small_campaign.campaign, slug="joined", name="Joined", source="combined", judge=judge
    )
    run = snapshots.take_snapshot(board)
    assert run.state == "not_enough"
    assert run.reason == "No judged battles yet: people's 1 vote alone don't settle these ratings."


def test_where_the_judge_cannot_be_used_every_page_with_its_boards_says_so(voted_campaign, signed_in):
    small = voted_campaign(votes=90)
    judge_all_pairs(small)
    board = combined_of(small.campaign)
    snapshot = snapshots.take_snapshot(board).snapshot
    assert snapshot is not None
    assert not snapshot.counts["combined"]["used"]
    for page in ("compare/?a=Ember&b=Fjord&", "model/?name=Ember&", "?"):
        answer = signed_in("ravi").get(f"/boards/joust/{page}source=combined:{board.judge_id}")
        assert "people alone: the judge can’t be used" in answer.content.decode(), page
