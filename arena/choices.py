"""Of which rows a form's field lets one choose."""

from django import forms
from django.db.models import QuerySet


def limit_choices(form: forms.BaseForm, name: str, choices: QuerySet) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)  # noqa: S101
    field.queryset = choices
