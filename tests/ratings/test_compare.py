import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from textbook_boards import TEAMS, baseball, board

from ratings.__main__ import main
from ratings.board_options import LeaderboardOptions
from ratings.compare import compare_two
from ratings.errors import IncomparableError, UnknownCompetitorError
from ratings.proportions import share


def test_a_difference_has_an_interval_tests_and_direct_battles():
    duel = compare_two(baseball(), 0, 6)
    assert duel.difference == pytest.approx(1092.2707859558795 - 817.5611334921505, abs=1e-6)
    assert duel.lower < duel.difference < duel.upper
    assert duel.p < 1e-4
    assert duel.verdict == "different"
    assert duel.effective_clusters is None
    assert (duel.wins, duel.losses, duel.ties) == (11, 2, 0)
    assert duel.direct.p == pytest.approx(0.0224609375)
    back = compare_two(baseball(), 6, 0)
    assert (back.difference, back.wins, back.losses) == (-duel.difference, 2, 11)
    assert back.p == pytest.approx(duel.p)


def test_clusters_of_the_difference_itself_count():
    votes = baseball()
    one_rater_for_first = np.where((votes.a == 0) | (votes.b == 0), 0, np.arange(273) % 20).astype(np.int32)
    duel = compare_two(replace(votes, rater=one_rater_for_first), 0, 6)
    others = compare_two(replace(votes, rater=one_rater_for_first), 3, 6)
    assert duel.effective_clusters < 4 < 6 < others.effective_clusters
    assert duel.degrees == duel.effective_clusters - 1
    two_raters = replace(votes, rater=((votes.a == 0) | (votes.b == 0)).astype(np.int32))
    lone = compare_two(two_raters, 0, 6)
    assert lone.effective_clusters < 2
    assert (lone.lower, lone.p, lone.verdict) == (None, None, "undecided")


def test_the_margin_decides_what_is_worse():
    options = LeaderboardOptions(bootstrap=0, margin=300)
    assert compare_two(baseball(), 6, 0, options).worse_p > compare_two(baseball(), 0, 6, options).worse_p


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(IncomparableError, match="no path"):
        compare_two(board(4, [(0, 1, 3, 1), (2, 3, 2, 2)]), 0, 2)
    with pytest.raises(IncomparableError, match="every battle"):
        compare_two(board(3, [(0, 1, 4, 0), (1, 2, 2, 1)]), 0, 1)
    with pytest.raises(IncomparableError, match="itself"):
        compare_two(baseball(), 1, 1)
    with pytest.raises(UnknownCompetitorError):
        compare_two(baseball(), 1, 7)


@pytest.fixture
def games(tmp_path):
    votes = baseball()
    path = tmp_path / "games.csv"
    lines = [
        f"{TEAMS[a]},{TEAMS[b]},{('model_a', 'model_b')[o]},r{i % 30},p{i // 2}"
        for i, (a, b, o) in enumerate(zip(votes.a, votes.b, votes.outcome, strict=True))
    ]
    path.write_text("model_a,model_b,winner,judge,prompt_id\n" + "\n".join(lines) + "\n")
    return str(path)


