"""Two models at a time: what is stored with a snapshot is what `ratings` says of the exported votes."""

import itertools

import numpy as np
import pytest

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import board_pairs, snapshots
from arena.leaderboards.models import CategoryRating, PairResult, Snapshot
from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.compare import compare_two, shares_of
from ratings.comparisons import Comparisons
from ratings.grouped_proportions import net_rates
from ratings.leaderboard import fit_leaderboard
from ratings.pairwise import adjusted
from ratings.planner import direct_votes_needed, new_raters_needed
from ratings.proportions import clustered_mean, mcnemar, sign_test
from ratings.scale import POINTS_PER_LOG_ODDS
from tests.leaderboards.test_snapshots import exported


@pytest.fixture
def joust(voted_campaign):
    """Half of the prompts in one category, the others in two of their own."""
    small = voted_campaign()
    for number, prompt in enumerate(small.prompts):
        prompt.category = ("cooking", "law", "cooking", "")[number % 4]
    type(small.prompts[0]).objects.bulk_update(small.prompts, ["category"])
    return small


def taken(small, number: int = 0) -> Snapshot:
    board = ensure_leaderboards(small.campaign)[number]
    return snapshots.take_snapshot(board).snapshot


class Outside:
    """The votes as someone else would have them, and `ratings` on them."""

    def __init__(self, small, category: str | None = None):
        rows = exported(small.campaign)
        if category is not None:
            mine = {p.external_id for p in small.prompts if p.category == category}
            rows = [row for row in rows if row["prompt_id"] in mine]
        self.names = sorted(
            {row[side] for row in exported(small.campaign) for side in ("model_a", "model_b")}
        )
        self.rows = rows
        self.comparisons = Comparisons.of(
            len(self.names),
            [self.names.index(row["model_a"]) for row in rows],
            [self.names.index(row["model_b"]) for row in rows],
            [row["winner"] for row in rows],
            rater=self.numbered("judge"),
            prompt=self.numbered("prompt_id"),
        )

    def numbered(self, column: str) -> list[int]:
        return np.unique([row[column] for row in self.rows], return_inverse=True)[1].tolist()

    def duel(self, first: str, second: str):
        return compare_two(self.comparisons, self.names.index(first), self.names.index(second))

    def direct(self, first: str, second: str) -> list[tuple[int, str, str]]:
        """(1, 0 or −1 for the first, prompt, rater) of each of their battles."""
        found = []
        for row in self.rows:
            if {row["model_a"], row["model_b"]} == {first, second}:
                side = {"model_a": 1, "model_b": -1}.get(row["winner"], 0)
                found.append((side if row["model_a"] == first else -side, row["prompt_id"], row["judge"]))
        return found


def by_names(snapshot) -> dict[tuple[str, str], PairResult]:
    pairs = snapshot.pairs.select_related("first", "second")
    return {(pair.first.name, pair.second.name): pair for pair in pairs}


def test_every_pair_has_the_difference_that_ratings_gives_for_the_exported_votes(joust):
    pairs, outside = by_names(taken(joust)), Outside(joust)
    assert len(pairs) == 10
    for (first, second), pair in pairs.items():
        duel = outside.duel(first, second)
        for name in ("difference", "standard_error", "lower", "upper"):
            assert getattr(pair, name) == pytest.approx(getattr(duel, name), abs=1e-4), name
        for name in ("p", "equivalence_p"):
            assert getattr(pair, name) == pytest.approx(getattr(duel, name), rel=1e-5, abs=1e-11), name
        for name in ("wins", "losses", "ties"):
            assert getattr(pair, name) == getattr(duel, name), name
        for name in ("expected_score", "net_rate"):
            assert pair.details["effect"][name] == pytest.approx(getattr(duel.effect, name), abs=1e-5)
        assert pair.details["worse_p"] == pytest.approx(duel.worse_p, rel=1e-4)


def test_p_values_are_adjusted_over_all_pairs_and_verdicts_follow_them(joust):
    pairs = by_names(taken(joust))
    raw = np.array([pair.p for pair in pairs.values()])
    stored = np.array([pair.p_adjusted for pair in pairs.values()])
    np.testing.assert_allclose(stored, adjusted(raw, "holm"), rtol=1e-6)
    for pair in pairs.values():
        assert (pair.verdict == "different") == (pair.p_adjusted < 0.05)
    assert len({pair.verdict for pair in pairs.values()}) == 2


