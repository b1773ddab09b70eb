from django.db import models
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign


class ReportText(models.Model):
    """What only people can say in a campaign's report; an empty part is named there as missing."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="report_text")
    capability = models.TextField(
        _("capability"), blank=True, help_text=_("In a sentence: which ability do these battles measure?")
    )
    sourcing = models.TextField(
        _("where the prompts come from"),
        blank=True,
        help_text=_("Who wrote or chose them, when, and from where; under which licence."),
    )
    contamination = models.TextField(
        _("contamination"),
        blank=True,
        help_text=_("How was it checked that no model had seen the prompts, and what came out?"),
    )
    protocol = models.TextField(
        _("protocol of votes recorded elsewhere"),
        blank=True,
        max_length=5000,
        help_text=_("who voted, what they were asked, whether names were hidden, how sides were decided"),
    )
    baselines = models.TextField(
        _("baselines"),
        blank=True,
        help_text=_("Which earlier or trivial model do these ratings stand beside?"),
    )
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"report text of {self.campaign_id}"
