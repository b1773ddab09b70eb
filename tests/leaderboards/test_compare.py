"""The page about two models: its numbers, its words, who may see it, and what it says without numbers."""

import re

import pytest
from django.urls import reverse

from arena.home import listed
from arena.leaderboards.boards.compare_direct import MCNEMAR_EXACT_BELOW
from arena.leaderboards.boards.duels import say_p
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import PairResult, Snapshot
from ratings.proportions import EXACT_BELOW
from tests.leaderboards.test_boards import show_to, text_of

PAGE = "/boards/joust/compare/"


def take_all(small) -> None:
    for leaderboard in ensure_leaderboards(small.campaign):
        snapshots.take_snapshot(leaderboard)


def close(campaign) -> None:
    """Votes are over: who may see the boards is theirs to say alone."""
    type(campaign).objects.filter(pk=campaign.pk).update(status="closed")


@pytest.fixture
def joust(voted_campaign, cast):
    small = voted_campaign("joust")
    take_all(small)
    return small


def signed(points: float) -> str:
    return f"{points:+.0f}".replace("-", "−")


def pair_of(board: str, first: str, second: str) -> PairResult:
    return PairResult.objects.get(
        snapshot__leaderboard__slug=f"joust-{board}", first__name=first, second__name=second
    )


def test_the_three_boards_stand_with_difference_interval_and_adjusted_p(joust, signed_in):
    words = text_of(signed_in("ravi").get(PAGE, {"a": "Ember", "b": "Inlet"}))
    for board, heading in (("overall", "Overall"), ("hard", "Hard prompts"), ("style", "Style-controlled")):
        pair = pair_of(board, "Ember", "Inlet")
        score = [100 * share for share in pair.details["effect"]["expected_score"]]
        p = "p &lt; 0.001" if pair.p_adjusted < 0.001 else "p = "
        expected = (
            f"{heading} {signed(pair.difference)} {signed(pair.lower)} … {signed(pair.upper)} "
            rf".*?{score[0]:.0f} % {score[1]:.0f} … {score[2]:.0f} %.*?{p}"
        )
        assert re.search(expected.replace("+", r"\+"), words), expected


def test_turning_the_pair_turns_every_number(joust, signed_in):
    ravi = signed_in("ravi")
    there, back = (
        ravi.get(PAGE, {"a": a, "b": b}).context["page"] for a, b in (("Ember", "Inlet"), ("Inlet", "Ember"))
    )
    pair = pair_of("overall", "Ember", "Inlet")
    assert there.lines[0].points.text == signed(pair.difference)
    assert back.lines[0].points.text == signed(-pair.difference)
    assert back.lines[0].points.interval == f"{signed(-pair.upper)} … {signed(-pair.lower)}"
    score = pair.details["effect"]["expected_score"][0]
    assert back.lines[0].score.text == f"{100 * (1 - score):.0f}\u00a0%"
    assert back.lines[0].net.text == f"{signed(100 * (1 - 2 * score))}\u00a0%"
    assert (
        (there.direct.wins, there.direct.losses)
        == (back.direct.losses, back.direct.wins)
        == (pair.wins, pair.losses)
    )
    assert (there.direct.prompts_a, there.direct.prompts_b) == (back.direct.prompts_b, back.direct.prompts_a)
    assert there.direct.sign_p == back.direct.sign_p
    assert there.lines[0].verdict == back.lines[0].verdict == "Ember ahead"
    assert (there.lines[0].kind, back.lines[0].kind) == ("a", "b")


def test_the_sentence_says_who_is_ahead_and_the_answer_whether_to_replace(joust, signed_in):
    ravi = signed_in("ravi")
    gap = pair_of("overall", "Ember", "Inlet").difference
    words = text_of(ravi.get(PAGE, {"a": "Inlet", "b": "Ember"}))
    assert f"In simulated votes, Ember is ahead of Inlet by {gap:.0f} points." in words
    assert "Inlet in place of Ember? Don&#x27;t replace: Inlet is worse." in words
    assert "All 600 votes here are simulated." in words
    words = text_of(ravi.get(PAGE, {"a": "Ember", "b": "Inlet"}))
    assert (
        "Ember in place of Inlet? Replace: Ember isn&#x27;t worse by 10 points or more (p &lt; 0.001). "
        "One-sided at 5 %, for this pair alone, as if it had been named beforehand." in words
    )


def test_an_undecided_pair_is_called_so(joust, signed_in):
    pair = pair_of("overall", "Grove", "Heron")
    assert pair.verdict == "undecided"
    words = text_of(signed_in("ravi").get(PAGE, {"a": "Grove", "b": "Heron"}))
    assert "mong 10 pairs looked at together nothing tells Grove and Heron apart yet, nor shows" in words
    assert re.search(r"This pair alone, as if it had been named beforehand, gives p = 0\.\d+\.", words)


