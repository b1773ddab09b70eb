"""Which prompts of a set are shown, or changed together."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext_lazy as _

from arena.corpus.models import Prompt, PromptSet

HARDNESS: dict[str, bool | None] = {"yes": True, "no": False, "unknown": None}


class PromptFilter(forms.Form):
    q = forms.CharField(
        required=False,
        max_length=200,
        label=_("Search"),
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("id, words or tag")}),
    )
    category = forms.ChoiceField(required=False, label=_("Category"))
    language = forms.ChoiceField(required=False, label=_("Language"))
    hard = forms.ChoiceField(
        required=False,
        label=_("Hard"),
        choices=[("", _("all")), ("yes", _("hard")), ("no", _("not hard")), ("unknown", _("unknown"))],
    )

    def __init__(self, *args: Any, prompt_set: PromptSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prompts = prompt_set.prompts.order_by("pk")
        for name in ("category", "language"):
            found = self.prompts.order_by(name).values_list(name, flat=True).distinct()
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101
            field.choices = [("", _("all")), *((value, value) for value in found if value)]

    def found(self) -> QuerySet[Prompt]:
        """The prompts asked for, in their order; none where the question makes no sense."""
        if not self.is_valid():
            return self.prompts.none()
        asked = self.cleaned_data
        prompts = self.prompts.filter(
            **{name: asked[name] for name in ("category", "language") if asked[name]}
        )
        if asked["hard"]:
            prompts = prompts.filter(is_hard=HARDNESS[asked["hard"]])
        if asked["q"]:
            prompts = prompts.annotate(
                turns_text=Cast("messages", TextField()), tags_text=Cast("tags", TextField())
            ).filter(_holds(asked["q"]))
        return prompts

    @property
    def is_narrow(self) -> bool:
        """Whether anything is asked for."""
        return self.is_valid() and any(self.cleaned_data.values())


def _holds(words: str) -> Q:
    found = Q(external_id__icontains=words)
    # As JSON is stored: SQLite keeps it with escapes for all that isn't ASCII, PostgreSQL without.
    for escaped in {json.dumps(words)[1:-1], json.dumps(words, ensure_ascii=False)[1:-1]}:
        found |= Q(turns_text__icontains=escaped) | Q(tags_text__icontains=escaped)
    return found
