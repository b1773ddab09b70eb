from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from arena.battles import golds
from arena.battles.gold_models import Gold
from arena.campaigns.models import Campaign
from arena.raters.access import User

LARGEST_FILE = 5_000_000  # bytes


class GoldForm(forms.Form):
    prompt_id = forms.CharField(
        max_length=200, label=_("Prompt"), help_text=_("Its id in one of the campaign's prompt sets.")
    )
    first = forms.CharField(
        max_length=golds.LONGEST, label=_("First text"), widget=forms.Textarea(attrs={"rows": 5}), strip=False
    )
    second = forms.CharField(
        max_length=golds.LONGEST,
        label=_("Second text"),
        widget=forms.Textarea(attrs={"rows": 5}),
        strip=False,
    )
    expected = forms.ChoiceField(
        choices=Gold.Expected.choices,
        label=_("Expected"),
        help_text=_("Which text is shown on which side is a coin's, each time."),
    )
    kind = forms.ChoiceField(choices=Gold.Kind.choices, label=_("Kind"))

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign

    def store(self, actor: User) -> int:
        """How many were added; 0 when something is wrong, which then stands in the form's errors."""
        wrong: list[str] = []
        try:
            row = golds.read_row(self.campaign, self.cleaned_data, wrong)
            if row:
                return len(golds.add(self.campaign, [row], actor))
        except golds.NotGoldError as error:
            wrong += error.args[0]
        self.add_error(None, wrong)
        return 0


class GoldFileForm(forms.Form):
    file = forms.FileField(
        label=_("File"),
        max_length=255,
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.json,.jsonl,.parquet,text/csv"}),
    )

    most_bytes = LARGEST_FILE

    @property
    def say_too_large(self) -> str:
        return str(_("The file is larger than 5 MB: split it."))

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > self.most_bytes:
            raise forms.ValidationError(self.say_too_large)
        return file


SHOWN = 20
