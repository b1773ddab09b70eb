"""Whether a campaign can open, and what is missing before it can."""

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, PromptSet, Response


class NotReadyError(Exception):
    """The campaign can't change its state so; args[0] lists why."""


class NamesShownError(Exception):
    """Closing has shown raters the names: opening again takes an admin who says that they know it."""


def drawable_responses(campaign: Campaign, leak_policy: str = "") -> QuerySet[Response]:
    """The responses that may be shown: fit to fight, of a frozen set, by an active competitor."""
    return Response.objects.fit_to_fight(leak_policy or campaign.leak_policy).filter(
        prompt__prompt_set__in=campaign.prompt_sets.filter(status__in=PromptSet.FROZEN),
        competitor__in=campaign.competitors.filter(status=Competitor.Status.ACTIVE),
    )


def missing_by_step(campaign: Campaign) -> dict[str, list[str]]:
    """What keeps the campaign from opening, under the step of its page that mends it."""
    sets = list(campaign.prompt_sets.order_by("name", "-version"))
    missing = {
        "prompts": _missing_of_sets(sets),
        "models": _missing_of_models(campaign, sets),
        "guide": [],
        "targets": [],
    }
    if not any(missing.values()) and not battle_is_possible(campaign):
        words = _("No prompt has two different responses by these models: import more responses.")
        missing["models"].append(words)
    if campaign.current_guide is None:
        words = _("Write the guide: what raters are asked, and what tie and both bad mean.")
        missing["guide"].append(words)
    if campaign.has_ended(timezone.now()) and not campaign.is_open:
        missing["targets"].append(_("Its end date has passed: choose a later one, or none."))
    return missing


def missing_before_open(campaign: Campaign) -> list[str]:
    return [words for step in missing_by_step(campaign).values() for words in step]


def _missing_of_sets(sets: list[PromptSet]) -> list[str]:
    if not sets:
        return [_("Choose at least one prompt set.")]
    return [
        _("Publish the prompt set “%(name)s”; it is still a %(status)s.")
        % {"name": prompt_set, "status": prompt_set.status}
        for prompt_set in sets
        if prompt_set.is_draft
    ]


def _missing_of_models(campaign: Campaign, sets: list[PromptSet]) -> list[str]:
    missing = [
        _("The prompt set “%(name)s” has no responses: import some.") % {"name": prompt_set}
        for prompt_set in sets
        if not Response.objects.filter(prompt__prompt_set=prompt_set, is_blank=False).by_models().exists()
    ]
    contenders = campaign.competitors.filter(status=Competitor.Status.ACTIVE).count()
    if contenders < 2:
        words = _("Choose at least two models that are active; there are %(count)s.")
        missing.append(words % {"count": contenders})
    return missing


def battle_is_possible(campaign: Campaign) -> bool:
    return (
        drawable_responses(campaign)
        .values("prompt")
        .annotate(competitors=Count("competitor", distinct=True), texts=Count("text_hash", distinct=True))
        .filter(competitors__gte=2, texts__gte=2)
        .exists()
    )


def open_campaign(campaign: Campaign, *, though_names_were_shown: bool = False) -> None:
    """Opens it, for the first time or again. Raises NotReadyError, or NamesShownError without consent."""
    missing = missing_before_open(campaign)
    if missing:
        raise NotReadyError(missing)
    with transaction.atomic():
        _hold(campaign)
        if campaign.reopening_needs_consent and not though_names_were_shown:
            raise NamesShownError
        now = timezone.now()
        if campaign.revealed_by_closing:
            campaign.names_shown_at = campaign.names_shown_at or campaign.closed_at or now
        if campaign.is_closed:
            campaign.reopenings.create(closed_at=campaign.closed_at or now, at=now)
        campaign.status = Campaign.Status.OPEN
        campaign.opened_at = campaign.opened_at or now
        campaign.closed_at = None
        campaign.save(update_fields=["status", "opened_at", "closed_at", "names_shown_at"])
        if campaign.names_shown_at:
            # Handed out before the names were shown: one may hold a response whose name its rater has seen.
            campaign.battles.filter(vote=None, expires_at__gt=now).update(expires_at=now)


def pause_campaign(campaign: Campaign) -> None:
    with transaction.atomic():
        _hold(campaign)
        if not campaign.is_open:
            raise NotReadyError([_("Only an open campaign can be paused.")])
        campaign.status = Campaign.Status.PAUSED
        campaign.save(update_fields=["status"])


def close_campaign(campaign: Campaign) -> None:
    """Ends the voting; where names are revealed by closing, that is kept for good."""
    with transaction.atomic():
        _hold(campaign)
        if campaign.opened_at is None:
            raise NotReadyError([_("A campaign that was never opened needs no closing.")])
        campaign.status = Campaign.Status.CLOSED
        # Once no vote can come between: on its way to the lock this may have waited for some.
        campaign.closed_at = timezone.now()
        if campaign.revealed_by_closing:
            campaign.names_shown_at = campaign.names_shown_at or campaign.closed_at
        campaign.save(update_fields=["status", "closed_at", "names_shown_at"])


def _hold(campaign: Campaign) -> None:
    """As it stands now, and nobody else changes it until the end of the transaction."""
    campaign.refresh_from_db(from_queryset=Campaign.objects.select_for_update())


def adopt_competitors(campaign: Campaign, prompt_sets: QuerySet[PromptSet] | None = None) -> int:
    """Adds every active competitor that has answered a prompt of these sets, else of all the campaign's."""
    added = answering(campaign, prompt_sets).exclude(pk__in=campaign.competitors.values("pk"))
    competitors = list(added)
    campaign.competitors.add(*competitors)
    return len(competitors)


def answering(campaign: Campaign, prompt_sets: QuerySet[PromptSet] | None = None) -> QuerySet[Competitor]:
    sets = campaign.prompt_sets.all() if prompt_sets is None else prompt_sets
    responses = Response.objects.filter(competitor=OuterRef("pk"), prompt__prompt_set__in=sets.values("pk"))
    of_team = Competitor.objects.filter(team_id=campaign.team_id, status=Competitor.Status.ACTIVE)
    return of_team.filter(Exists(responses))
