"""Judges of an export, their findings, and every reply as it came."""

from __future__ import annotations

import hashlib
from typing import Any

from arena.exchange.export_extract import CHUNK, Extract, Rows, prompt_named, sides
from arena.judging.models import Judge, JudgeCall, JudgeRun

# Copied as they are, out and back.
RUN = (
    "kind",
    "status",
    "status_reason",
    "seed",
    "family_policy",
    "own_family_pairs",
    "verbosity_rule",
    "max_calls",
    "created_at",
    "started_at",
    "finished_at",
)
_ATTEMPT = (
    "number",
    "raw_reply",
    "finish_reason",
    "http_status",
    "error_kind",
    "error_text",
    "tokens_in",
    "tokens_out",
    "latency_ms",
    "answering_model",
    "system_fingerprint",
)


def judges(extract: Extract) -> Rows:
    judges = Judge.objects.filter(pk__in=extract.judgments.values("judge"))
    models: dict[str, int] = {}
    for row in judges.select_related("endpoint", "rubric").order_by("pk"):
        rubric = row.rubric
        yield {
            "name": row.name,
            "family": row.family,
            "model": models.setdefault(row.voice, len(models) + 1),
            "asked_model": row.endpoint.model_id if row.endpoint else None,
            "parameters": row.parameters,
            "rubric": str(rubric) if rubric else None,
            "rubric_name": rubric.name if rubric else None,
            "rubric_version": rubric.version if rubric else None,
            "rubric_sha256": rubric.sha256 if rubric else None,
            "mode": rubric.mode if rubric else None,
            "instructions": rubric.instructions if rubric else None,
            "criteria": rubric.criteria if rubric else None,
        }


def runs_numbered(extract: Extract) -> dict[int, int]:
    runs = JudgeRun.objects.filter(campaign=extract.campaign).order_by("pk").values_list("pk", flat=True)
    return {pk: number for number, pk in enumerate(runs, start=1)}


def _judgment_id(battle: Any, run: int, judge: int, replicate: int) -> str:
    plain = f"{battle}/{run}/{judge}/{replicate}"
    return f"j-{hashlib.sha256(plain.encode()).hexdigest()[:32]}"


def judge_runs(extract: Extract) -> Rows:
    runs = runs_numbered(extract)
    for row in JudgeRun.objects.filter(pk__in=runs).prefetch_related("judges").order_by("pk"):
        yield {
            "run": runs[row.pk],
            "judges": [judge.name for judge in sorted(row.judges.all(), key=lambda judge: judge.pk)],
            "budget_usd": None if row.budget_usd is None else str(row.budget_usd),
            **{name: getattr(row, name) for name in RUN},
        }


def judgments(extract: Extract) -> Rows:
    related = ("battle__prompt__prompt_set", "battle__competitor_a", "battle__competitor_b", "judge")
    runs = runs_numbered(extract)
    rows = extract.judgments.select_related(*related).defer("battle__prompt__rendered_html")
    for row in rows.order_by("pk").iterator(CHUNK):
        yield {
            "vote_id": _judgment_id(row.battle.public_id, row.run_id, row.judge_id, row.replicate),
            "battle_id": str(row.battle.public_id),
            **prompt_named(row.battle),
            "prompt_text": extract.text_of(row.battle.prompt),
            **sides(row.battle),
            "winner": row.outcome,
            "base_outcome": row.base_outcome,
            "flip": row.flip,
            "leaning": row.leaning,
            "source": "judge",
            "rater": row.judge.name,
            "run": runs[row.run_id],
            "replicate": row.replicate,
            "voted_at": row.resolved_at,
        }


def judge_calls(extract: Extract) -> Rows:
    rows = JudgeCall.objects.filter(judgment__in=extract.judgments)
    related = rows.select_related("judgment__battle", "call").prefetch_related("call__attempts")
    for row in related.order_by("judgment", "order").iterator(CHUNK):
        of = row.judgment
        yield {
            "vote_id": _judgment_id(of.battle.public_id, of.run_id, of.judge_id, of.replicate),
            "order": row.order,
            "state": row.call.state,
            "verdict": row.verdict,
            "scores": row.scores,
            "reason": row.reason,
            "failure": row.failure,
            "attempts": [attempt_told(attempt) for attempt in row.call.attempts.all()],
        }


def attempt_told(attempt: Any) -> dict[str, Any]:
    told = {name: getattr(attempt, name) for name in _ATTEMPT}
    cost = None if attempt.cost_usd is None else str(attempt.cost_usd)
    return told | {"cost_usd": cost, "started_at": attempt.started_at.isoformat()}
