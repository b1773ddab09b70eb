"""A plan may name the pairs of models that its question is about: its answer is then over these alone."""

import json

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from arena.corpus.models import Competitor
from arena.leaderboards import downloads
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import PairResult
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.asked_pairs import read_pairs
from arena.leaderboards.plans.asked_tests import asked_tests
from arena.leaderboards.plans.plan import Plan, detectable
from arena.leaderboards.plans.reckoning import reckon
from arena.leaderboards.plans.registration_words import say_registered
from arena.raters.models import Rater
from ratings.pairwise import adjusted
from tests.leaderboards.plans_by_hand import DRAFT, freeze, record_votes, write_and_freeze
from tests.leaderboards.test_boards import text_of
from tests.leaderboards.test_report import built, told

RESULT = 4
TWO = "Ember / Fjord\nGrove / Heron"


@pytest.fixture
def asked(voted_campaign, cast_vote, cast, signed_in):
    """240 votes of six raters under a plan that names two pairs of the ten; overall is registered."""
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), pairs=TWO, boards=["overall"])
    raters = [Rater.objects.create(team=cast.team, pseudonym=f"rater {n}") for n in range(6)]
    for start in range(2):
        record_votes(small, cast_vote, raters[3 * start :], numbers=range(120 * start, 120 * start + 120))
    for board in ensure_leaderboards(small.campaign):
        snapshots.take_snapshot(board)
    return small


def overall_of(small):
    return ensure_leaderboards(small.campaign)[0].snapshots.get()


def pair_of(snapshot, one: str, other: str) -> PairResult:
    return snapshot.pairs.get(first__name__in=(one, other), second__name__in=(one, other))


def save(carol, **changes):
    return carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | changes)


def test_a_new_plan_names_every_board_and_tells_which_models_a_pair_may_have(voted_campaign, signed_in):
    voted_campaign(votes=0)
    page = signed_in("carol").get("/campaigns/joust/analysis-plan/").content.decode()
    assert page.count(" checked") == 3
    assert "Models: Ember, Fjord, Grove, Heron, Inlet." in page


def test_pairs_are_saved_frozen_and_hashed_with_the_plan(voted_campaign, signed_in):
    voted_campaign(votes=0)
    carol = signed_in("carol")
    assert save(carol, pairs="  fjord / EMBER \r\n\r\nGrove / Heron\r\n").status_code == 302
    page = carol.get(reverse("analysis-plan", args=["joust"])).content.decode()
    assert "Fjord / Ember\nGrove / Heron</textarea>" in page
    write_and_freeze(carol, pairs="Fjord / Ember\nGrove / Heron")
    plan = AnalysisPlan.objects.get()
    assert json.loads(plan.canonical())["pairs"] == [["Fjord", "Ember"], ["Grove", "Heron"]]
    assert plan.sha256 == plan.hash_content()
    for address in ("analysis-plan", "board-plan"):
        assert "Fjord and Ember; Grove and Heron" in text_of(carol.get(reverse(address, args=["joust"])))


def test_a_plan_without_pairs_is_hashed_as_before_and_about_all(voted_campaign, signed_in):
    voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"))
    plan = AnalysisPlan.objects.get()
    assert plan.pairs == [] and "pairs" not in plan.content()
    assert "Pairs of models all pairs" in text_of(signed_in("carol").get("/boards/joust/plan/"))


@pytest.mark.parametrize(
    ("written", "refusal"),
    [
        ("Ember / Zephyr", "“Zephyr” is no model of this team."),
        ("Ember / Aside", "“Aside” takes no part in this campaign."),
        ("Ember / Inlet", "“Inlet” is withdrawn, and gets no more battles."),
        ("Ember, Fjord", "“Ember, Fjord”: a pair is two models"),
        ("Ember / ember", "“Ember” is no pair with itself."),
        ("Ember / Fjord\nFjord / Ember", "“Fjord / Ember” is there twice"),
    ],
)
def test_what_is_no_pair_of_models_that_take_part_is_refused_by_name(
    voted_campaign, signed_in, cast, written, refusal
):
    voted_campaign(votes=0)
    Competitor.objects.create(team=cast.team, name="Aside")
    Competitor.objects.filter(name="Inlet").update(status="withdrawn")
    answer = save(signed_in("carol"), pairs=written)
    assert answer.status_code == 422
    assert refusal in text_of(answer)
    assert written.split("\n")[0] in answer.content.decode()
    assert not AnalysisPlan.objects.exists()


def test_a_name_with_the_slash_itself_is_found(voted_campaign, signed_in):
    voted_campaign(votes=0)
    model = Competitor.objects.get(name="Ember")
    model.name = "lab / Ember"
    model.save()
    assert save(signed_in("carol"), pairs="lab / Ember / Fjord").status_code == 302
    [pair] = AnalysisPlan.objects.get().pairs
    assert (pair["a"], pair["b"]) == ("lab / Ember", "Fjord")


