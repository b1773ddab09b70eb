"""Versions of a guide: how many votes each was cast under, and what changed between two."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count

from arena.campaigns.models import Campaign, Guide


@dataclass(frozen=True)
class Version:
    guide: Guide
    votes: int
    before: int | None


@dataclass(frozen=True)
class Line:
    """`kind` is same, added, taken or skipped: some lines that didn't change aren't shown."""

    kind: str
    text: str


def versions(campaign: Campaign) -> list[Version]:
    """The newest first."""
    cast = campaign.battles.filter(vote__guide__isnull=False).order_by().values_list("vote__guide")
    votes = dict(cast.annotate(count=Count("pk")))
    guides = list(campaign.guides.order_by("-version"))
    before = [guide.version for guide in guides[1:]] + [None]
    return [
        Version(guide, votes.get(guide.pk, 0), earlier) for guide, earlier in zip(guides, before, strict=True)
    ]


def changes(old: str, new: str) -> list[Line]:
    """The changed lines with two of what stands around them."""
    return list(_lines(old.splitlines(), new.splitlines()))


def _lines(old: list[str], new: list[str]) -> Iterator[Line]:
    groups = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_grouped_opcodes(2)
    reached = 0
    for group in groups:
        if group[0][1] > reached:
            yield Line("skipped", "")
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                yield from (Line("same", text) for text in old[a1:a2])
            else:
                yield from (Line("taken", text) for text in old[a1:a2])
                yield from (Line("added", text) for text in new[b1:b2])
        reached = group[-1][2]
    if reached and reached < len(old):
        yield Line("skipped", "")
