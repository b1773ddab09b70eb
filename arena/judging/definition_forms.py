import re
from dataclasses import asdict
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from arena.choices import limit_choices
from arena.endpoints.models import Endpoint
from arena.judging.models import Judge, Rubric
from arena.judging.prompting import Criterion, RubricText
from arena.raters.models import Team
from arena.row_form import RowForm

NAME_TAKEN = _("Another judge has this name.")
CRITERION = re.compile(
    r"\s*(?P<name>[^:]+?)\s*(?:\((?P<low>\d+)\s*[-–]\s*(?P<high>\d+)\))?\s*:\s*(?P<words>.+?)\s*"
)


def fields_of(text: RubricText) -> dict[str, str]:
    """The form's fields, filled with this text."""
    criteria = criteria_as_text([asdict(criterion) for criterion in text.criteria])
    return {"mode": text.mode, "instructions": text.instructions, "criteria": criteria}


def criteria_as_text(criteria: list[dict[str, Any]]) -> str:
    return "\n".join(f"{c['name']} ({c['low']}-{c['high']}): {c['description']}" for c in criteria)


def read_criteria(text: str) -> list[Criterion]:
    """One criterion a line: `name (1-5): what to look at`. Raises ValueError naming the line."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = CRITERION.fullmatch(line)
        if match is None:
            raise ValueError(f"line {number}: write “name (1-5): what to look at”, not “{line.strip()[:60]}”")
        if len(match["low"] or "") > 3 or len(match["high"] or "") > 3:
            raise ValueError(f"line {number}: a scale ends at 100 or less")
        low, high = int(match["low"] or 1), int(match["high"] or 5)
        try:
            found.append(Criterion(match["name"], match["words"], low, high))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return found


class RubricForm(forms.Form):
    name = forms.CharField(max_length=120, label=_("Name"))
    mode = forms.ChoiceField(
        choices=Rubric.Mode.choices,
        required=False,
        initial=Rubric.Mode.PAIRWISE,
        label=_("What a judge is asked for"),
        help_text=_("Boards are made of comparisons; scores are shown as means, and rank nothing."),
    )
    instructions = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 10}),
        label=_("Instructions"),
        help_text=_("What the judge is asked. Say that length is no merit. Names are never sent."),
    )
    criteria = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 7}),
        label=_("Criteria"),
        help_text=_("Three to seven, one a line: factual (1-5): are its claims true?"),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            criteria = tuple(read_criteria(cleaned["criteria"]))
            self.text = RubricText(cleaned["instructions"], criteria, cleaned["mode"] or Rubric.Mode.PAIRWISE)
        except ValueError as error:
            self.add_error("criteria", str(error))
        return cleaned


class JudgeForm(RowForm):
    class Meta:
        model = Judge
        fields = ["name", "endpoint", "rubric", "family"]
        labels = {"endpoint": _("Endpoint"), "rubric": _("Rubric"), "family": _("Family")}
        help_texts = {"family": _("left empty: the endpoint's")}

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        for name, rows in (
            ("endpoint", Endpoint.objects.filter(team=team).order_by("name")),
            ("rubric", Rubric.objects.filter(team=team).order_by("name", "-version")),
        ):
            limit_choices(self, name, rows)
            self.fields[name].required = True

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if Judge.objects.filter(team=self.team, name=cleaned.get("name")).exists():
            self.add_error("name", NAME_TAKEN)
        if cleaned.get("endpoint") and not cleaned.get("family"):
            cleaned["family"] = cleaned["endpoint"].family
        return cleaned
