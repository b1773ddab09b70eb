"""Why there is no style-controlled board: the true reason is kept with the attempt, features named."""

import pytest

from arena.corpus.models import Response
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.sentences import say_no_style
from ratings.style_left_out import LeftOut, Why


@pytest.fixture(autouse=True)
def few_resamples(settings):
    settings.BOOTSTRAP_RESAMPLES = 0


def reason_of(small) -> str:
    styled = ensure_leaderboards(small.campaign)[2]
    assert styled.style_control
    run = take_snapshot(styled)
    assert run.state == SnapshotRun.State.NOT_ENOUGH
    assert run.snapshot is None
    return run.reason


def test_models_that_each_write_with_one_style_are_the_reason_and_not_the_number_of_votes(voted_campaign):
    small = voted_campaign("joust", votes=300)
    for number, competitor in enumerate(small.competitors):
        style = {"characters": 100 * (number + 1), "headings": number, "list_items": 3, "bold": 0}
        Response.objects.filter(competitor=competitor).update(**style)
    reason = reason_of(small)
    assert reason.startswith(
        "Style can’t be told from the models: more votes won’t change that, only responses"
    )
    assert "leaves out length and headings: which models fought tells them already" in reason
    assert "leaves out list items and bold: no two responses differ in them." in reason
    assert "Not enough data" not in reason


def test_responses_that_never_differ_are_the_reason(voted_campaign):
    small = voted_campaign("joust", votes=300)
    Response.objects.update(characters=100, headings=0, list_items=0, bold=0)
    assert reason_of(small) == (
        "There is no style to control for: in 300 votes no two responses differ in it. Style control leaves"
        " out length, headings, list items and bold: no two responses differ in them."
    )


def test_too_few_votes_are_the_reason_where_they_are(voted_campaign):
    reason = reason_of(voted_campaign("joust", votes=7))
    assert reason.startswith("Not enough data to control for style: 7 votes. Style control leaves out")


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ((Why.FEW_VOTES,), "Not enough data to control for style: 1,234 votes."),
        ((Why.NO_LIMIT, Why.SAME), "Not enough data to control for style: 1,234 votes."),
        ((Why.MODELS, Why.FEATURES), "Style can’t be told from the models:"),
        ((Why.MODELS, Why.NO_LIMIT, Why.SAME), "No feature of style can be controlled for with these 1,234"),
    ],
)
def test_what_several_reasons_come_to(why, said):
    left_out = [LeftOut(one, ("length",), 1234, needed=4000, differing=6) for one in why]
    told = say_no_style(1234, left_out)
    assert told.startswith(said)
    assert told.count("Style control leaves out length") == len(why)
