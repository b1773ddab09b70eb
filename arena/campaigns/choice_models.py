"""What an open campaign draws from, chosen anew: who saw numbers before may have chosen by them."""

from collections.abc import Collection
from typing import Any

from django.db import models
from django.db.models.signals import m2m_changed, pre_save
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor


class Choice(models.Model):
    """Prompt sets or models that were added or taken out since a campaign was opened first."""

    class Of(models.TextChoices):
        PROMPT_SETS = "prompt_sets", _("prompt sets")
        MODELS = "models", _("models")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="choices")
    of = models.CharField(max_length=11, choices=Of.choices)
    at = models.DateTimeField(default=timezone.now)
    added = models.JSONField(default=list, help_text=_("names"))
    taken_out = models.JSONField(default=list, help_text=_("names"))

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["campaign", "of", "at"], name="choices_of_a_campaign")]

    def __str__(self) -> str:
        return f"{self.of} of campaign {self.campaign_id} chosen at {self.at}"


KEPT_AS = {"post_add": "added", "post_remove": "taken_out", "pre_clear": "taken_out"}


@receiver(m2m_changed, sender=Campaign.prompt_sets.through, dispatch_uid="choices of prompt sets")
@receiver(m2m_changed, sender=Campaign.competitors.through, dispatch_uid="choices of models")
def keep_choice(
    sender: Any, instance: Campaign, action: str, reverse: bool, pk_set: set[int] | None, **_more: Any
) -> None:
    """Whichever form, command or file it was that chose."""
    if reverse:
        raise TypeError("Choose from the campaign's side, as in campaign.prompt_sets.add(one): it is kept.")
    if action not in KEPT_AS or not Campaign.objects.filter(pk=instance.pk, opened_at__isnull=False).exists():
        return
    of_sets = sender is Campaign.prompt_sets.through
    chosen = instance.prompt_sets if of_sets else instance.competitors
    named = chosen.all() if pk_set is None else chosen.model.objects.filter(pk__in=pk_set)
    if names := sorted(str(one) for one in named):
        of = Choice.Of.PROMPT_SETS if of_sets else Choice.Of.MODELS
        Choice.objects.create(campaign=instance, of=of, **{KEPT_AS[action]: names})


@receiver(pre_save, sender=Competitor, dispatch_uid="models that are drawn no more, or again")
def keep_status(instance: Competitor, update_fields: Collection[str] | None = None, **_more: Any) -> None:
    """Whoever withdraws a model takes it out of every campaign's draw."""
    if instance._state.adding or (update_fields is not None and "status" not in update_fields):
        return
    active = Competitor.Status.ACTIVE
    was = Competitor.objects.filter(pk=instance.pk).values_list("status", flat=True).first()
    if was is None or (was == active) == (instance.status == active):
        return
    kept_as = "added" if instance.status == active else "taken_out"
    for campaign in Campaign.objects.filter(competitors=instance, opened_at__isnull=False):
        Choice.objects.create(campaign=campaign, of=Choice.Of.MODELS, **{kept_as: [instance.name]})
