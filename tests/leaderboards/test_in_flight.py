"""Whatever is being written while a snapshot notes down its cutoff is in it or after it, and replays so."""

import threading
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from arena.battles import ballots, exclusions, seals
from arena.corpus.label_models import LabelChange
from arena.corpus.labels import set_labels
from arena.endpoints.models import Call, Endpoint
from arena.exchange import export_extract
from arena.exchange.exports import NotExportableError, export
from arena.judging import ending
from arena.judging.models import Judge, JudgeCall, JudgeRun, Judgment
from arena.leaderboards.agreement import campaign_agreement
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots, sources
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import is_due
from arena.settled import UnsettledError, settled, stamp

# What other sessions write can be seen only once it is committed.
pytestmark = pytest.mark.django_db(transaction=True)

MOST = 20  # seconds that a side waits for the other before the test fails


@pytest.fixture
def joust(voted_campaign):
    return voted_campaign(votes=200)


@pytest.fixture
def one_more(joust, cast, cast_vote):
    return lambda: cast_vote(joust, joust.prompts[1], "Ember", "Grove", "model_a", cast.alice_rater)


class Writer(threading.Thread):
    """Begins `act` and stops: when it has taken the time, or when all is written and nothing committed."""

    def __init__(self, act, where: str, monkeypatch) -> None:
        super().__init__()
        self.act, self.where, self.error = act, where, None
        self.has_stopped, self.goes_on = threading.Event(), threading.Event()
        if where == "stamped":
            real = timezone.now
            monkeypatch.setattr(timezone, "now", lambda: self._pause_after(real()))

    def _pause_after(self, found):
        if threading.current_thread() is self and connection.in_atomic_block:
            self._pause()
        return found

    def _pause(self) -> None:
        self.has_stopped.set()
        assert self.goes_on.wait(MOST)

    def run(self) -> None:
        try:
            if self.where == "stamped":
                self.act()
            else:
                with transaction.atomic():
                    self.act()
                    self._pause()
        except Exception as error:
            self.error = error
        finally:
            connection.close()


@contextmanager
def during(writer: Writer, meanwhile, monkeypatch):
    """A snapshot meets the stopped writer, who goes on when it waits, or publishes without waiting."""
    known = snapshots.options_for

    def before_the_cutoff(leaderboard):
        writer.start()
        assert writer.has_stopped.wait(MOST)
        if connection.vendor == "postgresql":  # SQLite lets nobody write beside it
            meanwhile()
        return known(leaderboard)

    def watch(execute, sql, params, many, context):
        if "pg_snapshot_xip" in sql or sql.startswith(("BEGIN", 'INSERT INTO "arena_snapshot"')):
            writer.goes_on.set()
        return execute(sql, params, many, context)

    monkeypatch.setattr(snapshots, "options_for", before_the_cutoff)
    try:
        with connection.execute_wrapper(watch):
            yield
    finally:
        monkeypatch.setattr(snapshots, "options_for", known)
        writer.goes_on.set()
        writer.join(MOST)
    assert writer.error is None and not writer.is_alive()


def taken_during(act, where: str, board, meanwhile, monkeypatch):
    with during(Writer(act, where, monkeypatch), meanwhile, monkeypatch):
        run = snapshots.take_snapshot(board)
    assert run.state == SnapshotRun.State.PUBLISHED, run.reason
    return run.snapshot


def assert_replays(snapshot) -> None:
    stored, again = snapshots.replay(snapshot)
    assert snapshots.differences(stored, again) == []
    assert stored.canonical() == again.canonical()


def test_a_vote_on_its_way_with_a_lower_number_is_in(joust, one_more, monkeypatch):
    board = ensure_leaderboards(joust.campaign)[0]
    snapshot = taken_during(one_more, "written", board, one_more, monkeypatch)
    assert_replays(snapshot)
    assert snapshot.counts["votes"] == (202 if connection.vendor == "postgresql" else 201)
    SnapshotRun.objects.update(requested_at=timezone.now() - timedelta(days=1))
    assert not is_due(joust.campaign), "nothing is left for the next board"


@pytest.mark.parametrize("where", ["stamped", "written"])
def test_an_undo_on_its_way(joust, one_more, cast, monkeypatch, where):
    vote = one_more()

    def undo():
        ballots.undo(vote.battle, cast.alice_rater)

    board = ensure_leaderboards(joust.campaign)[0]
    nobody_else = list  # a further vote of Alice's would make hers the last no more
    assert_replays(taken_during(undo, where, board, nobody_else, monkeypatch))


@pytest.mark.parametrize("where", ["stamped", "written"])
def test_an_exclusion_on_its_way(joust, one_more, cast, monkeypatch, where):
    one_more()

    def exclude():
        exclusions.exclude_rater(joust.campaign, cast.alice_rater, cast.carol, "saw the names")

    board = ensure_leaderboards(joust.campaign)[0]
    assert_replays(taken_during(exclude, where, board, one_more, monkeypatch))


