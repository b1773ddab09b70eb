"""The front page: what there is to do next, for each kind of visitor."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arena.campaigns.admission import SESSION_KEY, joined_campaigns
from arena.campaigns.models import Campaign
from arena.corpus.models import PromptSet
from arena.leaderboards import sentences
from arena.leaderboards.boards.board_list import Listed, say_votes
from arena.leaderboards.boards.board_rows import first_of
from arena.leaderboards.boards.board_sources import opening_of, source_of
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.simulated_words import simulated_in
from arena.raters.access import User, objects_for, teams_of
from arena.raters.models import Role
from arena.to_do import tasks_for

NEWEST_BOARDS = 5
MOST_SNAPSHOTS = 100  # looked at to find them
MANAGED = 20


@dataclass(frozen=True)
class Joined:
    """A campaign that this browser's rater has begun."""

    campaign: Campaign
    votes: int

    @property
    def is_done(self) -> bool:
        return self.campaign.quota is not None and self.votes >= self.campaign.quota


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    user = request.user
    managed = objects_for(Campaign.objects.all(), user, Role.RESEARCHER).order_by("-pk")
    context = {
        "joined": joined(request),
        "offered": offered(request),
        "campaigns": managed[:MANAGED],
        "tasks": tasks_for(user),
        "boards": newest_boards(user),
        "has_prompt_sets": objects_for(PromptSet.objects.all(), user, Role.ADMIN).exists(),
    }
    return render(request, "home.html", context)


def joined(request: HttpRequest) -> list[Joined]:
    raters = request.session.get(SESSION_KEY, {})
    found = []
    for campaign in joined_campaigns(request):
        mine = campaign.battles.filter(rater=raters[str(campaign.pk)])
        found.append(Joined(campaign, mine.filter(vote__isnull=False, vote__retraction=None).count()))
    return found


def offered(request: HttpRequest) -> list[Campaign]:
    """Open to this member of the team by signing in, and not begun in this browser yet."""
    begun = request.session.get(SESSION_KEY, {})
    of_teams = objects_for(Campaign.objects.all(), request.user, Role.RATER)
    to_sign_in = of_teams.filter(status=Campaign.Status.OPEN, admission=Campaign.Admission.LOGIN)
    # Whoever may see the names is led to the campaign's page instead.
    blind = to_sign_in.exclude(team__in=teams_of(request.user, Role.RESEARCHER))
    return list(blind.exclude(pk__in=begun).order_by("-pk")[:MANAGED])


def newest_boards(user: User) -> list[Listed]:
    """The newest snapshot of a plain board of each campaign, latest first."""
    boards = Leaderboard.objects.whole().filter(
        campaign__team__in=teams_of(user, Role.RESEARCHER),
        subset=Leaderboard.Subset.ALL,
        style_control=False,
        policies={},
    )
    newest: dict[int, Snapshot] = {}
    snapshots = Snapshot.objects.filter(leaderboard__in=boards).select_related(
        "leaderboard__campaign", "leaderboard__judge"
    )
    for snapshot in snapshots.order_by("-pk")[:MOST_SNAPSHOTS]:
        newest.setdefault(snapshot.leaderboard.campaign_id, snapshot)
    return [listed(snapshot) for snapshot in list(newest.values())[:NEWEST_BOARDS]]


def listed(snapshot: Snapshot) -> Listed:
    first = first_of(snapshot.standings.select_related("competitor"), snapshot)
    simulated = simulated_in(snapshot.counts).tag
    opening = opening_of(source_of(snapshot.leaderboard), snapshot, simulated=False)
    said = sentences.compose(opening, first.say_top())
    return Listed(snapshot.leaderboard.campaign, snapshot, said, say_votes(snapshot), simulated)
