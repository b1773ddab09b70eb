"""Prompts, models and responses of an export, in an order that gives the same numbers when they come back."""

from __future__ import annotations

from arena.corpus.label_models import LabelChange, SpotCheck
from arena.corpus.models import HARD_CRITERIA, PromptSet, Response
from arena.exchange.export_extract import CHUNK, Extract, Rows, prompt_named

STYLE_COUNTS = ("characters", "words", "headings", "list_items", "bold", "code_blocks", "emoji")
_HTML = ("rendered_html", "masked_html", "prompt__rendered_html")


def prompt_sets(extract: Extract) -> Rows:
    for row in extract.sets.order_by("pk"):
        yield {
            "name": row.name,
            "version": row.version,
            "description": row.description,
            "licence": row.licence,
            "internal": row.is_internal,
            "status": row.status,
            "content_hash": "" if _leaves_prompts_behind(extract, row) else row.content_hash,
            "published_at": row.published_at,
        }


def _leaves_prompts_behind(extract: Extract, prompt_set: PromptSet) -> bool:
    """One that the campaign doesn't use any more goes with the prompts of its battles alone."""
    return prompt_set.prompts.exclude(pk__in=extract.prompts.values("pk")).exists()


def prompts(extract: Extract) -> Rows:
    for row in (
        extract.prompts.select_related("prompt_set").defer("rendered_html").order_by("pk").iterator(CHUNK)
    ):
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
            "redacted": row.tombstone is not None,
            "tombstone": row.tombstone,
        }


def label_changes(extract: Extract) -> Rows:
    rows = LabelChange.objects.filter(prompt__in=extract.prompts, at__lte=extract.at)
    related = rows.select_related("prompt__prompt_set").defer("prompt__rendered_html")
    for row in related.order_by("at", "pk").iterator(CHUNK):
        yield prompt_named(row) | {"was": row.was, "source": row.source, "at": row.at}


def spot_checks(extract: Extract) -> Rows:
    rows = SpotCheck.objects.filter(prompt__in=extract.prompts, at__lte=extract.at)
    related = rows.select_related("prompt__prompt_set").defer("prompt__rendered_html")
    for row in related.order_by("at", "pk").iterator(CHUNK):
        yield prompt_named(row) | {"criteria": row.criteria, "at": row.at}


def models(extract: Extract) -> Rows:
    for row in extract.competitors.prefetch_related("renames").order_by("pk"):
        yield {
            "name": row.name,
            "org": row.organisation,
            "family": row.family,
            "licence": row.licence,
            "role": row.role,
            "status": row.status,
            "aliases": row.aliases,
            "system_prompt": row.system_prompt,
            "parameters": row.parameters,
            "renames": [
                {"was": one.was, "became": one.became, "at": one.at.isoformat()}
                for one in row.renames.all()
                if one.at <= extract.at
            ],
        }


def responses(extract: Extract) -> Rows:
    """By model first: models appear in their order."""
    rows = Response.objects.filter(prompt__in=extract.prompts, competitor__in=extract.competitors)
    related = rows.select_related("prompt__prompt_set", "competitor").defer(*_HTML)
    for row in related.order_by("competitor", "prompt", "sample").iterator(CHUNK):
        yield {
            **prompt_named(row),
            "model": row.competitor.name,
            "sample": row.sample,
            "response": row.text,
            "tokens": row.tokens,
            **{name: getattr(row, name) for name in STYLE_COUNTS},
            "finish_reason": row.finish_reason,
            "answering_model": row.answering_model,
            "latency_ms": row.latency_ms,
            "cost_usd": None if row.cost_usd is None else str(row.cost_usd),
            "org": row.competitor.organisation,
            "leak": row.leak,
            "leak_words": row.leak_words,
            "redacted": row.tombstone is not None,
            "tombstone": row.tombstone,
        }
