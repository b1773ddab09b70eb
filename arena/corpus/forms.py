from __future__ import annotations

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from arena.corpus.labels import given_hardness
from arena.corpus.models import HARD_AT_LEAST, HARD_CRITERIA, Competitor, Prompt, PromptSet
from arena.corpus.names import name_key
from arena.endpoints.models import Endpoint
from arena.raters.models import Team
from arena.row_form import RowForm

CRITERIA_WORDS = {
    "specificity": _("asks for something definite"),
    "domain_knowledge": _("needs knowledge of a field"),
    "complexity": _("has several parts or steps"),
    "problem_solving": _("must be worked out, not just recalled"),
    "creativity": _("needs invention"),
    "technical_accuracy": _("must be technically right"),
    "real_world": _("is tied to a real use"),
}
LABEL_NAMES = {
    "is_hard": _("Hard, said outright"),
    "specificity": _("Specificity"),
    "domain_knowledge": _("Domain knowledge"),
    "complexity": _("Complexity"),
    "problem_solving": _("Problem solving"),
    "creativity": _("Creativity"),
    "technical_accuracy": _("Technical accuracy"),
    "real_world": _("Real-world use"),
}
FLAGS = [("", _("unknown")), ("yes", _("yes")), ("no", _("no"))]
_FLAG_OF = {"": None, "yes": True, "no": False}
_WORD_OF = {flag: word for word, flag in _FLAG_OF.items()}


