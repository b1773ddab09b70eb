"""Snapshots: the numbers of `ratings` on the exported rows, published once and whole, and replayable."""

import json
import threading
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from arena.battles.models import Battle, Retraction, Vote
from arena.corpus.models import Prompt
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import is_due, request_due, request_snapshot, request_snapshots
from arena.leaderboards.tasks import compute_runs, sweep_snapshots
from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.comparisons import Comparisons
from ratings.leaderboard import fit_leaderboard
from ratings.style import relative_differences

pytestmark = pytest.mark.usefixtures("charts_left_undrawn")

State = SnapshotRun.State


def take_all(campaign) -> dict[str, SnapshotRun]:
    runs = {board.slug: snapshots.take_snapshot(board) for board in ensure_leaderboards(campaign)}
    assert all(run.state == State.PUBLISHED for run in runs.values()), {s: r.reason for s, r in runs.items()}
    return runs


def exported(campaign, *, hard: bool = False) -> list[dict]:
    """The votes as someone outside would have them in a file: names and counts, no ids of ours."""
    votes = Vote.objects.filter(battle__campaign=campaign).order_by("pk")
    if hard:
        votes = votes.filter(battle__prompt__is_hard=True)
    rows = []
    for vote in votes.select_related("rater", "battle__prompt", "battle__response_a", "battle__response_b"):
        battle = vote.battle
        sides = {"a": battle.response_a, "b": battle.response_b}
        rows.append(
            {
                "model_a": battle.competitor_a.name,
                "model_b": battle.competitor_b.name,
                "winner": vote.outcome,
                "judge": vote.rater.pseudonym,
                "prompt_id": battle.prompt.external_id,
                **{
                    f"{name}_{side}": getattr(response, name)
                    for name in ("characters", "headings", "list_items", "bold")
                    for side, response in sides.items()
                },
            }
        )
    return rows


def fit_exported(rows: list[dict], *, style: bool) -> dict[str, object]:
    """`ratings` on that file: standings by name, coefficients, warnings."""
    names = sorted({row[side] for row in rows for side in ("model_a", "model_b")})
    covariates = ("characters", "headings", "list_items", "bold")
    differences = relative_differences(
        np.array([[row[f"{name}_a"] for name in covariates] for row in rows]),
        np.array([[row[f"{name}_b"] for name in covariates] for row in rows]),
    )
    raters = sorted({row["judge"] for row in rows})
    prompts = sorted({row["prompt_id"] for row in rows})
    comparisons = Comparisons.of(
        len(names),
        [names.index(row["model_a"]) for row in rows],
        [names.index(row["model_b"]) for row in rows],
        [row["winner"] for row in rows],
        covariates=differences if style else None,
        covariate_names=covariates if style else (),
        rater=[raters.index(row["judge"]) for row in rows],
        prompt=[prompts.index(row["prompt_id"]) for row in rows],
    )
    fitted = fit_leaderboard(comparisons, LeaderboardOptions(style=style))
    return {names[standing.competitor]: standing for standing in fitted.standings} | {"fit": fitted}


@pytest.mark.parametrize(
    ("board", "hard", "style"), [("overall", 0, 0), ("hard", 1, 0), ("style", 0, 1)], ids=lambda v: str(v)
)
def test_a_boards_numbers_are_those_of_ratings_on_the_exported_votes(
    voted_campaign, settings, board, hard, style
):
    settings.BOOTSTRAP_RESAMPLES = LeaderboardOptions().bootstrap
    small = voted_campaign()
    take_all(small.campaign)
    snapshot = Leaderboard.objects.get(slug=f"joust-{board}").snapshots.get()
    outside = fit_exported(exported(small.campaign, hard=bool(hard)), style=bool(style))
    assert snapshot.standings.count() == 5
    for standing in snapshot.standings.select_related("competitor"):
        other = outside[standing.competitor.name]
        for name in ("rating", "lower", "upper", "bootstrap_lower", "bootstrap_upper"):
            assert getattr(standing, name) == pytest.approx(getattr(other, name), abs=1e-4), name
        for name in ("rank_lower", "rank_upper", "tied_first", "wins", "losses", "ties", "battles"):
            assert getattr(standing, name) == getattr(other, name), name
        if style:
            assert standing.shift == pytest.approx(-other.style_shift, abs=1e-4)
            assert standing.shift_lower == pytest.approx(-other.style_shift_upper, abs=1e-4)
            assert standing.shift_upper == pytest.approx(-other.style_shift_lower, abs=1e-4)
    assert len(snapshot.coefficients) == 4 * style
    for stored, other in zip(snapshot.coefficients, outside["fit"].coefficients, strict=True):
        assert stored["estimate"] == pytest.approx(other.estimate, abs=1e-6)
    assert snapshot.counts["check"]["largest_difference"] < 0.001
    assert snapshot.counts["design_effect"] == pytest.approx(outside["fit"].design_effect, abs=1e-4)