@pytest.mark.parametrize("where", ["stamped", "written"])
def test_a_revocation_on_its_way(joust, one_more, cast, monkeypatch, where):
    one_more()
    exclusion = exclusions.exclude_rater(joust.campaign, cast.alice_rater, cast.carol, "saw the names")

    def revoke():
        assert exclusions.revoke(exclusion, cast.carol, "saw none")

    board = ensure_leaderboards(joust.campaign)[0]
    assert_replays(taken_during(revoke, where, board, one_more, monkeypatch))


@pytest.mark.parametrize("where", ["stamped", "written"])
def test_a_label_on_its_way(joust, one_more, monkeypatch, where):
    hard = [prompt for prompt in joust.prompts if prompt.is_hard]

    def relabel():
        set_labels({hard[0].pk: {"is_hard": False}}, source=LabelChange.Source.HAND, by="carol")

    board = ensure_leaderboards(joust.campaign)[1]
    assert_replays(taken_during(relabel, where, board, one_more, monkeypatch))


@pytest.fixture
def judged(joust, cast, make_judge) -> Judgment:
    """Sage has judged most battles; the verdicts on a further one are in, and it is still open."""
    battles = list(joust.campaign.battles.order_by("pk")[:100])
    judge = make_judge(joust, "Sage", dict.fromkeys(battles[1:60], "model_a"))
    make_judge(joust, "Sage", dict.fromkeys(battles[60:], "model_b"), judge)
    return open_judgment(joust, cast, judge, battles[0], ("first", "second"))


def open_judgment(joust, cast, judge: Judge, battle, verdicts) -> Judgment:
    endpoint, _made = Endpoint.objects.get_or_create(
        team=cast.team, name="E", defaults={"base_url": "https://e.invalid/v1"}
    )
    run = JudgeRun.objects.create(campaign=joust.campaign, status=JudgeRun.Status.RUNNING)
    run.judges.add(judge)
    judgment = Judgment.objects.create(run=run, judge=judge, battle=battle)
    for order, verdict in zip(JudgeCall.Order.values, verdicts, strict=True):
        state = Call.State.PARSED if verdict else Call.State.GAVE_UP
        call = Call.objects.create(endpoint=endpoint, key=f"{judgment.pk} {order}", state=state)
        JudgeCall.objects.create(
            judgment=judgment, order=order, call=call, verdict=verdict, failure="" if verdict else "gave_up"
        )
    return judgment


@pytest.mark.parametrize("where", ["stamped", "written"])
@pytest.mark.parametrize("source", ["judge", "combined"])
def test_a_judgment_on_its_way(joust, judged, one_more, monkeypatch, where, source):
    def resolve():
        with transaction.atomic():
            (held,) = ending._judgment_held_back(judgment=judged.pk)
            assert ending.resolve(held)

    ensure_leaderboards(joust.campaign)
    board = Leaderboard.objects.get(source=source, subset="all", style_control=False)
    assert_replays(taken_during(resolve, where, board, one_more, monkeypatch))


def test_numbers_and_time_are_noted_down_before_it_is_asked_what_runs(joust, one_more, monkeypatch):
    """Else what begins between the two is taken for something that came later."""
    seen = []

    def note_down():
        seen.append("noted")

    def watch(execute, sql, params, many, context):
        seen.extend(["asked"] * ("pg_current_xact_id" in sql or sql.startswith("BEGIN")))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        settled(note_down)
    order = ["noted", "asked"] if connection.vendor == "postgresql" else ["asked", "noted"]
    assert seen == order


def test_a_stamp_outside_the_transaction_that_writes_is_refused(db):
    with pytest.raises(transaction.TransactionManagementError, match="belongs in the transaction"):
        stamp()


def test_a_session_that_hangs_is_named_and_not_waited_for_any_longer(joust, one_more, monkeypatch, tmp_path):
    """SQLite has one writer, whose end whoever notes down awaits by the database's own means."""
    writer = Writer(one_more, "written", monkeypatch)
    writer.start()
    assert writer.has_stopped.wait(MOST)
    try:
        if connection.vendor == "postgresql":
            with pytest.raises(UnsettledError, match=r"process \d+ of the database has been writing since"):
                settled(timezone.now, patience=0)
            monkeypatch.setattr(seals, "PATIENCE", 0)
            assert seals.seal_votes() is None
            monkeypatch.setattr(export_extract, "settled", lambda note_down: settled(note_down, patience=0))
            with pytest.raises(NotExportableError, match="export again when it is done"):
                export(joust.campaign, tmp_path / "joust")
    finally:
        writer.goes_on.set()
        writer.join(MOST)
    assert settled(timezone.now, patience=0)
    assert seals.seal_votes().votes == 201