class FlagField(forms.TypedChoiceField):
    """Yes, no or unknown."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=FLAGS, required=False, coerce=_FLAG_OF.get, empty_value=None, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return _WORD_OF[value] if value is None or isinstance(value, bool) else value


class PromptSetForm(RowForm):
    stands_on = ("status",)

    class Meta:
        model = PromptSet
        fields = ["name", "description", "licence", "is_internal"]
        labels = {"name": _("Name"), "description": _("Description"), "licence": _("Licence")}
        help_texts = {
            "licence": _("Under which these prompts may be passed on, like CC BY 4.0. Exports name it."),
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["is_internal"].label = _("Internal")
        self.fields["is_internal"].help_text = _(
            "Its texts are sent to internal endpoints alone, whether to be answered, judged or labelled."
            " Raters and exports still show them. Can be changed until the set is published."
        )
        if not self.instance.is_draft:
            del self.fields["is_internal"]
        if self.instance.pk and (not self.instance.is_draft or self.instance.version > 1):
            del self.fields["name"]

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        others = PromptSet.stored.filter(team=self.instance.team_id, name=name).exclude(pk=self.instance.pk)
        if others.exists():
            raise forms.ValidationError(
                _("There is a prompt set of this name; choose another, or make its next version.")
            )
        return name


class LabelsForm(forms.Form):
    """What is known of a prompt's hardness."""

    is_hard = FlagField(
        label=LABEL_NAMES["is_hard"],
        help_text=_("Unknown: the criteria decide; %(least)d of seven make a prompt hard.")
        % {"least": HARD_AT_LEAST},
    )

    def __init__(self, *args: Any, prompt: Prompt | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prompt = prompt
        for name in HARD_CRITERIA:
            self.fields[name] = FlagField(label=LABEL_NAMES[name], help_text=CRITERIA_WORDS[name])
        if prompt:
            self.initial = {name: getattr(prompt, name) for name in HARD_CRITERIA}
            self.initial["is_hard"] = given_hardness(prompt)


class PromptForm(RowForm):
    stands_on = ("messages", "tombstone")

    tags = forms.CharField(required=False, label=_("Tags"), help_text=_("separated by commas"))

    class Meta:
        model = Prompt
        fields = ["external_id", "category", "language", "tags", "reference"]
        labels = {"external_id": _("Id"), "category": _("Category"), "language": _("Language")}
        help_texts = {
            "external_id": _("Files of responses and votes name the prompt by it."),
            "language": _("A code like en or fr. Raters who told their languages are asked in those alone."),
            "reference": _("An answer known to be good, shown to judges and never to raters."),
        }
        widgets = {"reference": forms.Textarea(attrs={"rows": 4})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["tags"] = ", ".join(self.instance.tags)
        reference = self.fields["reference"]
        assert isinstance(reference, forms.CharField)  # noqa: S101
        reference.strip = False

    def clean_tags(self) -> list[str]:
        tags = (tag.strip() for tag in self.cleaned_data["tags"].split(","))
        return list(dict.fromkeys(tag for tag in tags if tag))

    def clean_reference(self) -> str:
        return as_typed(self.cleaned_data["reference"])

    def clean_external_id(self) -> str:
        external_id = self.cleaned_data["external_id"].strip()
        others = Prompt.stored.filter(prompt_set=self.instance.prompt_set_id, external_id=external_id)
        if others.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(_("Another prompt of this set has this id."))
        return external_id


class TurnForm(forms.Form):
    role = forms.ChoiceField(
        label=_("By"),
        choices=[("user", _("user")), ("assistant", _("assistant")), ("system", _("system"))],
    )
    content = forms.CharField(
        label=_("Text"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"})
    )


class BaseTurns(forms.BaseFormSet):
    def clean(self) -> None:
        if not any(self.errors) and not self.messages():
            raise forms.ValidationError(_("Write the prompt: it has no text."))

    def messages(self) -> list[dict[str, str]]:
        """The turns with a text, as they are stored; an emptied turn is taken out."""
        turns = (form.cleaned_data for form in self.forms)
        return [
            {"role": turn["role"], "content": as_typed(turn["content"])}
            for turn in turns
            if turn.get("content", "").strip()
        ]


MOST_TURNS = 50
_factory = forms.formset_factory(
    TurnForm, formset=BaseTurns, extra=0, min_num=1, max_num=MOST_TURNS, absolute_max=MOST_TURNS
)
Turns = cast(type[BaseTurns], _factory)


def as_typed(text: str) -> str:
    """Browsers send a line's end as two characters."""
    return text.replace("\r\n", "\n")


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=500, label=_("Reason"))


class BulkLabelForm(forms.Form):
    label = forms.ChoiceField(choices=list(LABEL_NAMES.items()), label=_("Label"))
    value = FlagField(label=_("Value"))


class CompetitorForm(RowForm):
    aliases = forms.CharField(
        required=False,
        label=_("Aliases"),
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Other names it goes by, one a line. A response that holds one gives itself away."),
    )

    class Meta:
        model = Competitor
        fields = ["name", "organisation", "family", "licence", "aliases", "endpoint", "role", "status"]
        labels = {"name": _("Name"), "organisation": _("Organisation"), "family": _("Family")}
        help_texts = {
            "organisation": _("Its maker; responses that name it as theirs give themselves away."),
            "family": _("Judges of the same family are told apart, for a judge likes its own."),
            "endpoint": _("Where it can be asked for responses."),
            "role": _("A sentinel is there to check raters and judges: a model known to be bad or good."),
            "status": _(
                "A retired or withdrawn model isn't drawn any more; what it has fought still counts,"
                " and boards go on listing it."
            ),
        }

    def __init__(self, *args: Any, team: Team, by: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.by = by
        if self.instance.pk and self.instance.has_past:
            self.fields["name"].help_text = _(
                "It has responses or battles. They stay its own under another name, and every board that"
                " names it says what it was called before and when that changed."
            )
        self.initial["aliases"] = "\n".join(self.instance.aliases)
        endpoint = self.fields["endpoint"]
        assert isinstance(endpoint, forms.ModelChoiceField)  # noqa: S101
        endpoint.queryset = Endpoint.objects.filter(team=team).order_by("name")
        self.team = team

    def about_to_write(self, fresh: Competitor) -> None:
        fresh.saved_by = self.by

    def clean_aliases(self) -> list[str]:
        lines = (line.strip() for line in self.cleaned_data["aliases"].splitlines())
        return list(dict.fromkeys(line for line in lines if line))

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        others = Competitor.stored.filter(team=self.team, name_key=name_key(name))
        if others.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(_("Another model has this name, or one that looks the same."))
        return name
