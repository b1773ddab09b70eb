"""On how few votes the first place of a board hangs, and where nobody looked for that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from arena.leaderboards.models import Standing
from arena.leaderboards.row_words import in_rows

FRAGILE = 0.01
"""Of the votes: where so few decide who is first, the board says so."""
WHY_NOT = {
    "combined": gettext_lazy(
        "where a judge helps, a vote counts by itself and in what corrects the judge, and each try would fit"
        " both anew. The board of people’s votes alone says it of these."
    ),
    "other_leader": gettext_lazy(
        "the search counts a tie as half a win for either, and then another model is first."
    ),
    "no_votes_kept": gettext_lazy("this fit keeps counts of pairs, and no votes one by one."),
}


def about_first(
    standings: Mapping[int, Standing], counts: Mapping[str, Any], about: Collection[int], judged: bool = False
) -> Iterator[tuple[str, str]]:
    """Of a model that is called first: few votes that hold it there; snapshots of before may not know."""
    if (why := counts.get("first_not_searched")) is not None:
        words = _("How few votes the first place hangs on wasn’t looked for: %(why)s")
        yield "order_not_searched", words % {"why": WHY_NOT[why]}
    told = counts.get("first_hangs_on")
    if told is None or told["votes"] > FRAGILE * told["of"]:
        return
    leader, successor = (standings.get(told[name]) for name in ("leader", "successor"))
    if leader is None or successor is None or not leader.tied_first:
        return
    if about and not {told["leader"], told["successor"]} & set(about):
        return
    words = ngettext(
        "The order hangs on %(n)s of %(all)s votes: without the one that speaks most for %(leader)s,"
        " %(successor)s would be first.",
        "The order hangs on %(n)s of %(all)s votes: without those that speak most for %(leader)s,"
        " %(successor)s would be first.",
        told["votes"],
    )
    names = {"leader": leader.competitor.name, "successor": successor.competitor.name}
    words = in_rows(words, judged)
    yield "order_hangs", words % (names | {"n": f"{told['votes']:,}", "all": f"{told['of']:,}"})
