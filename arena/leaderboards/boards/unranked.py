"""Why models have no rank: it needn't be the number of their votes."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from arena.leaderboards.models import Standing


def say_none_ranked(group: Sequence[Standing]) -> str:
    """Of models that can be compared, none of which has a rank: a clause."""
    if all(_has_few_votes(standing) for standing in group):
        return _("no model has enough votes to be ranked")
    if not any(standing.wins or standing.losses for standing in group):
        return _("no vote tells the models apart: all are ties, and none is ranked")
    return _("no model can be ranked: the votes leave open how sure a rating is, for they hardly ever differ")


def why_unranked(standing: Standing) -> str:
    """With the model's name to fill in."""
    if _has_few_votes(standing):
        return _("%(name)s has too few votes to be ranked.")
    if not standing.wins and not standing.losses:
        return _("%(name)s isn’t ranked: all of its votes are ties, which tell it from no other model.")
    return _(
        "%(name)s isn’t ranked: its votes leave open how sure its rating is, for they hardly ever differ, or"
        " come from too few raters or prompts."
    )


def _has_few_votes(standing: Standing) -> bool:
    return standing.battles < int(standing.snapshot.options["min_votes"])
