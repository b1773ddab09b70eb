from django.db import models

from arena.battles.models import Vote
from arena.campaigns.models import Campaign


class CampaignAgreement(models.Model):
    """How far people and judges say the same in a campaign; the worker computes it, anew when rows came."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="agreement")
    figures = models.JSONField()
    seen = models.JSONField(help_text="what was there when it was computed; other rows make it due")
    code_version = models.CharField(max_length=64)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"agreement in {self.campaign_id}"

    @property
    def is_behind(self) -> bool:
        """Votes came since; one look at the newest."""
        newer = Vote.objects.filter(battle__campaign=self.campaign_id, pk__gt=self.seen["vote"] or 0)
        return newer.exists()
