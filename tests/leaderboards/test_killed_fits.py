"""Fits in processes of their own, killed with SIGKILL or started at once: the published board stays whole."""

import json
import os
import random
import signal
import time
import traceback
import warnings
from datetime import timedelta

import pytest
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connections
from django.utils import timezone

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import CategoryRating, Leaderboard, PairResult, Snapshot, Standing
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.tasks import do_runs

pytestmark = pytest.mark.django_db(transaction=True)

State = SnapshotRun.State


@pytest.fixture
def joust(voted_campaign, settings):
    settings.BOOTSTRAP_RESAMPLES = 200
    return voted_campaign(votes=300)


@pytest.fixture
def one_more_vote(joust, cast, cast_vote):
    return lambda: cast_vote(joust, joust.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)


@pytest.fixture
def board(joust, one_more_vote) -> Leaderboard:
    """Published, and a vote has come since."""
    board = ensure_leaderboards(joust.campaign)[0]
    assert snapshots.take_snapshot(board).snapshot
    one_more_vote()
    return board


def started(board: Leaderboard) -> int:
    """A process that takes a snapshot; it ends with 0 when its attempt came to an end, well or not."""
    connections.close_all()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # the suite's threads hold nothing that a fit needs
        pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        snapshots.take_snapshot(Leaderboard.objects.get(pk=board.pk))
        connections.close_all()
        status = 0
    except BaseException:  # whoever forked must not be run a second time
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def published(board: Leaderboard) -> bytes:
    """All that is stored of the newest snapshot, byte for byte."""
    newest = Snapshot.objects.filter(leaderboard=board).first()
    parts = {"snapshot": list(Snapshot.objects.filter(pk=newest.pk).values())}
    for model in (Standing, PairResult, CategoryRating):
        parts[model.__name__] = list(model.objects.filter(snapshot=newest).order_by("pk").values())
    return json.dumps(parts, sort_keys=True, cls=DjangoJSONEncoder).encode()


def let_the_lease_run_out() -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    SnapshotRun.objects.filter(state=State.RUNNING).update(claimed_at=long_ago)


def seconds_of_a_fit(board: Leaderboard) -> float:
    """Of the same work, which is published nowhere."""
    rows, cutoff = snapshots.Round().rows_of(board)
    start = time.perf_counter()
    snapshots.fit(rows, snapshots.options_for(board), cutoff)
    return time.perf_counter() - start


def assert_whole(board: Leaderboard) -> None:
    """The newest snapshot has all its parts, and no other one has those that only the newest keeps."""
    newest = Snapshot.objects.filter(leaderboard=board).first()
    assert newest.standings.count() == 5
    assert newest.pairs.count() == PairResult.objects.filter(snapshot__leaderboard=board).count() == 10


@pytest.mark.parametrize("points", [2, pytest.param(20, marks=pytest.mark.long)])
def test_a_fit_killed_anywhere_leaves_the_published_board_byte_identical(board, one_more_vote, points):
    before, length, draw = published(board), seconds_of_a_fit(board), random.Random(points)
    killed = 0
    while killed < points:
        count = Snapshot.objects.filter(leaderboard=board).count()
        pid = started(board)
        time.sleep(draw.uniform(0, length))  # the point at which it's killed, and no wait for anything
        os.kill(pid, signal.SIGKILL)
        if ended(pid) == -signal.SIGKILL and Snapshot.objects.filter(leaderboard=board).count() == count:
            assert published(board) == before
            killed += 1
        else:
            # It was done before its point: the next one has another vote to fit, and less time for it.
            assert_whole(board)
            before, length = published(board), 0.7 * length
            one_more_vote()
        let_the_lease_run_out()
    assert ended(started(board)) == 0
    assert_whole(board)
    assert published(board) != before


def test_five_processes_at_once_publish_one_board(board):
    pids = [started(board) for _ in range(5)]
    assert [ended(pid) for pid in pids] == [0] * 5
    assert Snapshot.objects.filter(leaderboard=board).count() == 2
    # Whoever asked while the one was at work waits for a look of their own, which finds nothing new.
    do_runs(SnapshotRun.objects.claimable())
    assert not SnapshotRun.objects.open().exists()
    assert Snapshot.objects.filter(leaderboard=board).count() == 2
    assert_whole(board)
