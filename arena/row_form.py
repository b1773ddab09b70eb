"""A form about a row that others may change while it stands open: saving it undoes nothing of theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.crypto import salted_hmac
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

GONE = gettext_lazy("Nothing was saved: this has been removed meanwhile.")
CHANGED = gettext_lazy(
    "Nothing was saved: this has just been changed by somebody else. Look at it again before you do."
)
STAMP = "as_read"
SHOWN = 80  # characters of a new value
_DIGITS = 16  # of a value's mark


class RowForm(forms.ModelForm):
    """Writes the columns that it changes, and nothing that was done to the row since the page was opened.

    Its own columns and those it `stands_on` decide what may be changed: if one of them is another by now,
    `save` raises ValidationError, which `save_once` tells. What they were when the page was made comes back
    with the form, as marks that tell no value. The page then shows what is new, and keeps what was typed.
    """

    stands_on: tuple[str, ...] = ()
    _made_with: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> RowForm:
        form = super().__new__(cls)
        form._made_with = args, kwargs
        return form

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read = _values(self.instance, self._many_of(self.initial))
        # Several forms may stand on a page, and nobody points at this field: it has no id.
        marks = forms.HiddenInput(attrs={"id": False})
        self.fields[STAMP] = forms.CharField(required=False, widget=marks, initial=self._stamp())

    def _many_of(self, values: Mapping[str, Any]) -> dict[str, list[int]]:
        """The form's choices of several rows, by their numbers."""
        many = {field.name for field in self.instance._meta.many_to_many}
        return {
            name: sorted(getattr(row, "pk", row) for row in values.get(name) or ())
            for name in self._meta.fields or ()
            if name in many
        }

    def _stamp(self) -> str:
        return " ".join(f"{name}:{self._mark(name, self._read[name])}" for name in self._told())

    def _told(self) -> Iterator[str]:
        return (name for name in (*(self._meta.fields or ()), *self.stands_on) if name in self._read)

    def _mark(self, name: str, value: Any) -> str:
        told = json.dumps([self.instance._meta.label, name, value], sort_keys=True, default=_plain)
        return salted_hmac("arena.row_form", told, algorithm="sha256").hexdigest()[:_DIGITS]

    def _seen(self) -> dict[str, str]:
        """The marks of what stood on the page; of what was read with this request where it sent none."""
        sent = dict(part.split(":", 1) for part in self.cleaned_data.get(STAMP, "").split() if ":" in part)
        return {name: sent.get(name) or self._mark(name, self._read[name]) for name in self._told()}

    def save(self, commit: bool = True) -> Any:
        if self.instance._state.adding or not commit:
            return super().save(commit)
        super().save(commit=False)  # refuses a form with errors
        given = _values(self.instance, self._many_of(self.cleaned_data))
        with transaction.atomic():
            fresh = type(self.instance)._base_manager.select_for_update().filter(pk=self.instance.pk).first()
            if fresh is None:
                raise ValidationError(GONE)
            self._refuse_changed(fresh, given)
            written = [name for name in _columns(fresh) if self._read[name] != given[name]]
            for name in written:
                attname = fresh._meta.get_field(name).attname
                setattr(fresh, attname, given[name])
            self.about_to_write(fresh)
            fresh.save(update_fields=written + _set_by_themselves(fresh) if written else [])
            self.instance = fresh
            self.save_m2m()
        return fresh

    def about_to_write(self, fresh: Any) -> None:
        """For forms whose row is told more than its columns."""

    def _refuse_changed(self, fresh: models.Model, given: Mapping[str, Any]) -> None:
        now = _values(fresh, {name: _chosen(fresh, name) for name in self._many_of({})})
        seen = self._seen()
        changed = [name for name in seen if self._mark(name, now[name]) != seen[name]]
        if not changed:
            return
        self._show_anew(fresh, given, seen)
        raise ValidationError([ValidationError(CHANGED), *(self._news(fresh, name) for name in changed)])

    def _show_anew(self, fresh: models.Model, given: Mapping[str, Any], seen: Mapping[str, str]) -> None:
        """As the page would be now; what was typed otherwise than it stood there stays typed."""
        kept = {name for name in seen if self._mark(name, given[name]) != seen[name]}
        args, kwargs = self._made_with
        anew = {name: value for name, value in kwargs.items() if name not in ("data", "files")}
        form = type(self)(*(None for _sent in args), **anew | {"instance": fresh})
        data: Any = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict
        for name, field in form.fields.items():
            key = self.add_prefix(name)
            if name in kept or (name not in given and name != STAMP):
                continue
            if sent := _as_sent(field.widget, form[name].value()):
                data.setlist(key, sent)
            else:
                data.pop(key, None)
        self.data = data

    def _news(self, fresh: models.Model, name: str) -> str:
        if name not in self.fields:
            return _("Also changed: %(name)s.") % {"name": _field(fresh, name).verbose_name}
        words = {"name": self.fields[name].label, "value": _in_words(fresh, name) or "—"}
        return _("%(name)s is now “%(value)s”.") % words


def _values(row: models.Model, many: Mapping[str, Any]) -> dict[str, Any]:
    return {**_columns(row), **many}


def _columns(row: models.Model) -> dict[str, Any]:
    return {field.name: getattr(row, field.attname) for field in row._meta.concrete_fields}


def _chosen(row: models.Model, name: str) -> list[int]:
    return sorted(getattr(row, name).values_list("pk", flat=True))


def _plain(value: Any) -> str:
    return str(value.normalize()) if isinstance(value, Decimal) else str(value)


def _set_by_themselves(row: models.Model) -> list[str]:
    return [field.name for field in row._meta.concrete_fields if getattr(field, "auto_now", False)]


def _as_sent(widget: forms.Widget, value: Any) -> list[str]:
    """The value as a browser would send it."""
    if isinstance(widget, forms.CheckboxInput):
        return ["on"] if value else []
    shown: Any = widget.format_value(value)
    return list(shown) if isinstance(shown, list | tuple) else [shown or ""]


def _field(row: models.Model, name: str) -> models.Field:
    return cast("models.Field", row._meta.get_field(name))


def _in_words(row: models.Model, name: str) -> str:
    field = _field(row, name)
    if field.many_to_many:
        found = ", ".join(str(one) for one in getattr(row, name).all())
    elif field.choices:
        found = str(getattr(row, f"get_{name}_display")())
    else:
        value = getattr(row, name)
        yes, no = _("yes"), _("no")
        found = (yes if value else no) if isinstance(value, bool) else "" if value is None else str(value)
    return Truncator(" ".join(found.split())).chars(SHOWN)
