"""Which boards a visitor may read, and of which campaigns."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from arena.campaigns.models import Campaign
from arena.leaderboards.models import Leaderboard
from arena.raters import access
from arena.raters.models import Role


def visible_boards(request: HttpRequest, campaign: Campaign) -> QuerySet[Leaderboard]:
    boards = campaign.leaderboards.whole().visible_to(request.user)
    return boards.select_related("judge").order_by("pk")


def get_visible_campaign(request: HttpRequest, slug: str) -> Campaign:
    """A campaign with a board this visitor may see, or of a team they research in; otherwise 404."""
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign and (
        access.has_role(request.user, campaign.team_id, Role.RESEARCHER)
        or visible_boards(request, campaign).exists()
    ):
        return campaign
    raise Http404
