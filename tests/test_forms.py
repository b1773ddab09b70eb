"""How forms look, told in one place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django import forms
from django.conf import settings
from django.template.loader import render_to_string

TEMPLATES = Path(settings.BASE_DIR) / "templates"


class Sample(forms.Form):
    name = forms.CharField()
    licence = forms.CharField(required=False, help_text="if known")
    kind = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect)


def label_of(page: str, name: str) -> str:
    found = re.search(rf"<(label for=\"id_{name}\"|legend)>({name.capitalize()}.*?)</(label|legend)>", page)
    assert found
    return found[2]


def test_a_field_that_is_required_says_so():
    page = render_to_string("form_fields.html", {"form": Sample()})
    assert "required" in label_of(page, "name") and "required" in label_of(page, "kind")
    assert label_of(page, "licence") == "Licence"


def test_whoever_hears_it_is_told_by_the_field_itself():
    """The mark is for the eye: the field carries the attribute."""
    page = render_to_string("form_fields.html", {"form": Sample()})
    assert re.search(r'<input[^>]*name="name"[^>]* required', page)
    assert 'class="required" aria-hidden="true"' in page


# A filter asks for nothing, a turn has its fields side by side, one form of a reason stands there many times.
OWN = {"corpus/page.html", "corpus/prompt.html", "corpus/prompt_edit.html", "leaderboards/reader.html"}


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_no_other_template_draws_a_field_of_a_form(path):
    name = path.relative_to(TEMPLATES).as_posix()
    if name not in OWN | {"form_field.html"}:
        assert ".label }}</label>" not in path.read_text()
