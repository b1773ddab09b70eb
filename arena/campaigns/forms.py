from typing import Any

from django import forms
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from arena.campaigns.creation import create_campaign
from arena.campaigns.models import Campaign
from arena.campaigns.names_file import NamesRefusedError, read_names
from arena.campaigns.opening import adopt_competitors
from arena.campaigns.slugs import LONGEST, SlugRefusedError, check_slug
from arena.corpus.models import Competitor, PromptSet
from arena.raters.models import Team
from arena.row_form import RowForm

LARGEST_LIST = 1024 * 1024  # bytes
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
SLUG_TAKEN = _("Another campaign has this address; choose one of its own.")


class PercentField(forms.FloatField):
    """A share between 0 and 1, read and written in percent."""

    def __init__(self, *, largest: float, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=100 * largest, step_size=None, **kwargs)
        self.widget.attrs["step"] = "any"

    def prepare_value(self, value: Any) -> Any:
        return f"{100 * value:.4g}" if isinstance(value, float) else value

    def clean(self, value: Any) -> float | None:
        percent = super().clean(value)
        return None if percent is None else percent / 100

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


class PromptSetsField(forms.ModelMultipleChoiceField):
    """A set that isn't published says so."""

    def label_from_instance(self, obj: Any) -> str:
        if obj.status == PromptSet.Status.PUBLISHED:
            return str(obj)
        return _("%(set)s (%(status)s)") % {"set": obj, "status": obj.get_status_display()}


class NewCampaignForm(forms.Form):
    name = forms.CharField(max_length=120, label=_("Name"), help_text=_("Raters read it."))
    slug = forms.CharField(
        max_length=LONGEST,
        required=False,
        label=_("Address"),
        help_text=_("The last part of the campaign's address; left empty, it is made from the name."),
    )
    prompt_sets = PromptSetsField(
        PromptSet.objects.none(),
        required=False,
        label=_("Prompt sets"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Every model that has answered them takes part. Both can be changed on the next page."),
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        sets = choosable_sets(team)
        limit(self, "prompt_sets", sets)
        if sets.count() == 1:
            self.fields["prompt_sets"].initial = sets

    def clean_slug(self) -> str:
        return clean_address(self.cleaned_data["slug"], self.cleaned_data.get("name", ""))

    def store(self) -> Campaign | None:
        """The campaign, whole; None when another took the address meanwhile."""
        made = self.cleaned_data
        try:
            with transaction.atomic():
                return create_campaign(self.team, made["slug"], made["prompt_sets"], made["name"])
        except (SlugRefusedError, IntegrityError):
            self.add_error("slug", SLUG_TAKEN)
            return None


def clean_address(slug: str, name: str, campaign: Campaign | None = None) -> str:
    slug = slug or slugify(name)[:LONGEST]
    if not slug:
        raise forms.ValidationError(_("Give an address: the name holds no letter that could make one."))
    try:
        check_slug(slug)
    except SlugRefusedError as refusal:
        raise forms.ValidationError(str(refusal)) from refusal
    others = Campaign.objects.exclude(pk=campaign.pk) if campaign else Campaign.objects.all()
    if others.filter(slug=slug).exists():
        raise forms.ValidationError(SLUG_TAKEN)
    return slug


def choosable_sets(team: Team, campaign: Campaign | None = None) -> QuerySet[PromptSet]:
    """The team's sets, the retired ones only where they are in use."""
    sets = PromptSet.objects.filter(team=team)
    chosen = campaign.prompt_sets.values("pk") if campaign else PromptSet.objects.none().values("pk")
    return (sets.exclude(status=PromptSet.Status.RETIRED) | sets.filter(pk__in=chosen)).order_by(
        "name", "-version"
    )


def limit(form: forms.BaseForm, name: str, choices: QuerySet) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ModelMultipleChoiceField)  # noqa: S101
    field.queryset = choices


class PartForm(RowForm):
    """One step of the campaign's page; several stand on one page, so each has ids of its own."""

    part: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id=f"{self.part}-%s", **kwargs)


