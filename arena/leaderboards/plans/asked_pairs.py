"""The pairs of models that a plan's question is about: written one a line, checked, and said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.corpus.names import name_key
from arena.leaderboards.plans.analysis_plan import AnalysisPlan

SEPARATOR = " / "
NAMED = 3
"""Pairs named in a clause; of more their number is told."""
MOST_OFFERED = 30
LONGEST_LINE = 2 * (Competitor._meta.get_field("name").max_length or 0) + len(SEPARATOR)
MOST_ERRORS = 20
Pair = dict[str, Any]


def written_of(pairs: Sequence[Pair]) -> str:
    """As `read_pairs` reads it."""
    return "\n".join(f"{pair['a']}{SEPARATOR}{pair['b']}" for pair in pairs)


def read_pairs(text: str, campaign: Campaign) -> list[Pair]:
    """One pair a line, "A / B". Raises ValidationError that names what no active model of the campaign is."""
    models = {one.name_key: one for one in _active(campaign)}
    errors: list[str] = []
    pairs: dict[frozenset[int], Pair] = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        try:
            a, b = _split(line, models, campaign)
        except ValidationError as error:
            errors += error.messages
            if len(errors) >= MOST_ERRORS:
                break
            continue
        two = frozenset((a.pk, b.pk))
        if two in pairs:
            errors.append(_("“%(line)s” is there twice, in one order or the other.") % {"line": line})
        pairs[two] = {"a": a.name, "b": b.name, "ids": [a.pk, b.pk]}
    if errors:
        raise ValidationError(errors)
    return list(pairs.values())


def say_choice(campaign: Campaign) -> str:
    """Which names a line may hold; empty where these are none, or too many to read."""
    names = [one.name for one in _active(campaign)]
    if not 0 < len(names) <= MOST_OFFERED:
        return ""
    return " " + _("Models: %(names)s.") % {"names": _(", ").join(names)}


def _active(campaign: Campaign) -> Iterator[Competitor]:
    return campaign.competitors.filter(status=Competitor.Status.ACTIVE).order_by("name").iterator()


def _split(line: str, models: Mapping[str, Competitor], campaign: Campaign) -> tuple[Competitor, Competitor]:
    """A name may hold the separator itself: of all ways to part the line the one that gives two models."""
    if len(line) > LONGEST_LINE:
        words = _("A line of %(n)s characters is longer than two names can be: “%(begins)s…”.")
        raise ValidationError(words % {"n": f"{len(line):,}", "begins": line[:60]})
    parts = line.split(SEPARATOR)
    if len(parts) < 2:
        words = _("“%(line)s”: a pair is two models with a slash between spaces, “A / B”.")
        raise ValidationError(words % {"line": line})
    ways = [(SEPARATOR.join(parts[:at]), SEPARATOR.join(parts[at:])) for at in range(1, len(parts))]
    found = [
        (a, b) for a, b in ((models.get(name_key(a)), models.get(name_key(b))) for a, b in ways) if a and b
    ]
    if len(found) > 1:
        words = _("“%(line)s” can be read as %(one)s and as %(other)s: rename a model, so that it can’t.")
        one, other = (_("%(a)s and %(b)s") % {"a": a.name, "b": b.name} for a, b in found[:2])
        raise ValidationError(words % {"line": line, "one": one, "other": other})
    if found:
        a, b = found[0]
        if a == b:
            raise ValidationError(_("“%(name)s” is no pair with itself.") % {"name": a.name})
        return a, b
    # Said of the way in which most is known, which is what was meant.
    known = [sum(name_key(name) in models for name in way) for way in ways]
    unknown = [name for name in ways[known.index(max(known))] if name_key(name) not in models]
    raise ValidationError([_say_unknown(name.strip(), campaign) for name in unknown])


def _say_unknown(name: str, campaign: Campaign) -> str:
    of_team = Competitor.objects.filter(team=campaign.team_id, name_key=name_key(name)).first()
    if of_team is None:
        return _("“%(name)s” is no model of this team.") % {"name": name}
    if not campaign.competitors.filter(pk=of_team.pk).exists():
        return _("“%(name)s” takes no part in this campaign.") % {"name": of_team.name}
    words = _("“%(name)s” is %(status)s, and gets no more battles.")
    return words % {"name": of_team.name, "status": of_team.get_status_display().lower()}


def say_pairs(pairs: Sequence[Pair]) -> str:
    """All of them, for a plan's own page."""
    told = [_("%(a)s and %(b)s") % {"a": pair["a"], "b": pair["b"]} for pair in pairs]
    return "; ".join(told) or _("all pairs")


def say_asked(pairs: Sequence[Pair]) -> str:
    """As a clause, of a plan that names them: which they are, or how many."""
    if len(pairs) <= NAMED:
        return _("whose question is about %(pairs)s alone") % {"pairs": say_pairs(pairs)}
    words = ngettext(
        "whose question is about %(n)s pair of models alone",
        "whose question is about %(n)s pairs of models alone",
        len(pairs),
    )
    return words % {"n": f"{len(pairs):,}"}


def say_changed(plan: AnalysisPlan) -> list[str]:
    """Sentences about models that the plan names, and that aren't what or where they were since."""
    now = Competitor.objects.in_bulk({pk for pair in plan.pairs for pk in pair["ids"]})
    names = {
        name: pk for pair in plan.pairs for name, pk in zip((pair["a"], pair["b"]), pair["ids"], strict=True)
    }
    part = set(plan.campaign.competitors.values_list("pk", flat=True))
    return [told for name, pk in names.items() for told in _say_changed(name, now.get(pk), part)]


def _say_changed(name: str, model: Competitor | None, part: set[int]) -> Iterator[str]:
    if model is None:
        yield _("%(name)s was removed since.") % {"name": name}
        return
    if model.name != name:
        yield _("%(name)s is called %(now)s since.") % {"name": name, "now": model.name}
    if model.status != Competitor.Status.ACTIVE:
        words = _("%(name)s was %(status)s since: it gets no more battles.")
        yield words % {"name": model.name, "status": model.get_status_display().lower()}
    elif model.pk not in part:
        yield _("%(name)s was taken out of the campaign since: it gets no more battles.") % {
            "name": model.name
        }