def test_a_wide_margin_makes_close_models_equivalent(joust):
    board = ensure_leaderboards(joust.campaign)[0]
    board.policies = {"margin": 400.0}
    board.save()
    snapshot = snapshots.take_snapshot(board).snapshot
    verdicts = {pair.verdict for pair in snapshot.pairs.all()}
    assert "equivalent" in verdicts
    assert verdicts <= {"equivalent", "different, negligible", "different", "undecided"}


def test_direct_battles_are_tested_without_a_model(joust):
    pairs, outside = by_names(taken(joust)), Outside(joust)
    for (first, second), pair in pairs.items():
        battles = outside.direct(first, second)
        score, prompts, raters = (np.array(column) for column in zip(*battles, strict=True))
        direct = pair.details["direct"]
        sign = sign_test(int((score > 0).sum()), int((score < 0).sum()))
        assert direct["sign"]["p"] == pytest.approx(sign.p)
        assert direct["net"]["estimate"] == pytest.approx(score.mean())
        net = [score[prompts == prompt].sum() for prompt in np.unique(prompts)]
        test = mcnemar(sum(n > 0 for n in net), sum(n < 0 for n in net))
        assert direct["mcnemar"]["p"] == pytest.approx(test.p)
        assert direct["mcnemar"]["prompts"] == len(net)
        clusters = [np.unique(one, return_inverse=True)[1] for one in (raters, prompts)]
        nets = net_rates(score, np.zeros(len(score), dtype=int), 1, clusters)
        for name in ("lower", "upper", "p"):
            assert direct["net"][name] == pytest.approx(getattr(nets, name)[0]), name
        assert direct["net"]["clustered_by"] == "rater and prompt"
        by_prompt = clustered_mean(score, clusters[1])
        assert direct["net"]["lower"] <= max(by_prompt.lower, -1) + 1e-9
        assert direct["net"]["upper"] >= min(by_prompt.upper, 1) - 1e-9


def test_votes_needed_are_for_differences_of_the_plan(joust):
    snapshot = taken(joust)
    pair = snapshot.pairs.order_by("-wins").first()
    needs = {need["points"]: need for need in pair.details["needs"]}
    assert list(needs) == [10.0, 20.0, 50.0]
    outside = Outside(joust)
    duel = outside.duel(pair.first.name, pair.second.name)
    raters = len({row["judge"] for row in outside.rows})
    board = fit_board(outside.comparisons, LeaderboardOptions(bootstrap=0))
    place = [
        np.flatnonzero(board.order == outside.names.index(one.name)) for one in (pair.first, pair.second)
    ]
    place_of, bread = (int(place[0][0]), int(place[1][0])), board.fit.bread
    by_rater = next(share for share in shares_of(board, *place) if share.name == "rater")
    # twenty prompts leave an error that no number of raters takes away
    assert by_rater.lasting_error[0] > 10
    for points, need in needs.items():
        new = new_raters_needed(
            points,
            standard_error=duel.standard_error,
            raters=raters,
            lasting_error=by_rater.lasting_error[0],
            effective=by_rater.effective[0],
            lasting_effective=by_rater.lasting_effective[0],
            comparisons=10,
            cap=1_000_000_000,
        )
        assert need["new"]["rater"] == ("not reachable" if new.count is None else new.count)
        assert set(need["new"]) == {"rater", "prompt"}
    assert needs[10.0]["new"]["rater"] == "not reachable"
    # nor do the tastes of the present raters go away with more votes of theirs
    assert needs[10.0]["votes_by_same"] == "not reachable"
    same = POINTS_PER_LOG_ODDS * board.covariance.deviations_of_same_voters[place_of]
    model = POINTS_PER_LOG_ODDS * np.sqrt(sum(bread[i, i] for i in place_of) - 2 * bread[place_of])
    for points, need in needs.items():
        votes = direct_votes_needed(
            points,
            model_error=model,
            design_effect=(duel.standard_error / model) ** 2,
            lasting_error=same,
            effective=duel.effective_clusters,
            comparisons=10,
        )
        assert need["votes_by_same"] == ("not reachable" if votes.count is None else votes.count)


