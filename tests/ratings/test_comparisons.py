import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratings.comparisons import OUTCOMES, Comparisons, Policies, tally
from ratings.errors import (
    BadOptionError,
    BadValueError,
    NoVotesError,
    SelfBattleError,
    ShapeError,
    UnknownCompetitorError,
    UnknownOutcomeError,
)


def three_votes(**changes):
    columns = {"a": [0, 1, 2], "b": [1, 2, 0], "outcome": ["model_a", "tie", "both_bad"], **changes}
    return Comparisons.of(3, columns.pop("a"), columns.pop("b"), columns.pop("outcome"), **columns)


@pytest.mark.parametrize(
    ("error", "row", "changes"),
    [
        (UnknownOutcomeError, 1, {"outcome": ["model_a", "won", "tie"]}),
        (UnknownOutcomeError, 2, {"outcome": [0, 1, 7]}),
        (UnknownOutcomeError, None, {"outcome": [0.0, 1.0, 0.5]}),
        (SelfBattleError, 0, {"b": [0, 2, 0]}),
        (UnknownCompetitorError, 2, {"b": [1, 2, 3]}),
        (UnknownCompetitorError, 1, {"a": [0, -1, 2]}),
        (BadValueError, None, {"a": [0.0, 1.0, 2.0]}),
        (ShapeError, None, {"b": [1, 2]}),
        (ShapeError, None, {"rater": [1, 2]}),
        (BadValueError, 2, {"weight": [1, 1, 0]}),
        (BadValueError, 0, {"weight": [float("nan"), 1, 1]}),
        (BadValueError, 1, {"prompt": [0, -1, 0]}),
        (BadValueError, 1, {"covariates": [[1.0], [float("inf")], [0.0]], "covariate_names": ["length"]}),
        (BadValueError, 2, {"covariates": [[1.0], [0.0], [float("nan")]], "covariate_names": ["length"]}),
        (ShapeError, None, {"covariates": [[1.0], [0.0], [0.0]], "covariate_names": ["length", "bold"]}),
    ],
)
def test_bad_input_raises_and_names_its_row(error, row, changes):
    with pytest.raises(error) as caught:
        three_votes(**changes)
    assert caught.value.row == row
    assert row is None or f"row {row}" in str(caught.value)


def test_cells_count_each_outcome_from_the_lower_ids_side():
    board = Comparisons.of(
        3,
        [0, 1, 1, 2, 0, 0],
        [1, 0, 0, 1, 1, 1],
        ["model_a", "model_a", "model_b", "model_b", "tie", "both_bad"],
    )
    cells = tally(board, Policies())
    assert cells.low.tolist() == [0, 1]
    assert cells.high.tolist() == [1, 2]
    assert cells.counts.tolist() == [[1, 2, 2], [0, 0, 1]]
    assert cells.score.tolist() == [3, 1]


def test_a_dropped_outcome_leaves_no_trace():
    board = Comparisons.of(3, [0, 0, 1], [1, 1, 2], ["model_a", "both_bad", "tie_unstable"])
    cells = tally(board, Policies(both_bad="drop", unstable="drop"))
    assert (cells.low.tolist(), cells.high.tolist(), cells.counts.tolist()) == ([0], [1], [[0, 0, 1]])


def test_weights_are_summed_and_squared_by_cell():
    cells = tally(Comparisons.of(2, [0, 1], [1, 0], ["model_a", "model_b"], weight=[2.0, 0.5]), Policies())
    assert cells.weight.tolist() == [[0, 0, 2.5]]
    assert cells.weight_sq.tolist() == [[0, 0, 4.25]]
    assert cells.counts.tolist() == [[0, 0, 2]]


