"""The list of campaigns whose boards a visitor may see, each with a line of what its newest board says."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When
from django.utils.translation import ngettext

from arena.campaigns.models import Campaign
from arena.leaderboards import sentences
from arena.leaderboards.boards.board_rows import first_of
from arena.leaderboards.boards.board_sources import opening_of, source_of
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.simulated_words import simulated_in
from arena.raters.access import User, teams_of
from arena.raters.models import Role

SHOWN = 100


@dataclass(frozen=True)
class Listed:
    campaign: Campaign
    snapshot: Snapshot | None
    sentence: str = ""
    votes: str = ""
    simulated: str = ""


def list_campaigns(user: User) -> list[Listed]:
    boards = Leaderboard.objects.whole().visible_to(user)
    visible = Exists(boards.filter(campaign=OuterRef("pk")))
    mine = Q(team__in=teams_of(user, Role.RESEARCHER))
    campaigns = Campaign.objects.filter(visible | mine).order_by("-pk")[:SHOWN]
    return [_listed(campaign, boards) for campaign in campaigns]


def _listed(campaign: Campaign, boards: QuerySet[Leaderboard]) -> Listed:
    plain = boards.filter(campaign=campaign, subset=Leaderboard.Subset.ALL, style_control=False, policies={})
    people_first = Case(When(leaderboard__source=Leaderboard.Source.RATERS, then=0), default=1)
    judge = F("leaderboard__judge").asc(nulls_last=True)
    snapshot = Snapshot.objects.filter(leaderboard__in=plain).order_by(people_first, judge, "-pk").first()
    if snapshot is None:
        return Listed(campaign, None)
    first = first_of(snapshot.standings.select_related("competitor"), snapshot)
    opening = opening_of(source_of(snapshot.leaderboard), snapshot, bool(snapshot.counts["simulated"]))
    return Listed(
        campaign,
        snapshot,
        sentence=sentences.compose(opening, first.say_top()),
        votes=say_votes(snapshot),
        simulated=simulated_in(snapshot.counts).tag,
    )


def say_votes(snapshot: Snapshot) -> str:
    votes = snapshot.counts["votes"]
    if snapshot.leaderboard.is_judged:
        return ngettext("%(n)s judgment", "%(n)s judgments", votes) % {"n": f"{votes:,}"}
    return ngettext("%(n)s vote", "%(n)s votes", votes) % {"n": f"{votes:,}"}
