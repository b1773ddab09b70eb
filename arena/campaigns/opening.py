"""Whether a campaign can open, and what is missing before it can."""

from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response


class NotReadyError(Exception):
    """The campaign can't open; args[0] lists why."""


def drawable_responses(campaign: Campaign):
    """The responses that may be shown: not blank, of a published set, by an active competitor."""
    return Response.objects.filter(
        is_blank=False,
        prompt__prompt_set__in=campaign.prompt_sets.filter(status=PromptSet.Status.PUBLISHED),
        competitor__in=campaign.competitors.filter(status=Competitor.Status.ACTIVE),
    )


def missing_before_open(campaign: Campaign) -> list[str]:
    sets = campaign.prompt_sets.all()
    missing = []
    if not sets:
        missing.append(_("Choose at least one prompt set."))
    for prompt_set in sets:
        if prompt_set.status != PromptSet.Status.PUBLISHED:
            missing.append(
                _("Publish the prompt set “%(name)s”; it is still a %(status)s.")
                % {"name": prompt_set, "status": prompt_set.status}
            )
        elif not Response.objects.filter(prompt__prompt_set=prompt_set, is_blank=False).exists():
            missing.append(
                _("The prompt set “%(name)s” has no responses: import some.") % {"name": prompt_set}
            )
    contenders = campaign.competitors.filter(status=Competitor.Status.ACTIVE).count()
    if contenders < 2:
        missing.append(
            _("Choose at least two models that are active; there are %(count)s.") % {"count": contenders}
        )
    if not missing and not battle_is_possible(campaign):
        missing.append(_("No prompt has two different responses by these models: import more responses."))
    if campaign.revealed_by_closing:
        missing.append(
            _("It was closed and its names are revealed: new votes wouldn't be blind. Make another.")
        )
    if campaign.current_guide is None:
        missing.append(_("Write the guide: what raters are asked, and what tie and both bad mean."))
    return missing


def battle_is_possible(campaign: Campaign) -> bool:
    return (
        drawable_responses(campaign)
        .values("prompt")
        .annotate(competitors=Count("competitor", distinct=True), texts=Count("text_hash", distinct=True))
        .filter(competitors__gte=2, texts__gte=2)
        .exists()
    )


def open_campaign(campaign: Campaign) -> None:
    missing = missing_before_open(campaign)
    if missing:
        raise NotReadyError(missing)
    campaign.status = Campaign.Status.OPEN
    campaign.opened_at = campaign.opened_at or timezone.now()
    campaign.closed_at = None
    campaign.save(update_fields=["status", "opened_at", "closed_at"])


def pause_campaign(campaign: Campaign) -> None:
    campaign.status = Campaign.Status.PAUSED
    campaign.save(update_fields=["status"])


def close_campaign(campaign: Campaign) -> None:
    campaign.status = Campaign.Status.CLOSED
    campaign.closed_at = timezone.now()
    campaign.save(update_fields=["status", "closed_at"])


def adopt_competitors(campaign: Campaign) -> None:
    """Adds every active competitor that has answered a prompt of the campaign's sets."""
    campaign.competitors.add(
        *Competitor.objects.filter(
            team_id=campaign.team_id,
            status=Competitor.Status.ACTIVE,
            responses__prompt__prompt_set__in=campaign.prompt_sets.all(),
        ).distinct()
    )


def counts(campaign: Campaign) -> dict[str, int]:
    return {
        "prompts": Prompt.objects.filter(prompt_set__in=campaign.prompt_sets.all()).count(),
        "responses": drawable_responses(campaign).count(),
        "competitors": campaign.competitors.count(),
    }