def test_a_category_has_the_ratings_of_its_votes_alone(joust):
    snapshot = taken(joust)
    assert set(snapshot.category_ratings.values_list("category", flat=True)) == {"cooking", "law"}
    for name in ("cooking", "law"):
        outside = Outside(joust, name)
        fitted = fit_leaderboard(outside.comparisons, LeaderboardOptions(bootstrap=0))
        standings = {outside.names[s.competitor]: s for s in fitted.standings}
        for stored in snapshot.category_ratings.filter(category=name).select_related("competitor"):
            other = standings[stored.competitor.name]
            for field in ("rating", "lower", "upper"):
                assert getattr(stored, field) == pytest.approx(getattr(other, field), abs=1e-3), field
            assert stored.battles == other.battles
        for (first, second), pair in by_names(snapshot).items():
            mine = next(one for one in pair.details["categories"] if one["category"] == name)
            duel = outside.duel(first, second)
            for field in ("difference", "lower", "upper"):
                assert mine[field] == pytest.approx(getattr(duel, field), abs=1e-3), field
            assert (mine["wins"], mine["losses"], mine["ties"]) == (duel.wins, duel.losses, duel.ties)


def test_models_that_no_battles_connect_are_not_compared(small_campaign, cast, cast_vote):
    prompt, rater = small_campaign.prompts[0], cast.alice_rater
    team = small_campaign.campaign.team
    from arena.corpus.models import Competitor

    extra = [Competitor.objects.create(team=team, name=name) for name in ("Islet", "Jetty")]
    small_campaign.competitors.extend(extra)
    for a, b in (("Ember", "Fjord"), ("Islet", "Jetty")):
        for outcome in ("model_a", "model_b", "model_a"):
            cast_vote(small_campaign, prompt, a, b, outcome, rater)
    pairs = by_names(taken(small_campaign))
    assert pairs["Ember", "Fjord"].difference == pytest.approx(400 * np.log10(2), abs=1e-4)
    assert pairs["Ember", "Islet"].verdict == "not connected"
    assert pairs["Ember", "Islet"].difference is None


def test_a_model_that_never_lost_has_no_finite_difference(small_campaign, cast, cast_vote):
    for _ in range(5):
        cast_vote(small_campaign, small_campaign.prompts[0], "Ember", "Fjord", "model_a", cast.alice_rater)
    pair = by_names(taken(small_campaign))["Ember", "Fjord"]
    assert (pair.verdict, pair.difference, pair.p) == ("unbounded", None, None)
    assert (pair.wins, pair.losses) == (5, 0)
    assert pair.details["direct"]["sign"]["p"] == pytest.approx(0.0625)


def test_pairs_are_kept_for_the_newest_snapshot_alone(joust, cast, cast_vote):
    first = taken(joust)
    cast_vote(joust, joust.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    second = taken(joust)
    assert second != first
    assert first.standings.count() == 5
    assert not first.pairs.exists()
    assert second.pairs.count() == 10
    assert set(CategoryRating.objects.values_list("snapshot", flat=True)) == {second.pk}


def test_pairs_follow_the_smaller_number_whatever_the_sides(joust):
    snapshot = taken(joust)
    stored = {(pair.first_id, pair.second_id) for pair in snapshot.pairs.all()}
    numbers = sorted(competitor.pk for competitor in joust.competitors)
    assert stored == set(itertools.combinations(numbers, 2))


def test_of_many_models_the_best_among_themselves_have_details_and_then_whoever_met_most(monkeypatch):
    """`battles` as if the last models had met most often."""
    monkeypatch.setattr(board_pairs, "MOST_DETAILED", 12)
    monkeypatch.setattr(board_pairs, "BEST", 4)
    rng, models = np.random.default_rng(1), 9
    a, b = np.triu_indices(models, 1)
    a, b = np.tile(a, 40), np.tile(b, 40)
    # The higher the number, the stronger.
    wins = rng.random(len(a)) < 1 / (1 + np.exp(0.5 * (b - a)))
    votes = Comparisons.of(models, a, b, np.where(wins, "model_a", "model_b"))
    board = fit_board(votes, LeaderboardOptions(bootstrap=0, check=False))
    pairs = board_pairs.pairs_of(board)
    battles = 100 - pairs.first - pairs.second
    asked = board_pairs.asked_about(pairs, board, battles)
    shown = [(int(pairs.first[place]), int(pairs.second[place])) for place in asked]
    best = {int(competitor) for competitor in board.order[:4]}
    assert set(shown[:6]) == set(itertools.combinations(sorted(best), 2))
    others = [pair for pair in itertools.combinations(range(models), 2) if not best.issuperset(pair)]
    assert set(shown[6:]) <= set(others)
    assert max(sum(pair) for pair in shown[6:]) <= min(sum(pair) for pair in set(others) - set(shown))
