"""Filters of the API. What they don't know is refused: a filter misspelt would answer with everything."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema_field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from arena.row_numbers import LARGEST

PAGING = ("limit", "offset")


class KnownParameters(DjangoFilterBackend):
    """Of lists alone: one row is found by its address."""

    def filter_queryset(self, request: Request, queryset: QuerySet, view: APIView) -> QuerySet:
        if getattr(view, "detail", False):
            return queryset
        filterset = self.get_filterset(request, queryset, view)
        known = [*(filterset.filters if filterset else ()), *PAGING]
        for name in request.query_params:
            if name not in known:
                words = _("There is no such parameter; there are: %(known)s.")
                raise ValidationError({name: [words % {"known": ", ".join(known)}]})
        return super().filter_queryset(request, queryset, view)


@extend_schema_field({"type": "integer", "minimum": 0})
class IdFilter(filters.NumberFilter):
    """By a row's number: of one that isn't the caller's, as of one that doesn't exist, there is nothing."""

    field_class = forms.IntegerField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, min_value=0, max_value=LARGEST)

    def get_max_validator(self) -> None:
        """The field has its own bound."""


class FlagField(forms.NullBooleanField):
    def clean(self, value: Any) -> bool | None:
        if value in (None, ""):
            return None
        if value not in ("true", "false"):
            raise forms.ValidationError(_("This is true or false."))
        return value == "true"


class FlagFilter(filters.BooleanFilter):
    field_class = FlagField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "widget": LowerText})


class LowerText(forms.TextInput):
    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        value = data.get(name)
        return value.lower() if isinstance(value, str) else value
