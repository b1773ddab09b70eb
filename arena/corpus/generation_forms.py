from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from arena.choices import limit_choices
from arena.corpus.generation_planning import askable_competitors
from arena.corpus.models import Competitor, PromptSet
from arena.corpus.names import name_key
from arena.endpoints.forms import BudgetField, CallsField, ParametersField
from arena.endpoints.models import Endpoint
from arena.row_form import RowForm

MOST_SAMPLES = 100


class GenerationForm(forms.Form):
    competitors = forms.ModelMultipleChoiceField(
        Competitor.objects.none(), widget=forms.CheckboxSelectMultiple, label=_("Models")
    )
    samples = forms.IntegerField(
        min_value=1,
        max_value=MOST_SAMPLES,
        initial=1,
        label=_("Responses to each prompt"),
        help_text=_("What is there already is never asked for again."),
    )
    max_calls = CallsField()
    budget_usd = BudgetField()

    def __init__(self, *args: Any, prompt_set: PromptSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.askable = askable_competitors(prompt_set)
        limit_choices(self, "competitors", self.askable)
        self.fields["competitors"].initial = list(self.askable.values_list("pk", flat=True))


class AskingForm(RowForm):
    """How a model is asked: where, with which system prompt and parameters."""

    parameters = ParametersField(
        required=False,
        label=_("Parameters"),
        help_text=_(
            'Sent with every call, as JSON: {"temperature": 0.7}. They go before the endpoint\'s own.'
        ),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )

    class Meta:
        model = Competitor
        fields = ["name", "endpoint", "system_prompt", "parameters"]
        labels = {"name": _("Name"), "endpoint": _("Endpoint"), "system_prompt": _("System prompt")}
        help_texts = {
            "name": _("As boards and reveals show it."),
            "endpoint": _("One endpoint may serve several models that differ in prompt or parameters."),
            "system_prompt": _("Sent before every prompt; left empty, none is sent."),
        }
        widgets = {"system_prompt": forms.Textarea(attrs={"rows": 4})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        endpoints = Endpoint.objects.filter(team=self.instance.team_id)
        limit_choices(self, "endpoint", endpoints.order_by("name"))
        self.fields["endpoint"].required = True
        if self.instance.pk:
            del self.fields["name"]

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        same = Competitor.objects.filter(team=self.instance.team_id, name_key=name_key(name)).first()
        if same:
            raise ValidationError(_("A model is called %(name)s already.") % {"name": same.name})
        return name