@contextmanager
def written_elsewhere(folder):
    """A transaction open in another database: of the same server, or in another file."""
    postgresql = connection.vendor == "postgresql"
    name = "postgres" if postgresql else str(folder / "elsewhere.sqlite3")
    other = type(connections["default"])({**connection.settings_dict, "NAME": name}, alias="elsewhere")
    try:
        with other.cursor() as cursor:
            for statement in ["BEGIN", "SELECT pg_current_xact_id()"] if postgresql else ["BEGIN IMMEDIATE"]:
                cursor.execute(statement)
            yield
    finally:
        other.close()


def test_nobody_waits_for_what_is_written_in_another_database(joust, tmp_path):
    with written_elsewhere(tmp_path):
        assert settled(timezone.now, patience=0)


def test_a_round_that_waited_in_vain_ends_in_words_and_is_asked_for_again(joust, monkeypatch, caplog):
    asked = []

    def in_vain(leaderboard):
        asked.append(leaderboard)
        raise UnsettledError("process 7 of the database has been writing since noon")

    monkeypatch.setattr(sources, "cutoff_now", in_vain)
    runs = [snapshots.request_snapshot(board) for board in ensure_leaderboards(joust.campaign)]
    SnapshotRun.objects.update(requested_at=timezone.now() - timedelta(days=1))
    snapshots.do_round(runs)
    assert {run.state for run in runs} == {SnapshotRun.State.FAILED}
    assert all("in the middle of writing" in run.reason for run in runs)
    assert len(asked) == 1, "once in vain is enough"
    assert "process 7 of the database" in caplog.text
    assert is_due(joust.campaign)


def test_agreement_is_due_for_a_vote_that_came_late_under_a_lower_number(joust, one_more):
    """Numbers are given before a vote is there, so that the highest says nothing of those below it."""
    late = one_more()
    one_more()
    seen = campaign_agreement.what_is_there(joust.campaign)
    others = joust.campaign.battles.exclude(pk=late.battle_id)
    assert seen["votes"] == others.filter(vote__isnull=False).count() + 1


# --- calls of a judge that failed are asked again later ---------------------------------------------------


@pytest.fixture
def panel(joust, cast, make_judge):
    """Three judges of sixty battles. On some of them Ada fails, alone, or as one of two or of three."""
    battles = list(joust.campaign.battles.order_by("pk")[:64])
    ada = make_judge(joust, "Ada", dict.fromkeys(battles[:30], "model_a"))
    make_judge(joust, "Ada", dict.fromkeys(battles[30:60], "model_b"), ada)
    make_judge(
        joust, "Bea", dict.fromkeys(battles[:20], "model_a") | dict.fromkeys(battles[20:62], "model_b")
    )
    make_judge(joust, "Cid", dict.fromkeys(battles[:10], "tie") | {battles[61]: "model_a"})
    failed = [
        open_judgment(joust, cast, ada, battle, ("first", "")) for battle in (battles[0], *battles[60:])
    ]
    for judgment in failed:
        with transaction.atomic():
            assert ending.resolve(judgment)
    assert {judgment.outcome for judgment in Judgment.objects.filter(run__in=runs_of(failed))} == {
        "no_verdict"
    }
    return failed


def runs_of(judgments) -> list[int]:
    return [judgment.run_id for judgment in judgments]


def ask_again(judgments) -> None:
    for judgment in judgments:
        JudgeRun.objects.filter(pk=judgment.run_id).update(status=JudgeRun.Status.COMPLETED_WITH_FAILURES)
        assert ending.retry_failed(judgment.run) == 1


def answer(judgments) -> None:
    for judgment in judgments:
        Call.objects.filter(judge_call__judgment=judgment).update(state=Call.State.PARSED)
        JudgeCall.objects.filter(judgment=judgment, order="ba").update(verdict="second", failure="")
        with transaction.atomic():
            assert ending.resolve(judgment)
        judgment.refresh_from_db()
        assert judgment.outcome == "model_a"


def test_old_boards_of_judges_replay_when_failed_calls_are_asked_again_and_when_they_are_answered(
    joust, panel
):
    ensure_leaderboards(joust.campaign)
    wanted = Leaderboard.objects.filter(source__in=["judge", "panel", "combined"], subset="all")
    boards = list(wanted.filter(style_control=False).order_by("pk"))
    runs = [snapshots.take_snapshot(board) for board in boards]
    taken = [run.snapshot for run in runs if run.state == SnapshotRun.State.PUBLISHED]
    assert {"judge", "panel"} <= {snapshot.leaderboard.source for snapshot in taken}
    shown = [snapshot for snapshot in taken if snapshot.counts["left_out"].get("no_verdict")]
    assert shown, "a board says what it has no verdict on"
    for change in (ask_again, answer):
        change(panel)
        for snapshot in taken:
            assert_replays(snapshot)