def test_a_model_is_called_worse_only_where_the_verdict_says_so(joust, signed_in):
    pair = pair_of("overall", "Grove", "Heron")
    # its own interval leaves zero out, but not once all pairs are allowed for: verdict "undecided"
    low, high = (-60.0, -3.0) if pair.first.name == "Grove" else (3.0, 60.0)
    pair.difference, pair.lower, pair.upper = (low + high) / 2, low, high
    pair.details["worse_p"] = pair.details["better_p"] = 0.93
    pair.save()
    ravi = signed_in("ravi")
    words = text_of(ravi.get(PAGE, {"a": "Grove", "b": "Heron"}))
    assert "nothing tells Grove and Heron apart yet" in words
    assert "Not yet: Grove may be worse by 10 points or more (p = 0.93). One-sided at 5 %" in words
    pair.verdict = "different"
    pair.save()
    words = text_of(ravi.get(PAGE, {"a": "Grove", "b": "Heron"}))
    assert "Don&#x27;t replace: Grove is worse. " in words


def test_votes_needed_above_the_cap_are_not_reachable(joust, signed_in):
    pair = pair_of("overall", "Grove", "Heron")
    needs = pair.details["needs"]
    needs[0]["new"]["rater"] = "not reachable"
    needs[1]["votes_by_same"], needs[2]["votes_by_same"] = 0, 1234
    # as snapshots of before have it: counted as if each vote came with a rater and prompt of its own
    needs[0]["votes"] = 4321
    del needs[0]["votes_by_same"]
    pair.save()
    needs = signed_in("ravi").get(PAGE, {"a": "Grove", "b": "Heron"}).context["page"].needs
    assert [need.points for need in needs] == ["10", "20", "50"]
    assert needs[0].raters == "not reachable"
    assert [need.votes for need in needs] == ["–", "none: the present votes would find it", "1,234"]


def test_people_and_a_judge_stand_under_their_own_names(joust, make_judge, signed_in):
    battles = joust.campaign.battles.order_by("pk")[:300]
    judge = make_judge(
        joust, "Sage", {b: ("model_a", "model_b", "tie")[n % 3] for n, b in enumerate(battles)}
    )
    take_all(joust)
    ravi = signed_in("ravi")
    page = ravi.get(PAGE, {"a": "Ember", "b": "Inlet"}).context["page"]
    assert [line.source for line in page.lines] == [
        *(["People"] * 3 + ["Judge: Sage"] * 3),
        *(["People combined with Sage"] * 2),
    ]
    judged = ravi.get(PAGE, {"a": "Ember", "b": "Inlet", "source": f"judge:{judge.pk}"})
    assert "according to the judge Sage, " in text_of(judged).lower().replace("sage", "Sage")
    of_judge = Snapshot.objects.filter(leaderboard__judge=judge, leaderboard__source="judge").order_by("pk")
    assert listed(of_judge[0]).sentence.startswith("According to the judge Sage, ")
    people = ravi.get(PAGE, {"a": "Ember", "b": "Inlet"})
    assert "according to people, ember is ahead" in text_of(people).lower()
    assert judged.context["page"].direct.e == ""
    assert {need.raters for need in judged.context["page"].needs} == {"–"}


def test_from_two_models_the_teams_researchers_come_to_their_battles(joust, signed_in, client):
    ravi = signed_in("ravi")
    address = ravi.get(PAGE, {"a": "Ember", "b": "Inlet"}).context["battles"]
    read = ravi.get(address)
    assert "Read these battles" in text_of(ravi.get(PAGE, {"a": "Ember", "b": "Inlet"}))
    both = [{side.competitor.name for side in one.sides} for one in read.context["shown"]]
    assert both and all(names == {"Ember", "Inlet"} for names in both)
    show_to(joust.campaign, "public")
    stranger = client.get(PAGE, {"a": "Ember", "b": "Inlet"})
    assert stranger.status_code == 200 and "Read these battles" not in text_of(stranger)
    joust.campaign.competitors.remove(joust.campaign.competitors.get(name="Ember"))
    assert "Read these battles" not in text_of(ravi.get(PAGE, {"a": "Ember", "b": "Inlet"}))


def test_without_a_choice_it_opens_with_the_two_best(joust, signed_in):
    best = Snapshot.objects.get(leaderboard__slug="joust-overall").standings.order_by("-rating")[:2]
    choice = signed_in("ravi").get(PAGE).context["choice"]
    assert [choice.a, choice.b] == [standing.competitor.name for standing in best]


