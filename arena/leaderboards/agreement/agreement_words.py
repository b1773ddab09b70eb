"""What agreement means, in words: people's with each other, judges' with people's, judges' with each other.

The same on the page of agreement and in a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.battles.models import Vote
from arena.campaigns.models import Campaign
from arena.leaderboards.agreement.judge_figures import (
    LOW,
    few_prompts,
    has_interval,
    is_a_point,
    level_of,
)
from arena.leaderboards.sentences import list_names, written
from arena.leaderboards.simulated_words import Simulated
from arena.raters.models import Rater

Plain = Mapping[str, Any]


@dataclass(frozen=True)
class Said:
    """level: LOW and MAYBE_LOW as `level_of` has it, or empty."""

    text: str
    level: str = ""


def simulated_votes(campaign: Campaign) -> Simulated:
    """Of the votes that count here, which are those of the boards."""
    made_up = Q(rater__admission=Rater.Admission.SIMULATED)
    if not Vote.objects.filter(made_up, battle__campaign=campaign).exists():
        return Simulated(0, 0)
    counted = Vote.objects.counted(campaign.pk).order_by()
    found = counted.aggregate(votes=Count("pk", filter=made_up), of=Count("pk"))
    return Simulated(**found)


def say_simulated(campaign: Campaign) -> str:
    """Loud where some of the votes compared are made up."""
    return simulated_votes(campaign).say(_("any rater"))


def people_agree(people: Plain) -> dict[str, Any] | None:
    """Their kappa, or alpha where there is no kappa."""
    return (people["two"] or {}).get("kappa") or people["alpha"]


def measure_of(people: Plain) -> str:
    return "κ" if (people["two"] or {}).get("kappa") else "α"


def say_people_differ(simulated: Simulated) -> str:
    """What it may mean that people agree little with each other."""
    meaning = _(
        "Perhaps the guide can be read in more than one way, perhaps tastes differ: read battles on which"
        " people differ before you trust small differences."
    )
    return simulated.say_meaning(meaning, _("the guide"))


def say_agreement(figures: dict[str, Any], simulated: Simulated) -> list[Said]:
    """Of people first, then of judges; of those that nothing could be compared of, what it would take."""
    people, judges, between = figures["people"], figures["judges"], figures.get("between", ())
    compared = [people["two"], *(one["with_people"] for one in judges), *(one["figures"] for one in between)]
    if not any(compared):
        return [Said(_say_nothing(bool(judges)))]
    below = figures["ambiguous_below"]
    found = [_about_people(people, below, simulated)]
    found += _about_judges(judges, below, simulated, level_of(people_agree(people), below))
    found += _about_two_judges(between, below)
    return found


def _say_nothing(has_judges: bool) -> str:
    if has_judges:
        return _(
            "There is nothing to compare: no two people, no person and judge, and no two judges saw the same"
            " two responses. It takes votes or verdicts of two of them on the same pair."
        )
    return _(
        "There is nothing to compare: no two people saw the same two responses. It takes votes of two people"
        " on the same pair."
    )


def _about_people(people: Plain, below: float, simulated: Simulated) -> Said:
    found = people_agree(people)
    if told := one_answer(people):
        return Said(told)
    if found is None:
        return Said(
            _(
                "No two people saw the same responses: how far they agree isn’t known. It takes votes of two"
                " people on the same pair."
            )
        )
    level, limit = level_of(found, below), f"{below:g}"
    words = {"which": measure_of(people), "found": number(found), "below": limit}
    if level == LOW:
        told = _(
            "People agree little with each other: %(which)s is %(found)s, all of its interval below"
            " %(below)s."
        )
        told = f"{told % words} {say_people_differ(simulated)}"
    elif level and (not has_interval(found) or is_a_point(found)):
        told = _(
            "Whether people agree well with each other isn’t settled: %(which)s is %(found)s, of too little"
            " for an interval."
        )
    elif level:
        told = _(
            "Whether people agree well with each other isn’t settled: %(which)s is %(found)s, and could be"
            " above %(below)s or below."
        )
    else:
        told = _("People agree with each other by %(which)s = %(below)s or more: %(which)s is %(found)s.")
    told = told if level == LOW else told % words
    return Said(" ".join(filter(None, (told, _say_rests(few_prompts(people["two"]))))), level)


def _say_rests(few: int) -> str:
    words = ngettext(
        "That rests on %(n)d prompt, which is too few to rely on.",
        "That rests on %(n)d prompts, which are too few to rely on.",
        few,
    )
    return words % {"n": few} if few else ""


def one_answer(people: Plain) -> str:
    """Where κ and α aren't defined because all said the same, which is no sign that nobody was compared."""
    if people_agree(people) is not None or people["two"] is None:
        return ""
    n = int(people["two"]["every"]["n"])
    words = ngettext(
        "In the one pair of verdicts about the same responses both are the same: one answer alone leaves κ"
        " undefined, and how far people agree beyond chance isn’t known.",
        "All %(n)s pairs of verdicts about the same responses are of one and the same answer: that leaves κ"
        " undefined, and how far people agree beyond chance isn’t known.",
        n,
    )
    return words % {"n": f"{n:,}"}


