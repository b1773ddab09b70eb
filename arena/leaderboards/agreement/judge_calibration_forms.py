from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.choices import limit_choices
from arena.judging.calibration_models import Calibration, Part
from arena.judging.models import Judge, Rubric

LARGEST_SEED = 2**31 - 1


class CalibrationForm(forms.Form):
    campaign = forms.ModelChoiceField(Campaign.objects.none(), label=_("Campaign"))
    name = forms.CharField(max_length=120, label=_("Name"))
    held_out_percent = forms.IntegerField(
        min_value=10,
        max_value=90,
        initial=50,
        label=_("Held out, in percent"),
        help_text=_("Looked at once for each rubric version; the rest is for trying things out."),
    )
    least_votes = forms.IntegerField(
        min_value=1, max_value=1000, initial=1, label=_("Votes that a pair needs at least")
    )
    seed = forms.IntegerField(
        min_value=0, max_value=LARGEST_SEED, label=_("Seed"), help_text=_("decides what is held out")
    )

    def __init__(self, *args: Any, campaigns: QuerySet[Campaign], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limit_choices(self, "campaign", campaigns.order_by("-pk"))
        self.fields["seed"].initial = secrets.randbelow(LARGEST_SEED)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        taken = Calibration.objects.filter(campaign=cleaned.get("campaign"), name=cleaned.get("name"))
        if cleaned.get("campaign") and taken.exists():
            self.add_error("name", _("This campaign has a calibration of that name."))
        return cleaned


class MeasureForm(forms.Form):
    judge = forms.ModelChoiceField(Judge.objects.none(), label=_("Judge"))
    part = forms.ChoiceField(
        choices=Part.choices, widget=forms.RadioSelect, initial=Part.DEV, label=_("Part")
    )

    def __init__(self, *args: Any, calibration: Calibration, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges = Judge.objects.filter(team=calibration.campaign.team_id, endpoint__isnull=False)
        judges = judges.filter(rubric__isnull=False).exclude(rubric__mode=Rubric.Mode.POINTWISE)
        limit_choices(self, "judge", judges.select_related("rubric").order_by("name"))
