"""Between two snapshots a board stands still: nobody votes once and reads off whose side moved."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from arena.campaigns.models import Campaign
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots

pytestmark = pytest.mark.django_db

ADDRESSES = (
    "/boards/",
    "/boards/joust/",
    "/boards/joust/?source=people",
    "/boards/joust/joust-overall.csv",
    "/boards/joust/joust-overall.json",
    "/boards/joust/model/",
    "/boards/joust/compare/",
    "/boards/joust/charts/",
    "/boards/joust/joust-overall/snapshots/",
    "/api/v1/snapshots/1/",
    "/api/v1/leaderboards/",
    "/api/v1/leaderboards/joust-overall/",
    "/api/v1/leaderboards/joust-overall/snapshots/latest/",
    "/api/v1/snapshots/",
)


@pytest.fixture
def open_board(voted_campaign, cast):
    """Votes reveal, so that boards may be public while raters are at work."""
    small = voted_campaign("joust")
    for board in ensure_leaderboards(small.campaign):
        assert snapshots.take_snapshot(board).snapshot
    small.campaign.leaderboards.update(visibility="public")
    Campaign.objects.update(status="open", reveal=Campaign.Reveal.AFTER_VOTE)
    return small


# Made anew for every page, whatever happens.
TOKEN = re.compile(rb'(x-csrftoken": "|csrfmiddlewaretoken" value=")\w+', re.IGNORECASE)


def everything(visitor) -> dict[str, tuple[int, str, bytes]]:
    answers = {path: visitor.get(path) for path in ADDRESSES}
    return {
        path: (answer.status_code, str(sorted(answer.items())), TOKEN.sub(b"", answer.getvalue()))
        for path, answer in answers.items()
    }


def moved(before: dict, after: dict) -> list[str]:
    return [path for path in before if before[path] != after[path]]


def test_one_vote_moves_no_byte_of_any_board(open_board, cast, cast_vote, client, signed_in):
    alice = signed_in("alice")
    before = everything(client), everything(alice)
    assert before[0]["/boards/joust/"][0] == before[1][ADDRESSES[-2]][0] == 200
    cast_vote(
        open_board, open_board.prompts[0], "Ember", "Fjord", "model_a", cast.bob_rater, at=timezone.now()
    )
    assert moved(before[0], everything(client)) == []
    assert moved(before[1], everything(alice)) == []


def test_the_next_snapshot_moves_it(open_board, cast, cast_vote, client):
    """So that the test above can't pass because the boards never move."""
    before = everything(client)
    cast_vote(
        open_board, open_board.prompts[0], "Ember", "Fjord", "model_a", cast.bob_rater, at=timezone.now()
    )
    assert snapshots.take_snapshot(ensure_leaderboards(open_board.campaign)[0]).snapshot
    assert "/boards/joust/joust-overall.csv" in moved(before, everything(client))
