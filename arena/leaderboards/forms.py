import re

from django import forms
from django.urls import reverse

from arena.campaigns.models import Campaign
from arena.leaderboards.models import Leaderboard


class VisibilityForm(forms.Form):
    """Who may see the boards of one source; the three are always shown together."""

    source = forms.CharField()
    visibility = forms.ChoiceField(choices=Leaderboard.Visibility.choices)

    def __init__(self, *args, campaign: Campaign, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign

    def clean_source(self) -> str:
        key = self.cleaned_data["source"]
        named = re.fullmatch("(raters|panel|combined|judge|combined:|judge:)([0-9]{1,18})?", key)
        if named is None or (named[1].endswith(":") != bool(named[2])):
            raise forms.ValidationError(f"{key!r} is no source: raters, panel, or judge:<number>")
        judge = int(named[2]) if named[2] else None
        boards = self.campaign.leaderboards.whole().filter(source=named[1].rstrip(":"), judge=judge)
        if not boards.exists():
            raise forms.ValidationError(f"this campaign has no board of {key}")
        self.boards = boards
        return key

    def save(self) -> None:
        self.boards.update(visibility=self.cleaned_data["visibility"])

    @property
    def audience(self) -> str:
        return str(Leaderboard.Visibility(self.cleaned_data["visibility"]).label)

    @property
    def address(self) -> str:
        page = reverse("board", args=[self.campaign.slug])
        return f"{page}?source={self.cleaned_data['source']}"
