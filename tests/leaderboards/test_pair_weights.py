"""What a vote on each pair would settle, by the newest board, and that draws go by it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from django.utils import timezone

from arena.battles import draw, pairing
from arena.battles.pair_models import PairCount, PairWeight
from arena.leaderboards.fitting import pair_weights
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Leaderboard
from arena.raters.models import Rater
from ratings.bradley_terry import fit_bradley_terry
from ratings.simulate import VoteModel, simulate_votes

# Two leaders of one strength, two far below of one strength.
TWO_AND_TWO = VoteModel(strengths=(1.5, 1.5, -1.5, -1.5))


def fitted(model: VoteModel, votes: int = 4000):
    return fit_bradley_terry(simulate_votes(model, votes, seed=7).as_comparisons())


def test_pairs_that_are_still_open_weigh_more_than_settled_ones():
    weights = pair_weights.weights_of(fitted(TWO_AND_TWO))
    open_pairs = min(weights[0, 1], weights[2, 3])
    assert open_pairs > 3 * max(weights[pair] for pair in ((0, 2), (0, 3), (1, 2), (1, 3)))
    assert min(weights.values()) >= 0


def test_the_open_pairs_at_the_top_weigh_more_than_those_below():
    leaders, others = (1.2,) * 5, (-1.2,) * 5
    weights = pair_weights.weights_of(fitted(VoteModel(strengths=leaders + others), 20_000))
    at_top = np.mean([weights[pair] for pair in combinations(range(5), 2)])
    below = np.mean([weights[pair] for pair in combinations(range(5, 10), 2)])
    assert at_top > 5 * below > 0


def test_a_difference_without_a_standard_error_is_open():
    fit = fitted(TWO_AND_TWO)
    nothing_known = pair_weights.weights_of(fit, np.full((4, 4), np.nan))
    assert min(nothing_known.values()) > 0


@pytest.fixture
def voted(small_campaign, cast, cast_vote):
    """Ember and Fjord alike, Grove far behind: the pair of the first two is the open one."""

    def vote(times: int) -> None:
        for number in range(times):
            prompt = small_campaign.prompts[number % 4]
            rater = Rater.objects.get_or_create(
                team=cast.team, pseudonym=f"voter {number % 23}", defaults={"admission": "recorded"}
            )[0]
            even = ("model_a", "model_b")[number // 4 % 2]
            lost = "model_b" if number // 4 % 8 == 0 else "model_a"
            cast_vote(small_campaign, prompt, "Ember", "Fjord", even, rater)
            cast_vote(small_campaign, prompt, "Ember", "Grove", lost, rater)
            cast_vote(small_campaign, prompt, "Fjord", "Grove", lost, rater)

    vote(96)
    return small_campaign


def overall(small) -> Leaderboard:
    return Leaderboard.objects.create(campaign=small.campaign, slug="overall", name="overall")


def test_a_snapshot_of_the_overall_board_leaves_the_weights_of_all_pairs(voted):
    run = take_snapshot(overall(voted))
    ember, fjord, grove = (competitor.pk for competitor in voted.competitors)
    weights = {(row.low_id, row.high_id): row for row in PairWeight.objects.filter(campaign=voted.campaign)}
    assert set(weights) == {(ember, fjord), (ember, grove), (fjord, grove)}
    assert {row.snapshot_id for row in weights.values()} == {run.snapshot.pk}
    assert weights[ember, fjord].weight > max(weights[ember, grove].weight, weights[fjord, grove].weight)


def test_the_next_snapshot_replaces_them_and_other_boards_leave_them_alone(voted, cast, cast_vote):
    board = overall(voted)
    take_snapshot(board)
    cast_vote(voted, voted.prompts[0], "Ember", "Fjord", "model_a", cast.alice_rater)
    newest = take_snapshot(board).snapshot
    hard = Leaderboard.objects.create(
        campaign=voted.campaign, slug="hard", name="hard", subset=Leaderboard.Subset.HARD
    )
    assert take_snapshot(hard).snapshot
    assert PairWeight.objects.count() == 3
    assert set(PairWeight.objects.values_list("snapshot_id", flat=True)) == {newest.pk}


def test_a_draw_goes_by_the_weights_and_logs_their_propensity(voted, cast):
    take_snapshot(overall(voted))
    pairs = list(combinations(sorted(competitor.pk for competitor in voted.competitors), 2))
    PairCount.objects.bulk_create(
        PairCount(campaign=voted.campaign, low_id=low, high_id=high, battles=pairing.FLOOR)
        for low, high in pairs
    )
    weights = {(row.low_id, row.high_id): row.weight for row in PairWeight.objects.all()}
    expected = pairing.propensities(pairs, dict.fromkeys(pairs, pairing.FLOOR), weights)
    (battle,) = draw.draw(voted.campaign, cast.bob_rater)
    assert battle.propensity == pytest.approx(expected[battle.pair], rel=1e-12)
    assert max(expected.values()) > 1 / 3


def test_a_model_newer_than_the_board_comes_first(voted, cast, make_response):
    take_snapshot(overall(voted))
    heath = voted.competitors[0].__class__.objects.create(team=cast.team, name="Heath")
    for prompt in voted.prompts:
        make_response(prompt, heath, "A new reply.")
    voted.campaign.competitors.add(heath)
    known = [competitor.pk for competitor in voted.competitors]
    PairCount.objects.bulk_create(
        PairCount(campaign=voted.campaign, low_id=low, high_id=high, battles=50)
        for low, high in combinations(sorted(known), 2)
    )
    (battle,) = draw.draw(voted.campaign, cast.bob_rater)
    share = pairing.EXPLORE / 6
    expected = share + (1 - pairing.EXPLORE) / 3 if heath.pk in battle.pair else share
    assert battle.propensity == pytest.approx(expected)
    assert battle.drawn_at <= timezone.now()
