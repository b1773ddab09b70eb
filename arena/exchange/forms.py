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
MEGABYTE = 1024 * 1024
_TOO_LONG = gettext_lazy("Give a shorter name: its length is %(show_value)d, at most %(limit_value)d.")
KNOWN_ID = "known-targets"


def say_too_large(kind: str) -> str:
    """What to do instead: rows can be split, an archive can't."""
    if kind == Import.Kind.CAMPAIGN:
        words = _(
            "The file is larger than %(limit)s MB, and a .zip can’t be split. On the server"
            " “./tiltyard manage import_campaign FILE.zip”, brings in archives of any size."
        )
    else:
        words = _(
            "The file is larger than %(limit)s MB. Split it: what is in twice is skipped. On the server"
            " “./tiltyard manage import_%(kind)s FILE” takes files of any size."
        )
    kind = kind if kind in Import.Kind.values else str(Import.Kind.PROMPTS)
    return words % {"limit": settings.MAX_UPLOAD_MB, "kind": kind}


class ImportForm(forms.Form):
    target = forms.CharField(
        max_length=120,
        widget=forms.TextInput(attrs={"list": KNOWN_ID}),
        error_messages={"max_length": _TOO_LONG},
    )
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "CSV, TSV, JSON, JSONL or Parquet. Where a file’s encoding can’t be told, "
            "as with Excel’s plain CSV, you choose it by how its words look."
        ),
        max_length=255,
        error_messages={
            "max_length": gettext_lazy(
                "Rename the file: the length of its name is %(length)d, at most %(max)d."
            )
        },
        allow_empty_file=True,  # the check says what is wrong with it
    )

    def __init__(self, *args, kind: str, team: Team, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.kind, self.known = kind, known_targets(kind, team)
        if kind == Import.Kind.RESPONSES:
            self.fields["model"] = forms.CharField(
                required=False,
                max_length=200,
                error_messages={"max_length": _TOO_LONG},
                label=_("Model"),
                help_text=_("only for a file of one model that doesn't name it"),
            )
        if kind == Import.Kind.CAMPAIGN:
            self.fields["target"].required = False
            words = _("The .zip of an export, of at most %(limit)s MB.")
            self.fields["file"].help_text = words % {"limit": settings.MAX_UPLOAD_MB}
        self.fields["target"].label, self.fields["target"].help_text = _TARGETS[Import.Kind(kind)]

    @property
    def most_bytes(self) -> int:
        return settings.MAX_UPLOAD_MB * MEGABYTE

    @property
    def say_too_large(self) -> str:
        return say_too_large(self.kind)

    def clean_file(self):
        file = self.cleaned_data["file"]
        if file.size > self.most_bytes:
            raise forms.ValidationError(self.say_too_large)
        return file


class AddressForm(forms.Form):
    """Where a whole campaign goes."""

    target = forms.CharField(
        label=_TARGETS[Import.Kind.CAMPAIGN][0],
        help_text=_TARGETS[Import.Kind.CAMPAIGN][1],
        max_length=120,
        error_messages={"max_length": _TOO_LONG},
        required=False,
    )


def known_targets(kind: str, team: Team) -> list[str]:
    if kind == Import.Kind.CAMPAIGN:
        return []
    if kind == Import.Kind.VOTES:
        return list(Campaign.objects.filter(team=team).order_by("-pk").values_list("slug", flat=True)[:100])
    sets = PromptSet.objects.filter(team=team).order_by("name")
    return list(sets.values_list("name", flat=True).distinct()[:100])