def _about_judges(
    judges: Sequence[Plain], below: float, simulated: Simulated, among_people: str
) -> Iterator[Said]:
    """among_people: the level of people's own agreement, beyond which no judge can go far."""
    unknown = [one["judge"] for one in judges if one["with_people"] is None]
    if unknown:
        told = _(
            "No vote stands on two responses that %(names)s judged: how far it agrees with people isn’t"
            " known. It takes a vote and a verdict on the same pair."
        )
        if len(unknown) > 1:
            told = _(
                "No vote stands on two responses that %(names)s judged: how far they agree with people isn’t"
                " known. It takes a vote and a verdict on the same pair."
            )
        yield Said(told % {"names": list_names(unknown)})
    sorted_ = _by_level(((one["judge"], one["with_people"]) for one in judges), below)
    for level, names in sorted_.items():
        words = {"names": list_names(names), "below": f"{below:g}"}
        if level == LOW:
            told = ngettext(
                "%(names)s agrees little with people: all of the interval of κ lies below %(below)s.",
                "%(names)s agree little with people: all of the interval of each κ lies below %(below)s.",
                len(names),
            )
            meaning = say_cannot_stand_in(len(names), among_people, simulated)
            yield Said(f"{told % words} {meaning}", level)
        else:
            told = ngettext(
                "Whether %(names)s agrees well with people isn’t settled: κ could be above %(below)s or"
                " below.",
                "Whether %(names)s agree well with people isn’t settled: each κ could be above %(below)s or"
                " below.",
                len(names),
            )
            yield Said(told % words, level)


def say_cannot_stand_in(judges: int, among_people: str, simulated: Simulated) -> str:
    """What it means that judges agree little with people; among_people: the level of their own agreement."""
    told = ngettext(
        "It can’t stand in for people here.", "None of them can stand in for people here.", judges
    )
    if among_people == LOW:
        more = _("People agree little with each other too, so that no judge could agree much with them.")
        told = f"{told} {more}"
    return simulated.say_meaning(told, _("judges"))


def _about_two_judges(between: Sequence[Plain], below: float) -> Iterator[Said]:
    named = [(pair_label(found["judges"]), found["figures"]) for found in between]
    for level, names in _by_level(named, below).items():
        words = {"names": list_names(names), "below": f"{below:g}"}
        if level == LOW:
            told = _(
                "Judges agree little with each other, all of the interval of κ below %(below)s: %(names)s."
                " What one judge’s board says may not be what another’s says."
            )
        else:
            told = _(
                "Whether judges agree well with each other isn’t settled, κ could be above %(below)s or"
                " below: %(names)s."
            )
        yield Said(told % words, level)


def pair_label(judges: Sequence[str]) -> str:
    one, other = judges
    return _("%(one)s with %(other)s") % {"one": one, "other": other}


def _by_level(named: Iterable[tuple[str, Plain | None]], below: float) -> dict[str, list[str]]:
    """Those whose κ is low, or may be, each with its κ; the low ones first."""
    found: dict[str, list[str]] = {}
    for name, figures in named:
        kappa = figures["kappa"] if figures else None
        if kappa and (level := level_of(kappa, below)):
            found.setdefault(level, []).append(f"{name} (κ {written(kappa['estimate'], 2)})")
    return dict(sorted(found.items(), key=lambda item: item[0] != LOW))


def number(found: dict[str, Any]) -> str:
    return with_ends(_decimals(found["estimate"]), found, _decimals)


def with_ends(told: str, found: dict[str, Any], say: Callable[[float], str]) -> str:
    """The figure alone where there is no interval, or where both ends stored are the figure itself."""
    if not has_interval(found) or is_a_point(found):
        return told
    # A narrow table breaks the line before the interval, never in it.
    return f"{told} ({say(found['lower'])}\u00a0…\u00a0{say(found['upper'])})"


def _decimals(value: float) -> str:
    return written(value, 2)
