"""How a file is read, as a form: what was told from the file is chosen already and can be changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.exchange.formats.columns import COLUMNS, CRITERIA, REQUIRED
from arena.exchange.formats.how import AS_FOUND, How
from arena.exchange.formats.known import AUTO, CANONICAL, FORMATS
from arena.exchange.formats.reading import Layout
from arena.exchange.formats.tables import CHOOSABLE, ENCODING_NAMES
from arena.exchange.models import Import
from arena.exchange.proposals import NOTHING, Proposal

_DELIMITERS = (
    (",", gettext_lazy("comma")),
    (";", gettext_lazy("semicolon")),
    ("\t", gettext_lazy("tab")),
    ("|", gettext_lazy("bar")),
)
_PREFIX = "column-"
PEOPLE, JUDGES = "people", "judges"
_TOLD = ("format", "model", "encoding", "delimiter")


class ReadingForm(forms.Form):
    """`layout` is None if not even the beginning can be read: then only the encoding can be chosen.

    `words` show what the file would be in each encoding, if it can't be told: then one has to be chosen.
    """

    def __init__(
        self,
        data: Any,
        *,
        kind: str,
        layout: Layout | None,
        how: How,
        proposal: Proposal = NOTHING,
        words: Mapping[str, list[str]] | None = None,
    ) -> None:
        super().__init__(data)
        self.kind, self.layout, self.how, self.words = kind, layout, how, words or {}
        is_told = bool(how.model or how.model_columns or how.columns is not None)
        self.proposal = NOTHING if is_told else proposal
        self._offer_encoding()
        if layout is None:
            return
        if layout.is_table:
            self._offer_delimiter(layout)
        if kind == Import.Kind.VOTES:
            self._offer_format(layout)
        if kind == Import.Kind.RESPONSES:
            self._offer_models(layout)
        if layout.columns and not self.is_of_another_arena:
            self._offer_columns(layout)

    @property
    def is_of_another_arena(self) -> bool:
        return bool(self.layout and self.layout.format and self.how.format != CANONICAL)

    @property
    def lacks_columns(self) -> bool:
        """Which column is which, or whose, has to be told before the file can be read."""
        if self.layout is None or self.is_of_another_arena or not self.layout.columns:
            return False
        told = set(self.layout.meanings if self.how.columns is None else self.how.columns)
        told |= {"model", "response"} if self.how.model_columns else {"model"} if self.how.model else set()
        return any(not told & set(group) for group in REQUIRED[self.kind])

    @property
    def encodings(self) -> list[tuple[str, str, list[str]]]:
        return [(name, ENCODING_NAMES[name], words) for name, words in self.words.items()]

    def _offer_encoding(self) -> None:
        if self.words:
            self._choose("encoding", _("Encoding"), [(name, ENCODING_NAMES[name]) for name in CHOOSABLE], "")
            self.fields["encoding"].required = True
            return
        found = ENCODING_NAMES.get(self.layout.encoding, "") if self.layout else ""
        told = _("as found (%(encoding)s)") % {"encoding": found} if found else _("as found")
        choices = [("", told), *((name, ENCODING_NAMES[name]) for name in CHOOSABLE)]
        if found or self.layout is None:  # Parquet has none
            self._choose("encoding", _("Encoding"), choices, self.how.encoding)

    def _offer_delimiter(self, layout: Layout) -> None:
        name = dict(_DELIMITERS)[layout.delimiter]
        told = _("as found (%(delimiter)s)") % {"delimiter": name}
        self._choose("delimiter", _("Delimiter"), [("", told), *_DELIMITERS], self.how.delimiter)

    def _offer_format(self, layout: Layout) -> None:
        told = _("as found (%(format)s)") % {
            "format": layout.format.title if layout.format else _("our own columns")
        }
        known = [(CANONICAL, _("our own columns")), *((known.name, known.title) for known in FORMATS)]
        self._choose("format", _("Format"), [(AUTO, told), *known], self.how.format)
        whose = [("", _("as the file says")), (PEOPLE, _("people")), (JUDGES, _("LLM judges"))]
        told = JUDGES if self.how.judges else PEOPLE if self.how.people else ""
        self._choose("whose_votes", _("The raters of this file"), whose, told)

    def _offer_models(self, layout: Layout) -> None:
        if "model" not in layout.meanings or self.how.model:
            self.fields["model"] = forms.CharField(
                required=False,
                max_length=200,
                label=_("Model whose responses these all are"),
                help_text=_("for a file of one model"),
                initial=self.how.model,
            )
        others = dict.fromkeys((*self.proposal.models, *self.how.model_columns, *layout.models))
        if not {"model", "response"} & layout.meanings.keys():
            others |= dict.fromkeys(layout.unknown)
        if others:
            self.fields["model_columns"] = forms.MultipleChoiceField(
                required=False,
                label=_("Columns that hold one model's responses each"),
                choices=[(header, header) for header in others],
                widget=forms.CheckboxSelectMultiple,
                initial=list(self.how.model_columns or self.proposal.models),
            )

    def _offer_columns(self, layout: Layout) -> None:
        proposed = self.proposal.columns or layout.meanings
        meanings = proposed if self.how.columns is None else self.how.columns
        choices = [("", "—"), *((header, header) for header in layout.columns if header.strip())]
        for name in COLUMNS[self.kind]:
            if name in CRITERIA and name not in meanings:
                continue
            self._choose(f"{_PREFIX}{name}", name, choices, meanings.get(name, ""))

    def _choose(self, name: str, label: str, choices: list, initial: str) -> None:
        self.fields[name] = forms.ChoiceField(required=False, label=label, choices=choices, initial=initial)

    def column_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(_PREFIX)]

    def other_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if not name.startswith(_PREFIX)]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        chosen = [header for name, header in cleaned.items() if name.startswith(_PREFIX) and header]
        twice = sorted({header for header in chosen if chosen.count(header) > 1})
        if twice:
            words = _("The column %(header)s is chosen twice; a column has one meaning.")
            raise forms.ValidationError(words % {"header": ", ".join(twice)})
        return cleaned

    def chosen(self) -> How:
        """As the valid form says; what it didn't ask for stays as it was told before."""
        said = {name: value for name, value in self.cleaned_data.items() if name in _TOLD}
        if "format" in said:
            said["format"] = said["format"] or AUTO
        if (whose := self.cleaned_data.get("whose_votes")) is not None:
            said |= {"judges": whose == JUDGES, "people": whose == PEOPLE}
        if "model" in said:
            said["model"] = said["model"].strip()
        if self.layout is not None:
            said["columns"] = self._chosen_columns(self.cleaned_data)
            said["model_columns"] = tuple(self.cleaned_data.get("model_columns", ()))
        return replace(self.how, **said)

    def _chosen_columns(self, said: Mapping[str, Any]) -> Mapping[str, str] | None:
        named = {
            name.removeprefix(_PREFIX): header for name, header in said.items() if name.startswith(_PREFIX)
        }
        chosen = {name: header for name, header in named.items() if header}
        if not named or (self.layout and chosen == self.layout.meanings):
            return AS_FOUND.columns
        return chosen
