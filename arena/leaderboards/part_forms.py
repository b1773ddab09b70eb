"""Which part of a campaign's votes a board is to be of."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.campaigns.models import Campaign
from arena.judging.models import Judge
from arena.leaderboards.defaults import judges_of, made_once
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.part import DAYS, KEYS, LAST_DAY, key_of, prompts_of, say_language, say_part


class PartForm(forms.Form):
    category = forms.ChoiceField(required=False, label=gettext_lazy("Category of prompts"))
    language = forms.ChoiceField(required=False, label=gettext_lazy("Language of prompts"))
    prompt_set = forms.TypedChoiceField(
        required=False, coerce=int, empty_value="", label=gettext_lazy("Prompt set")
    )
    first_day = forms.DateField(
        required=False,
        label=gettext_lazy("First day"),
        help_text=gettext_lazy("Of votes, in UTC."),
        validators=[MaxValueValidator(LAST_DAY)],
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    last_day = forms.DateField(
        required=False,
        label=gettext_lazy("Last day"),
        help_text=gettext_lazy("The day itself is in."),
        validators=[MaxValueValidator(LAST_DAY)],
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    source = forms.ChoiceField(label=gettext_lazy("Whose judgment"))
    style_control = forms.BooleanField(required=False, label=gettext_lazy("Style-controlled"))

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        sets = campaign.prompt_sets.order_by("name", "version")
        judges = Judge.objects.filter(pk__in=judges_of(campaign)).order_by("pk")
        categories, languages = labels_of(campaign, "category"), labels_of(campaign, "language")
        everything = [("", _("all"))]
        self.choose("category", everything + [(name, name) for name in categories])
        self.choose("language", everything + [(code, say_language(code)) for code in languages])
        self.choose("prompt_set", everything + [(str(one.pk), str(one)) for one in sets])
        people = [(Leaderboard.Source.RATERS.value, _("people"))]
        self.choose("source", people + [(f"judge:{judge.pk}", judge.name) for judge in judges])

    def choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        first, last = (cleaned.get(name) for name in DAYS)
        if first and last and last < first:
            self.add_error("last_day", _("This day lies before the first one."))
        if not self.errors and not self.part:
            raise forms.ValidationError(_("Choose a part: all votes together have their boards already."))
        return cleaned

    @property
    def part(self) -> dict[str, Any]:
        """What is left empty isn't in it."""
        given: dict[str, Any] = {name: self.cleaned_data.get(name) for name in KEYS}
        days = {name: given[name].isoformat() for name in DAYS if given[name]}
        return {name: value for name, value in given.items() if value} | days

    def save(self) -> Leaderboard:
        """The board of that part; asked for again it is the same one."""
        found = re.fullmatch("judge:([0-9]{1,18})", self.cleaned_data["source"])
        judge = Judge.objects.get(pk=int(found[1])) if found else None
        source = Leaderboard.Source.RATERS if judge is None else Leaderboard.Source.JUDGE
        style = self.cleaned_data["style_control"]
        definition = {
            "campaign_id": self.campaign.pk,
            "judge_id": judge and judge.pk,
            "source": source,
            "subset": Leaderboard.Subset.ALL,
            "style_control": style,
            "part": self.part,
        }
        whose = _("judge %(name)s") % {"name": judge.name} if judge else _("people")
        said = [say_part(self.part, self.campaign, judge is not None), whose]
        name = f"{self.campaign.name}: {', '.join(said + [_('style-controlled')] * style)}"
        stem = f"{self.campaign.slug}-part-{key_of(self.part)}"
        kind = f"{f'-judge-{judge.pk}' if judge else ''}{'-style' if style else ''}"
        return made_once(stem + kind, definition, {"name": name[:300]})


def labels_of(campaign: Campaign, name: str) -> list[str]:
    named = prompts_of(campaign).filter(~Q(**{name: ""})).order_by(name)
    return list(named.values_list(name, flat=True).distinct())
