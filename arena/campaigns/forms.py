from django import forms
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign, Guide
from arena.campaigns.opening import adopt_competitors
from arena.campaigns.slugs import LONGEST, SlugRefusedError, check_slug
from arena.corpus.models import Competitor, PromptSet
from arena.raters.models import Team

GUIDE_START = _(
    "You see one prompt and two responses. Which would you rather have received?\n\n"
    "- **A** or **B** is better: you'd pick it over the other.\n"
    "- **Tie**: both are good, and you couldn't choose.\n"
    "- **Both bad**: neither is of use.\n\n"
    "Length alone is no merit. Check facts where you can."
)


SLUG_TAKEN = _("Another campaign has this address; choose one of its own.")


class CampaignForm(forms.ModelForm):
    guide = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 10}),
        label=_("Guide for raters"),
        help_text=_("Markdown. Raters read it before their first battle; a change makes a new version."),
    )

    class Meta:
        model = Campaign
        fields = ["name", "slug", "description", "prompt_sets", "competitors", "admission", "reveal", "quota"]
        labels = {
            "slug": _("Address"),
            "prompt_sets": _("Prompt sets"),
            "competitors": _("Models"),
            "admission": _("Who may rate"),
            "reveal": _("Names are revealed"),
            "quota": _("Battles asked of each rater"),
        }
        help_texts = {
            "slug": _("The last part of the campaign's address; left empty, it is made from the name."),
            "competitors": _("Left empty, every model that has answered these prompt sets takes part."),
            "quota": _("Left empty, raters go on as long as they like."),
        }
        widgets = {
            "description": forms.Textarea(attrs={"rows": 3}),
            "prompt_sets": forms.CheckboxSelectMultiple,
            "competitors": forms.CheckboxSelectMultiple,
            "admission": forms.RadioSelect,
            "reveal": forms.RadioSelect,
        }

    field_order = [
        "name",
        "description",
        "prompt_sets",
        "competitors",
        "guide",
        "admission",
        "reveal",
        "quota",
    ]

    def __init__(self, *args, team: Team, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        self.fields["slug"].required = False
        sets = PromptSet.objects.filter(team=team).exclude(status=PromptSet.Status.RETIRED)
        self.limit("prompt_sets", sets.order_by("name", "-version"))
        self.limit("competitors", Competitor.objects.filter(team=team).order_by("name"))
        # Names that were once shown can't be hidden again, so the policy stands from the first opening on.
        self.fields["reveal"].disabled = self.instance.opened_at is not None
        guide = self.instance.current_guide if self.instance.pk else None
        self.fields["guide"].initial = guide.text if guide else GUIDE_START

    def limit(self, name: str, choices: QuerySet) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ModelMultipleChoiceField)  # noqa: S101
        field.queryset = choices

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"] or slugify(self.cleaned_data.get("name", ""))[:LONGEST]
        if not slug:
            raise forms.ValidationError(_("Give an address: the name holds no letter that could make one."))
        try:
            check_slug(slug)
        except SlugRefusedError as refusal:
            raise forms.ValidationError(str(refusal)) from refusal
        if Campaign.objects.filter(slug=slug).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(SLUG_TAKEN)
        return slug

    def store(self) -> Campaign | None:
        """The campaign with its guide and competitors, all or nothing; None when another took the address."""
        try:
            with transaction.atomic():
                campaign = self.save()
                Guide.publish(campaign, self.cleaned_data["guide"])
                if not self.cleaned_data["competitors"]:
                    adopt_competitors(campaign)
        except IntegrityError:
            self.add_error("slug", SLUG_TAKEN)
            return None
        return campaign


class InviteForm(forms.Form):
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
