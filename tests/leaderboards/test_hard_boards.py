"""What counts as hard is frozen with the snapshot."""

import pytest

from arena.battles.models import Battle
from arena.corpus.labels import set_labels
from arena.corpus.models import HARD_CRITERIA
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import differences, replay, take_snapshot
from arena.leaderboards.models import Leaderboard

pytestmark = pytest.mark.django_db


@pytest.fixture
def hard_board(client, make_campaign) -> Leaderboard:
    """Every prompt meets five of seven criteria, and everybody met everybody."""
    small = make_campaign(prompts=8)
    for prompt in small.prompts:
        prompt.is_hard = None
        prompt.save()
    five = dict(zip(HARD_CRITERIA, [True] * 5 + [False] * 2, strict=True))
    set_labels({prompt.pk: five for prompt in small.prompts}, source="hand")
    client.post(f"/join/{small.token}/")
    for number in range(20):
        client.get("/campaigns/small/battle/")
        battle = Battle.objects.filter(vote=None).earliest("pk")
        ballot = {"outcome": ("model_a", "model_b", "tie")[number % 3], "key": f"idempotency-key-{number}"}
        assert client.post(f"/battles/{battle.public_id}/vote/", ballot).status_code == 303
    return next(b for b in ensure_leaderboards(small.campaign) if b.subset == Leaderboard.Subset.HARD)


def require(board: Leaderboard, criteria: int) -> None:
    board.campaign.hard_at_least = criteria
    board.campaign.save()


def test_a_campaign_decides_how_many_criteria_make_a_prompt_hard(hard_board):
    assert take_snapshot(hard_board).snapshot is None  # six are asked for, five are met
    require(hard_board, 5)
    snapshot = take_snapshot(hard_board).snapshot
    assert snapshot.counts["hard_at_least"] == 5
    assert snapshot.counts["hard_prompts"] == snapshot.counts["prompts"] > 0


def test_a_snapshot_replays_the_same_whatever_is_decided_or_labelled_later(hard_board):
    require(hard_board, 5)
    snapshot = take_snapshot(hard_board).snapshot
    require(hard_board, 7)
    prompts = hard_board.campaign.prompt_sets.get().prompts.values_list("pk", flat=True)
    set_labels({key: {"is_hard": False} for key in prompts}, source="hand")
    assert differences(*replay(snapshot)) == []
    assert take_snapshot(hard_board).snapshot is None


def test_a_snapshot_of_before_the_number_could_be_chosen_replays(hard_board):
    require(hard_board, 6)
    prompts = hard_board.campaign.prompt_sets.get().prompts.values_list("pk", flat=True)
    set_labels({key: {"creativity": True, "technical_accuracy": True} for key in prompts}, source="hand")
    snapshot = take_snapshot(hard_board).snapshot
    del snapshot.counts["hard_at_least"]
    assert differences(*replay(snapshot)) == []
