from django import forms

from arena.battles.models import Outcome
from arena.battles.reasons import Reason

# As the rater's browser laid the two sides out, and in which direction the page ran.
LAYOUTS = ("wide-ltr", "wide-rtl", "narrow-ltr", "narrow-rtl")
DAY_MS = 24 * 60 * 60 * 1000


class BallotForm(forms.Form):
    outcome = forms.ChoiceField(choices=Outcome.choices)
    key = forms.RegexField(r"^[\w-]{8,100}$")
    dwell_ms = forms.IntegerField(min_value=0, max_value=DAY_MS * 30, required=False)
    layout = forms.ChoiceField(choices=[("", ""), *((name, name) for name in LAYOUTS)], required=False)


class FlagForm(forms.Form):
    text = forms.CharField(max_length=2000, required=False)


class ReasonsForm(forms.Form):
    reasons = forms.MultipleChoiceField(choices=Reason.choices, required=False)
    comment = forms.CharField(max_length=2000, required=False)
