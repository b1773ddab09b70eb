"""Who met whom on a board, in words: which models are compared through a few others alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.models import Snapshot
from arena.leaderboards.sentences import list_names


def about_meetings(
    snapshot: Snapshot, names: Mapping[int, str], about: Collection[int]
) -> Iterator[tuple[str, str]]:
    """What concerns the page's models; snapshots from before 1 December 2026 don't know. names: as far as
    the page has them.
    """
    told = snapshot.counts.get("meetings")
    if not told:
        return
    wanted = {told["cut"], told["hub"], *told["alone"], *told["through"]} - {None}
    if not wanted <= names.keys():
        standings = snapshot.standings.filter(competitor__in=wanted)
        names = dict(standings.values_list("competitor", "competitor__name"))
    if wanted:
        yield from say_meetings(told, names, about)


def say_meetings(
    told: Mapping[str, Any], names: Mapping[int, str], about: Collection[int]
) -> Iterator[tuple[str, str]]:
    """Codes and sentences; `told` as ratings.meetings has it, by competitors' numbers."""
    cut, hub, two = told["cut"], told["hub"], len(about) > 1
    if cut is not None and not (two and cut in about):
        yield "joined_by_one", _say_cut(names[cut], told["pieces"])
    if told["alone"] and told["through"] != [cut] and _concerns(told, about):
        alone, few = ([names[one] for one in told[who]] for who in ("alone", "through"))
        yield "met_few", _say_alone(alone, few)
    if hub is not None and hub != cut and not (two and hub in about):
        words = ngettext(
            "%(n)d of the other %(all)d model has most of its votes against %(name)s.",
            "%(n)d of the other %(all)d models have most of their votes against %(name)s: they are"
            " compared with each other largely through it.",
            told["others"],
        )
        yield "hub", words % {"n": told["leaning"], "all": told["others"], "name": names[hub]}


def _concerns(told: Mapping[str, Any], about: Collection[int]) -> bool:
    if not about:
        return True
    of_these = set(about) & set(told["alone"])
    further = set(about) - of_these
    return bool(of_these) and not (further and further <= set(told["through"]))


def _say_cut(name: str, pieces: Collection[int]) -> str:
    models, groups = sum(pieces), len(pieces)
    if groups == models:
        told = ngettext(
            "%(n)d model met %(name)s.",
            "%(n)d models met %(name)s and never each other: they are compared through it alone.",
            models,
        )
        return told % {"n": models, "name": name}
    others = ngettext("%(n)d other model", "%(n)d other models", models) % {"n": models}
    told = _(
        "Without %(name)s, %(others)s fall into %(groups)s that never met: between these, models are compared"
        " through %(name)s alone."
    )
    in_groups = ngettext("%(n)d group", "%(n)d groups", groups) % {"n": groups}
    return told % {"name": name, "others": others, "groups": in_groups}


def _say_alone(alone: list[str], through: list[str]) -> str:
    words = {"names": list_names(alone), "few": list_names(through)}
    if len(alone) > 1:
        told = ngettext(
            "%(names)s never met each other: they met only %(few)s, and are compared with any other model"
            " through it alone.",
            "%(names)s never met each other: they met only %(few)s, and are compared with any other model"
            " through these alone.",
            len(through),
        )
    else:
        told = ngettext(
            "%(names)s met only %(few)s, and is compared with any other model through it alone.",
            "%(names)s met only %(few)s, and is compared with any other model through these alone.",
            len(through),
        )
    return told % words
