"""What a board says in words."""

import pytest

from arena.leaderboards.boards.board_cautions import say_blank
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.sentences import (
    LEFT_OUT,
    Move,
    compose,
    list_names,
    say_few,
    say_first,
    say_hard,
    say_left_out,
    say_moves,
    say_top,
    signed,
)

NAMES = ["Ash", "Birch", "Cedar", "Dogwood", "Elm"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (NAMES[:1], "Ash"),
        (NAMES[:2], "Ash and Birch"),
        (NAMES[:3], "Ash, Birch and Cedar"),
        (NAMES[:4], "Ash, Birch and 2 others"),
        (NAMES, "Ash, Birch and 3 others"),
    ],
)
def test_names_are_listed_up_to_three(names, said):
    assert list_names(names) == said


@pytest.mark.parametrize(
    ("first", "models", "said"),
    [
        ([], 5, "no model has enough votes to be ranked"),
        (NAMES[:1], 5, "Ash leads"),
        (NAMES[:2], 5, "Ash and Birch are tied for first"),
        (NAMES[:2], 2, "Ash and Birch are tied for first"),
        (NAMES[:4], 9, "Ash, Birch and 2 others are tied for first"),
        (NAMES[:4], 5, "4 of 5 models are tied for first, Ash with the highest rating"),
        (
            NAMES,
            5,
            "nothing tells the 5 models apart in tests corrected for all 10 pairs: all are tied for first",
        ),
    ],
)
def test_the_first_place_is_a_set(first, models, said):
    assert say_first(first, models) == said


def test_by_few_raters_or_prompts_nobody_leads():
    assert say_first(NAMES, 5, "3 raters are too few") == "3 raters are too few to rank 5 models"
    assert say_first(NAMES[:1], 2, "3 raters are too few") == "3 raters are too few to rank 2 models"
    assert say_first(NAMES[:1], 5, "3 raters are too few") == "3 raters are too few to rank 5 models"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (
            {"raters": 3, "effective_raters": 3.0, "prompts": 243, "effective_prompts": 240.0},
            "3 raters are too few",
        ),
        (
            {"raters": 73, "effective_raters": 40.0, "prompts": 9, "effective_prompts": 2.4},
            "9 prompts (effective 2.4) are too few",
        ),
        ({"raters": 1, "effective_raters": 1.0}, "1 rater is too few"),
        (
            {"raters": 30, "effective_raters": 30.0, "prompts": 1, "effective_prompts": 1.0},
            "1 prompt is too few",
        ),
        ({"raters": 5, "effective_raters": 4.94}, "5 raters are too few"),
        ({"raters": 5, "effective_raters": 4.96}, ""),
        ({"raters": 20, "effective_raters": 5.0}, ""),
        ({"raters": 0, "effective_raters": None}, ""),
    ],
)
def test_what_is_too_little_to_rank_by(counts, said):
    assert say_few(Snapshot(counts=counts, leaderboard=Leaderboard())) == said


@pytest.mark.parametrize("source", [Leaderboard.Source.JUDGE, Leaderboard.Source.PANEL])
def test_a_judges_board_is_the_judges_and_asks_for_no_more_raters(source):
    board = Leaderboard(source=source)
    assert say_few(Snapshot(counts={"raters": 1, "effective_raters": 1.0}, leaderboard=board)) == ""
    few = {"raters": 1, "effective_raters": 1.0, "prompts": 3, "effective_prompts": 3.0}
    assert say_few(Snapshot(counts=few, leaderboard=board)) == "3 prompts are too few"


def test_hard_prompts_are_told_only_when_they_change_the_first_place():
    assert say_hard(["Birch", "Ash"], 5, ["Ash", "Birch"]) == "hard prompts don't change that"
    assert say_hard(["Birch"], 5, ["Ash", "Birch"]) == "on hard prompts Birch leads"


def test_that_nothing_can_be_ranked_isnt_said_again_of_hard_prompts():
    top = say_first(["A", "B", "C"], 3, "3 raters are too few")
    assert (
        say_hard(["A", "B"], 3, ["A", "B", "C"], "3 raters are too few", 2, top)
        == "hard prompts don't change that"
    )
    assert say_hard([], 3, [], "", 0, say_first([], 3)) == "hard prompts don't change that"
    assert say_hard(["A"], 3, ["B"], "", 3, "B leads") == "on hard prompts A leads"


def test_groups_that_cant_be_compared_are_said_at_once():
    assert say_top(["Ash"], 3, 1) == ["Ash leads"]
    assert "2 groups that can't be compared" in say_top(["Ash"], 3, 2)[1]


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        ([], "at equal length and format no model moves by more than its uncertainty"),
        (
            [Move("Ash", -90, False, False)],
            "at equal length and format no model moves by more than its uncertainty",
        ),
        (
            [Move("Ash", -90, True, False), Move("Birch", -64.6, True, True), Move("Cedar", 30, True, True)],
            "at equal length and format Birch drops by 65 points, the largest move that is clear with all 59"
            " models looked at together",
        ),
        (
            [Move("Cedar", 30.2, True, True)],
            "at equal length and format Cedar gains 30 points, the largest move that is clear with all 59"
            " models looked at together",
        ),
        (
            [Move("Cedar", 63.2, True, False), Move("Ash", 3, False, False)],
            "at equal length and format no model moves clearly, with all 59 looked at together",
        ),
    ],
)
def test_a_move_is_clear_only_with_all_models_looked_at_together(moves, said):
    assert say_moves(moves, 59) == said


def test_names_keep_their_own_first_letter():
    assert compose("", ["gpt-x leads", "at equal length …"]) == "gpt-x leads. At equal length …."
    assert compose("in simulated votes, ", ["Ash leads"]) == "In simulated votes, Ash leads."


@pytest.mark.parametrize(
    ("points", "said"), [(12.4, "+12"), (-31.2, "−31"), (0.4, "0"), (-0.4, "0"), (0.0, "0")]
)
def test_points_carry_their_sign(points, said):
    assert signed(points) == said


def test_every_kind_of_row_left_out_has_its_sentence():
    for reason in LEFT_OUT:
        (one,), (many,) = say_left_out({reason: 1}), say_left_out({reason: 1234})
        assert one.startswith("1 ")
        assert many.startswith("1,234 ")


def test_an_unknown_kind_of_row_left_out_is_an_error():
    with pytest.raises(KeyError):
        say_left_out({"lost": 3})


@pytest.mark.parametrize(
    ("votes", "responses", "said"),
    [
        (1, 1, "1 vote is about one empty response. It was recorded and counts."),
        (4, 1, "4 votes are about one empty response. They were recorded and count."),
        (1200, 3, "1,200 votes are about one of 3 empty responses. They were recorded and count."),
    ],
)
def test_votes_about_empty_responses_are_told_in_number(votes, responses, said):
    assert say_blank(votes, responses) == said
