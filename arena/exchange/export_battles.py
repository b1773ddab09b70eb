"""Battles of an export, who fought them out, and what was said and decided about them."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from arena.battles.models import BattleNote, Vote
from arena.battles.seal_models import Seal
from arena.exchange.export_extract import CHUNK, Extract, Rows, prompt_named, sides
from arena.raters.models import Rater


def raters(extract: Extract) -> Rows:
    used = Q(pk__in=extract.battles.values("rater")) | Q(pk__in=extract.votes.values("rater"))
    used |= Q(pk__in=extract.exclusions.filter(rater__isnull=False).values("rater"))
    for row in Rater.objects.filter(used).order_by("pk"):
        yield {
            "rater": extract.pseudonym(row.public_id),
            "admission": row.admission,
            "languages": row.languages,
            "active": row.is_active,
        }


def guides(extract: Extract) -> Rows:
    for row in extract.campaign.guides.order_by("version"):
        copied = ("version", "text", "sha256", "created_at")
        yield {name: getattr(row, name) for name in copied}


def golds(extract: Extract) -> Rows:
    related = ("prompt__prompt_set", "response_a__competitor", "response_b__competitor")
    for row in extract.golds.select_related(*related).order_by("pk"):
        yield {
            "gold": row.pk,
            **prompt_named(row),
            "model_a": row.response_a.competitor.name,
            "sample_a": row.response_a.sample,
            "model_b": row.response_b.competitor.name,
            "sample_b": row.response_b.sample,
            "expected": row.expected,
            "kind": row.kind,
            "retired_at": row.retired_at,
        }


def battles(extract: Extract) -> Rows:
    related = (
        "prompt__prompt_set",
        "competitor_a",
        "competitor_b",
        "response_a",
        "response_b",
        "rater",
        "replaces",
        "repeat_of",
        "origin",
    )
    unread = (
        "response_a__text",
        "response_a__rendered_html",
        "response_a__masked_html",
        "response_b__text",
        "response_b__rendered_html",
        "response_b__masked_html",
    )
    rows = extract.battles.select_related(*related).defer(*unread, "prompt__rendered_html")
    for row in rows.order_by("pk").iterator(CHUNK):
        origin = getattr(row, "origin", None)
        yield {
            "battle_id": str(row.public_id),
            "kind": row.kind,
            **prompt_named(row),
            **sides(row),
            "sample_a": row.response_a.sample if row.response_a else None,
            "sample_b": row.response_b.sample if row.response_b else None,
            "rater": extract.pseudonym(row.rater.public_id) if row.rater else None,
            "propensity": row.propensity,
            "replaces": str(row.replaces.public_id) if row.replaces else None,
            "repeat_of": str(row.repeat_of.public_id) if row.repeat_of else None,
            "gold": row.gold_id,
            "drawn_at": row.drawn_at,
            "expires_at": row.expires_at,
            "format": origin.format if origin else None,
            "label": origin.label if origin else None,
            "turns": origin.turns if origin else None,
        }


def votes(extract: Extract) -> Rows:
    related = ("battle__prompt__prompt_set", "battle__competitor_a", "battle__competitor_b")
    rows = extract.votes.select_related(*related, "rater", "guide", "retraction")
    rules = Rules(extract)
    for row in rows.defer("battle__prompt__rendered_html").order_by("battle", "pk").iterator(CHUNK):
        retraction = getattr(row, "retraction", None)
        is_back = retraction is not None and retraction.at <= extract.at
        yield {
            "vote_id": str(row.battle.public_id),
            "kind": row.battle.kind,
            **prompt_named(row.battle),
            "prompt_text": extract.text_of(row.battle.prompt),
            **sides(row.battle),
            "winner": row.outcome,
            "rater": extract.pseudonym(row.rater.public_id),
            "voted_at": row.voted_at,
            "dwell_ms": row.dwell_ms,
            "layout": row.layout,
            "guide_version": row.guide.version if row.guide else None,
            "retracted_at": retraction.at if is_back and retraction else None,
            "excluded": rules.of(row),
            "digest": row.digest,
            "number": row.pk,
        }


def seals(extract: Extract) -> Rows:
    """Those that hold a vote of the campaign."""
    held = extract.votes.filter(pk__gte=OuterRef("first_vote"), pk__lte=OuterRef("last_vote"))
    rows = Seal.objects.filter(Exists(held), at__lte=extract.at).select_related("previous")
    for row in rows.order_by("pk").iterator(CHUNK):
        copied = ("first_vote", "last_vote", "votes", "sha256", "at")
        before = row.previous.sha256 if row.previous else ""
        told = {name: getattr(row, name) for name in copied}
        yield {"seal": row.pk, "previous_sha256": before} | told


class Rules:
    """By which rules votes are left out as the export is written."""

    def __init__(self, extract: Extract) -> None:
        self.of_vote: dict[int, set[str]] = {}
        self.of_rater: dict[int, set[str]] = {}
        for row in extract.exclusions.in_force(extract.at):
            known, key = (self.of_vote, row.vote_id) if row.vote_id else (self.of_rater, row.rater_id)
            known.setdefault(key, set()).add(row.rule)

    def of(self, vote: Vote) -> str:
        both = self.of_vote.get(vote.pk, set()) | self.of_rater.get(vote.rater_id, set())
        return " ".join(sorted(both))


def exclusions(extract: Extract) -> Rows:
    for row in extract.exclusions.select_related("vote__battle", "rater").order_by("pk"):
        is_over = row.revoked_at is not None and row.revoked_at <= extract.at
        yield {
            "vote_id": str(row.vote.battle.public_id) if row.vote else None,
            "rater": extract.pseudonym(row.rater.public_id) if row.rater else None,
            "rule": row.rule,
            "rule_version": row.rule_version,
            "reason": row.reason,
            "decided_by": "rule" if row.actor_id is None else "person",
            "since": row.since,
            "revoked_at": row.revoked_at if is_over else None,
            "revoked_because": row.revoked_because if is_over else "",
        }


def notes(extract: Extract) -> Rows:
    rows = BattleNote.objects.filter(battle__in=extract.battles, at__lte=extract.at)
    for row in rows.select_related("battle", "rater").order_by("battle", "pk").iterator(CHUNK):
        yield {
            "battle_id": str(row.battle.public_id),
            "rater": extract.pseudonym(row.rater.public_id),
            "kind": row.kind,
            "text": row.text,
            "at": row.at,
        }
