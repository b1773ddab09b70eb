"""A run's judgments again from its recorded replies, without network: same replies, same judgments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena.corpus.quotations import REDACTED
from arena.endpoints import ledger
from arena.endpoints.models import Call, CallAttempt
from arena.judging import ending
from arena.judging.asking import read_attempt
from arena.judging.errands import Errand
from arena.judging.models import JudgeCall, JudgeRun, Judgment, Probe
from arena.judging.verdict import Score, Verdict, VerdictFailure

Reading = Verdict | Score | VerdictFailure | None

CHUNK = 200
# A call in another state ended without a reply that was read to its end.
READ = (Call.State.PARSED, Call.State.PARSE_FAILED, Call.State.REFUSED, Call.State.TRUNCATED)


@dataclass(frozen=True)
class Difference:
    """`where`: the judgment or probe, with its number."""

    where: str
    what: str
    stored: str
    again: str


@dataclass(frozen=True)
class Replay:
    """`replies` were read; `without_reply` calls ended before one came and stand as they are."""

    judgments: int
    replies: int
    without_reply: int
    unresolved: int
    differences: tuple[Difference, ...]


def replay(run: JudgeRun) -> Replay:
    """Reads and resolves everything anew, and writes nothing; ValueError for a run recorded elsewhere."""
    if run.kind == JudgeRun.Kind.RECORDED:
        raise ValueError(f"run {run.pk} was recorded elsewhere: there are judgments and no replies")
    return _replay_probes(run) if run.is_probing else _replay_judgments(run)


def _replay_judgments(run: JudgeRun) -> Replay:
    resolved = run.judgments.exclude(outcome="").order_by("pk")
    judgments = resolved.select_related("run", "battle__response_a", "battle__response_b")
    judgments = judgments.prefetch_related(
        "judge_calls__call__attempts", "judge_calls__judgment__judge__rubric"
    )
    count = replies = silent = 0
    differences: list[Difference] = []
    for judgment in judgments.iterator(chunk_size=CHUNK):
        calls = list(judgment.judge_calls.all())
        read = {call.order: _read(call) for call in calls}
        count += 1
        replies += sum(found is not None for found in read.values())
        silent += sum(found is None for found in read.values())
        differences += _differences(judgment, calls, read)
    return Replay(count, replies, silent, run.judgments.filter(outcome="").count(), tuple(differences))


def _replay_probes(run: JudgeRun) -> Replay:
    count = replies = silent = unfinished = 0
    differences: list[Difference] = []
    probes = Probe.objects.with_all().filter(run=run).order_by("pk")
    for probe in probes.prefetch_related("call__attempts").iterator(chunk_size=CHUNK):
        if probe.call.state in Call.OPEN:
            unfinished += 1
            continue
        found = _read(probe)
        count, replies, silent = count + 1, replies + (found is not None), silent + (found is None)
        differences += _row_differences(f"probe {probe.pk}", "", probe, found)
    return Replay(count, replies, silent, unfinished, tuple(differences))


def _read(row: JudgeCall | Probe) -> Reading:
    """The reply that ended the call; None when it ended with none, or with an error of the server's."""
    reply = last_reply(row.call)
    return None if reply is None else read_attempt(reply, Errand(row).rubric)


def last_reply(call: Call) -> CallAttempt | None:
    if call.state not in READ:
        return None
    attempts = sorted(call.attempts.all(), key=lambda attempt: attempt.number)
    counted = attempts[len(attempts) - call.attempt_count :]
    ended = [a for a in counted if a.finished_at and a.error_kind != ledger.LOST]
    return ended[-1] if ended and not ended[-1].error_kind else None


def _differences(
    judgment: Judgment, calls: list[JudgeCall], read: dict[str, Reading]
) -> Iterator[Difference]:
    where = f"judgment {judgment.pk}"
    for call in calls:
        yield from _row_differences(where, f" in order {call.order}", call, read[call.order])
    sides = {order: found.winner if isinstance(found, Verdict) else None for order, found in read.items()}
    resolution = ending.resolution_of(judgment, sides[JudgeCall.Order.AB], sides[JudgeCall.Order.BA])
    for name in ("outcome", "base_outcome", "flip", "leaning"):
        if getattr(judgment, name) != getattr(resolution, name):
            yield Difference(where, name, getattr(judgment, name), getattr(resolution, name))


def _row_differences(where: str, suffix: str, row: JudgeCall | Probe, found: Reading) -> Iterator[Difference]:
    if found is None:
        return
    stored = (row.verdict, row.scores, row.reason, row.failure)
    names = ("verdict", "scores", "reason", "failure")
    for name, before, after in zip(names, stored, _told(found), strict=True):
        if before != after and not (name == "reason" and REDACTED in f"{before}{after}"):
            yield Difference(where, f"{name}{suffix}", str(before), str(after))


def _told(found: Verdict | Score | VerdictFailure) -> tuple[str, dict, str, str]:
    if isinstance(found, VerdictFailure):
        return "", {}, "", ending.failure_of(found)
    return ending.verdict_of(found), ending.scores_of(found), found.reason, ""
