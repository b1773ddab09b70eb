"""Part five of a registered study's report answers its question, beside what was planned and reached."""

import pytest
from django.utils import timezone

from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.boards.compare_page import find_duel
from arena.leaderboards.boards.duels import Answer, answer_of
from arena.leaderboards.citation import cite
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, PairResult
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.report import report_answer
from tests.leaderboards.plans_by_hand import DRAFT, write_and_freeze
from tests.leaderboards.test_report import built, told

RESULT, AGAIN = 4, 8


def pairs_of(part, board: str):
    return next(block for block in part.blocks if block.caption.startswith(f"{board}: "))


def test_the_result_leads_with_the_registered_question_and_answers_it_for_every_pair(registered):
    overall = ensure_leaderboards(registered.campaign)[0].snapshots.get()
    some = overall.pairs.order_by("-difference").values_list("pk", flat=True)[:3]
    overall.pairs.filter(pk__in=list(some)).update(verdict=PairResult.Verdict.DIFFERENT)
    part = built(registered).parts[RESULT]
    assert part.blocks[0].text == f"The registered question, of analysis plan 1: {DRAFT['question']}"
    block = pairs_of(part, "Overall")
    assert block.caption == "Overall: every pair at the margin of 25 points"
    assert len(block.rows) == 10
    models = {s.competitor.name: s.competitor for s in overall.standings.select_related("competitor")}
    ways = {"replace": Answer.REPLACE, "don’t replace": Answer.KEEP, "not yet": Answer.NOT_YET}
    assert {way for *_figures, one, other in block.rows for way in (one, other)} <= {"not yet", "not tested"}
    for a, b, *_figures, one, other in block.rows:
        duel = find_duel(overall, models[a], models[b])
        assert duel.estimate.rating >= 0
        assert ways[one] is answer_of(duel, 0.05)
        assert ways[other] is answer_of(find_duel(overall, models[b], models[a]), 0.05)
    different = overall.pairs.filter(verdict=PairResult.Verdict.DIFFERENT).count()
    lists = {block.caption: block.items for block in part.blocks if block.items}
    clear = lists.pop(f"On the board Overall: Different ({different}):")
    assert sum(" ahead of " in item for item in clear) == len(clear) == different > 0
    assert all(" ahead of " not in item for items in lists.values() for item in items)
    assert "3 raters are too few to rely on these verdicts, or to replace a model by." in told(part)
    assert "The margin of 25 points is that of analysis plan 1" in told(part)
    assert not any(block.caption.startswith("Hard") for block in part.blocks)  # which the plan didn't name


def test_a_board_that_the_plan_names_and_that_could_not_be_made_is_named(registered):
    AnalysisPlan.objects.update(boards=["overall", "style"])
    Leaderboard.objects.filter(style_control=True).update(policies={"ties": "drop"})  # another board
    words = "Style-controlled: the plan names it, and there is no board."
    assert words in told(built(registered).parts[RESULT])


def test_what_was_planned_stands_beside_what_was_reached(registered):
    part = built(registered).parts[RESULT]
    block = next(b for b in part.blocks if b.caption == "What was planned, and what was reached")
    rows = {row[0]: row[1:] for row in block.rows}
    assert rows["Margin, in points"] == ["25", "25"]
    assert rows["Raters"] == ["20", "3"]
    assert rows["Votes cast"] == ["600", "240"]
    assert rows["Smallest difference found in four of five tries"][0].endswith(" points")
    assert "would have found a difference of about" in told(part) and "with a power of 80\u00a0%" in told(
        part
    )
    assert "can’t answer its own question" not in told(part)
    assert "interim look at 240 of 600 planned votes" in told(part)
    assert "isn’t at its level when it is read early" in told(part)


def test_each_board_is_cited_where_it_says_how_to_compute_it_again(registered):
    part = built(registered).parts[AGAIN]
    for board in ensure_leaderboards(registered.campaign):
        assert cite(board.snapshots.get()) in told(part)


def test_without_a_plan_there_is_no_question_and_a_late_one_is_called_exploratory(voted_campaign, signed_in):
    small = voted_campaign(votes=300)
    board = ensure_leaderboards(small.campaign)[0]
    snapshots.take_snapshot(board)
    assert "question" not in told(built(small).parts[RESULT])
    write_and_freeze(signed_in("carol"), boards=["overall"])
    snapshots.take_snapshot(board)
    part = built(small).parts[RESULT]
    assert "so that its answer is exploratory" in part.blocks[0].text
    assert "Exploratory: the margin of 25 points is that of analysis plan 1" in told(part)
    assert "interim look" not in told(part)


def test_of_a_board_without_a_snapshot_the_answer_is_missing(voted_campaign, signed_in):
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"))
    assert "An answer: there is no snapshot of a board that the plan names." in built(small).parts[4].missing


def test_of_many_pairs_the_report_shows_some_and_says_of_how_many(registered, monkeypatch):
    monkeypatch.setattr(report_answer, "PAIRS_SHOWN", 3)
    monkeypatch.setattr(report_answer, "NAMED", 1)
    part = built(registered).parts[RESULT]
    block = pairs_of(part, "Overall")
    assert block.caption == "Overall: pairs at the margin of 25 points, of 10 the first 3"
    assert len(block.rows) == 3
    assert any("further pair" in item for block in part.blocks for item in block.items)


@pytest.mark.parametrize(
    ("lower", "estimate", "upper", "words"),
    [
        (
            0.2,
            0.3,
            0.4,
            "People agree little with each other: κ is 0.30",
        ),
        (
            0.5,
            0.65,
            0.8,
            "Whether people agree well with each other isn’t settled: κ is 0.65",
        ),
        (0.7, 0.8, 0.9, "People agree with each other by κ = 0.6 or more"),
    ],
)
def test_the_result_says_how_far_raters_agree_and_warns_where_that_is_little(
    registered, lower, estimate, upper, words
):
    assert "How far raters agree isn’t known" in told(built(registered).parts[RESULT])
    share = {"estimate": 0.7, "lower": 0.6, "upper": 0.8, "n": 40, "clusters": 20}
    kappa = {"estimate": estimate, "lower": lower, "upper": upper, "n": 40, "clusters": 20}
    people = {"two": {"every": share, "decisive": share, "kappa": kappa}, "alpha": kappa}
    figures = {"people": people, "judges": [], "between": [], "categories": [], "ambiguous_below": 0.6}
    CampaignAgreement.objects.create(
        campaign=registered.campaign,
        figures=figures | {"pairs": 40, "looked_at": 40},
        seen={},
        code_version="",
        computed_at=timezone.now(),
    )
    part = built(registered).parts[RESULT]
    assert words in told(part)
    assert f"{estimate:.2f}" in told(part)
    assert "so that the guide can be read" not in told(part)


def test_open_pairs_stand_in_the_order_and_with_the_signs_of_the_answer(registered):
    overall = ensure_leaderboards(registered.campaign)[0].snapshots.get()
    overall.pairs.exclude(verdict=PairResult.Verdict.DIFFERENT).update(p_adjusted=0.687)
    parts = built(registered).parts
    answered = pairs_of(parts[RESULT], "Overall")
    open_ = next(b for b in parts[7].blocks if b.caption.startswith("Pairs that are not told apart"))
    shown = [(a, b, less, interval, p) for a, b, _verdict, less, interval, p in open_.rows]
    told_before = [(a, b, less, interval, p) for a, b, less, interval, _v, p, *_ways in answered.rows]
    assert shown
    assert shown == told_before[-len(shown) :]
    assert {row[4] for row in shown} == {"p = 0.69"}