class NameForm(PartForm):
    part = "name"

    class Meta:
        model = Campaign
        fields = ["name", "slug", "description"]
        labels = {"slug": _("Address")}
        help_texts = {
            "slug": _("The last part of the addresses of this page and of the boards; links to them change."),
            "description": _("Raters read it before they begin."),
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def clean_slug(self) -> str:
        return clean_address(self.cleaned_data["slug"], self.cleaned_data.get("name", ""), self.instance)


CHOSEN_LATE = _(
    "Once votes are in, a set added or taken out leaves every board exploratory, whatever plan was frozen."
)


class PromptSetsForm(PartForm):
    part = "prompts"
    prompt_sets = PromptSetsField(
        PromptSet.objects.none(),
        required=False,
        label=_("Prompt sets"),
        help_text=_("Models that have answered a set newly chosen are added."),
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = Campaign
        fields = ["prompt_sets"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limit(self, "prompt_sets", choosable_sets(self.instance.team, self.instance))
        if self.instance.opened_at:
            self.fields["prompt_sets"].help_text = f"{self.fields['prompt_sets'].help_text} {CHOSEN_LATE}"

    def save(self, commit: bool = True) -> Campaign:
        with transaction.atomic():
            before = set(self.instance.prompt_sets.values_list("pk", flat=True))
            campaign = super().save(commit)
            adopt_competitors(campaign, campaign.prompt_sets.exclude(pk__in=before))
        return campaign


class ModelsForm(PartForm):
    part = "models"

    class Meta:
        model = Campaign
        fields = ["competitors"]
        labels = {"competitors": _("Models")}
        help_texts = {
            "competitors": _(
                "One that is taken out keeps its votes and is no longer drawn. Once votes are in, boards that"
                " a plan registered name what was added or taken out."
            )
        }
        widgets = {"competitors": forms.CheckboxSelectMultiple}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        of_team = Competitor.objects.filter(team=self.instance.team)
        active = of_team.filter(status=Competitor.Status.ACTIVE)
        chosen = of_team.filter(pk__in=self.instance.competitors.values("pk"))
        limit(self, "competitors", (active | chosen).order_by("name"))


class AdmissionForm(PartForm):
    part = "admission"

    class Meta:
        model = Campaign
        fields = ["admission", "quota"]
        labels = {"admission": _("Who may rate"), "quota": _("Battles asked of each rater")}
        help_texts = {"quota": _("Left empty, raters go on as long as they like.")}
        widgets = {"admission": forms.RadioSelect}


class RevealForm(PartForm):
    part = "reveal"
    stands_on = ("opened_at",)

    class Meta:
        model = Campaign
        fields = ["reveal"]
        labels = {"reveal": _("Names are revealed")}
        help_texts = {
            "reveal": _(
                "Whoever has seen the names behind a response knows them for good, so this can't be changed"
                " once the campaign has been opened."
            )
        }
        widgets = {"reveal": forms.RadioSelect}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reveal"].disabled = self.instance.opened_at is not None


class TextsForm(PartForm):
    part = "texts"

    class Meta:
        model = Campaign
        fields = ["plain_text"]
        labels = {"plain_text": _("Plain text")}
        help_texts = {
            "plain_text": _(
                "Raters see both responses as they were written, marks and all, in one typeface: no headings,"
                " lists, bold, tables, formulas or colours of code. Otherwise each rater can choose so."
                " Every vote keeps which it was."
            )
        }


class TargetsForm(PartForm):
    part = "targets"

    class Meta:
        model = Campaign
        fields = ["target_votes", "target_raters", "ends_at"]
        labels = {
            "target_votes": _("Votes per prompt and pair"),
            "target_raters": _("Raters per prompt"),
            "ends_at": _("Ends at (UTC)"),
        }
        help_texts = {
            "target_votes": _("A pair that has so many votes on a prompt isn't drawn there any more."),
            "target_raters": _("A prompt on which so many people have voted isn't drawn any more."),
            "ends_at": _("No new battle is drawn from then on; you still close the campaign yourself."),
        }
        widgets = {
            "ends_at": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        }


class QualityForm(PartForm):
    part = "quality"
    repeat_share = PercentField(
        largest=Campaign.LARGEST_REPEAT_SHARE,
        label=_("Repeats, in percent of the battles"),
        help_text=_("The same prompt and pair again with the sides swapped: shows how steady a rater is."),
    )
    gold_share = PercentField(
        largest=Campaign.LARGEST_GOLD_SHARE,
        label=_("Gold battles, in percent of the battles"),
        help_text=_("Battles whose better side is known. They check the rater and never count on a board."),
    )

    class Meta:
        model = Campaign
        fields = ["repeat_share", "gold_share", "leak_policy", "hard_at_least"]
        labels = {
            "leak_policy": _("A response that names its model"),
            "hard_at_least": _("Hard from how many of the seven criteria"),
        }
        widgets = {"leak_policy": forms.RadioSelect}


PARTS: dict[str, type[PartForm]] = {
    form.part: form
    for form in (
        NameForm,
        PromptSetsForm,
        ModelsForm,
        AdmissionForm,
        RevealForm,
        TextsForm,
        TargetsForm,
        QualityForm,
    )
}


class GuideForm(forms.Form):
    text = forms.CharField(
        max_length=50_000,
        strip=False,
        label=_("Guide"),
        widget=forms.Textarea(attrs={"rows": 22}),
        help_text=_("Markdown. Raters read it before their first battle; one key shows it again."),
    )

    def clean_text(self) -> str:
        # Browsers send line ends as CR LF; an unchanged text must not become a new version.
        text = self.cleaned_data["text"].replace("\r\n", "\n")
        if not text.strip():
            raise forms.ValidationError(_("Write what raters are asked."))
        return text


class GroupLinkForm(forms.Form):
    label = forms.CharField(
        max_length=120, required=False, label=_("For whom"), help_text=_("a note to yourself")
    )
    max_uses = forms.IntegerField(
        min_value=1,
        max_value=1_000_000,
        required=False,
        label=_("How many may use it"),
        help_text=_("left empty: no limit"),
    )
    expires_at = forms.DateTimeField(
        required=False,
        label=_("Valid until (UTC)"),
        help_text=_("left empty: until it is revoked"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )


class PersonalLinksForm(forms.Form):
    names = forms.CharField(
        required=False,
        max_length=1_000_000,
        label=_("Names"),
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("One on each line. Only your team's admins ever see them."),
    )
    file = forms.FileField(
        required=False,
        label=_("or a file of names"),
        help_text=_(
            "Text or CSV in UTF-8, cut by commas, semicolons or tabs; the first column holds the names."
        ),
        widget=forms.FileInput(attrs={"accept": ".csv,.txt,text/csv,text/plain"}),
    )
    expires_at = forms.DateTimeField(
        required=False,
        label=_("Valid until (UTC)"),
        help_text=_("left empty: until they are revoked"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )

    def clean_file(self) -> str:
        """Its text."""
        file = self.cleaned_data["file"]
        if file is None:
            return ""
        if file.size > LARGEST_LIST:
            raise forms.ValidationError(_("A list of names may have at most 1 MB."))
        data = file.read()
        try:
            return data.decode("utf-16" if data.startswith(_UTF_16_MARKS) else "utf-8-sig")
        except UnicodeDecodeError as error:
            if data.startswith(b"PK"):
                words = _("This is an Excel workbook: save the sheet as “CSV UTF-8”.")
                raise forms.ValidationError(words) from error
            raise forms.ValidationError(_("The file isn't UTF-8: save it as “CSV UTF-8”.")) from error

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if not self.errors:
            if given["names"].strip() and given["file"]:
                raise forms.ValidationError(_("Write names or choose a file, not both."))
            try:
                self.listed = read_names(given["file"] or given["names"])
            except NamesRefusedError as refusal:
                raise forms.ValidationError(refusal.args[0]) from refusal
        return given