def test_a_draft_whose_model_was_withdrawn_isnt_frozen(voted_campaign, signed_in):
    voted_campaign(votes=0)
    carol = signed_in("carol")
    save(carol, pairs=TWO)
    Competitor.objects.filter(name="Grove").update(status="withdrawn")
    answer = freeze(carol, follow=True, though_it_cannot_answer="1")
    assert "Nothing was frozen: Grove was withdrawn since" in text_of(answer)
    assert not AnalysisPlan.objects.frozen().exists()


def test_a_plan_with_fewer_pairs_finds_smaller_differences_before_it_opens(voted_campaign, signed_in):
    voted_campaign(votes=0)
    carol = signed_in("carol")
    save(carol)
    every = reckon(AnalysisPlan.objects.get())
    save(carol, pairs="Ember / Fjord")
    one = reckon(AnalysisPlan.objects.get())
    assert (every.asked, one.asked) == (None, 1)
    assert one.points < every.points
    alone = Plan(one.models, one.prompts, one.raters, one.votes_each, one.tie_share, one.taste, asked=1)
    assert one.points == detectable(alone).points
    page = text_of(carol.get(reverse("analysis-plan", args=["joust"])))
    assert "pairs that the question is about, all tested at once named beforehand" in page
    reckoned = carol.get(reverse("campaign-plan", args=["joust"]), {"raters": 20, "votes": 30})
    assert reckoned.context["found"].points == pytest.approx(one.points)
    wider = carol.get(reverse("campaign-plan", args=["joust"]), {"raters": 20, "votes": 30, "pairs": 10})
    assert wider.context["found"].points == pytest.approx(every.points)


def test_tests_of_named_pairs_are_corrected_over_these_alone(asked):
    snapshot = overall_of(asked)
    tests = asked_tests(snapshot)
    pairs = [pair_of(snapshot, "Ember", "Fjord"), pair_of(snapshot, "Grove", "Heron")]
    assert tests.keys() == {(pair.first_id, pair.second_id) for pair in pairs}
    expected = adjusted(np.array([pair.p for pair in pairs]), "holm")
    for pair, p in zip(pairs, expected, strict=True):
        test = tests[pair.first_id, pair.second_id]
        assert test.p_adjusted == pytest.approx(p)
        assert test.p_adjusted <= pair.p_adjusted and test.together == 2
        assert (test.verdict in ("different", "different, negligible")) == (p < 0.05)


def test_a_named_pair_that_cant_be_tested_still_counts_among_those_named(asked):
    snapshot = overall_of(asked)
    untested, other = pair_of(snapshot, "Ember", "Fjord"), pair_of(snapshot, "Grove", "Heron")
    PairResult.objects.filter(pk=untested.pk).update(p=None, equivalence_p=None, verdict="unbounded")
    tests = asked_tests(snapshot)
    assert tests[untested.first_id, untested.second_id].verdict == "unbounded"
    assert tests[other.first_id, other.second_id].p_adjusted == pytest.approx(min(1, 2 * other.p))


def test_a_difference_clear_among_two_pairs_and_not_among_ten_is_the_registered_answer(asked, signed_in):
    snapshot = overall_of(asked)
    pair = pair_of(snapshot, "Ember", "Fjord")
    PairResult.objects.filter(pk=pair.pk).update(
        p=0.02, p_adjusted=0.2, equivalence_p=0.9, verdict="undecided"
    )
    ravi = signed_in("ravi")
    page = text_of(ravi.get("/boards/joust/compare/", {"a": "Ember", "b": "Fjord"}))
    assert "Ember ahead" in page or "Fjord ahead" in page
    assert "pairs of the plan: p = 0.040; all pairs: p = 0.20; this pair alone: p = 0.020" in page
    assert (
        "registered under analysis plan 1, whose question is about Ember and Fjord; Grove and Heron" in page
    )
    turned = text_of(ravi.get("/boards/joust/compare/", {"a": "Fjord", "b": "Ember"}))
    assert "for this pair alone, which the plan named beforehand." in page + turned
    assert "as if it had been named beforehand" not in page + turned
    other = text_of(ravi.get("/boards/joust/compare/", {"a": "Ember", "b": "Grove"}))
    assert "exploratory: it isn’t this pair that analysis plan 1 names" in other
    assert "pairs of the plan" not in other
    part = built(asked).parts[RESULT]
    block = next(block for block in part.blocks if block.caption.startswith("Overall: "))
    assert block.caption == "Overall: the pairs that the plan names, at the margin of 25 points"
    assert len(block.rows) == 2
    assert "Verdicts allow for the 2 pairs that the plan names" in told(part)
    assert any("p = 0.040" in str(cell) for row in block.rows for cell in row)
    planned = next(
        block for block in part.blocks if block.caption == "What was planned, and what was reached"
    )
    assert ["Pairs of models", "2", "2"] in [list(map(str, row)) for row in planned.rows]


