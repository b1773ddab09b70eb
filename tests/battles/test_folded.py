"""A folded part says what the unfolded one says, in every language, whatever its values."""

from __future__ import annotations

import pytest
from django.template import Context, engines
from django.utils import translation

WORDS = """<p title="{% translate 'Prompt' %}">{% translate "A" context "side" %} {{ value }}
{% if value %}{% translate "Undo" %}{% endif %}{% translate word %}{% translate "Skip" as kept %}{{ kept }}
{% translate "Keys" %} 100% {% translate "Guide" %}</p>"""
LANGUAGES = ("en", "fr", "ar")


def template(source: str):
    return engines["django"].from_string("{% load i18n folded %}" + source).template


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_says_what_the_unfolded_part_says(language):
    plain, folded = template(WORDS), template("{% folded %}" + WORDS + "{% endfolded %}")
    with translation.override(language):
        for value in ("", "Flag", "<b>&", 1234.5):
            context = {"value": value, "word": "Tie"}
            assert folded.render(Context(context)) == plain.render(Context(context))


def test_one_language_does_not_speak_in_another():
    folded = template('{% folded %}{% translate "Undo" %}{% endfolded %}')
    said = []
    for language in (*LANGUAGES, *LANGUAGES):
        with translation.override(language):
            said.append(folded.render(Context()))
    assert said[:3] == said[3:]
    assert len(set(said)) == 3


def test_only_what_depends_on_nothing_is_looked_up_once():
    node = template("{% folded %}" + WORDS + "{% endfolded %}").nodelist[-1]
    node.render_annotated(Context({"value": "", "word": "Tie"}))
    (parts,) = node.by_language.values()
    assert [type(part).__name__ for part in parts] == [
        "str",
        "VariableNode",
        "str",
        "IfNode",
        "TranslateNode",
        "TranslateNode",
        "VariableNode",
        "str",
    ]
