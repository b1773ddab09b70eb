import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from textbook_boards import style_rows

from ratings.__main__ import main
from ratings.comparisons import OUTCOMES
from ratings.errors import BadValueError, ShapeError, UnknownOutcomeError
from ratings.frames import comparisons_from_frame

MODELS = ("delta", "alpha", "NA", "bravo")  # ids 2, 0, … : alphabetical order isn't the order of appearance


def frame(**columns):
    rows = style_rows()
    length = np.genfromtxt  # counts come from the golden file's columns 2 and 3
    data = length("tests/ratings/golden/style_rows.csv", delimiter=",", skip_header=1)
    return pd.DataFrame(
        {
            "model_a": [MODELS[i] for i in rows.a],
            "model_b": [MODELS[i] for i in rows.b],
            "winner": [OUTCOMES[o] for o in rows.outcome],
            "words_a": data[:, 2].astype(int),
            "words_b": data[:, 3].astype(int),
            "headers_a": data[:, 4].astype(int),
            "headers_b": data[:, 5].astype(int),
            **columns,
        }
    )


@pytest.fixture
def votes(tmp_path):
    def write(data, name="votes.csv"):
        path = tmp_path / name
        data.to_parquet(path) if name.endswith("parquet") else data.to_csv(path, index=False)
        return path

    return write


def fit(path, capsys, *arguments):
    assert main(["fit", str(path), "--json", "-", "--bootstrap", "0", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(path, capsys, *arguments):
    assert main(["fit", str(path), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_a_csv_becomes_a_leaderboard(votes, capsys):
    board = fit(votes(frame()), capsys)
    ratings = {s["competitor"]: s["rating"] for s in board["standings"]}
    assert ratings == pytest.approx(
        {"delta": 1061.34962, "alpha": 1078.714187, "NA": 961.232715, "bravo": 898.703477}, abs=1e-5
    )
    assert board["n"] == 240
    assert {"options", "n", "coefficients", "standings", "warnings"} <= board.keys()
    first = board["standings"][0]
    wanted = {"competitor", "rating", "lower", "upper", "rank_lower", "rank_upper"}
    assert wanted | {"wins", "losses", "ties", "battles"} <= first.keys()


def test_parquet_and_csv_are_the_same_board(votes, capsys):
    assert fit(votes(frame()), capsys) == fit(votes(frame(), "votes.parquet"), capsys)


def test_style_takes_its_counts_from_two_columns(votes, capsys):
    board = fit(votes(frame()), capsys, "--style", "words,headers")
    assert [c["name"] for c in board["coefficients"]] == ["words", "headers"]
    assert board["coefficients"][0]["per_doubling"] > 0
    fastchat = fit(votes(frame()), capsys, "--style", "words,headers", "--style-transform", "fastchat")
    assert fastchat["coefficients"][0]["per_doubling"] is None


def test_clusters_come_from_the_columns_there_are(votes, capsys):
    rows = np.arange(240)
    path = votes(frame(judge=[f"r{i % 24}" for i in rows], prompt_id=[f"p{7 * i % 40}" for i in rows]))
    assert fit(path, capsys)["method"] == "cluster-robust (CR3) by rater and prompt"
    assert fit(path, capsys, "--cluster", "judge")["method"] == "cluster-robust (CR3) by rater"
    assert "independent" in fit(path, capsys, "--cluster", "none")["method"]


def test_weights_are_taken_from_their_column(votes, capsys):
    board = fit(votes(frame(weight=np.linspace(0.5, 2, 240))), capsys)
    assert board["estimand"].startswith("Bradley-Terry projection under this board's weighted mix")


def test_an_anchor_is_a_name_and_a_rating(votes, capsys):
    board = fit(votes(frame()), capsys, "--anchor", "bravo=900")
    assert next(s["rating"] for s in board["standings"] if s["competitor"] == "bravo") == 900
    assert board["options"]["anchor"] == "bravo"
    assert "write it as NAME=1000" in refusal(votes(frame()), capsys, "--anchor", "bravo")
    assert "no competitor is called 'echo'" in refusal(votes(frame()), capsys, "--anchor", "echo=900")


def test_the_table_is_readable_and_the_json_is_a_file(votes, capsys, tmp_path):
    out = tmp_path / "board.json"
    assert main(["fit", str(votes(frame())), "--bootstrap", "20", "--json", str(out)]) == 0
    table = capsys.readouterr().out
    assert table.splitlines()[1].split()[:3] == ["1–2", "alpha", "1078.7"]
    assert "Checked against choix: largest difference 0.0000" in table
    assert "! The intervals assume independent votes" in table
    assert json.loads(out.read_text())["standings"][0]["competitor"] == "alpha"


def test_the_alias_of_both_bad_is_understood(votes, capsys):
    data = frame()
    data.loc[data["winner"] == "tie", "winner"] = "tie (bothbad)"
    dropped = fit(votes(data), capsys, "--both-bad", "drop")
    assert dropped["n_dropped"] == (data["winner"] == "tie (bothbad)").sum()


def test_an_unknown_winner_names_file_line_and_value(votes, capsys):
    data = frame()
    data["note"] = "two\nlines"
    data.loc[5, "winner"] = "won"
    path = votes(data)
    error = refusal(path, capsys)
    assert f"{path}, line 12: unknown winner 'won'" in error  # after the header and 5 rows of two lines
    assert "model_a, model_b, tie" in error


def test_a_parquet_row_is_named_as_a_row(votes, capsys):
    data = frame()
    data.loc[5, "winner"] = "won"
    assert "row 6: unknown winner" in refusal(votes(data, "votes.parquet"), capsys)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.drop(columns="winner"), "column 'winner' is missing"),
        (lambda d: d.assign(model_a=d["model_b"]), "fights itself"),
        (lambda d: d.assign(model_a=["", *d["model_a"][1:]]), "line 2: model_a is empty"),
        (lambda d: d.assign(judge=["r"] * 239 + [""]), "line 241: judge is empty"),
        (lambda d: d.assign(weight=["1"] * 7 + ["heavy"] * 233), "line 9: weight is 'heavy', not a number"),
        (lambda d: d.assign(weight=-1.0), "line 2: weight -1.0"),
        (lambda d: d.iloc[:0], "no vote below it"),
    ],
)
def test_votes_that_cannot_be_used_are_refused(votes, capsys, change, words):
    assert words in refusal(votes(change(frame())), capsys)


def test_style_needs_its_columns_and_counts(votes, capsys):
    assert "column 'bold_a' is missing" in refusal(votes(frame()), capsys, "--style", "bold")
    assert "line 2: words_a is -1" in refusal(votes(frame(words_a=-1)), capsys, "--style", "words")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "no CSV file"), (b"a,b\n1,2,3\n", "no CSV file"), (b"model_a\n\xff\xfe\n", "not UTF-8")],
)
def test_a_file_that_is_no_csv_is_refused(tmp_path, capsys, content, words):
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    assert words in refusal(path, capsys)
    assert "no such file" in refusal(tmp_path / "none.csv", capsys)
    parquet = tmp_path / "votes.parquet"
    parquet.write_bytes(content or b"x")
    assert "no Parquet file" in refusal(parquet, capsys)