def test_the_wordy_model_falls_under_style_control(voted_campaign):
    small = voted_campaign(votes=1500)
    take_all(small.campaign)
    style = Leaderboard.objects.get(slug="joust-style").snapshots.get()
    wordy = style.standings.get(competitor__name="Fjord")
    assert wordy.shift_upper < 0
    plain = Standing.objects.get(snapshot__leaderboard__slug="joust-overall", competitor__name="Fjord")
    assert wordy.rating - plain.rating == pytest.approx(wordy.shift, abs=1e-4)


def test_a_snapshot_says_what_it_rests_on(voted_campaign):
    small = voted_campaign()
    before = timezone.now()
    take_all(small.campaign)
    snapshot = Leaderboard.objects.get(slug="joust-overall").snapshots.get()
    assert before <= snapshot.cutoff <= timezone.now()
    assert snapshot.counts["votes"] == snapshot.counts["simulated"] == 600
    assert snapshot.counts["raters"] == 20
    assert 15 < snapshot.counts["effective_raters"] <= 20
    assert snapshot.counts["last_id"] == Vote.objects.latest("pk").pk
    assert snapshot.options["bootstrap"] == 20
    assert (snapshot.seed, snapshot.options["seed"]) == (0, 0)
    assert len(snapshot.vote_digest) == 64
    assert "numpy" in snapshot.code_version


def test_people_and_judges_have_boards_of_their_own(voted_campaign, make_judge):
    small = voted_campaign()
    battles = list(small.campaign.battles.order_by("pk")[:200])
    judge = make_judge(small, "Sage", dict.fromkeys(battles, "model_a"))
    runs = take_all(small.campaign)
    assert list(runs) == [
        *("joust-overall", "joust-hard", "joust-style"),
        *(f"joust-judge-{judge.pk}-{board}" for board in ("overall", "hard", "style")),
        *(f"joust-combined-{judge.pk}-{board}" for board in ("overall", "hard")),
    ]
    assert runs["joust-overall"].snapshot.counts["votes"] == 600
    assert runs[f"joust-judge-{judge.pk}-overall"].snapshot.counts["votes"] == 200


def test_default_leaderboards_are_made_once(voted_campaign):
    campaign = voted_campaign(votes=5).campaign
    assert ensure_leaderboards(campaign) == ensure_leaderboards(campaign)
    assert Leaderboard.objects.count() == 3


def test_two_campaigns_that_want_the_same_slug_both_get_boards(make_campaign, cast, cast_vote, make_judge):
    small = make_campaign("joust")
    battle = cast_vote(small, small.prompts[0], "Ember", "Grove", "tie", cast.alice_rater).battle
    judge = make_judge(small, "Sage", {battle: "model_a"})
    other = make_campaign(f"joust-judge-{judge.pk}")
    ensure_leaderboards(other.campaign)
    ensure_leaderboards(small.campaign)
    hard = small.campaign.leaderboards.get(judge=judge, source="judge", subset="hard")
    assert hard.slug == f"joust-judge-{judge.pk}-hard-2"
    assert ensure_leaderboards(small.campaign) == list(small.campaign.leaderboards.order_by("pk"))


def test_the_same_votes_make_no_second_snapshot(voted_campaign):
    board = ensure_leaderboards(voted_campaign().campaign)[0]
    snapshots.take_snapshot(board)
    run = snapshots.take_snapshot(board)
    assert run.state == State.UNCHANGED
    assert board.snapshots.count() == 1


def test_the_same_numbers_about_other_models_are_another_snapshot(small_campaign, cast, cast_vote):
    """A digest holds no names."""
    leaderboard = Leaderboard.objects.create(campaign=small_campaign.campaign, slug="all", name="all")
    prompt, fjord = small_campaign.prompts[0], small_campaign.competitors[1]
    vote = cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", cast.alice_rater)
    first = snapshots.take_snapshot(leaderboard)
    Battle.objects.filter(pk=vote.battle_id).update(competitor_b=fjord)
    second = snapshots.take_snapshot(leaderboard)
    assert (first.state, second.state) == (SnapshotRun.State.PUBLISHED, SnapshotRun.State.PUBLISHED)
    assert first.snapshot.vote_digest == second.snapshot.vote_digest
    assert {standing.competitor.name for standing in second.snapshot.standings.all()} == {"Ember", "Fjord"}