def test_a_win_and_a_tie_in_the_two_orders_average_to_three_quarters_of_a_win():
    board = Comparisons.of(
        2, [0, 1, 0, 0], [1, 0, 1, 1], ["unstable_a", "unstable_a", "unstable_b", "model_a"]
    )
    cells = tally(board, Policies(unstable="average"))
    assert cells.scores.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert cells.counts.tolist() == [[0, 2, 0, 1, 1]]
    assert cells.score.tolist() == [2.25]


def test_opposite_winners_average_to_half_a_win():
    board = Comparisons.of(2, [0, 0], [1, 1], ["tie_unstable", "tie"])
    assert tally(board, Policies(unstable="average")).counts.tolist() == [[0, 0, 2, 0, 0]]


def test_leaning_draws_are_unstable_like_the_others_unless_averaged():
    board = Comparisons.of(2, [0, 0, 0], [1, 1, 1], ["unstable_a", "tie_unstable", "model_b"])
    assert tally(board, Policies()).counts.tolist() == [[1, 2, 0]]
    assert tally(board, Policies(unstable="drop")).counts.tolist() == [[1, 0, 0]]
    assert Policies(unstable="drop").half_wins().tolist() == [2, 0, 1, 1, -1, -1, -1]
    with pytest.raises(BadOptionError, match="quarter wins"):
        Policies(unstable="average").half_wins()


def test_models_with_ties_as_an_outcome_refuse_quarter_wins():
    with pytest.raises(BadOptionError, match="take half or drop"):
        Policies(ties="davidson", unstable="average")


def test_a_board_of_few_pairs_among_many_competitors_counts_the_same():
    rng = np.random.default_rng(5)
    low, outcome = rng.integers(0, 20, 300), rng.integers(0, len(OUTCOMES), 300)
    for policies in (Policies(ties="drop"), Policies(unstable="average")):
        dense = tally(Comparisons.of(21, low, low + 1, outcome), policies)
        sparse = tally(Comparisons.of(3000, low, low + 1, outcome), policies)
        assert dense.counts.tolist() == sparse.counts.tolist()
        assert dense.low.tolist() == sparse.low.tolist()


def test_an_unknown_policy_is_refused():
    with pytest.raises(BadOptionError, match="use one of half, drop"):
        Policies(both_bad="davidson")


def test_chunks_are_one_board_and_rows_count_through():
    chunks = [
        {"a": [0], "b": [1], "outcome": ["tie"]},
        {"a": [1, 1], "b": [0, 0], "outcome": ["model_b", "model_a"]},
    ]
    assert Comparisons.from_chunks(2, chunks).outcome.tolist() == [2, 1, 0]
    with pytest.raises(SelfBattleError) as caught:
        Comparisons.from_chunks(2, [*chunks, {"a": [1], "b": [1], "outcome": ["tie"]}])
    assert caught.value.row == 3


def test_chunks_must_agree_on_their_columns_and_exist():
    with pytest.raises(ShapeError):
        Comparisons.from_chunks(2, [{"a": [0], "b": [1], "outcome": [0]}, {"a": [0], "b": [1]}])
    with pytest.raises(NoVotesError):
        Comparisons.from_chunks(2, [])


@given(
    st.lists(
        st.tuples(st.sampled_from([(0, 1), (1, 0), (0, 2), (2, 1)]), st.integers(0, len(OUTCOMES) - 1)),
        min_size=1,
    ),
    st.randoms(),
)
def test_neither_row_order_nor_sides_change_the_cells(votes, random):
    pairs, outcome = zip(*votes, strict=True)
    board = Comparisons.of(3, [p[0] for p in pairs], [p[1] for p in pairs], list(outcome))
    order = list(range(len(votes)))
    random.shuffle(order)
    flipped = board.swap_sides(np.array([random.random() < 0.5 for _ in votes])).select(np.array(order))
    for policies in (Policies(), Policies(ties="drop", unstable="drop"), Policies(unstable="average")):
        one, other = tally(board, policies), tally(flipped, policies)
        assert one.counts.tolist() == other.counts.tolist()
        assert one.low.tolist() == other.low.tolist()
