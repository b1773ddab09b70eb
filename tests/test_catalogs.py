"""What raters read is in French and in Arabic too, and what is compiled is what is written.

`UPDATE_CATALOGS=1 ./tiltyard test tests/test_catalogs.py` adds new messages to the .po files, takes out those
that are gone, and compiles the .mo files. Then translate what is left empty, and run it again.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
CATALOGS = {
    language: ROOT / "locale" / language / "LC_MESSAGES" / "django.po"
    for language, _name in settings.LANGUAGES
    if language != "en"
}
TEMPLATES = (
    "base.html language_choice.html form_field.html form_fields.html form_notes.html form_required.html "
    "home.html 403.html 403_csrf.html 404.html malformed.html out_of_range.html battles/battle.html "
    "battles/my_votes.html battles/no_place.html battles/preview.html campaigns/join.html "
    "campaigns/guide.html campaigns/no_invite.html campaigns/too_many.html registration/login.html "
    "registration/locked_out.html leaderboards/my_votes.html leaderboards/take.html copy_field.html"
)
MODULES = (
    "battles/ballots.py battles/forms.py battles/models.py battles/reasons.py battles/screen.py "
    "battles/views.py campaigns/models.py corpus/html.py malformed.py"
)
PLURALS = {
    "fr": "nplurals=2; plural=(n > 1);",
    "ar": "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 "
    ": n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;",
}
CALL = re.compile(r"\b(?:gettext|pgettext|ngettext|npgettext)\(")
PLACE = re.compile(r"%\(\w+\)[sd]|</?\w+>")
NUMBER = re.compile(r"%\((?:n|count|done|total|given|same)\)[sd]")

# What a message is known by: context, words, words for several.
Message = tuple[str | None, str, str | None]


def message(name: str, arguments: list[str]) -> Message:
    context = arguments.pop(0) if "p" in name.removesuffix("_lazy").removesuffix("gettext") else None
    return context, arguments[0], arguments[1] if name.startswith("n") else None


def in_python(source: str) -> set[Message]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        name = "gettext" if node.func.id == "_" else node.func.id
        if re.fullmatch(r"n?p?gettext(_lazy)?", name):
            words = [
                one.value for one in node.args if isinstance(one, ast.Constant) and type(one.value) is str
            ]
            assert words, f"{ast.unparse(node)} has no words of its own"
            found.add(message(name, words))
    return found


def in_template(source: str) -> set[Message]:
    calls = templatize(source)
    found = set()
    for match in CALL.finditer(calls):
        literal = re.match(r"""(?:u(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?:, )?)+""", calls[match.end() :])
        assert literal, calls[match.start() : match.end() + 80]
        found.add(message(match[0].removesuffix("("), list(ast.literal_eval(f"[{literal[0]}]"))))
    return found


def raters_messages() -> set[Message]:
    found = set().union(*(in_template((ROOT / "templates" / path).read_text()) for path in TEMPLATES.split()))
    return found.union(*(in_python((ROOT / "arena" / path).read_text()) for path in MODULES.split()))


def entries(catalog) -> dict[Message, polib.POEntry]:
    return {(one.msgctxt, one.msgid, one.msgid_plural or None): one for one in catalog if not one.obsolete}


def translations(entry: polib.POEntry) -> list[str]:
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


def update(language: str, path: Path) -> None:
    old = entries(polib.pofile(str(path))) if path.exists() else {}
    new = polib.POFile(wrapwidth=100)
    new.metadata = {
        "Content-Type": "text/plain; charset=UTF-8",
        "Language": language,
        "Plural-Forms": PLURALS[language],
    }
    count = int(PLURALS[language][9])
    for context, words, several in sorted(
        raters_messages(), key=lambda one: (one[1].lower(), one[1], one[0] or "")
    ):
        blank = {"msgstr_plural": dict.fromkeys(range(count), ""), "msgid_plural": several} if several else {}
        fresh = polib.POEntry(msgctxt=context, msgid=words, **blank)
        new.append(old.get((context, words, several), fresh))
    path.parent.mkdir(parents=True, exist_ok=True)
    new.save(str(path))
    new.save_as_mofile(str(path.with_suffix(".mo")))


@pytest.fixture(scope="module", params=CATALOGS)
def language(request) -> str:
    if os.environ.get("UPDATE_CATALOGS"):
        update(request.param, CATALOGS[request.param])
    return request.param


@pytest.fixture
def catalog(language) -> polib.POFile:
    return polib.pofile(str(CATALOGS[language]))


def test_the_messages_are_found_wherever_they_stand():
    assert in_template("""{% translate "A" context "side" %}{% blocktranslate count n=n %}one{% plural %}
        {{ n }}{% endblocktranslate %}<p title="{% translate 'it\\'s' %}">""") >= {("side", "A", None)}
    assert in_python('_("a"); ngettext("b", "c", n); pgettext_lazy("x", "d")') == {
        (None, "a", None),
        (None, "b", "c"),
        ("x", "d", None),
    }
    assert len(raters_messages()) > 100


def test_every_message_is_translated_and_none_is_doubtful(catalog):
    known = {key: entry for key, entry in entries(catalog).items() if all(translations(entry))}
    assert sorted(raters_messages() - known.keys(), key=str) == []
    assert sorted(known.keys() - raters_messages(), key=str) == []
    assert [entry.msgid for entry in catalog if entry.fuzzy] == []


def test_a_translation_has_the_places_of_its_message(catalog):
    """A number may be left out where the plural form says it: one, and in Arabic two."""
    wrong = []
    for entry in catalog:
        wanted = set(PLACE.findall(entry.msgid_plural or entry.msgid))
        for words in translations(entry):
            lacking = wanted - set(PLACE.findall(words))
            if set(PLACE.findall(words)) - wanted or any(
                not entry.msgid_plural or not NUMBER.match(place) for place in lacking
            ):
                wrong.append((entry.msgid, words))
    assert wrong == []


def test_what_is_compiled_is_what_is_written(language, catalog):
    compiled = polib.mofile(str(CATALOGS[language].with_suffix(".mo")))
    written = {key: translations(entry) for key, entry in entries(catalog).items()}
    assert {key: translations(entry) for key, entry in entries(compiled).items()} == written
    assert compiled.metadata["Plural-Forms"] == PLURALS[language]