def test_a_new_vote_and_a_retraction_each_make_a_new_snapshot(voted_campaign, cast, cast_vote):
    small = voted_campaign()
    board = ensure_leaderboards(small.campaign)[0]
    snapshots.take_snapshot(board)
    vote = cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    snapshots.take_snapshot(board)
    Retraction.objects.create(vote=vote)
    snapshots.take_snapshot(board)
    counts = [snapshot.counts for snapshot in board.snapshots.order_by("pk")]
    assert [count["votes"] for count in counts] == [600, 601, 600]
    assert counts[-1]["left_out"] == {"retracted": 1}


def test_no_votes_end_in_words(small_campaign):
    run = snapshots.take_snapshot(ensure_leaderboards(small_campaign.campaign)[0])
    assert (run.state, run.reason) == (State.NOT_ENOUGH, "There is no vote yet.")
    assert not Snapshot.objects.exists()


def test_a_hard_board_of_unknown_prompts_says_what_is_missing(voted_campaign):
    small = voted_campaign(votes=40)
    Prompt.objects.update(is_hard=None)
    run = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[1])
    assert run.state == State.NOT_ENOUGH
    assert "40 votes are about prompts of which nobody has said whether they are hard" in run.reason


def test_a_style_board_without_texts_says_so(small_campaign, cast, cast_vote):
    cast_vote(small_campaign, None, "Ember", "Grove", "tie", cast.alice_rater)
    run = snapshots.take_snapshot(ensure_leaderboards(small_campaign.campaign)[2])
    assert run.state == State.NOT_ENOUGH
    assert "1 vote was recorded without the two texts" in run.reason


def test_a_model_that_won_every_battle_gets_no_upper_bound(small_campaign, cast, cast_vote):
    for rater in (cast.alice_rater, cast.bob_rater):
        for number, prompt in enumerate(small_campaign.prompts):
            cast_vote(small_campaign, prompt, "Ember", "Grove", "model_a", rater)
            cast_vote(small_campaign, prompt, "Grove", "Fjord", ["model_a", "model_b"][number % 2], rater)
    run = snapshots.take_snapshot(ensure_leaderboards(small_campaign.campaign)[0])
    assert run.state == State.PUBLISHED, run.reason
    winner = run.snapshot.standings.get(competitor__name="Ember")
    assert winner.upper is None
    assert "unbounded_above" in winner.flags


def test_a_failed_fit_leaves_the_last_snapshot_and_its_reason(voted_campaign, cast, cast_vote, caplog):
    small = voted_campaign()
    board = ensure_leaderboards(small.campaign)[0]
    kept = snapshots.take_snapshot(board).snapshot
    cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    Leaderboard.objects.filter(pk=board.pk).update(policies={"ties": "coin"})
    board.refresh_from_db()
    run = snapshots.take_snapshot(board)
    assert run.state == State.FAILED
    assert "'coin'" in run.reason
    assert board.snapshots.get() == kept
    assert "snapshot of joust-overall failed" in caplog.text


def test_a_claimed_run_is_computed_by_nobody_else(voted_campaign):
    board = ensure_leaderboards(voted_campaign(votes=50).campaign)[0]
    run = request_snapshot(board)
    assert run.claim_it()
    other = snapshots.take_snapshot(board)
    assert (other.pk != run.pk, other.state) == (True, State.QUEUED)
    assert not Snapshot.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_votes_cast_while_boards_are_computed_are_in_the_snapshots_asked_for_then(
    voted_campaign, cast_vote, cast, monkeypatch
):
    small = voted_campaign(votes=100)
    campaign, asked = small.campaign, []

    def vote_and_ask(*args, **kwargs):
        if not asked:
            cast_vote(small, small.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater)
            asked.extend(request_snapshots(campaign))
        return fit_board(*args, **kwargs)

    monkeypatch.setattr(snapshots, "fit_board", vote_and_ask)
    first = request_snapshots(campaign)
    compute_runs.call_local([run.pk for run in first])
    assert len(asked) == 3 and not {run.pk for run in first} & {run.pk for run in asked}
    overall = campaign.leaderboards.get(slug__endswith="overall")
    assert overall.snapshots.get().counts["votes"] == 100, "all of a round rest on the same votes"
    assert set(campaign.leaderboards.values_list("runs__state", flat=True)) == {State.PUBLISHED, State.QUEUED}
    sweep_snapshots.call_local()
    assert overall.snapshots.first().counts["votes"] == 101
    assert set(SnapshotRun.objects.values_list("state", flat=True)) <= {State.PUBLISHED, State.UNCHANGED}


