"""Which votes and judgments a leaderboard counts, and what it says about the others."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from arena.battles import exclusions
from arena.battles.models import Battle, Retraction, Vote
from arena.corpus.models import Prompt, Response
from arena.leaderboards import sentences
from arena.leaderboards.fitting.comparisons import STYLE, Cutoff, cutoff_now, read_rows
from arena.leaderboards.fitting.snapshots import do_round
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import is_due, request_snapshots
from ratings.comparisons import OUTCOMES


@pytest.fixture
def board(small_campaign):
    def make(**fields) -> Leaderboard:
        number = Leaderboard.objects.count()
        return Leaderboard.objects.create(
            campaign=small_campaign.campaign, slug=f"board-{number}", name="board", **fields
        )

    return make


def read(leaderboard):
    return read_rows(leaderboard, cutoff_now(leaderboard))


def outcomes_of(rows) -> list[str]:
    return [OUTCOMES[code] for code in rows.comparisons.outcome]


def test_every_outcome_arrives_as_itself_in_the_order_of_battles(small_campaign, cast, cast_vote, board):
    given = ["both_bad", "model_a", "tie", "model_b"]
    for outcome in given:
        cast_vote(small_campaign, small_campaign.prompts[0], "Fjord", "Ember", outcome, cast.alice_rater)
    rows = read(board())
    assert outcomes_of(rows) == given
    ember, fjord = small_campaign.competitors[0].pk, small_campaign.competitors[1].pk
    assert [rows.competitors[a] for a in rows.comparisons.a] == [fjord] * 4
    assert [rows.competitors[b] for b in rows.comparisons.b] == [ember] * 4


def test_raters_and_prompts_become_clusters(small_campaign, cast, cast_vote, board):
    for rater, prompt in ((cast.alice_rater, 0), (cast.bob_rater, 0), (cast.alice_rater, 1)):
        cast_vote(small_campaign, small_campaign.prompts[prompt], "Ember", "Grove", "model_a", rater)
    comparisons = read(board()).comparisons
    assert comparisons.rater.tolist() == [0, 1, 0]
    assert comparisons.prompt.tolist() == [0, 0, 1]


def test_votes_without_a_prompt_are_clusters_of_their_own(small_campaign, cast, cast_vote, board):
    first = small_campaign.prompts[0]
    for prompt in (first, None, None, first):
        cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater)
    rows = read(board())
    assert rows.comparisons.prompt.tolist() == [0, 1, 2, 0]
    assert rows.counts["votes_without_prompt"] == 2


def test_raters_and_prompts_are_numbered_by_first_appearance(small_campaign, cast, cast_vote, board):
    early, late = small_campaign.prompts[0], small_campaign.prompts[2]
    second, first = sorted((cast.alice_rater, cast.bob_rater), key=lambda rater: rater.pk)
    for prompt, rater in ((late, first), (None, second), (early, first), (late, second)):
        cast_vote(small_campaign, prompt, "Ember", "Grove", "tie", rater)
    comparisons = read(board()).comparisons
    assert comparisons.rater.tolist() == [0, 1, 0, 1]
    assert comparisons.prompt.tolist() == [0, 1, 2, 0]


def test_no_prompt_anywhere_is_no_clustering_by_prompt(small_campaign, cast, cast_vote, board):
    cast_vote(small_campaign, None, "Ember", "Grove", "tie", cast.alice_rater)
    assert read(board()).comparisons.prompt is None


def test_a_retracted_vote_is_out_and_counted(small_campaign, cast, cast_vote, board):
    prompt = small_campaign.prompts[0]
    undone = cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater)
    cast_vote(small_campaign, prompt, "Ember", "Grove", "model_b", cast.alice_rater)
    Retraction.objects.create(vote=undone)
    rows = read(board())
    assert outcomes_of(rows) == ["model_b"]
    assert rows.left_out == {"retracted": 1}


def test_what_comes_after_the_cutoff_changes_nothing(small_campaign, cast, cast_vote, board):
    prompt, leaderboard = small_campaign.prompts[0], board()
    vote = cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater)
    cutoff = cutoff_now(leaderboard)
    before = read_rows(leaderboard, cutoff)
    Retraction.objects.create(vote=vote)
    long_ago = timezone.now() - timedelta(days=400)
    cast_vote(small_campaign, prompt, "Ember", "Grove", "model_b", cast.bob_rater, at=long_ago)
    after = read_rows(leaderboard, cutoff)
    assert after.digest == before.digest
    assert outcomes_of(after) == ["model_a"]


def test_a_vote_dated_in_the_future_is_left_out_and_counted(small_campaign, cast, cast_vote, board):
    tomorrow = timezone.now() + timedelta(days=1)
    cast_vote(small_campaign, small_campaign.prompts[0], "Ember", "Grove", "tie", cast.bob_rater, at=tomorrow)
    rows = read(board())
    assert len(rows.comparisons) == 0
    assert rows.left_out == {"after_cutoff": 1}


def test_gold_battles_are_never_rated(small_campaign, cast, cast_vote, board):
    prompt = small_campaign.prompts[0]
    cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater, kind=Battle.Kind.GOLD)
    assert len(read(board()).comparisons) == 0


def test_another_campaigns_votes_are_not_in(make_campaign, small_campaign, cast, cast_vote, board):
    other = make_campaign("other")
    cast_vote(other, other.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    assert len(read(board()).comparisons) == 0


def test_the_hard_board_counts_what_it_doesnt_know(small_campaign, cast, cast_vote, board):
    hard, easy, unknown = small_campaign.prompts[:3]
    Prompt.objects.filter(pk=unknown.pk).update(is_hard=None)
    for prompt, outcome in ((hard, "model_a"), (easy, "model_b"), (unknown, "tie"), (unknown, "tie")):
        cast_vote(small_campaign, prompt, "Ember", "Grove", outcome, cast.alice_rater)
    cast_vote(small_campaign, None, "Ember", "Grove", "tie", cast.alice_rater)
    rows = read(board(subset=Leaderboard.Subset.HARD))
    assert outcomes_of(rows) == ["model_a"]
    assert rows.left_out == {"hardness_unknown": 3, "not_hard": 1}
    assert read(board()).counts["prompts_of_unknown_hardness"] == 1


def test_style_covariates_are_signed_relative_differences(small_campaign, cast, cast_vote, board):
    prompt = small_campaign.prompts[0]
    mine = Response.objects.filter(prompt=prompt)
    mine.filter(competitor__name="Ember").update(characters=300, headings=0, list_items=3, bold=0)
    mine.filter(competitor__name="Grove").update(characters=100, headings=0, list_items=1, bold=2)
    cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater)
    cast_vote(small_campaign, prompt, "Grove", "Ember", "model_a", cast.alice_rater)
    rows = read(board(style_control=True))
    assert rows.comparisons.covariate_names == STYLE == ("length", "headings", "list_items", "bold")
    expected = np.array([0.5, 0.0, 0.5, -1.0])
    np.testing.assert_array_equal(rows.comparisons.covariates, [expected, -expected])
    assert rows.length_unit == "characters"


def test_length_is_tokens_when_every_response_that_fought_has_them(small_campaign, cast, cast_vote, board):
    prompt = small_campaign.prompts[0]
    mine = Response.objects.filter(prompt=prompt)
    mine.filter(competitor__name="Ember").update(tokens=30)
    mine.filter(competitor__name="Grove").update(tokens=10)
    cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater)
    leaderboard = board(style_control=True)
    rows = read(leaderboard)
    assert rows.length_unit == "tokens"
    assert rows.comparisons.covariates[0, 0] == 0.5
    cast_vote(small_campaign, prompt, "Ember", "Fjord", "model_a", cast.alice_rater)
    assert read(leaderboard).length_unit == "characters"


def test_the_style_board_leaves_out_battles_without_texts(small_campaign, cast, cast_vote, board):
    prompt = small_campaign.prompts[0]
    cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater)
    bare = {"response_a": None, "response_b": None, "kind": Battle.Kind.RECORDED}
    cast_vote(small_campaign, prompt, "Ember", "Grove", "model_b", cast.alice_rater, **bare)
    rows = read(board(style_control=True))
    assert outcomes_of(rows) == ["model_a"]
    assert rows.left_out == {"no_response": 1}
    assert len(read(board()).comparisons) == 2


def test_a_recorded_vote_about_an_empty_response_counts(small_campaign, cast, cast_vote, board):
    prompt = small_campaign.prompts[0]
    empty = Response.objects.filter(prompt=prompt, competitor__name__in=["Ember", "Grove"])
    empty.update(text="", is_blank=True, characters=0, words=0)
    cast_vote(small_campaign, prompt, "Ember", "Grove", "tie", cast.alice_rater, kind=Battle.Kind.RECORDED)
    rows = read(board(style_control=True))
    assert len(rows.comparisons) == 1
    assert rows.comparisons.covariates[0].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert rows.counts["votes_about_blank_responses"] == 1
    assert rows.counts["blank_responses"] == 2


def test_simulated_votes_are_counted_as_such(voted_campaign, cast, cast_vote):
    small = voted_campaign(votes=50)
    cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    leaderboard = Leaderboard.objects.create(campaign=small.campaign, slug="all", name="all")
    counts = read(leaderboard).counts
    assert (counts["votes"], counts["simulated"]) == (51, 50)


def test_a_judges_board_holds_its_verdicts_and_no_vote(small_campaign, cast, cast_vote, make_judge, board):
    prompt = small_campaign.prompts[0]
    battles = [
        cast_vote(small_campaign, prompt, "Ember", "Grove", "model_b", cast.alice_rater).battle
        for _ in range(6)
    ]
    given = ["model_a", "tie_unstable", "no_verdict", "tie_verbose", "", "tie"]
    judge = make_judge(small_campaign, "Sage", dict(zip(battles, given, strict=True)))
    rows = read(board(source=Leaderboard.Source.JUDGE, judge=judge))
    assert outcomes_of(rows) == ["model_a", "tie_unstable", "tie", "tie"]
    assert rows.left_out == {"no_verdict": 1, "unresolved": 1}
    assert rows.comparisons.rater is None
    assert rows.counts["unstable"] == 1
    assert len(read(board()).comparisons) == 6


def test_judges_are_kept_apart(small_campaign, cast, cast_vote, make_judge, board):
    battle = cast_vote(
        small_campaign, small_campaign.prompts[0], "Ember", "Grove", "tie", cast.bob_rater
    ).battle
    make_judge(small_campaign, "Sage", {battle: "model_a"})
    strict = make_judge(small_campaign, "Strict", {battle: "model_b"})
    assert outcomes_of(read(board(source=Leaderboard.Source.JUDGE, judge=strict))) == ["model_b"]


def test_asked_again_a_judges_latest_verdict_counts(small_campaign, cast, cast_vote, make_judge, board):
    battle = cast_vote(
        small_campaign, small_campaign.prompts[0], "Ember", "Grove", "tie", cast.bob_rater
    ).battle
    judge = make_judge(small_campaign, "Sage", {battle: "model_a"})
    make_judge(small_campaign, "Sage", {battle: "model_b"}, judge=judge)
    rows = read(board(source=Leaderboard.Source.JUDGE, judge=judge))
    assert outcomes_of(rows) == ["model_b"]
    assert rows.left_out == {"superseded": 1}


def test_the_digest_tells_any_other_row(small_campaign, cast, cast_vote, board):
    prompt, leaderboard = small_campaign.prompts[0], board()
    digests = [read(leaderboard).digest]
    for outcome in ("model_a", "model_b"):
        cast_vote(small_campaign, prompt, "Ember", "Grove", outcome, cast.alice_rater)
        digests.append(read(leaderboard).digest)
    assert len(set(digests)) == 3
    assert read(leaderboard).digest == digests[-1]


def test_the_same_votes_under_other_ids_have_the_same_digest(make_campaign, cast, cast_vote):
    digests = []
    for slug in ("one", "two"):
        small = make_campaign(slug)
        raters = (cast.alice_rater, cast.bob_rater)
        for rater in raters if slug == "one" else reversed(raters):
            cast_vote(small, small.prompts[1], "Ember", "Grove", "model_a", rater)
        definition = Leaderboard(campaign=small.campaign, slug=slug, name=slug)
        digests.append(read(definition).digest)
    assert digests[0] == digests[1]


def test_a_judges_board_without_a_judge_is_refused(board):
    with pytest.raises(ValueError, match="names none"):
        read(board(source=Leaderboard.Source.JUDGE))


def test_reading_takes_as_many_queries_for_many_votes_as_for_few(
    voted_campaign, django_assert_max_num_queries
):
    small = voted_campaign(votes=500)
    leaderboard = Leaderboard.objects.create(
        campaign=small.campaign, slug="style", name="style", style_control=True
    )
    cutoff = Cutoff(timezone.now(), Vote.objects.latest("pk").pk)
    with django_assert_max_num_queries(11):
        assert len(read_rows(leaderboard, cutoff).comparisons) == 500


def test_excluded_votes_and_raters_are_out_and_counted_once_by_rule(small_campaign, cast, cast_vote, board):
    prompt, campaign = small_campaign.prompts[0], small_campaign.campaign
    kept = cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.bob_rater)
    unblinded = cast_vote(small_campaign, prompt, "Ember", "Grove", "model_b", cast.bob_rater)
    for outcome in ("tie", "both_bad"):
        asleep = cast_vote(small_campaign, prompt, "Ember", "Fjord", outcome, cast.alice_rater)
    exclusions.exclude_unblinded(unblinded)
    exclusions.exclude_unblinded(asleep)
    exclusions.exclude_rater(campaign, cast.alice_rater, cast.carol, "asleep")
    rows = read(board())
    assert outcomes_of(rows) == [kept.outcome]
    # The vote that both rules leave out counts under the first.
    assert rows.left_out == {"excluded_by_hand": 2, "excluded_unblinded": 1}
    assert [words for words in sentences.say_left_out(rows.left_out) if "left out" in words]


def test_an_exclusion_or_its_revocation_changes_no_earlier_cutoff(small_campaign, cast, cast_vote, board):
    leaderboard = board()
    for rater in (cast.alice_rater, cast.bob_rater):
        cast_vote(small_campaign, small_campaign.prompts[0], "Ember", "Grove", "tie", rater)
    at_first = cutoff_now(leaderboard)
    everything = read_rows(leaderboard, at_first)
    asleep = exclusions.exclude_rater(small_campaign.campaign, cast.alice_rater, cast.carol, "asleep")
    in_between = cutoff_now(leaderboard)
    one = read_rows(leaderboard, in_between)
    exclusions.revoke(asleep, cast.carol, "awake")
    digests = [read_rows(leaderboard, at).digest for at in (at_first, in_between, cutoff_now(leaderboard))]
    assert digests == [everything.digest, one.digest, everything.digest]
    assert (len(everything.comparisons), len(one.comparisons)) == (2, 1)


def test_a_planned_repeat_is_out_and_counted(small_campaign, cast, cast_vote, board):
    prompt = small_campaign.prompts[0]
    cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.bob_rater)
    cast_vote(small_campaign, prompt, "Grove", "Ember", "model_b", cast.bob_rater, kind=Battle.Kind.REPEAT)
    rows = read(board())
    assert outcomes_of(rows) == ["model_a"]
    assert rows.left_out == {"repeated": 1}


def test_an_exclusion_makes_a_new_snapshot_due(small_campaign, cast, cast_vote, settings):
    campaign = small_campaign.campaign
    for outcome in ("model_a", "model_b") * 6:
        cast_vote(small_campaign, small_campaign.prompts[0], "Ember", "Grove", outcome, cast.bob_rater)
    do_round(request_snapshots(campaign))
    SnapshotRun.objects.update(requested_at=timezone.now() - timedelta(minutes=settings.SNAPSHOT_MINUTES + 1))
    assert not is_due(campaign)
    exclusions.exclude_rater(campaign, cast.bob_rater, cast.carol, "asleep")
    assert is_due(campaign)
