"""That one model of a pair always stands first, as far as that can tell for it."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from arena.battles.models import Battle, Vote
from arena.leaderboards.models import Snapshot
from arena.leaderboards.plans.registration import holds_recorded
from arena.leaderboards.row_words import in_rows
from arena.leaderboards.snapshot_counts import knows_both_orders
from arena.percent import percent
from ratings.composition import SIDES_TELL_FROM

ONE_SIDED = 0.25
"""Of the votes."""


def about_sides(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """A code and a sentence. A judge that is asked in both orders sees neither always first."""
    share, judged = snapshot.counts.get("one_sided", 0), snapshot.leaderboard.is_judged
    if share < ONE_SIDED or (judged and knows_both_orders(snapshot)):
        return
    if judged:
        words = _(
            "In %(share)s of the votes the file always names the same model of the two first (pairs with"
            " fewer than %(least)d are left out). Whether the judge was asked in both orders isn’t known: if"
            " not, that it won may come from that it was seen first."
        )
    elif holds_recorded(snapshot.leaderboard.campaign) and _holds_cast(snapshot):
        words = _(
            "In %(share)s of the votes, some of which came in a file, the same model of the two is always"
            " first (pairs with fewer than %(least)d are left out): that it won can’t be told from that it"
            " was seen first, as of the file’s votes isn’t known."
        )
    elif holds_recorded(snapshot.leaderboard.campaign):
        words = _(
            "In %(share)s of the votes the file always names the same model of the two first (pairs with"
            " fewer than %(least)d are left out). Whether it was seen first isn’t known: if so, that it won"
            " can’t be told from that."
        )
    else:
        words = _(
            "In %(share)s of the votes the same model of the two always stood first (pairs with fewer than"
            " %(least)d are left out): that it won can’t be told from that it was seen first."
        )
    told = {"share": percent(share), "least": SIDES_TELL_FROM}
    yield "one_sided", in_rows(words, judged) % told


def _holds_cast(snapshot: Snapshot) -> bool:
    """Votes that were cast here."""
    cast = Vote.objects.filter(battle__campaign=snapshot.leaderboard.campaign_id)
    return cast.exclude(battle__kind=Battle.Kind.RECORDED).exists()
