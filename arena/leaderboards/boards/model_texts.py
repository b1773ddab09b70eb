"""How a model writes beside the others of its campaign, and how often its texts say who wrote them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Avg, Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Response
from arena.leaderboards.boards.duels import NONE

FEATURES = {
    "characters": gettext_lazy("characters"),
    "words": gettext_lazy("words"),
    "headings": gettext_lazy("headings"),
    "list_items": gettext_lazy("list items"),
    "bold": gettext_lazy("bold passages"),
    "code_blocks": gettext_lazy("code blocks"),
    "emoji": gettext_lazy("emoji"),
}
STYLE = {"feature": "text", "mean": "number", "others": "number", "ratio": "number"}
LEAKS = (Response.Leak.FOUND, Response.Leak.DISMISSED, Response.Leak.UNCHECKED)


@dataclass(frozen=True)
class StyleLine:
    """A feature: its mean in a response of the model, in one of the others, and the one over the other."""

    name: str
    mean: str
    others: str
    ratio: str
    values: tuple[str, float, float | None, float | None]


@dataclass(frozen=True)
class Texts:
    """Of the model's responses to the campaign's prompts, empty ones apart: their style, how many they are,
    and how many say who wrote them, don't after all, or weren't looked at yet."""

    style: list[StyleLine]
    responses: int
    found: int
    dismissed: int
    unchecked: int


def texts_of(campaign: Campaign, competitor: Competitor) -> Texts | None:
    """None where the model has no text here. One pass over the campaign's responses."""
    mine = Q(competitor=competitor)
    responses = Response.objects.filter(
        prompt__prompt_set__in=campaign.prompt_sets.values("pk"),
        competitor__in=campaign.competitors.values("pk"),
        is_blank=False,
    )
    leaks = {kind.value: Count("pk", filter=mine & Q(leak=kind)) for kind in LEAKS}
    means = {f"mean_{name}": Avg(name, filter=mine) for name in FEATURES}
    others = {f"others_{name}": Avg(name, filter=~mine) for name in FEATURES}
    found = responses.aggregate(responses=Count("pk", filter=mine), **leaks, **means, **others)
    if not found["responses"]:
        return None
    lines = [
        _line(name, str(title), found[f"mean_{name}"], found[f"others_{name}"])
        for name, title in FEATURES.items()
    ]
    return Texts(lines, found["responses"], *(found[kind.value] for kind in LEAKS))


def _line(feature: str, name: str, mean: float, others: float | None) -> StyleLine:
    ratio = mean / others if others else None
    told = (
        f"{ratio:.2f}" if ratio is not None else _("no others") if others is None else _("others have none")
    )
    said = (f"{mean:,.1f}", NONE if others is None else f"{others:,.1f}", told)
    return StyleLine(name, *said, (feature, mean, others, ratio))
