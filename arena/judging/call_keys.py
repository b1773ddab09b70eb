"""The key of each call: over all that decides what is sent, the texts as they were shown at that time."""

from __future__ import annotations

from dataclasses import replace

from arena.endpoints.models import Call, Endpoint
from arena.judging.errands import Errand, rubric_text
from arena.judging.models import Judge, JudgeCall, Probe
from arena.judging.prompting import Case, call_key, canonical_content
from arena.judging.swap import ORDERS


def key_of_battle(
    judge: Judge, endpoint: Endpoint, run: int, battle: int, replicate: int, order: str, case: Case
) -> str:
    # The battle is in: two battles of one pair of equal texts are asked apart.
    scope = f"judge run {run}, judge {judge.pk}, battle {battle}"
    return _key(judge, endpoint, scope, order, replicate, case)


def key_of_probe(judge: Judge, endpoint: Endpoint, probe: Probe, case: Case) -> str:
    what = f"response {probe.response_id}" if probe.response_id else f"canary {probe.canary}"
    scope = f"judge run {probe.run_id}, judge {judge.pk}, {what}"
    return _key(judge, endpoint, scope, probe.order or ORDERS[0], probe.replicate, case)


def _key(judge: Judge, endpoint: Endpoint, scope: str, order: str, replicate: int, case: Case) -> str:
    assert judge.rubric  # noqa: S101
    return call_key(
        scope=scope,
        base_url=endpoint.base_url,
        model=endpoint.model_id,
        parameters={**endpoint.parameters, **judge.parameters, "max_tokens": endpoint.max_tokens},
        content=canonical_content(rubric_text(judge.rubric), case),
        order=order,
        replicate=replicate,
    )


def renew(errand: Errand, call: Call, case: Case) -> bool:
    """Key the call anew if it isn't what was planned: a leak was found or dismissed, an endpoint changed.

    False where its other order was sent with other texts: two orders of different texts decide nothing.
    Within the claim, which holds the run back, so that no two workers renew one judgment.
    """
    row = errand.row
    if isinstance(row, Probe):
        _rename(call, key_of_probe(errand.judge, call.endpoint, row, case))
        return True
    key = _key_in(row, call.endpoint, row.order, case)
    if key == call.key:
        return True
    other = (
        JudgeCall.objects.select_related("call").filter(judgment=row.judgment_id).exclude(pk=row.pk).first()
    )
    if other and _was_sent_otherwise(other.call, case):
        return False
    _rename(call, key)
    if other and other.call.state in Call.WAITING and case.second is not None:
        swapped = replace(case, first=case.second, second=case.first)
        _rename(other.call, _key_in(row, call.endpoint, other.order, swapped))
    return True


def _key_in(row: JudgeCall, endpoint: Endpoint, order: str, case: Case) -> str:
    judgment = row.judgment
    return key_of_battle(
        judgment.judge, endpoint, judgment.run_id, judgment.battle_id, judgment.replicate, order, case
    )


def _rename(call: Call, key: str) -> None:
    if call.key != key:
        Call.objects.filter(pk=call.pk).update(key=key)


def _was_sent_otherwise(call: Call, case: Case) -> bool:
    """On its way, or read, with another text than this one."""
    if call.state not in (Call.State.CLAIMED, Call.State.PARSED):
        return False
    attempt = call.attempts.order_by("-number").first()
    if attempt is None:
        return False
    sent = "\n".join(message["content"] for message in attempt.request["messages"])
    return any(text not in sent for text in case.texts)
