"""A run's judgments again from its recorded replies, without network: same replies, same judgments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena.endpoints import ledger
from arena.endpoints.models import Call, CallAttempt
from arena.judging import ending
from arena.judging.asking import read_attempt, rubric_text
from arena.judging.models import JudgeCall, JudgeRun, Judgment
from arena.judging.verdict import Verdict, VerdictFailure

CHUNK = 200
# A call in another state ended without a reply that was read to its end.
READ = (Call.State.PARSED, Call.State.PARSE_FAILED, Call.State.REFUSED, Call.State.TRUNCATED)


@dataclass(frozen=True)
class Difference:
    judgment: int
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
    resolved = run.judgments.exclude(outcome="").order_by("pk")
    judgments = resolved.select_related("run", "judge__rubric", "battle__response_a", "battle__response_b")
    judgments = judgments.prefetch_related("judge_calls__call__attempts")
    count = replies = silent = 0
    differences: list[Difference] = []
    for judgment in judgments.iterator(chunk_size=CHUNK):
        calls = list(judgment.judge_calls.all())
        read = {call.order: _read(judgment, call) for call in calls}
        count += 1
        replies += sum(found is not None for found in read.values())
        silent += sum(found is None for found in read.values())
        differences += _differences(judgment, calls, read)
    return Replay(count, replies, silent, run.judgments.filter(outcome="").count(), tuple(differences))


def _read(judgment: Judgment, judge_call: JudgeCall) -> Verdict | VerdictFailure | None:
    """The reply that ended the call; None when it ended with none, or with an error of the server's."""
    reply = last_reply(judge_call.call)
    rubric = judgment.judge.rubric
    if rubric is None:
        raise ValueError(f"judge {judgment.judge.name} was asked and has no rubric; give it back")
    return None if reply is None else read_attempt(reply, rubric_text(rubric))


def last_reply(call: Call) -> CallAttempt | None:
    if call.state not in READ:
        return None
    attempts = sorted(call.attempts.all(), key=lambda attempt: attempt.number)
    counted = attempts[len(attempts) - call.attempt_count :]
    ended = [a for a in counted if a.finished_at and a.error_kind != ledger.LOST]
    return ended[-1] if ended and not ended[-1].error_kind else None


def _differences(
    judgment: Judgment, calls: list[JudgeCall], read: dict[str, Verdict | VerdictFailure | None]
) -> Iterator[Difference]:
    for call in calls:
        found = read[call.order]
        if found is not None:
            again = _told(found)
            stored = (call.verdict, call.scores, call.reason, call.failure)
            names = ("verdict", "scores", "reason", "failure")
            for name, before, after in zip(names, stored, again, strict=True):
                if before != after:
                    yield Difference(judgment.pk, f"{name} in order {call.order}", str(before), str(after))
    sides = {order: found.winner if isinstance(found, Verdict) else None for order, found in read.items()}
    resolution = ending.resolution_of(judgment, sides[JudgeCall.Order.AB], sides[JudgeCall.Order.BA])
    for name in ("outcome", "base_outcome", "flip"):
        if getattr(judgment, name) != getattr(resolution, name):
            yield Difference(judgment.pk, name, getattr(judgment, name), getattr(resolution, name))


def _told(found: Verdict | VerdictFailure) -> tuple[str, dict, str, str]:
    if isinstance(found, Verdict):
        return found.winner, ending.scores_of(found), found.reason, ""
    return "", {}, "", ending.failure_of(found)
