"""A part of a campaign's votes: by its prompts' category, language and set, and by days. What one may say,
and how it reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt

LABELS = ("category", "language", "prompt_set")
DAYS = ("first_day", "last_day")
KEYS = (*LABELS, *DAYS)
LAST_DAY = date(9998, 12, 31)  # whose next day is a day too
SOURCES = ("raters", "judge")

Part = Mapping[str, Any]


class BadPartError(ValueError):
    """A part that no board can be of: what is wrong with it, and what there is."""


def check_part(part: Part, campaign: Campaign, source: str) -> None:
    """Of an empty part, which is all votes, there is nothing to say."""
    if not isinstance(part, Mapping):
        raise BadPartError(f"a board's part is an object with keys among {', '.join(KEYS)}, not {part!r}")
    unknown = sorted(set(part) - set(KEYS))
    if unknown:
        raise BadPartError(f"a board's part has no {', '.join(unknown)}; there are: {', '.join(KEYS)}")
    if part and source not in SOURCES:
        raise BadPartError(f"a board of a part is of people or of one judge, not of {source!r}")
    _check_labels(part, campaign)
    first, last = (_day(part, name) for name in DAYS)
    if first and last and last < first:
        raise BadPartError(f"the last day, {last}, lies before the first, {first}")


def _check_labels(part: Part, campaign: Campaign) -> None:
    prompts = prompts_of(campaign)
    for name in ("category", "language"):
        if name in part and not (part[name] and isinstance(part[name], str)):
            raise BadPartError(f"{name} is a word, not {part[name]!r}; leave it out for all")
        if name in part and not prompts.filter(**{name: part[name]}).exists():
            raise BadPartError(f"no prompt of {campaign.slug} has the {name} {part[name]!r}")
    if "prompt_set" in part:
        wanted = part["prompt_set"]
        if type(wanted) is not int or not campaign.prompt_sets.filter(pk=wanted).exists():
            raise BadPartError(f"{campaign.slug} has no prompt set {wanted!r}")


def prompts_of(campaign: Campaign) -> Any:
    return Prompt.objects.filter(prompt_set__campaigns=campaign)


def _day(part: Part, name: str) -> date | None:
    if name not in part:
        return None
    try:
        day = date.fromisoformat(part[name])
    except (TypeError, ValueError):
        day = None
    if day is None or day.isoformat() != part[name]:
        raise BadPartError(f"{name} is a day like 2026-11-30, not {part[name]!r}")
    if day > LAST_DAY:
        raise BadPartError(f"{name} is a day up to {LAST_DAY}, not {day}")
    return day


def moments_of(part: Part) -> tuple[datetime | None, datetime | None]:
    """From when, and before when, in UTC."""
    first, last = (_day(part, name) for name in DAYS)
    start = datetime.combine(first, time(), UTC) if first else None
    end = datetime.combine(last, time(), UTC) + timedelta(days=1) if last else None
    return start, end


def key_of(part: Part) -> str:
    """The same part, the same few characters."""
    return hashlib.sha256(json.dumps(dict(part), sort_keys=True).encode()).hexdigest()[:10]


def say_part(part: Part, campaign: Campaign, judged: bool = False) -> str:
    """ "Coding prompts in English, votes from 1 Nov 2026 to 7 Nov 2026"."""
    category = part.get("category", "")
    words = [_("%(category)s prompts") % {"category": category} if category else _("prompts")]
    if "language" in part:
        words.append(_("in %(language)s") % {"language": say_language(part["language"])})
    if "prompt_set" in part:
        found = campaign.prompt_sets.filter(pk=part["prompt_set"]).first()
        words.append(_("of “%(prompt_set)s”") % {"prompt_set": found or part["prompt_set"]})
    about = " ".join(words if len(part.keys() & set(LABELS)) else [_("all prompts")])
    said = ", ".join(filter(None, (about, _say_days(part, judged))))
    return said[0].upper() + said[1:]


def _say_days(part: Part, judged: bool) -> str:
    first, last = (day and day.isoformat() for day in (_day(part, name) for name in DAYS))
    days = {"what": _("judgments") if judged else _("votes"), "first": first, "last": last}
    if first and first == last:
        return _("%(what)s of %(first)s") % days
    if first and last:
        return _("%(what)s from %(first)s to %(last)s") % days
    if first:
        return _("%(what)s since %(first)s") % days
    return _("%(what)s until %(last)s") % days if last else ""


def say_language(language: str) -> str:
    """A code by the name of its language; what is none, as it was brought."""
    try:
        return str(get_language_info(language)["name"])
    except KeyError:
        return language


def told_elsewhere(part: Part, campaign: Campaign) -> dict[str, Any]:
    """For a file: a prompt set by its name and version, for its number says nothing in another place."""
    told = dict(part)
    if "prompt_set" in told:
        told["prompt_set"] = str(campaign.prompt_sets.filter(pk=told["prompt_set"]).first() or "")
    return told
