"""How calls, judgments and runs come to their end.

Locks are taken in the order endpoint, run, judgment, call; the last of a judgment's two calls resolves it.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from arena.broken_off import done_again
from arena.compiled import Compiled, CompiledUpdate
from arena.corpus.quotations import REDACTED
from arena.endpoints import ledger
from arena.endpoints.models import Call
from arena.endpoints.run_asking import FAILURE_LENGTH
from arena.judging import swap
from arena.judging.errands import Errand
from arena.judging.models import JudgeCall, JudgeRun, Judgment, Probe
from arena.judging.verdict import Score, Verdict, VerdictFailure
from arena.settled import stamp

# Why a call failed that fails again: its text is gone, or isn't the one its other order was asked with.
TEXT_GONE, TEXT_CHANGED = FOR_GOOD = ("redacted", "text_changed")
LEAKING = "leaking"  # its campaign leaves such responses out; an admin may find that it is no leak


@done_again
def close(
    claim: ledger.Claim, state: str, *, found: Verdict | Score | None = None, failure: str = ""
) -> None:
    """End a claimed call with what was read, or with what became of it instead, and resolve its judgment."""
    row = _row_of(claim)
    if isinstance(row, Probe):
        _close_probe(row, claim, state, found, failure)
        return
    with transaction.atomic():
        (judgment,) = _judgment_held_back(judgment=row.judgment_id)
        if not ledger.settle(claim, state):
            return
        columns = _columns(found, failure)
        if not _write_judge_call_with_texts(columns, pk=row.pk):
            _write_judge_call(_unquoted(columns), pk=row.pk)
        is_resolved = resolve(judgment)
    if is_resolved:
        finish(judgment.run_id)


def _row_of(claim: ledger.Claim) -> JudgeCall | Probe:
    if claim.prepared:
        errand: Errand = claim.prepared.about
        return errand.row
    judge_call = JudgeCall.objects.filter(call=claim.call_id).only("judgment").first()
    return judge_call or Probe.objects.get(call=claim.call_id)


@Compiled
def _judgment_held_back(judgment: int) -> QuerySet[Judgment]:
    rows = Judgment.objects.filter(pk=judgment).select_related("run").select_for_update(of=("self",))
    return rows.only("battle", "run__verbosity_rule")


@CompiledUpdate
def _write_judge_call(pk: int) -> QuerySet[JudgeCall]:
    return JudgeCall.objects.filter(pk=pk)


@CompiledUpdate
def _write_judge_call_with_texts(pk: int) -> QuerySet[JudgeCall]:
    """None while a text that the reason may quote is gone."""
    return JudgeCall.objects.filter(
        pk=pk,
        judgment__battle__prompt__tombstone__isnull=True,
        judgment__battle__response_a__tombstone__isnull=True,
        judgment__battle__response_b__tombstone__isnull=True,
    )


def _unquoted(columns: dict[str, Any]) -> dict[str, Any]:
    return columns | ({"reason": REDACTED} if columns.get("reason") else {})


@CompiledUpdate
def _write_judgment(pk: int) -> QuerySet[Judgment]:
    return Judgment.objects.filter(pk=pk)


def _close_probe(
    probe: Probe, claim: ledger.Claim, state: str, found: Verdict | Score | None, failure: str
) -> None:
    with transaction.atomic():
        if not ledger.settle(claim, state):
            return
        columns, rows = _columns(found, failure), Probe.objects.filter(pk=probe.pk)
        whole = rows.filter(response__tombstone__isnull=True, response__prompt__tombstone__isnull=True)
        if not whole.update(**columns):
            rows.update(**_unquoted(columns))
    finish(probe.run_id)


def _columns(found: Verdict | Score | None, failure: str) -> dict[str, Any]:
    """Of a call's row, what its end writes."""
    columns: dict[str, Any] = {"failure": failure[:FAILURE_LENGTH]}
    if found:
        columns |= {"verdict": verdict_of(found), "reason": found.reason, "scores": scores_of(found)}
    return columns


def verdict_of(found: Verdict | Score) -> str:
    """As it's stored; a score has none."""
    return found.winner if isinstance(found, Verdict) else ""


def scores_of(found: Verdict | Score) -> dict[str, Any]:
    """As they're stored."""
    if isinstance(found, Score):
        return dict(found.scores)
    return {"first": dict(found.scores_first), "second": dict(found.scores_second)}


def failure_of(found: VerdictFailure) -> str:
    """As it's stored with the call."""
    return (f"{found.kind}:{found.detail}" if found.detail else found.kind)[:FAILURE_LENGTH]


def run_of(call_id: int) -> JudgeRun:
    of_battle = JudgeRun.objects.filter(judgments__judge_calls__call=call_id).first()
    return of_battle or JudgeRun.objects.get(probes__call=call_id)


def end_unsent(errand: Errand, call: Call, state: str, failure: str) -> None:
    """Within a transaction."""
    row, short = errand.row, failure[:FAILURE_LENGTH]
    if isinstance(row, Probe):
        if ledger.end(call, state):
            Probe.objects.filter(pk=row.pk).update(failure=short)
        return
    (judgment,) = _judgment_held_back(judgment=row.judgment_id)
    if ledger.end(call, state):
        JudgeCall.objects.filter(pk=row.pk).update(failure=short)
        resolve(judgment)


