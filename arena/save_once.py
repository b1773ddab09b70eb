"""Two clicks at once: both looked before either wrote, so the database decides, and the second is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

T = TypeVar("T")


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
