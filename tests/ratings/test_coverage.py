"""A seeded sample of the coverage study (bench/coverage.py, docs/method.md); the whole runs with --long."""

import pytest

from bench.coverage import SCENARIOS, study, table

BY_NAME = {s.name: s for s in SCENARIOS}


@pytest.mark.parametrize(("name", "repetitions"), [("A", 120), ("H", 150)])
def test_default_intervals_cover_what_they_promise(name, repetitions):
    row = study(BY_NAME[name], repetitions, seed=5)
    # 20 (6) models a repetition: two standard errors of the mean coverage are about 0.015 (0.025)
    assert 0.92 <= row["coverage"] <= 0.98
    assert row["joint_ranks"] >= 0.95
    assert row["interval_given"] == 1


def test_prompts_of_one_text_as_one_cluster_cover_where_their_ids_do_not():
    by_text, by_id = (study(BY_NAME[name], 60, seed=5) for name in ("texts", "texts by id"))
    assert by_id["coverage"] + 0.01 < by_text["coverage"]
    assert by_id["half_width"] < by_text["half_width"]


def test_a_model_that_one_rater_judged_gets_no_interval():
    row = study(BY_NAME["new 1"], 10, seed=5)
    assert row["interval_given"] == 0
    assert row["coverage"] is None
    assert "| new 1 |" in table([row])


@pytest.mark.long
@pytest.mark.parametrize("name", [*"ABCDEFGHIJ", "texts", "equal"])
def test_every_scenario_covers_94_to_96_percent(name):
    row = study(BY_NAME[name], 500)
    assert 0.94 <= row["coverage"] <= 0.96
    assert row["joint_ranks"] >= 0.94  # 0.95 less one standard error of 500 repetitions
