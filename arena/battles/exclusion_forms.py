from __future__ import annotations

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from arena.battles import exclusions
from arena.campaigns.models import Campaign
from arena.raters.access import User
from arena.raters.models import Rater


class ExclusionForm(forms.Form):
    """One rater of the campaign, or one vote by the number of its battle."""

    rater = forms.ModelChoiceField(
        queryset=Rater.objects.none(),
        required=False,
        label=_("All votes of a rater"),
        empty_label=_("no rater"),
    )
    battle = forms.UUIDField(
        required=False,
        label=_("Or one vote"),
        help_text=_("The battle_id that stands in an export of the campaign."),
        error_messages={
            "invalid": _("This is no battle_id: copy all 36 characters, as in an export of the campaign.")
        },
    )
    reason = forms.CharField(
        max_length=2000,
        label=_("Why"),
        help_text=_("It is stored, shown here and exported."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        cast(forms.ModelChoiceField, self.fields["rater"]).queryset = exclusions.raters_of(campaign)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if not self.errors and bool(found.get("rater")) == bool(found.get("battle")):
            raise forms.ValidationError(_("Name either a rater or a battle."))
        return found

    def store(self, actor: User) -> bool:
        found = self.cleaned_data
        try:
            if found["rater"]:
                exclusions.exclude_rater(self.campaign, found["rater"], actor, found["reason"])
            else:
                exclusions.exclude_vote(self.campaign, found["battle"], actor, found["reason"])
        except exclusions.NoSuchVoteError:
            self.add_error("battle", _("This campaign has no vote on that battle."))
        except exclusions.AlreadyExcludedError:
            self.add_error(None, _("It is left out already."))
        return not self.errors


class RevocationForm(forms.Form):
    reason = forms.CharField(max_length=2000)
