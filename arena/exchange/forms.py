from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.campaigns.models import Campaign
from arena.corpus.models import PromptSet
from arena.exchange.models import Import
from arena.raters.models import Team

_SET_HELP = gettext_lazy("A name that isn't known yet makes a new set.")
_ANSWERED_HELP = gettext_lazy("The set that holds the prompts.")
_CAMPAIGN_HELP = gettext_lazy("The last part of its address; one that isn't known yet makes a new campaign.")
_TARGETS = {
    Import.Kind.PROMPTS: (gettext_lazy("Prompt set"), _SET_HELP),
    Import.Kind.RESPONSES: (gettext_lazy("Prompt set"), _ANSWERED_HELP),
    Import.Kind.VOTES: (gettext_lazy("Campaign"), _CAMPAIGN_HELP),
    Import.Kind.CAMPAIGN: (
        gettext_lazy("Address"),
        gettext_lazy("The last part of the campaign’s address here; empty: the one it had."),
    ),
}
KNOWN_ID = "known-targets"


class ImportForm(forms.Form):
    target = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"list": KNOWN_ID}))
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "CSV, TSV, JSON, JSONL or Parquet. Where a file’s encoding can’t be told, "
            "as with Excel’s plain CSV, you choose it by how its words look."
        ),
        max_length=255,
        allow_empty_file=True,  # the check says what is wrong with it
    )

    def __init__(self, *args, kind: str, team: Team, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.kind, self.known = kind, known_targets(kind, team)
        if kind == Import.Kind.RESPONSES:
            self.fields["model"] = forms.CharField(
                required=False,
                max_length=200,
                label=_("Model"),
                help_text=_("only for a file of one model that doesn't name it"),
            )
        if kind == Import.Kind.CAMPAIGN:
            self.fields["target"].required = False
            words = _("The .zip of an export, of at most %(limit)s MB.")
            self.fields["file"].help_text = words % {"limit": settings.MAX_UPLOAD_MB}
        self.fields["target"].label, self.fields["target"].help_text = _TARGETS[Import.Kind(kind)]

    def clean_file(self):
        file = self.cleaned_data["file"]
        if file.size > settings.MAX_UPLOAD_MB * 1024 * 1024:
            words = _("The file is larger than %(limit)s MB; split it.")
            if self.kind == Import.Kind.CAMPAIGN:
                words = _("The file is larger than %(limit)s MB; bring it in with manage.py import_campaign.")
            raise forms.ValidationError(words % {"limit": settings.MAX_UPLOAD_MB})
        return file


class AddressForm(forms.Form):
    """Where a whole campaign goes."""

    target = forms.CharField(
        label=_TARGETS[Import.Kind.CAMPAIGN][0],
        help_text=_TARGETS[Import.Kind.CAMPAIGN][1],
        max_length=120,
        required=False,
    )


def known_targets(kind: str, team: Team) -> list[str]:
    if kind == Import.Kind.CAMPAIGN:
        return []
    if kind == Import.Kind.VOTES:
        return list(Campaign.objects.filter(team=team).order_by("-pk").values_list("slug", flat=True)[:100])
    sets = PromptSet.objects.filter(team=team).order_by("name")
    return list(sets.values_list("name", flat=True).distinct()[:100])
