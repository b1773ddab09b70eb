from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.choices import limit_choices
from arena.endpoints.forms import BudgetField, CallsField
from arena.judging.errands import takes_one_response
from arena.judging.models import Judge, JudgeRun

MOST_BATTLES = 5_000
LARGEST_SEED = 2**63 - 1


class RunForm(forms.Form):
    campaign = forms.ModelChoiceField(Campaign.objects.none(), label=_("Campaign"))
    judges = forms.ModelMultipleChoiceField(
        Judge.objects.none(), widget=forms.CheckboxSelectMultiple, label=_("Judges")
    )
    which = forms.ChoiceField(
        choices=[
            ("voted", _("battles that people voted on, to compare judges with people")),
            ("fewest", _("all battles, those with the fewest judgments first")),
            ("all", _("all battles, in random order")),
            ("pairs", _("every pair of responses to a prompt, also where nobody met yet, fewest first")),
        ],
        widget=forms.RadioSelect,
        initial="voted",
        label=_("Battles"),
        help_text=_("One for each pair of responses; both orders are asked."),
    )
    limit = forms.IntegerField(min_value=1, max_value=MOST_BATTLES, initial=100, label=_("At most"))
    max_calls = CallsField()
    budget_usd = BudgetField()
    family_policy = forms.ChoiceField(
        choices=JudgeRun.FamilyPolicy.choices,
        required=False,
        initial=JudgeRun.FamilyPolicy.EXCLUDE,
        label=_("Battles with a response of the judge's own family"),
        help_text=_(
            "A judge tends to like its own family. Families are told in endpoints, judges and models."
        ),
    )
    verbosity_rule = forms.BooleanField(
        required=False,
        label=_("A winner more than 1.5 times as long as the loser is a tie"),
        help_text=_("A sensitivity check; the style-controlled board answers the question better."),
    )
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, widget=forms.HiddenInput, required=False)

    def __init__(
        self, *args: Any, campaigns: QuerySet[Campaign], judges: QuerySet[Judge], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        limit_choices(self, "campaign", campaigns.order_by("-pk"))
        asked = judges.filter(endpoint__isnull=False, rubric__isnull=False)
        limit_choices(self, "judges", asked.select_related("endpoint", "rubric").order_by("name"))
        self.has_judges = asked.exists()
        self.fields["seed"].initial = secrets.randbelow(2**31)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        campaign = cleaned.get("campaign")
        strangers = [j for j in cleaned.get("judges") or [] if campaign and j.team_id != campaign.team_id]
        if strangers:
            self.add_error("judges", _("A judge of another team can't judge this campaign."))
        if len({takes_one_response(judge) for judge in cleaned.get("judges") or []}) > 1:
            self.add_error("judges", _("Judges that compare and judges that score need a run each."))
        cleaned["seed"] = cleaned.get("seed") or 0
        cleaned["family_policy"] = cleaned.get("family_policy") or JudgeRun.FamilyPolicy.EXCLUDE
        return cleaned
