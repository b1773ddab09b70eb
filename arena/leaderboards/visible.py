"""Which campaigns' boards a visitor may read."""

from __future__ import annotations

from django.http import Http404, HttpRequest

from arena.campaigns.models import Campaign
from arena.leaderboards.boards.board_list import visible_boards
from arena.raters import access
from arena.raters.models import Role


def get_visible_campaign(request: HttpRequest, slug: str) -> Campaign:
    """A campaign with a board this visitor may see, or of a team they research in; otherwise 404."""
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign and (
        access.has_role(request.user, campaign.team_id, Role.RESEARCHER)
        or visible_boards(request, campaign).exists()
    ):
        return campaign
    raise Http404
