"""How far raters agree, at the end of a report's result: small differences rest on it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.agreement.agreement_views import (
    Line,
    lines,
    one_answer,
    people_agree,
    say_simulated,
    say_texts,
)
from arena.leaderboards.agreement.judge_figures import LOW, few_prompts, level_of
from arena.leaderboards.report.report_draft import Draft, Matter


def say_agreement(matter: Matter, draft: Draft) -> None:
    known = CampaignAgreement.objects.filter(campaign=matter.campaign).first()
    if known is None:
        draft.say(_("How far raters agree isn’t known: nobody has compared two who saw the same responses."))
        return
    figures, below = known.figures, known.figures["ambiguous_below"]
    draft.say(_about_people(figures["people"], below))
    draft.say(say_simulated(matter.campaign))
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


def _about_people(people: dict[str, Any], below: float) -> str:
    """A warning where their kappa, or alpha without one, is low or may be; the interval tells which."""
    found = people_agree(people)
    words = {"below": f"{below:g}"}
    if told := one_answer(people):
        return told
    if found is None:
        return _("No two people saw the same responses: how far they agree isn’t known.")
    level = level_of(found, below)
    if level == LOW:
        told = _(
            "To be careful about: people agree with each other by less than κ = %(below)s, so that the guide"
            " can be read in more than one way. Small differences rest on that reading."
        )
    elif level:
        told = _("To be careful about: it isn’t settled that people agree by κ = %(below)s or more.")
    else:
        told = _("People agree with each other by κ = %(below)s or more.")
    few = few_prompts(people["two"])
    rests = ngettext(
        "That rests on %(n)d prompt, which is too few to rely on.",
        "That rests on %(n)d prompts, which are too few to rely on.",
        few,
    )
    return " ".join([told % words, rests % {"n": few}] if few else [told % words])
