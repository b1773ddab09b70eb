"""How far raters agree, at the end of a report's result: small differences rest on it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.agreement.agreement_views import (
    Line,
    lines,
    measure_of,
    people_agree,
    say_people,
    say_simulated,
    say_texts,
)
from arena.leaderboards.agreement.judge_figures import few_prompts
from arena.leaderboards.report.report_draft import Draft, Matter


def say_agreement(matter: Matter, draft: Draft) -> None:
    known = CampaignAgreement.objects.filter(campaign=matter.campaign).first()
    if known is None:
        draft.say(_("How far raters agree isn’t known: nobody has compared two who saw the same responses."))
        return
    figures, below = known.figures, known.figures["ambiguous_below"]
    simulated = say_simulated(matter.campaign)
    draft.say(_about_people(figures["people"], below, is_simulated=bool(simulated)))
    draft.say(simulated)
    draft.say(say_texts(figures))
    found = list(lines(figures, below))
    draft.lay_out(
        [_("Who with whom"), _("Pairs of verdicts"), _("Agree"), _("κ"), _("Krippendorff’s α")],
        [[_label(line), line.n, line.every, line.kappa, line.alpha] for line in found],
        _("Agreement"),
        file="report-agreement",
        values=[line.values for line in found],
    )


def _label(line: Line) -> str:
    return f"{line.label} ({line.few})" if line.few else line.label


def _about_people(people: dict[str, Any], below: float, *, is_simulated: bool) -> str:
    """What the page on agreement says where it is low or may be; here also that it isn't."""
    said = say_people(people, below, is_simulated=is_simulated)
    if people_agree(people) is None:
        return said or _("No two people saw the same responses: how far they agree isn’t known.")
    if not said:
        told = _("People agree with each other by %(which)s = %(below)s or more.")
        said = told % {"which": measure_of(people), "below": f"{below:g}"}
    few = few_prompts(people["two"])
    rests = ngettext(
        "That rests on %(n)d prompt, which is too few to rely on.",
        "That rests on %(n)d prompts, which are too few to rely on.",
        few,
    )
    return f"{said} {rests % {'n': few}}" if few else said
