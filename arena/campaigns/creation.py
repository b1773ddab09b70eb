from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from arena.campaigns.forms import GUIDE_START
from arena.campaigns.models import Campaign, Guide
from arena.campaigns.opening import adopt_competitors
from arena.campaigns.slugs import SlugRefusedError, check_slug
from arena.corpus.models import PromptSet
from arena.raters.models import Team


def create_campaign(team: Team, slug: str, prompt_sets: Iterable[PromptSet] = (), name: str = "") -> Campaign:
    """A draft with these prompt sets, every model that has answered them, and the guide's starting text."""
    check_slug(slug)
    if Campaign.objects.filter(slug=slug).exists():
        raise SlugRefusedError(_("There is a campaign “%(slug)s” already.") % {"slug": slug})
    with transaction.atomic():
        campaign = Campaign.objects.create(team=team, slug=slug, name=name or slug)
        campaign.prompt_sets.add(*prompt_sets)
        adopt_competitors(campaign)
        Guide.publish(campaign, str(GUIDE_START))
    return campaign