def resolve(judgment: Judgment) -> bool:
    """Within a transaction that holds the judgment's row, so that the later of two calls sees the earlier.

    False while a call is open.
    """
    calls = _both_orders(judgment=judgment.pk)
    if any(state in Call.OPEN for _, _, state in calls):
        return False
    verdicts = {order: verdict or None for order, verdict, _ in calls}
    resolution = resolution_of(judgment, verdicts[JudgeCall.Order.AB], verdicts[JudgeCall.Order.BA])
    columns = {
        "outcome": resolution.outcome,
        "base_outcome": resolution.base_outcome,
        "flip": resolution.flip,
        "leaning": resolution.leaning,
        "resolved_at": timezone.now(),  # the judgment's row is held, so that settled() waits for it
    }
    _write_judgment(columns, pk=judgment.pk)
    return True


@Compiled
def _both_orders(judgment: int) -> QuerySet[JudgeCall, tuple[str, str, str]]:
    return JudgeCall.objects.filter(judgment=judgment).values_list("order", "verdict", "call__state")


def resolution_of(judgment: Judgment, ab: str | None, ba: str | None) -> swap.Resolution:
    """What these verdicts of both orders come to under the rules of the judgment's run."""
    resolution = swap.resolve(ab, ba)
    return _about_length(judgment, resolution) if judgment.run.verbosity_rule else resolution


def _about_length(judgment: Judgment, resolution: swap.Resolution) -> swap.Resolution:
    a, b = judgment.battle.response_a, judgment.battle.response_b
    if a is None or b is None:
        raise ValueError(
            f"judgment {judgment.pk} is of a battle without texts, whose length can't be compared"
        )
    return swap.apply_verbosity_rule(resolution, a.characters, b.characters)


def finish(run_id: int) -> bool:
    """A run is complete when everything is resolved; with a failed call it is complete with failures."""
    if _unfinished(run=run_id):
        return False
    run = JudgeRun.objects.filter(pk=run_id, status__in=JudgeRun.OPEN).first()
    return run is not None and run.complete(with_failures=rows_of(run).exclude(failure="").exists())


@Compiled
def _unfinished(run: int) -> QuerySet[JudgeRun]:
    """The run, while a judgment of it lacks its outcome or a probe its end: asked at every judgment's end."""
    open_probe = Probe.objects.filter(run=OuterRef("pk"), call__state__in=Call.OPEN)
    open_judgment = Judgment.objects.filter(run=OuterRef("pk"), outcome="")
    return JudgeRun.objects.filter(Exists(open_judgment) | Exists(open_probe), pk=run).only("pk")


def rows_of(run: JudgeRun) -> QuerySet[Any]:
    """What its calls are about: judge calls, or probes."""
    if run.is_probing:
        return Probe.objects.filter(run=run)
    return JudgeCall.objects.filter(judgment__run=run)


@done_again
def cancel(run: JudgeRun) -> bool:
    """No new call goes out; judgments that lack an order stay without a verdict."""
    with transaction.atomic():
        if not run.cancel():
            return False
        end_waiting(run, Call.State.CANCELLED)
    return True


@done_again
@transaction.atomic
def end_waiting(run: JudgeRun, state: str, abandoned: bool = False) -> None:
    """End the run's waiting calls, `abandoned` ones too, and the judgments that can't be decided any more."""
    _hold_undecided_back(run)
    for chunk in run.end_waiting(state, abandoned):
        rows_of(run).filter(call__in=chunk).update(failure=state)
    _without_verdict(run)


def _hold_undecided_back(run: JudgeRun) -> None:
    """Before their calls, and each after the one before it: whoever ends a call holds its judgment."""
    rows = Judgment.objects.select_for_update().filter(run=run, outcome="").order_by("pk")
    list(rows.values_list("pk", flat=True))


def _without_verdict(run: JudgeRun) -> None:
    calls = JudgeCall.objects.filter(judgment=OuterRef("pk"))
    decided: QuerySet[Judgment] = Judgment.objects.filter(
        Exists(calls.filter(call__state__in=Call.FAILED)),
        ~Exists(calls.filter(call__state__in=Call.OPEN)),
        run=run,
        outcome="",
    )
    none = Judgment.Outcome.NO_VERDICT
    decided.update(outcome=none, base_outcome=none, flip=Judgment.Flip.NONE, resolved_at=stamp())


def retriable(run: JudgeRun) -> QuerySet:
    """Failed calls that may fare better: not those whose texts are gone or changed."""
    return rows_of(run).filter(call__state__in=Call.FAILED).exclude(failure__in=FOR_GOOD)


@done_again
def retry_failed(run: JudgeRun) -> int:
    """Plan the failed calls of a run anew; how many."""
    with transaction.atomic():
        failed = Call.objects.filter(pk__in=retriable(run).values("call"))
        if not failed.exists() or not run.take_up_again():
            return 0
        Judgment.objects.filter(judge_calls__call__in=failed).update(
            outcome="", base_outcome="", flip="", leaning="", resolved_at=None
        )
        chunks = run.plan_again(failed)
        for chunk in chunks:
            rows_of(run).filter(call__in=chunk).update(failure="")
    return sum(map(len, chunks))