@pytest.mark.parametrize("models", [("Ember", "Fjord"), ("Ember", "Fjord", "Grove")])
def test_a_campaign_of_two_models_opens_here_but_not_one_whose_third_has_no_vote_yet(
    cast, cast_vote, make_campaign, signed_in, models
):
    small = make_campaign("joust", names=models)
    for outcome in ("model_a", "model_b", "model_a", "tie"):
        cast_vote(small, small.prompts[0], "Ember", "Fjord", outcome, cast.alice_rater)
    take_all(small)
    ravi = signed_in("ravi")
    response = ravi.get("/boards/joust/")
    if models[2:]:
        assert response.status_code == 200
    else:
        assert (response.status_code, response["Location"]) == (302, PAGE)
    assert "1 rater is too few to tell Ember and Fjord apart by" in text_of(ravi.get(PAGE))
    assert ravi.get("/boards/joust/?board=overall").status_code == 200


def test_a_board_of_more_models_opens_as_itself(joust, signed_in):
    assert signed_in("ravi").get("/boards/joust/").status_code == 200


def test_one_model_twice_is_answered_with_words(joust, signed_in):
    response = signed_in("ravi").get(PAGE, {"a": "Ember", "b": "Ember"})
    assert response.status_code == 200
    assert "That is one model twice." in text_of(response)


@pytest.mark.parametrize("wanted", [{"a": "Nobody"}, {"a": "Ember", "b": "<b>"}])
def test_an_unknown_model_is_not_found(joust, signed_in, wanted):
    assert signed_in("ravi").get(PAGE, wanted).status_code == 404


def test_before_the_first_snapshot_it_says_what_is_missing(voted_campaign, cast, signed_in):
    voted_campaign("joust", votes=60)
    words = text_of(signed_in("ravi").get(PAGE))
    assert "Two models can be compared when a snapshot has both." in words


def test_two_that_never_met_are_told_apart_from_two_that_cant_be_compared(
    small_campaign, cast, cast_vote, signed_in
):
    prompt, rater = small_campaign.prompts[0], cast.alice_rater
    for a, b in (("Ember", "Fjord"), ("Fjord", "Grove")):
        for outcome in ("model_a", "model_b"):
            cast_vote(small_campaign, prompt, a, b, outcome, rater)
    take_all(small_campaign)
    words = text_of(signed_in("ravi").get("/boards/small/compare/", {"a": "Ember", "b": "Grove"}))
    assert "They never met: what the boards say of them rests on common opponents." in words


@pytest.mark.parametrize(
    ("who", "visibility", "status"),
    [
        (None, "private", 404),
        (None, "signed_in", 404),
        (None, "public", 200),
        ("mallory", "private", 404),
        ("mallory", "signed_in", 200),
        ("dora", "private", 404),
        ("ravi", "private", 200),
    ],
)
def test_it_is_shown_to_those_who_may_see_the_boards(joust, client, signed_in, who, visibility, status):
    close(joust.campaign)
    show_to(joust.campaign, visibility)
    visitor = signed_in(who) if who else client
    assert visitor.get(PAGE).status_code == status
    assert visitor.post(PAGE).status_code == 405


def test_a_source_that_isnt_shown_to_the_visitor_isnt_compared_either(joust, make_judge, client):
    battles = joust.campaign.battles.order_by("pk")[:300]
    make_judge(joust, "Sage", {b: ("model_a", "model_b")[n % 2] for n, b in enumerate(battles)})
    take_all(joust)
    close(joust.campaign)
    joust.campaign.leaderboards.filter(judge=None).update(visibility="public")
    assert "Sage" not in text_of(client.get(PAGE))


def test_asking_for_a_pair_never_fits(joust, signed_in, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(snapshots, "fit_board", lambda *_: pytest.fail("a request fitted"))
    ravi = signed_in("ravi")
    with django_assert_max_num_queries(40):
        assert ravi.get(reverse("board-compare", args=["joust"])).status_code == 200


def test_both_p_values_are_told_apart_and_the_test_of_prompts_is_named(joust, signed_in):
    words = text_of(signed_in("ravi").get(PAGE, {"a": "Ember", "b": "Inlet", "source": "nonsense"}))
    pair = pair_of("overall", "Ember", "Inlet")
    own, every = (say_p(p).replace("<", "&lt;") for p in (pair.p, pair.p_adjusted))
    assert f"all pairs: {every}; this pair alone: {own}" in words
    assert re.search(r"McNemar \((exact|mid-p)\) p .*? over \d+ prompts? both were compared on", words)
    assert "There are no boards of the source asked for. Shown: People." in words


def test_the_kind_of_the_test_of_prompts_is_the_one_that_was_computed():
    assert MCNEMAR_EXACT_BELOW == EXACT_BELOW
