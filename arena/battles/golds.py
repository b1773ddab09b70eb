"""Golds come in by a form or a file. Two models of the team, which never fight, hold their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.battles.gold_models import Gold
from arena.campaigns.models import Campaign
from arena.corpus.models import GOLD_HOLDERS, Competitor, Prompt, PromptSet, Response
from arena.corpus.names import name_key
from arena.corpus.render import RENDERER_VERSION, render
from arena.corpus.style_counts import count_style
from arena.raters.access import User

COLUMNS = ("prompt_id", "first", "second", "expected", "kind")
LONGEST = 100_000  # characters


class NotGoldError(Exception):
    """args[0]: list of what is wrong, in words; nothing was stored."""


@dataclass(frozen=True)
class Row:
    prompt: Prompt
    first: str
    second: str
    expected: str
    kind: str


def add(campaign: Campaign, rows: Iterable[Row], actor: User | None) -> list[Gold]:
    """All or nothing."""
    with transaction.atomic():
        holders = [_holder(campaign, name) for name in GOLD_HOLDERS]
        # The team's golds are added one after the other: their texts are numbered, and none comes twice.
        held = Competitor.objects.filter(pk__in=[holder.pk for holder in holders]).order_by("pk")
        list(held.select_for_update(no_key=True).values_list("pk"))
        golds: list[Gold] = []
        for row in rows:
            _refuse_known(campaign, row)
            golds += Gold.objects.bulk_create([_gold(campaign, row, holders, actor)])
        return golds


def _refuse_known(campaign: Campaign, row: Row) -> None:
    same = Gold.objects.in_use().filter(campaign=campaign, prompt=row.prompt, expected=row.expected)
    hashes = {"response_a__text_hash": text_hash(row.first), "response_b__text_hash": text_hash(row.second)}
    if same.filter(kind=row.kind, **hashes).exists():
        words = _("Prompt %(id)s has this gold already: the same texts, with the same expected.")
        raise NotGoldError([words % {"id": row.prompt.external_id}])


def _holder(campaign: Campaign, name: str) -> Competitor:
    """Retired from the start, so that no campaign draws it for a battle of its own."""
    found, _is_new = Competitor.objects.get_or_create(
        team_id=campaign.team_id,
        name_key=name_key(name),
        defaults={
            "name": name,
            "role": Competitor.Role.SENTINEL,
            "status": Competitor.Status.RETIRED,
        },
    )
    if found.role != Competitor.Role.SENTINEL:
        raise NotGoldError([_("A model of the team is called “%(name)s”: rename it first.") % {"name": name}])
    return found


def _gold(campaign: Campaign, row: Row, holders: list[Competitor], actor: User | None) -> Gold:
    first, second = (
        _response(row.prompt, holder, text)
        for holder, text in zip(holders, (row.first, row.second), strict=True)
    )
    return Gold(
        campaign=campaign,
        prompt=row.prompt,
        response_a=first,
        response_b=second,
        expected=row.expected,
        kind=row.kind,
        created_by_id=actor.pk if actor else None,
    )


def _response(prompt: Prompt, holder: Competitor, text: str) -> Response:
    held = Response.objects.filter(prompt=prompt, competitor=holder).aggregate(last=Max("sample"))["last"]
    return Response.objects.create(
        prompt=prompt,
        competitor=holder,
        sample=(held or 0) + 1,
        text=text,
        text_hash=text_hash(text),
        rendered_html=render(text),
        renderer_version=RENDERER_VERSION,
        leak=Response.Leak.DISMISSED,  # its writer is no model
        **asdict(count_style(text)),
    )


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def retire(gold: Gold) -> bool:
    """False when it has gone out of use already."""
    return bool(Gold.objects.in_use().filter(pk=gold.pk).update(retired_at=timezone.now()))


def of_campaign(campaign: Campaign) -> QuerySet[Gold]:
    """With how many raters have voted on each, and how many of them as expected."""
    voted = Q(battles__vote__isnull=False, battles__vote__retraction=None)
    same_way = Q(battles__response_a=F("response_a"))
    straight = same_way & Q(battles__vote__outcome=F("expected"))
    swapped = ~same_way & (
        Q(expected__in=["tie", "both_bad"], battles__vote__outcome=F("expected"))
        | Q(expected="model_a", battles__vote__outcome="model_b")
        | Q(expected="model_b", battles__vote__outcome="model_a")
    )
    return (
        Gold.objects.filter(campaign=campaign)
        .with_texts()
        .annotate(
            votes=Count("battles", filter=voted), passed=Count("battles", filter=voted & (straight | swapped))
        )
        .order_by("retired_at", "-pk")
    )


# --- row by row --------------------------------------------------------------------------------------------


def prompts_of(campaign: Campaign) -> QuerySet[Prompt]:
    sets = campaign.prompt_sets.filter(status=PromptSet.Status.PUBLISHED)
    return Prompt.objects.filter(prompt_set__in=sets, tombstone__isnull=True)


def read_row(campaign: Campaign, given: dict[str, Any], wrong: list[str], where: str = "") -> Row | None:
    """One row of words; what is wrong with it goes into `wrong`."""
    text = {name: str(given.get(name) or "") for name in COLUMNS}
    before = len(wrong)
    found = list(prompts_of(campaign).filter(external_id=text["prompt_id"])[:2])
    if len(found) != 1:
        words = _("prompt_id “%(id)s” is in %(n)s of the campaign's published prompt sets; it must be in one")
        many = _("none") if not found else _("several")
        wrong.append(where + words % {"id": text["prompt_id"], "n": many})
    for name in ("first", "second"):
        if not text[name].strip() or len(text[name]) > LONGEST:
            wrong.append(where + _("%(name)s is empty or too long") % {"name": name})
    if text["first"] == text["second"]:
        wrong.append(where + _("the two texts are the same"))
    expected, kind = text["expected"].strip(), text["kind"].strip() or Gold.Kind.QUALITY
    for name, value, choices in (("expected", expected, Gold.Expected), ("kind", kind, Gold.Kind)):
        if value not in choices.values:
            words = _("%(name)s is “%(value)s”; use one of %(all)s")
            wrong.append(where + words % {"name": name, "value": value, "all": ", ".join(choices.values)})
    return None if len(wrong) > before else Row(found[0], text["first"], text["second"], expected, kind)