def test_files_and_api_say_which_pairs_the_plan_names(asked, signed_in):
    snapshot, ravi = overall_of(asked), signed_in("ravi")
    table = downloads.table_of(snapshot, "pairs")
    rows = [dict(zip(table.columns, line, strict=True)) for line in table.lines]
    named = [row for row in rows if row["in_plan"]]
    assert {frozenset((row["model_a"], row["model_b"])) for row in named} == {
        frozenset(("Ember", "Fjord")),
        frozenset(("Grove", "Heron")),
    }
    assert all(row["plan_pairs"] == 2 and row["plan_p_adjusted"] <= row["p_adjusted"] for row in named)
    assert all(row["plan_verdict"] is None and row["plan_pairs"] is None for row in rows if row not in named)
    plan = ravi.get(f"/api/v1/snapshots/{snapshot.pk}/").json()["plan"]
    assert plan["pairs"] == [["Ember", "Fjord"], ["Grove", "Heron"]]
    ask = {"a": "Ember", "b": "Fjord"}
    line = ravi.get("/api/v1/campaigns/joust/tables/compare-boards.json", ask).json()[0]
    assert line["in_plan"] is True and line["plan_pairs"] == 2


def test_a_plan_frozen_after_votes_corrects_for_all_pairs_however_few_it_names(voted_campaign, signed_in):
    small = voted_campaign(votes=300)
    write_and_freeze(signed_in("carol"), pairs="Ember / Fjord", boards=["overall"])
    board = ensure_leaderboards(small.campaign)[0]
    snapshot = snapshots.take_snapshot(board).snapshot
    assert asked_tests(snapshot) == {}
    part = built(small).parts[RESULT]
    said = "named when votes could have been seen, and verdicts allow for all pairs of the board at once"
    assert said in told(part)
    block = next(block for block in part.blocks if block.caption.startswith("Overall: "))
    assert len(block.rows) == 1


def test_a_model_withdrawn_renamed_or_without_votes_since_is_said(asked, signed_in):
    Competitor.objects.filter(name="Grove").update(status="withdrawn")
    model = Competitor.objects.get(name="Ember")
    model.name = "Ember 2"
    model.save()
    ravi = signed_in("ravi")
    for page in (
        text_of(ravi.get(reverse("board-plan", args=["joust"]))),
        text_of(ravi.get(reverse("analysis-plan", args=["joust"]))),
        told(built(asked).parts[RESULT]),
    ):
        assert "Grove was withdrawn since: it gets no more battles." in page
        assert "Ember is called Ember 2 since." in page
    assert AnalysisPlan.objects.get().hash_content() == AnalysisPlan.objects.get().sha256
    snapshot = overall_of(asked)
    assert len(asked_tests(snapshot)) == 2
    snapshot.pairs.filter(pk=pair_of(snapshot, "Grove", "Heron").pk).delete()
    assert "Overall: not on this board, for want of votes: Grove and Heron." in told(
        built(asked).parts[RESULT]
    )


def test_the_next_version_begins_with_the_pairs_of_the_last(asked, signed_in):
    carol = signed_in("carol")
    page = carol.get(reverse("analysis-plan", args=["joust"])).content.decode()
    assert f'name="pairs" value="{TWO}"' in page
    write_and_freeze(carol, pairs="Ember / Fjord", boards=["overall"])
    told_of = text_of(carol.get(reverse("analysis-plan", args=["joust"])))
    assert "pairs: Ember and Fjord instead of Ember and Fjord; Grove and Heron" in told_of
    assert say_registered([overall_of(asked)])[0].startswith(
        "registered under analysis plan 1, whose question is about Ember and Fjord; Grove and Heron alone"
    )


def test_a_line_that_names_two_pairs_is_asked_about_and_a_long_one_isnt_taken_apart(voted_campaign, cast):
    campaign = voted_campaign(votes=0).campaign
    for name in ("P", "Q / R", "P / Q", "R"):
        campaign.competitors.add(Competitor.objects.create(team=cast.team, name=name))
    with pytest.raises(ValidationError, match="can be read as P and Q / R and as P / Q and R"):
        read_pairs("P / Q / R", campaign)
    with pytest.raises(ValidationError, match="A line of 40,001 characters is longer"):
        read_pairs(" / ".join("a" * 10_001), campaign)
    with pytest.raises(ValidationError) as refused:
        read_pairs("\n".join(f"none {n} / nobody {n}" for n in range(5_000)), campaign)
    assert len(refused.value.messages) <= 21