def test_unknown_options_are_refused_before_the_file_is_read(tmp_path, capsys):
    missing = tmp_path / "none.csv"
    assert "ties policy 'win'" in refusal(missing, capsys, "--ties", "win")
    assert "interval 'exact'" in refusal(missing, capsys, "--interval", "exact")


def test_it_runs_as_a_module(votes):
    command = [sys.executable, "-m", "ratings", "fit", str(votes(frame())), "--bootstrap", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "alpha" in done.stdout


def test_frames_give_ids_in_alphabetical_order():
    named = comparisons_from_frame(frame())
    assert named.names == ("NA", "alpha", "bravo", "delta")
    assert named.comparisons.a[0] == named.id_of(
        "bravo" if style_rows().a[0] == 3 else MODELS[style_rows().a[0]]
    )


def test_frames_raise_with_the_row():
    with pytest.raises(UnknownOutcomeError) as caught:
        comparisons_from_frame(frame(winner=["tie"] * 239 + [None]))
    assert caught.value.row == 239
    with pytest.raises(ShapeError, match="can't cluster by"):
        comparisons_from_frame(frame(), cluster=["winner"])
    with pytest.raises(BadValueError):
        comparisons_from_frame(frame(weight=[None] * 240))


def test_unstable_verdicts_may_count_by_the_average_of_both_orders(votes, capsys):
    winners = ["unstable_a"] * 20 + ["unstable_b"] * 10 + ["tie_unstable"] * 10 + ["model_a"] * 10
    path = votes(pd.DataFrame({"model_a": "x", "model_b": "y", "winner": winners}))
    average = fit(path, capsys, "--unstable", "average")
    ratings = {s["competitor"]: s["rating"] for s in average["standings"]}
    share = (20 * 0.75 + 10 * 0.25 + 10 * 0.5 + 10) / 50
    points = 400 * np.log10(share / (1 - share))
    assert ratings["x"] - ratings["y"] == pytest.approx(points, abs=1e-4)
    assert average["options"]["unstable"] == "average"
    assert [(s["wins"], s["ties"]) for s in average["standings"]] == [(10, 40), (0, 40)]
    assert fit(path, capsys, "--unstable", "drop")["n"] == 10
    assert "Davidson's model" in refusal(path, capsys, "--unstable", "average", "--ties", "davidson")


def exported(data):
    """As an arena exports votes: two of each kind that no board counts, all won by the last."""
    data = data.assign(
        vote_id=[f"v{i}" for i in range(len(data))], kind="regular", retracted_at="", excluded=""
    )
    others = data.iloc[:8].assign(
        vote_id=[f"w{i}" for i in range(8)],
        kind=["regular"] * 4 + ["repeat", "repeat", "gold", "gold"],
        retracted_at=["2026-11-30T12:00:00Z"] * 2 + [""] * 6,
        excluded=["", "", "by_hand", "too_fast"] + [""] * 4,
    )
    return pd.concat([others, data], ignore_index=True)


@pytest.mark.parametrize("name", ["votes.csv", "votes.parquet"])
def test_of_an_exports_votes_those_count_that_boards_count_and_the_others_are_told(votes, capsys, name):
    expected = fit(votes(frame()), capsys)
    path = votes(exported(frame()), name)
    assert main(["fit", str(path), "--json", "-", "--no-check"]) == 0
    printed = capsys.readouterr()
    assert printed.err.strip().endswith(
        "left out: 2 taken back, 2 excluded, 2 repeat battles, 2 gold battles"
    )
    rated = {s["competitor"]: s["rating"] for s in json.loads(printed.out)["standings"]}
    assert rated == {s["competitor"]: s["rating"] for s in expected["standings"]}


def test_a_file_with_some_of_these_columns_is_no_export(votes, capsys):
    board = fit(votes(frame(kind="gold", excluded="no")), capsys)
    assert sum(s["battles"] for s in board["standings"]) == 480


def test_an_error_in_an_export_names_the_line_of_the_file(votes, capsys):
    data = exported(frame())
    data.loc[10, "winner"] = "nobody"
    assert "votes.csv, line 12:" in refusal(votes(data), capsys)


def test_prompts_are_told_apart_by_their_text_where_that_is_there(votes, capsys):
    rows = np.arange(240)
    ids, texts = [f"p{i}" for i in rows], [f"t{7 * i % 40}" for i in rows]
    data = frame(prompt_id=ids, prompt_text=texts)
    by_text = fit(votes(data), capsys)
    assert by_text["standings"] == fit(votes(frame(prompt_id=texts)), capsys)["standings"]
    words = refusal(
        votes(frame(prompt_id=ids, prompt_text=texts)), capsys, "--cluster", "prompt_id,prompt_text"
    )
    assert "prompt_text and prompt_id both say which prompt" in words


def test_a_file_of_one_judge_is_fitted_as_its_board_if_prompts_alone_are_clusters(votes, capsys):
    path = votes(frame(judge="sage", prompt_id=[f"p{n % 40}" for n in range(len(style_rows()))]))
    assert main(["fit", str(path)]) == 0
    assert "too few raters" in capsys.readouterr().out
    assert main(["fit", str(path), "--cluster", "prompt_id"]) == 0
    assert "too few" not in capsys.readouterr().out.lower()


def test_whoever_alone_is_first_is_not_called_tied(votes, capsys):
    def shares(won: int, lost: int):
        winners = ["model_a"] * won + ["model_b"] * lost
        return votes(pd.DataFrame({"model_a": "x", "model_b": "y", "winner": winners}), f"{won}.csv")

    for path, times in ((shares(200, 20), 0), (shares(60, 50), 2)):
        assert main(["fit", str(path), "--bootstrap", "0"]) == 0
        told = capsys.readouterr().out
        assert told.count("tied for first") == times, told
