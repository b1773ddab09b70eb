"""How far raters agree, at the end of a report's result: small differences rest on it."""

from __future__ import annotations

from django.utils.translation import gettext as _

from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.agreement.agreement_views import Line, lines, say_texts
from arena.leaderboards.agreement.agreement_words import say_agreement, say_simulated, simulated_votes
from arena.leaderboards.report.report_draft import Draft, Matter


def lay_out_agreement(matter: Matter, draft: Draft) -> None:
    known = CampaignAgreement.objects.filter(campaign=matter.campaign).first()
    if known is None:
        draft.say(_("How far raters agree isn’t known: nobody has compared two who saw the same responses."))
        return
    figures, below = known.figures, known.figures["ambiguous_below"]
    for one in say_agreement(figures, simulated_votes(matter.campaign)):
        draft.say(one.text)
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
