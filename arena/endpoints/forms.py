from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from arena.endpoints.client import RESERVED
from arena.endpoints.hosts import HostRefusedError, check_url, origin_of
from arena.endpoints.key_use import KeyRefusedError, check_use
from arena.endpoints.keys import KeyMissingError, check_name
from arena.endpoints.models import Endpoint
from arena.endpoints.parameters import read_parameters
from arena.row_form import RowForm

MOST_CALLS = 1_000_000
NAME_TAKEN = _("Another endpoint has this name; choose one of its own.")


class ParametersField(forms.JSONField):
    """Django's reads with `json.loads` in three places, and lets through all that it raises but one error."""

    def to_python(self, value: Any) -> Any:
        if self.disabled or not isinstance(value, str) or not value.strip():
            return super().to_python(value)
        try:
            return read_parameters(value)
        except ValueError as error:
            raise ValidationError(str(error)) from None

    def clean(self, value: Any) -> dict[str, Any]:
        found = super().clean(value)
        found = {} if found is None else found
        if not isinstance(found, dict):
            raise ValidationError(_('Give a JSON object, like {"temperature": 0}.'))
        reserved = sorted(RESERVED.intersection(found))
        if reserved:
            raise ValidationError(
                _("Tiltyard sets these itself: %(names)s. Take them out.") % {"names": ", ".join(reserved)}
            )
        return found

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Shown again as it was typed."""
        return initial if self.disabled else data

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else super().prepare_value(value)


class CallsField(forms.IntegerField):
    """The most requests that a run may send."""

    def __init__(self, **options: Any) -> None:
        usual: dict[str, Any] = {
            "required": False,
            "label": _("Cap on calls"),
            "help_text": _("left empty: no cap"),
        }
        super().__init__(min_value=1, max_value=MOST_CALLS, **usual | options)


class BudgetField(forms.DecimalField):
    """The most dollars that a run may cost."""

    def __init__(self, **options: Any) -> None:
        usual: dict[str, Any] = {
            "required": False,
            "label": _("Budget in US dollars"),
            "help_text": _("never exceeded; needs the endpoints' prices"),
        }
        super().__init__(min_value=0, max_digits=12, decimal_places=4, **usual | options)


class EndpointForm(RowForm):
    # Not a URLField: that refuses names without a dot, as a neighbouring container has.
    base_url = forms.CharField(
        max_length=500,
        label=_("Base URL"),
        help_text=_("Up to and including /v1, like https://api.example.com/v1."),
    )
    parameters = ParametersField(
        required=False,
        label=_("Parameters"),
        help_text=_('Sent with every call, as JSON: {"temperature": 0}'),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )

    class Meta:
        model = Endpoint
        fields = [
            "name",
            "base_url",
            "model_id",
            "family",
            "key_variable",
            "key_file",
            "is_internal",
            "parameters",
            "structured_mode",
            "max_tokens",
            "max_tokens_field",
            "timeout_seconds",
            "concurrency",
            "requests_per_minute",
            "tokens_per_minute",
            "input_price",
            "output_price",
        ]
        labels = {
            "name": _("Name"),
            "model_id": _("Model"),
            "family": _("Model family"),
            "key_variable": _("Environment variable with the key"),
            "key_file": _("Or file with the key"),
            "is_internal": _("May see internal prompt sets"),
            "structured_mode": _("Structured output"),
            "max_tokens": _("Tokens a reply may have"),
            "max_tokens_field": _("Parameter that limits them"),
            "timeout_seconds": _("Seconds a call may take"),
            "concurrency": _("Calls at once"),
            "requests_per_minute": _("Requests a minute"),
            "tokens_per_minute": _("Tokens a minute"),
            "input_price": _("Price of a million input tokens"),
            "output_price": _("Price of a million output tokens"),
        }
        help_texts = {
            "model_id": _("As the server names it. A dated name stays the same model; an alias may change."),
            "family": _("Who made it, like gpt or llama: a judge shouldn't judge its own family."),
            "key_variable": _(
                "Its name, never the key; it ends in _KEY or _TOKEN. Left empty, no key is sent."
            ),
            "key_file": _("Its absolute path, like /run/secrets/openai.key; the file must have mode 0600."),
            "is_internal": _("Else no text of theirs is ever sent here."),
            "structured_mode": _("Lowered by itself when the server refuses it."),
            "input_price": _("US dollars; needed for budgets."),
            "output_price": _("US dollars; needed for budgets."),
            "requests_per_minute": _("Left empty: no limit."),
            "tokens_per_minute": _("Left empty: no limit."),
        }

    def _get_validation_exclusions(self) -> set[str]:
        return super()._get_validation_exclusions() | {"base_url"}

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        others = Endpoint.objects.filter(team=self.instance.team, name=name).exclude(pk=self.instance.pk)
        if others.exists():
            raise ValidationError(NAME_TAKEN)
        return name

    def save(self, commit: bool = True) -> Any:
        if {"base_url", "model_id"} & set(self.changed_data):
            # What was learnt is about another server or model.
            self.instance.answering_model, self.instance.refused_parameters = "", []
        return super().save(commit)

    def clean_base_url(self) -> str:
        base_url = self.cleaned_data["base_url"].strip().rstrip("/")
        try:
            check_url(base_url, settings.ENDPOINT_ALLOWED_HOSTS)
        except HostRefusedError as error:
            raise ValidationError(str(error)) from None
        return base_url

    def clean_key_variable(self) -> str:
        return self.clean_key_name("key_variable")

    def clean_key_file(self) -> str:
        return self.clean_key_name("key_file")

    def clean_key_name(self, field: str) -> str:
        name = self.cleaned_data[field]
        try:
            check_name(**{"variable": "", "file": "", field.removeprefix("key_"): name})
        except KeyMissingError as error:
            raise ValidationError(str(error)) from None
        return name

    def clean(self) -> dict:
        cleaned = super().clean() or {}
        if cleaned.get("key_variable") and cleaned.get("key_file"):
            self.add_error("key_file", _("Name either a variable or a file."))
        if not self.errors and self.host_changed(cleaned["base_url"]):
            # A key must not go to a server that it wasn't given for.
            for field in ("key_variable", "key_file"):
                if field not in self.changed_data:
                    cleaned[field] = ""
        if not self.errors:
            self.check_key_use(cleaned)
        return cleaned

    def check_key_use(self, cleaned: dict) -> None:
        variable, file = cleaned["key_variable"], cleaned["key_file"]
        try:
            check_use(self.instance, cleaned["base_url"], variable, file)
        except KeyRefusedError as error:
            self.add_error("key_variable" if variable else "key_file", str(error))

    def host_changed(self, base_url: str) -> bool:
        before = self.initial.get("base_url", "")
        return bool(before) and origin_of(before) != origin_of(base_url)