def test_runs_that_wait_for_their_turn_in_a_round_are_not_taken_for_silent(voted_campaign, monkeypatch):
    """A fit may take longer than a lease: it renews those of the boards after it."""
    campaign = voted_campaign(votes=60).campaign
    seen = []

    def long_fit(*args, **kwargs):
        long_ago = timezone.now() - SnapshotRun.LEASE - timedelta(seconds=1)
        SnapshotRun.objects.open().update(claimed_at=long_ago)
        assert runs[len(seen)].beat()
        seen.append(SnapshotRun.objects.silent().count())
        return fit_board(*args, **kwargs)

    runs = request_snapshots(campaign)
    monkeypatch.setattr(snapshots, "fit_board", long_fit)
    snapshots.do_round(runs)
    assert seen == [0, 0, 0]


def test_while_one_worker_computes_a_board_none_takes_up_the_next_run_of_it(voted_campaign):
    board = ensure_leaderboards(voted_campaign(votes=50).campaign)[0]
    running = request_snapshot(board)
    assert running.claim_it()
    waiting = request_snapshot(board)
    assert request_snapshot(board) == waiting and not waiting.claim_it()
    assert running.finish(State.FAILED)
    assert waiting.claim_it()


def test_a_silent_workers_run_is_taken_over_and_its_late_result_refused(voted_campaign):
    board = ensure_leaderboards(voted_campaign().campaign)[0]
    silent = request_snapshot(board)
    assert silent.claim_it()
    long_ago = timezone.now() - SnapshotRun.LEASE - timedelta(seconds=1)
    SnapshotRun.objects.filter(pk=silent.pk).update(claimed_at=long_ago)
    published = snapshots.take_snapshot(board)
    assert (published.pk, published.state) == (silent.pk, State.PUBLISHED)
    cutoff = snapshots.Cutoff(published.snapshot.cutoff, published.snapshot.counts["last_id"])
    assert not silent.beat()
    with pytest.raises(snapshots.LostClaimError), transaction.atomic():
        snapshots.publish(silent, snapshots.stored_in(published.snapshot), cutoff, 0)
    assert board.snapshots.get() == published.snapshot
    assert Standing.objects.count() == 5


def test_a_heartbeat_stops_a_fit_whose_claim_is_lost(voted_campaign, monkeypatch):
    board = ensure_leaderboards(voted_campaign(votes=50).campaign)[0]
    run = request_snapshot(board)
    run.claim_it()
    beat = snapshots.Heartbeat(run)
    monkeypatch.setattr(snapshots, "BEAT_SECONDS", 0)
    beat(1, 10)
    SnapshotRun.objects.filter(pk=run.pk).update(claim=None)
    with pytest.raises(snapshots.LostClaimError):
        beat(2, 10)


@pytest.mark.django_db(transaction=True)
def test_five_started_at_once_publish_one(voted_campaign):
    board = ensure_leaderboards(voted_campaign().campaign)[0]
    start, errors = threading.Barrier(5), []

    def take() -> None:
        try:
            start.wait()
            snapshots.take_snapshot(board)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert board.snapshots.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_fit_runs_outside_any_transaction(voted_campaign, monkeypatch):
    board = ensure_leaderboards(voted_campaign(votes=100).campaign)[0]
    seen = []

    def fit_and_look(*args, **kwargs):
        seen.append(connection.in_atomic_block)
        return fit_board(*args, **kwargs)

    monkeypatch.setattr(snapshots, "fit_board", fit_and_look)
    assert snapshots.take_snapshot(board).state == State.PUBLISHED
    assert seen == [False]


# --- replay -----------------------------------------------------------------------------------------------


def test_replay_gives_the_same_bytes(voted_campaign, cast, cast_vote, capsys):
    small = voted_campaign()
    take_all(small.campaign)
    vote = cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    Retraction.objects.create(vote=vote)
    for snapshot in Snapshot.objects.all():
        call_command("replay_snapshot", str(snapshot.pk))
        assert f"snapshot {snapshot.pk} replays to the same bytes" in capsys.readouterr().out


def test_replay_names_the_rows_when_they_have_changed(voted_campaign):
    small = voted_campaign()
    run = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[1])
    Prompt.objects.filter(pk=small.prompts[0].pk).update(is_hard=False)
    with pytest.raises(CommandError, match="the rows it was fitted on have changed"):
        call_command("replay_snapshot", str(run.snapshot.pk))


def with_an_old_warning(fit):
    return lambda *args: replace(fit(*args), warnings=["an old warning"])


