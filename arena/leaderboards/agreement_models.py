from django.db import models

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
