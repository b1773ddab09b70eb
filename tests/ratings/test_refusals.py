"""Whatever a command is given, it answers, or refuses in one line that says what, where and what to do."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from ratings.__main__ import main

HEADER = "model_a,model_b,winner,judge,prompt_id,words_a,words_b,cost_a,cost_b"


def lines_of(n=60, seed=1):
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        i, j = rng.choice(3, 2, replace=False)
        winner = ["model_a", "model_b", "tie"][int(rng.integers(3))]
        rows.append(f"{'ABC'[i]},{'ABC'[j]},{winner},r{t % 12},p{t % 15},{rng.integers(9, 99)},{9 + t},1,2")
    return rows


def refused(capsys, *arguments):
    """The one line on stderr."""
    assert main([str(each) for each in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("\n".join([HEADER, *lines_of()]) + "\n", encoding="utf-8")
    return path


def with_line(path, line, *, header=HEADER):
    path.write_text("\n".join([header, *lines_of(), line]) + "\n", encoding="utf-8")
    return path


def test_places_that_hold_no_votes_or_take_no_result_are_named(capsys, votes, tmp_path):
    assert "this is a folder" in refused(capsys, "fit", tmp_path)
    assert "no such file" in refused(capsys, "fit", tmp_path / "none.csv")
    assert "not a plain file" in refused(capsys, "fit", "/dev/null")
    assert "is a folder" in refused(capsys, "fit", votes, "--json", tmp_path)
    assert "isn't there" in refused(capsys, "fit", votes, "--json", tmp_path / "no" / "x.json")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "--anchor", "A=nan"], "finite rating"),
        (["fit", "--anchor", "A=inf"], "finite rating"),
        (["fit", "--interval", "percentile", "--bootstrap", "2"], "need 800"),
        (["fit", "--cluster", ""], "names no column"),
        (["fit", "--style-transform", "none"], "without --style"),
        (["compare", "A", "B", "--margin", "inf"], "margin inf"),
        (["compare", "A", "B", "--margin", "nan"], "margin nan"),
        (["compare", "A", "B", "--pairs", "0"], "at least one"),
        (["compare", "A", "Z"], "votes.csv: no competitor is called 'Z'; there are A, B, C"),
        (["agreement", "--between", "r1", "nobody"], "votes.csv: no rater is called 'nobody'"),
    ],
)
def test_options_that_mean_nothing_are_refused(capsys, votes, arguments, words):
    command, *rest = arguments
    assert words in refused(capsys, command, votes, *rest)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("A,A,model_a,r1,p1,1,1,1,2", "line 62: A fights itself"),
        ("A,B,nobody,r1,p1,1,1,1,2", "line 62: unknown winner 'nobody'"),
        ("A\u00a0,B,model_a,r1,p1,1,1,1,2", "differ only by white space"),
        (" A,B,model_a,r1,p1,1,1,1,2", "differ only by white space"),
        ("A\0,B,model_a,r1,p1,1,1,1,2", "NUL"),
        ("A,B,model_a,r1,p1,-3,1,1,2", "line 62: words_a is -3"),
        ("A,B,model_a,r1,p1,1,1e308,1,2", "line 62: words_b is 1e+308"),
        (f"{'x' * 200_000},B,nobody,r1,p1,1,1,1,2", "line 62: unknown winner 'nobody'"),
    ],
)
def test_a_row_that_cant_be_used_is_named_by_line_and_column(capsys, votes, line, words):
    assert words in refused(capsys, "fit", with_line(votes, line), "--style", "words")


def test_a_cost_is_named_by_its_own_line_and_column(capsys, votes):
    with_line(votes, "A,B,model_a,r1,p1,1,1,-5,2")
    assert "line 62: cost_a is -5" in refused(capsys, "compare", votes, "A", "B", "--cost", "cost")


def test_a_packed_file_is_read_and_its_lines_are_counted(capsys, votes, tmp_path):
    packed = tmp_path / "votes.csv.gz"
    packed.write_bytes(gzip.compress(votes.read_bytes()))
    assert main(["fit", str(packed), "--bootstrap", "0"]) == 0
    capsys.readouterr()
    packed.write_bytes(gzip.compress(with_line(votes, "A,B,nobody,r1,p1,1,1,1,2").read_bytes()))
    assert "line 62: unknown winner" in refused(capsys, "fit", packed)
    packed.write_bytes(b"no gzip at all")
    assert "no file that can be read" in refused(capsys, "fit", packed)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + "\n", "no vote below it"),
        (HEADER.replace(",", ";") + "\nA;B;tie;r;p;1;1;1;1\n", "separated by semicolons"),
        (HEADER.replace(",", "\t") + "\nA\tB\n", "separated by tabs"),
        (HEADER + ",winner\nA,B,tie,r,p,1,1,1,1,model_a\n", "column 'winner' is there twice"),
        ("", "no CSV file"),
        ("model_a,model_b\nA,B\n", "column 'winner' is missing"),
        ("model_a,model_b,winner\nA,B,tie\n", "votes.csv: "),
    ],
)
def test_a_file_that_holds_no_votes_says_so(capsys, votes, text, words):
    votes.write_text(text, encoding="utf-8")
    assert words in refused(capsys, "fit", votes, "--ties", "drop")


def test_judge_and_rater_are_one_way_to_cluster(capsys, votes):
    with_line(votes, "A,B,tie,r1,p1,1,1,1,2,r1", header=HEADER + ",rater")
    votes.write_text("model_a,model_b,winner,judge,rater\nA,B,tie,x,y\n", encoding="utf-8")
    assert "judge and rater both say" in refused(capsys, "fit", votes, "--cluster", "judge,rater")


def test_rows_of_parquet_count_from_one_and_empty_values_are_called_empty(capsys, tmp_path):
    path = tmp_path / "votes.parquet"
    frame = pd.DataFrame({"model_a": ["A"], "model_b": ["B"], "winner": ["tie"], "weight": [np.nan]})
    frame.to_parquet(path)
    assert "row 1: weight is empty, not a number" in refused(capsys, "fit", path)
    path.write_bytes(b"PAR1 nothing")
    assert "no Parquet file" in refused(capsys, "fit", path)


def test_compare_says_whether_it_is_adjusted_and_what_the_sign_test_assumes(capsys, votes):
    def asked(*more):
        assert main(["compare", str(votes), "A", "B", *more]) == 0
        return capsys.readouterr().out

    alone, ten = asked(), asked("--pairs", "10")
    assert "Not adjusted for other pairs" in alone
    assert "takes each vote as independent" in alone
    assert "Adjusted for 10 pairs (Bonferroni): intervals at 99.50% each, 95% together" in ten
    one, many = (json.loads(asked("--json", "--pairs", n)) for n in ("1", "10"))
    assert many["p"] == pytest.approx(min(1, 10 * one["p"]))
    assert many["upper"] - many["lower"] > one["upper"] - one["lower"]


def test_votes_that_are_all_ties_arent_blamed_on_raters(capsys, votes):
    rows = [f"{a},{b},tie,r{t},p{t},1,1,1,1" for t in range(20) for a, b in ("AB", "BC", "CA")]
    votes.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    assert main(["compare", str(votes), "A", "B"]) == 0
    out = capsys.readouterr().out
    assert "nearly all of its votes are ties" in out
    assert "Too few raters" not in out


# --- plan ---------------------------------------------------------------------------------------------------


BOARD = "model_a,model_b,winner,judge\n" + "".join(
    f"{a},{b},{winner},r{rater}\n"
    for rater in range(8)
    for a, b, winner in [
        ("A", "B", "model_a"),
        ("B", "C", "model_b"),
        ("C", "A", "tie"),
        ("B", "A", "model_a"),
    ]
)
APART = "model_a,model_b,winner\nA,B,model_a\nB,A,model_a\nC,D,model_a\nD,C,model_a\n"
LOSER = BOARD + "".join(f"A,Z,model_a,r{rater}\n" for rater in range(8))


@pytest.mark.parametrize(
    ("votes", "arguments", "words"),
    [
        (BOARD, ["--between", "A", "A"], "a competitor compared with itself"),
        (APART, ["--between", "A", "C"], "no path of battles connects the two"),
        (LOSER, ["--between", "A", "Z"], "isn't finite"),
        ("model_a,model_b,winner\nA,B,tie\n", ["--between", "A", "B"], "too few"),
        (BOARD, ["--between", "A", "B", "--design-effect", "5"], "--design-effect beside --votes"),
        (BOARD, ["--between", "A", "B", "--confidence", "0.3"], "confidence 0.3"),
        (None, ["--confidence", "0.3"], "confidence 0.3"),
        (None, ["--ties", "drop", "--style", "words"], "--style, --ties without a board"),
        (None, ["--position"], "--position without a board"),
    ],
)
def test_plan_refuses_what_it_would_not_heed_or_could_not_answer(tmp_path, capsys, votes, arguments, words):
    if votes is not None:
        file = tmp_path / "votes.csv"
        file.write_text(votes)
        arguments = ["--votes", str(file), *arguments]
    assert main(["plan", "--difference", "50", *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


def test_plan_never_asks_for_fewer_votes_than_an_exact_test_needs(capsys):
    assert main(["plan", "--difference", "1e9"]) == 0
    assert "6 votes" in capsys.readouterr().out