def test_replay_names_other_code(voted_campaign, monkeypatch):
    monkeypatch.setattr(snapshots, "code_version", lambda: "0.0.1+old")
    monkeypatch.setattr(snapshots, "fit", with_an_old_warning(snapshots.fit))
    run = snapshots.take_snapshot(ensure_leaderboards(voted_campaign().campaign)[0])
    monkeypatch.undo()
    with pytest.raises(CommandError, match=r"differently in warnings: it was computed by other code: 0.0.1"):
        call_command("replay_snapshot", str(run.snapshot.pk))


def test_replay_of_an_unknown_snapshot_is_refused(db):
    with pytest.raises(CommandError, match="no snapshot 7"):
        call_command("replay_snapshot", "7")


# --- on demand and on schedule ----------------------------------------------------------------------------


def test_the_command_takes_every_campaign_or_one(voted_campaign, make_campaign, capsys):
    voted_campaign("joust")
    make_campaign("empty")
    call_command("take_snapshots")
    said = capsys.readouterr().out
    assert "joust-overall: snapshot" in said
    assert "600 votes, 5 models" in said
    assert "empty-overall: not enough data. There is no vote yet." in said
    call_command("take_snapshots", campaign="empty")
    assert "joust" not in capsys.readouterr().out


def test_the_command_refuses_an_unknown_campaign_and_names_those_there_are(make_campaign):
    make_campaign("joust")
    with pytest.raises(CommandError, match="no campaign 'jouts'; there are: joust"):
        call_command("take_snapshots", campaign="jouts")


def test_the_command_fails_when_a_fit_does(voted_campaign):
    board = ensure_leaderboards(voted_campaign(votes=50).campaign)[0]
    Leaderboard.objects.filter(pk=board.pk).update(policies={"ties": "coin"})
    with pytest.raises(CommandError, match="1 of the snapshots failed"):
        call_command("take_snapshots")


def test_a_campaign_is_due_when_something_is_new_and_the_time_has_come(
    voted_campaign, cast, cast_vote, settings
):
    small = voted_campaign(votes=50)
    settings.SNAPSHOT_MINUTES = 60
    assert is_due(small.campaign)
    take_all(small.campaign)
    cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    assert not is_due(small.campaign)
    an_hour_ago = timezone.now() - timedelta(minutes=61)
    SnapshotRun.objects.update(requested_at=an_hour_ago)
    assert is_due(small.campaign)
    take_all(small.campaign)
    SnapshotRun.objects.update(requested_at=an_hour_ago)
    assert not is_due(small.campaign)


def test_closing_makes_a_campaign_due_at_once_and_only_for_new_votes(
    voted_campaign, cast, cast_vote, settings
):
    small, settings.SNAPSHOT_MINUTES = voted_campaign(votes=50), 60
    take_all(small.campaign)
    small.campaign.closed_at = timezone.now()
    assert not is_due(small.campaign), "nothing is new"
    cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    assert is_due(small.campaign)
    take_all(small.campaign)
    assert not is_due(small.campaign), "once for each close"


def test_a_judgment_alone_makes_a_campaign_due(voted_campaign, make_judge):
    small = voted_campaign(votes=50)
    take_all(small.campaign)
    SnapshotRun.objects.update(requested_at=timezone.now() - timedelta(days=1))
    assert not is_due(small.campaign)
    make_judge(small, "Sage", {small.campaign.battles.first(): "tie"})
    assert is_due(small.campaign)


def test_campaigns_without_a_row_are_never_due(make_campaign):
    make_campaign("empty")
    request_due()
    assert not SnapshotRun.objects.exists()


def test_the_sweep_computes_what_a_lost_message_left_queued(voted_campaign):
    small = voted_campaign(votes=50)
    request_snapshots(small.campaign)
    sweep_snapshots.call_local()
    assert set(SnapshotRun.objects.values_list("state", flat=True)) == {State.PUBLISHED}
    assert Snapshot.objects.count() == 3


def test_a_repeated_message_computes_nothing_twice(voted_campaign):
    pks = [run.pk for run in request_snapshots(voted_campaign(votes=50).campaign)]
    compute_runs.call_local(pks)
    compute_runs.call_local(pks)
    assert Snapshot.objects.count() == 3
    assert SnapshotRun.objects.count() == 3


def test_asking_twice_opens_one_run(voted_campaign):
    campaign = voted_campaign(votes=5).campaign
    assert request_snapshots(campaign) == request_snapshots(campaign)


def test_stored_numbers_are_plain_json(voted_campaign):
    run = snapshots.take_snapshot(ensure_leaderboards(voted_campaign().campaign)[2])
    canonical = snapshots.stored_in(run.snapshot).canonical()
    assert json.loads(canonical)["standings"][0]["rating"] > 0