def test_compare_on_the_command_line(games, capsys):
    assert main(["compare", games, "Milwaukee", "Baltimore"]) == 0
    words = capsys.readouterr().out
    assert "Milwaukee less Baltimore: +274.7 points" in words
    assert "Verdict: different" in words
    assert "Direct battles: 11 won, 2 lost, 0 tied" in words
    assert main(["compare", games, "Milwaukee", "Baltimore", "--cluster", "none", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["difference"] == pytest.approx(274.70965, abs=1e-4)
    assert main(["compare", games, "Milwaukee", "Chicago"]) == 2


@pytest.fixture
def priced(games):
    lines = Path(games).read_text().splitlines()
    costs = [f",{2 + i % 3},{1 + i % 2}" for i in range(len(lines) - 1)]
    rows = [row + cost for row, cost in zip(lines[1:], costs, strict=True)]
    Path(games).write_text("\n".join([lines[0] + ",usd_a,usd_b", *rows]) + "\n")
    return games


def test_compare_tells_what_each_response_cost(priced, capsys):
    assert main(["compare", priced, "Milwaukee", "Baltimore", "--cost", "usd", "--json"]) == 0
    cost = json.loads(capsys.readouterr().out)["cost"]
    votes = baseball()
    rows = np.flatnonzero(((votes.a == 0) & (votes.b == 6)) | ((votes.a == 6) & (votes.b == 0)))
    sides = np.array([2 + rows % 3, 1 + rows % 2])
    first = np.where(votes.a[rows] == 0, *sides)
    second = np.where(votes.a[rows] == 0, *sides[::-1])
    assert cost["ratio"] == pytest.approx(first.sum() / second.sum())
    assert cost["lower"] < cost["ratio"] < cost["upper"]
    assert cost["pairs"] == 13
    assert main(["compare", priced, "Milwaukee", "Baltimore", "--cost", "usd"]) == 0
    assert "Cost (usd): Milwaukee takes" in capsys.readouterr().out


def test_costs_that_are_missing_or_no_numbers_name_file_and_line(priced, capsys):
    assert main(["compare", priced, "Milwaukee", "Baltimore", "--cost", "tokens"]) == 2
    assert "column 'tokens_a' is missing" in capsys.readouterr().err
    text = Path(priced).read_text().replace(",3,2\n", ",free,2\n", 1)
    Path(priced).write_text(text)
    assert main(["compare", priced, "Milwaukee", "Baltimore", "--cost", "usd"]) == 2
    assert f"line {text[: text.index('free')].count(chr(10)) + 1}" in capsys.readouterr().err


def test_plan_on_the_command_line(games, capsys):
    assert main(["plan", "--difference", "20", "--votes-on-pair", "200", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["two competitors alone"]["count"] == 2372
    assert plan["smallest difference found"]["points"] == pytest.approx(69.32850007930578, abs=1e-6)
    arguments = ["plan", "--difference", "50", "--votes", games, "--between", "Milwaukee", "Detroit"]
    assert main(arguments) == 0
    words = capsys.readouterr().out
    assert re.search(r"more votes on this pair: .*votes by the same raters on the same prompts", words)
    assert "more raters as active as the present ones" in words
    assert "new prompts" in words
    assert main(["plan"]) == 2
    assert main(["plan", "--votes", games]) == 2


def test_agreement_of_a_file_counts_prompts_of_one_text_as_one_cluster_and_keeps_them_apart(tmp_path, capsys):
    outcomes = ("model_a", "tie", "model_a", "model_b", "model_b", "model_a", "model_a", "model_a")
    ann = [f"x,y,{'model_b' if p == 3 else 'model_a'},ann,p{p},t{p // 2}" for p in range(8)]
    bob = [f"x,y,{outcome},bob,p{p},t{p // 2}" for p, outcome in enumerate(outcomes)]
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner,judge,prompt_id,prompt_text\n" + "\n".join([*ann, *bob]) + "\n")
    assert main(["agreement", str(path), "--between", "ann", "bob", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["units"], found["repeated"]) == (8, 0)
    expected = share([True, False, True, True, False, True, True, True], [0, 0, 1, 1, 2, 2, 3, 3])
    for where in (found, found["between"]):
        assert where["agreement"]["every"]["clusters"] == 4
        assert where["agreement"]["every"]["upper"] == pytest.approx(expected.upper)
    assert (found["alpha"]["clusters"], found["between"]["kappa"]["clusters"]) == (4, 4)


def test_agreement_on_the_command_line(tmp_path, capsys):
    # Cohen's table [[20, 5], [10, 15]]: kappa 0.4; the second rater saw the sides swapped
    cells = [
        ("model_a", "model_b", 20),
        ("model_a", "model_a", 5),
        ("model_b", "model_b", 10),
        ("model_b", "model_a", 15),
    ]
    rows = [(one, other) for one, other, n in cells for _ in range(n)]
    lines = [f"x,y,{one},ann,p{i}\ny,x,{other},bob,p{i}" for i, (one, other) in enumerate(rows)]
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner,judge,prompt_id\n" + "\n".join(lines) + "\nx,y,tie,ann,p0\n")
    arguments = ["agreement", str(path), "--between", "ann", "bob"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["agreement"]["every"]["estimate"] == pytest.approx(0.7)
    assert found["between"]["kappa"]["estimate"] == pytest.approx(0.4)
    assert (found["raters"], found["units"], found["repeated"]) == (2, 50, 1)
    assert (found["between"]["kappa"]["clusters"], found["alpha"]["clusters"]) == (50, 50)
    assert main(arguments) == 0
    assert "Cohen's kappa: 0.400" in capsys.readouterr().out
    assert main(["agreement", str(path), "--between", "ann", "eve"]) == 2
    path.write_text("model_a,model_b,winner,judge,prompt_id\nx,y,tie,ann,p0\n")
    assert main(["agreement", str(path)]) == 2
    assert "let raters overlap" in capsys.readouterr().err
