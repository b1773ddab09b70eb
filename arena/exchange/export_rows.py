"""The rows of an export, table by table, in an order that gives the same numbers when they come back."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Max, Q
from django.utils import timezone

from arena.battles.models import Battle, BattleNote, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import HARD_CRITERIA, Competitor, Prompt, PromptSet, Response
from arena.judging.models import Judge, JudgeCall, JudgeRun, Judgment
from arena.leaderboards.models import Snapshot, Standing
from arena.raters.models import Rater

Rows = Iterator[dict[str, Any]]
CHUNK = 2000
_COUNTS = ("characters", "words", "headings", "list_items", "bold", "code_blocks", "emoji")


def _last(model: Any) -> int:
    return model.objects.aggregate(last=Max("pk"))["last"] or 0


@dataclass
class Extract:
    """One campaign as it was at one moment, though voting goes on: later rows have higher numbers."""

    campaign: Campaign
    at: datetime = field(default_factory=timezone.now)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    last_vote: int = field(default_factory=lambda: _last(Vote))
    last_judgment: int = field(default_factory=lambda: _last(Judgment))
    last_battle: int = field(default_factory=lambda: _last(Battle))

    def pseudonym(self, rater: Any) -> str:
        """The same rater has another name in every export: the key is thrown away."""
        return f"r-{hmac.new(self.key, str(rater).encode(), hashlib.sha256).hexdigest()[:16]}"

    @cached_property
    def battles(self) -> Any:
        return Battle.objects.filter(campaign=self.campaign, pk__lte=self.last_battle)

    @cached_property
    def prompts(self) -> Any:
        used = Q(prompt_set__in=self.campaign.prompt_sets.all()) | Q(pk__in=self.battles.values("prompt"))
        return Prompt.objects.filter(used)

    @cached_property
    def competitors(self) -> Any:
        fought = Q(pk__in=self.battles.values("competitor_a")) | Q(pk__in=self.battles.values("competitor_b"))
        return Competitor.objects.filter(fought | Q(campaigns=self.campaign)).distinct()

    @cached_property
    def votes(self) -> Any:
        return Vote.objects.filter(battle__in=self.battles, pk__lte=self.last_vote)

    @cached_property
    def judgments(self) -> Any:
        """Of runs of this campaign, both orders in."""
        rows = Judgment.objects.filter(run__campaign=self.campaign, pk__lte=self.last_judgment)
        return rows.exclude(outcome="").filter(resolved_at__lte=self.at)

    @cached_property
    def sets(self) -> Any:
        return PromptSet.objects.filter(pk__in=self.prompts.values("prompt_set"))

    def rows(self, table: str) -> Rows:
        return _ROWS[table](self)


def _prompt(row: Any) -> dict[str, Any]:
    """The columns that name the prompt of a battle or of a response."""
    prompt = row.prompt
    if prompt is None:
        return {"prompt_set": None, "set_version": None, "prompt_id": None}
    name, version = prompt.prompt_set.name, prompt.prompt_set.version
    return {"prompt_set": name, "set_version": version, "prompt_id": prompt.external_id}


def _sides(battle: Battle) -> dict[str, Any]:
    return {"model_a": battle.competitor_a.name, "model_b": battle.competitor_b.name}


def _prompt_sets(extract: Extract) -> Rows:
    for row in extract.sets.order_by("pk"):
        yield {
            "name": row.name,
            "version": row.version,
            "description": row.description,
            "licence": row.licence,
            "internal": row.is_internal,
            "status": row.status,
            "content_hash": row.content_hash,
        }


def _prompts(extract: Extract) -> Rows:
    for row in extract.prompts.select_related("prompt_set").order_by("pk").iterator(CHUNK):
        yield {
            "prompt_set": row.prompt_set.name,
            "set_version": row.prompt_set.version,
            "id": row.external_id,
            "messages": row.messages,
            "category": row.category,
            "language": row.language,
            "tags": row.tags,
            "reference": row.reference,
            "hard": row.is_hard,
            **{name: getattr(row, name) for name in HARD_CRITERIA},
        }


def _models(extract: Extract) -> Rows:
    for row in extract.competitors.order_by("pk"):
        yield {
            "name": row.name,
            "org": row.organisation,
            "family": row.family,
            "licence": row.licence,
            "role": row.role,
            "status": row.status,
            "aliases": row.aliases,
        }


def _responses(extract: Extract) -> Rows:
    """By model first: models appear in their order."""
    rows = Response.objects.filter(prompt__in=extract.prompts, competitor__in=extract.competitors)
    related = rows.select_related("prompt__prompt_set", "competitor").defer("rendered_html")
    for row in related.order_by("competitor", "prompt", "sample").iterator(CHUNK):
        yield {
            **_prompt(row),
            "model": row.competitor.name,
            "sample": row.sample,
            "response": row.text,
            "tokens": row.tokens,
            **{name: getattr(row, name) for name in _COUNTS},
            "finish_reason": row.finish_reason,
            "latency_ms": row.latency_ms,
            "cost_usd": None if row.cost_usd is None else str(row.cost_usd),
            "org": row.competitor.organisation,
        }


def _raters(extract: Extract) -> Rows:
    used = Q(pk__in=extract.battles.values("rater")) | Q(pk__in=extract.votes.values("rater"))
    for row in Rater.objects.filter(used).order_by("pk"):
        yield {
            "rater": extract.pseudonym(row.public_id),
            "admission": row.admission,
            "languages": row.languages,
        }


def _guides(extract: Extract) -> Rows:
    for row in extract.campaign.guides.order_by("version"):
        yield {"version": row.version, "text": row.text, "sha256": row.sha256}


def _battles(extract: Extract) -> Rows:
    related = (
        "prompt__prompt_set",
        "competitor_a",
        "competitor_b",
        "response_a",
        "response_b",
        "rater",
        "replaces",
        "origin",
    )
    unread = (
        "response_a__text",
        "response_a__rendered_html",
        "response_b__text",
        "response_b__rendered_html",
    )
    rows = extract.battles.select_related(*related).defer(*unread, "prompt__rendered_html")
    for row in rows.order_by("pk").iterator(CHUNK):
        origin = getattr(row, "origin", None)
        yield {
            "battle_id": str(row.public_id),
            "kind": row.kind,
            **_prompt(row),
            **_sides(row),
            "sample_a": row.response_a.sample if row.response_a else None,
            "sample_b": row.response_b.sample if row.response_b else None,
            "rater": extract.pseudonym(row.rater.public_id) if row.rater else None,
            "propensity": row.propensity,
            "replaces": str(row.replaces.public_id) if row.replaces else None,
            "drawn_at": row.drawn_at,
            "expires_at": row.expires_at,
            "format": origin.format if origin else None,
            "label": origin.label if origin else None,
            "turns": origin.turns if origin else None,
        }


def _votes(extract: Extract) -> Rows:
    related = ("battle__prompt__prompt_set", "battle__competitor_a", "battle__competitor_b")
    rows = extract.votes.select_related(*related, "rater", "guide", "retraction")
    for row in rows.defer("battle__prompt__rendered_html").order_by("battle", "pk").iterator(CHUNK):
        retraction = getattr(row, "retraction", None)
        is_back = retraction is not None and retraction.at <= extract.at
        yield {
            "vote_id": str(row.battle.public_id),
            "kind": row.battle.kind,
            **_prompt(row.battle),
            **_sides(row.battle),
            "winner": row.outcome,
            "rater": extract.pseudonym(row.rater.public_id),
            "voted_at": row.voted_at,
            "dwell_ms": row.dwell_ms,
            "layout": row.layout,
            "guide_version": row.guide.version if row.guide else None,
            "retracted_at": retraction.at if is_back and retraction else None,
            "digest": row.digest,
        }


def _notes(extract: Extract) -> Rows:
    rows = BattleNote.objects.filter(battle__in=extract.battles, at__lte=extract.at)
    for row in rows.select_related("battle", "rater").order_by("battle", "pk").iterator(CHUNK):
        yield {
            "battle_id": str(row.battle.public_id),
            "rater": extract.pseudonym(row.rater.public_id),
            "kind": row.kind,
            "text": row.text,
            "at": row.at,
        }


def _judges(extract: Extract) -> Rows:
    judges = Judge.objects.filter(pk__in=extract.judgments.values("judge"))
    for row in judges.select_related("endpoint", "rubric").order_by("pk"):
        rubric = row.rubric
        yield {
            "name": row.name,
            "family": row.family,
            "asked_model": row.endpoint.model_id if row.endpoint else None,
            "parameters": row.parameters,
            "rubric": str(rubric) if rubric else None,
            "rubric_sha256": rubric.sha256 if rubric else None,
            "instructions": rubric.instructions if rubric else None,
            "criteria": rubric.criteria if rubric else None,
        }


def _runs(extract: Extract) -> dict[int, int]:
    runs = JudgeRun.objects.filter(campaign=extract.campaign).order_by("pk").values_list("pk", flat=True)
    return {pk: number for number, pk in enumerate(runs, start=1)}


def _judgment_id(battle: Any, run: int, judge: int, replicate: int) -> str:
    plain = f"{battle}/{run}/{judge}/{replicate}"
    return f"j-{hashlib.sha256(plain.encode()).hexdigest()[:32]}"


def _judgments(extract: Extract) -> Rows:
    related = ("battle__prompt__prompt_set", "battle__competitor_a", "battle__competitor_b", "judge")
    runs = _runs(extract)
    rows = extract.judgments.select_related(*related).defer("battle__prompt__rendered_html")
    for row in rows.order_by("pk").iterator(CHUNK):
        yield {
            "vote_id": _judgment_id(row.battle.public_id, row.run_id, row.judge_id, row.replicate),
            "battle_id": str(row.battle.public_id),
            **_prompt(row.battle),
            **_sides(row.battle),
            "winner": row.outcome,
            "base_outcome": row.base_outcome,
            "flip": row.flip,
            "source": "judge",
            "rater": row.judge.name,
            "run": runs[row.run_id],
            "replicate": row.replicate,
            "voted_at": row.resolved_at,
        }


def _judge_calls(extract: Extract) -> Rows:
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
            "attempts": [_attempt(attempt) for attempt in row.call.attempts.all()],
        }


def _attempt(attempt: Any) -> dict[str, Any]:
    names = ("number", "raw_reply", "http_status", "error_kind", "error_text", "tokens_in", "tokens_out")
    told = {name: getattr(attempt, name) for name in (*names, "latency_ms", "answering_model")}
    cost = None if attempt.cost_usd is None else str(attempt.cost_usd)
    return told | {"cost_usd": cost, "started_at": attempt.started_at.isoformat()}


def _snapshots(extract: Extract) -> Rows:
    rows = Snapshot.objects.filter(leaderboard__campaign=extract.campaign, taken_at__lte=extract.at)
    for row in rows.select_related("leaderboard__judge").order_by("pk"):
        board = row.leaderboard
        copied = ("cutoff", "taken_at", "counts", "options", "coefficients", "warnings")
        yield {
            "snapshot": row.pk,
            "leaderboard": board.slug,
            "name": board.name,
            "subset": board.subset,
            "source": board.source,
            "judge": board.judge.name if board.judge else None,
            "style_control": board.style_control,
            **{name: getattr(row, name) for name in copied},
            "vote_digest": row.vote_digest,
            "code_version": row.code_version,
            "seed": row.seed,
        }


def _standings(extract: Extract) -> Rows:
    taken = Snapshot.objects.filter(leaderboard__campaign=extract.campaign, taken_at__lte=extract.at)
    copied = ("rating", "lower", "upper", "rank_lower", "rank_upper", "tied_first", "component")
    counted = ("battles", "wins", "losses", "ties", "flags")
    rows = Standing.objects.filter(snapshot__in=taken).select_related("competitor")
    for row in rows.order_by("snapshot", "pk").iterator(CHUNK):
        told = {name: getattr(row, name) for name in (*copied, *counted)}
        yield {"snapshot": row.snapshot_id, "model": row.competitor.name} | told


_ROWS: dict[str, Callable[[Extract], Rows]] = {
    "prompt_sets": _prompt_sets,
    "prompts": _prompts,
    "models": _models,
    "responses": _responses,
    "raters": _raters,
    "guides": _guides,
    "battles": _battles,
    "votes": _votes,
    "notes": _notes,
    "judges": _judges,
    "judgments": _judgments,
    "judge_calls": _judge_calls,
    "snapshots": _snapshots,
    "standings": _standings,
}
