"""Votes of a single rater: how far they vary is known by prompt alone, and of that rater alone."""

import numpy as np
import pytest

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.raters.models import Rater
from ratings.proportions import clustered_mean
from tests.leaderboards.test_boards import text_of

ASKS = {"a": "Ember", "b": "Fjord"}
OF_ONE = "clustered by prompt alone: all these votes are one rater’s, and it speaks of no other"
OUTCOMES = ("model_a", "model_a", "tie", "model_b", "model_a", "both_bad")


@pytest.fixture
def one_and_many(make_campaign, cast, cast_vote):
    """Ember and Fjord meet before Alice alone, on 24 votes about 12 prompts; both meet Grove before four."""
    small = make_campaign(prompts=12)
    raters = [cast.alice_rater, *(Rater.objects.create(team=cast.team, pseudonym=f"r{n}") for n in range(3))]
    for number, prompt in enumerate(small.prompts):
        for turn in range(2):
            outcome = OUTCOMES[(number + 2 * turn) % 6]
            cast_vote(small, prompt, "Ember", "Fjord", outcome, cast.alice_rater)
        for place, rater in enumerate(raters):
            for model in ("Ember", "Fjord"):
                outcome = "model_b" if (number + place) % 3 else "model_a"
                cast_vote(small, prompt, model, "Grove", outcome, rater)
    return small


def taken(small):
    return snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot


def net_of(snapshot, first: str, second: str) -> dict:
    pair = snapshot.pairs.get(first__name__in=(first, second), second__name__in=(first, second))
    return pair.details["direct"]["net"]


def test_the_net_rate_of_one_rater_has_an_interval_by_prompt_that_says_so(one_and_many, signed_in):
    snapshot, ravi = taken(one_and_many), signed_in("ravi")
    net = net_of(snapshot, "Ember", "Fjord")
    scores = [
        {"model_a": 1, "model_b": -1}.get(OUTCOMES[(number + 2 * turn) % 6], 0)
        for number in range(12)
        for turn in range(2)
    ]
    by_prompt = clustered_mean(scores, np.repeat(np.arange(12), 2))
    assert net["clustered_by"] == "prompt, one rater"
    assert abs(net["estimate"]) == pytest.approx(abs(by_prompt.estimate))
    assert net["upper"] - net["lower"] == pytest.approx(by_prompt.upper - by_prompt.lower)
    page = text_of(ravi.get("/boards/small/compare/", ASKS))
    assert OF_ONE in page and "no interval: it takes" not in page
    [row] = ravi.get("/api/v1/campaigns/small/tables/compare-direct.json", ASKS).json()
    assert row["clustered_by"] == "prompt, one rater" and row["net_lower"] < row["net_upper"]


def test_a_pair_that_several_voted_on_keeps_its_interval_by_rater_and_prompt(one_and_many, signed_in):
    assert net_of(taken(one_and_many), "Ember", "Grove")["clustered_by"] == "rater and prompt"
    page = text_of(signed_in("ravi").get("/boards/small/compare/", {"a": "Ember", "b": "Grove"}))
    assert "clustered by rater and prompt" in page and OF_ONE not in page


def test_of_one_rater_on_one_prompt_it_is_said_what_an_interval_would_take(
    make_campaign, cast, cast_vote, signed_in
):
    small = make_campaign(prompts=12)
    for outcome in OUTCOMES:
        cast_vote(small, small.prompts[0], "Ember", "Fjord", outcome, cast.alice_rater)
    net = net_of(taken(small), "Ember", "Fjord")
    assert net["lower"] is None and net["clustered_by"] == "prompt, one rater"
    page = text_of(signed_in("ravi").get("/boards/small/compare/", ASKS))
    assert "no interval: it takes two prompts to tell how votes vary between them" in page
    assert "and two raters to speak of more than this one" in page and OF_ONE not in page
