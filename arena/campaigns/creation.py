from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from arena.broken_off import done_again
from arena.campaigns.guide_texts import GENERAL
from arena.campaigns.models import Campaign, Guide
from arena.campaigns.opening import adopt_competitors
from arena.campaigns.slugs import LONGEST, SlugRefusedError, check_slug, free_slug
from arena.corpus.models import PromptSet
from arena.raters.models import Team

SETTINGS = (
    "description",
    "admission",
    "reveal",
    "quota",
    "repeat_share",
    "gold_share",
    "target_votes",
    "target_raters",
    "leak_policy",
    "plain_text",
    "hard_at_least",
)


def create_campaign(team: Team, slug: str, prompt_sets: Iterable[PromptSet] = (), name: str = "") -> Campaign:
    """A draft with these prompt sets, every model that has answered them, and the guide's starting text."""
    check_slug(slug)
    if Campaign.objects.filter(slug=slug).exists():
        raise SlugRefusedError(_("There is a campaign “%(slug)s” already.") % {"slug": slug})
    with transaction.atomic():
        campaign = Campaign.objects.create(team=team, slug=slug, name=name or slug)
        campaign.prompt_sets.add(*prompt_sets)
        adopt_competitors(campaign)
        Guide.publish(campaign, str(GENERAL.text))
    return campaign


def clone_campaign(original: Campaign) -> Campaign:
    """A draft like it: prompt sets, models, gold battles, the present guide, all settings; no votes or links.

    The end date stays behind: it was chosen for the original's raters.
    """
    while True:
        slug = free_slug(slugify(f"{original.slug[: LONGEST - 5]}-copy"))
        try:
            return _clone(original, slug)
        except IntegrityError:
            if not Campaign.objects.filter(slug=slug).exists():
                raise  # otherwise another took the address in this moment, and the next one is tried


@done_again
def _clone(original: Campaign, slug: str) -> Campaign:
    name = _("Copy of %(name)s") % {"name": original.name}
    settings = {field: getattr(original, field) for field in SETTINGS}
    longest_name = Campaign._meta.get_field("name").max_length
    with transaction.atomic():
        clone = Campaign.objects.create(
            team_id=original.team_id,
            slug=slug,
            name=name[:longest_name],
            **settings,
        )
        clone.prompt_sets.set(original.prompt_sets.all())
        clone.competitors.set(original.competitors.all())
        if original.current_guide:
            Guide.publish(clone, original.current_guide.text)
        golds = list(original.golds.filter(retired_at=None))
        for gold in golds:
            gold.pk, gold.campaign = None, clone
        original.golds.bulk_create(golds)
    return clone
