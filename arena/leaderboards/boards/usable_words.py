"""Whether a response alone would do, as a page writes it; and why a board has no such figure."""

from __future__ import annotations

from django.utils.translation import gettext as _

from arena.leaderboards.boards.duels import say_share
from arena.leaderboards.fitting.usable import FEWEST
from arena.leaderboards.models import Snapshot, Standing


def say_usable(standing: Standing, snapshot: Snapshot, offered: bool) -> str:
    return why_none(snapshot, offered) if standing.usable is None else say_share(standing.usable)


def why_none(snapshot: Snapshot, offered: bool) -> str:
    """What keeps a board from having the figure, the plainest first. `offered`: both bad could be said."""
    if not offered:
        return _("not offered")
    if snapshot.leaderboard.style_control:
        return _("not with style control")
    both_bad = snapshot.counts["both_bad"]
    if both_bad < FEWEST:
        return _("too few both bad: %(n)d of %(least)d votes") % {"n": both_bad, "least": FEWEST}
    return _("not settled: no ties, or models that no battles join")
