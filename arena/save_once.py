"""Two clicks at once: both looked before either wrote, so the database decides, and the second is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.utils.translation import gettext_lazy as _

T = TypeVar("T")

GONE = _("Nothing was saved: this has been removed meanwhile.")
CHANGED = _("Nothing was saved: this has just been changed by somebody else. Look at it again before you do.")


def save_once(form: forms.BaseForm, save: Callable[[], T]) -> T | None:
    """What `save` makes; None when the form, looking again, finds in its own words what is taken."""
    try:
        with transaction.atomic():
            return save()
    except ValidationError as error:
        form.add_error(None, error)
        return None
    except IntegrityError:
        form.full_clean()
        if form.is_valid():
            raise  # what stood in the way is nothing that the form knows
        return None


class RowForm(forms.ModelForm):
    """Writes the columns that it changes, and nothing that was done to the row since it was read.

    Its own columns and those it `stands_on` decide what may be changed: if one of them is another by now,
    `save` raises ValidationError, which `save_once` tells.
    """

    stands_on: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read = _columns(self.instance)

    def save(self, commit: bool = True) -> Any:
        if self.instance._state.adding or not commit:
            return super().save(commit)
        super().save(commit=False)  # refuses a form with errors
        given = _columns(self.instance)
        with transaction.atomic():
            fresh = type(self.instance)._base_manager.select_for_update().filter(pk=self.instance.pk).first()
            if fresh is None:
                raise ValidationError(GONE)
            if _differ(self._read, _columns(fresh), {*self._meta.fields, *self.stands_on}):
                raise ValidationError(CHANGED)
            written = _differ(self._read, given, given)
            for name in written:
                attname = fresh._meta.get_field(name).attname
                setattr(fresh, attname, given[name])
            fresh.save(update_fields=written + _set_by_themselves(fresh) if written else [])
            self.instance = fresh
            self.save_m2m()
        return fresh


def _columns(row: models.Model) -> dict[str, Any]:
    return {field.name: getattr(row, field.attname) for field in row._meta.concrete_fields}


def _differ(one: dict[str, Any], other: dict[str, Any], names: Iterable[str]) -> list[str]:
    return [name for name in names if name in one and one[name] != other[name]]


def _set_by_themselves(row: models.Model) -> list[str]:
    return [field.name for field in row._meta.concrete_fields if getattr(field, "auto_now", False)]
