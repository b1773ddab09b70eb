from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from arena.corpus.personal import CARD, EMAIL, PHONE

# What the upload page says about each kind's columns: (name, what it holds, needed).
COLUMNS = {
    "prompts": (
        ("id", _("your own id; kept as text; without one, the prompt's text gives it"), False),
        ("prompt", _("the text, also called text; or messages, a list of turns with role and content"), True),
        ("category, language, tags, reference", _("what boards and lists may filter by"), False),
        ("hard", _("1 or 0; else derived from the seven criteria, six of which make a prompt hard"), False),
    ),
    "responses": (
        ("prompt_id", _("the id of the prompt; or prompt, its exact text"), True),
        ("model", _("the model's name; upper and lower case are one"), True),
        ("response", _("the text, also called text; one that is empty is kept and never drawn"), True),
        (
            "sample, tokens, org",
            _("number of the sample, length in tokens, maker of the model"),
            False,
        ),
    ),
    "votes": (
        ("model_a, model_b", _("the two models"), True),
        ("winner", _("model_a, model_b, tie or both_bad; or the name of the model that won"), True),
        (
            "prompt_id, rater",
            _("what was compared, and a pseudonym of who voted; called judge, you are asked who that is"),
            False,
        ),
        ("source", _("person or judge; a judge's rows become judgments and no votes"), False),
        (
            "vote_id, voted_at, dwell_ms",
            _("an id that keeps a vote from counting twice, when, how long"),
            False,
        ),
    ),
}

# What becomes of a column that is none of these.
OTHER_COLUMNS = {
    "prompts": _(
        "A table with one column for each model’s responses is welcome too: import its prompts here, and the "
        "same file goes on to the responses. Other columns are named and ignored."
    ),
    "responses": _(
        "A table with one column for each model is welcome too: you are asked which columns those are. "
        "Other columns are named and ignored."
    ),
    "votes": _("Votes are also read as other arenas publish them. Other columns are named and ignored."),
}

# What the page of a whole campaign says of its tables, in this order; others aren't brought in.
TABLES = {
    "models": _("models"),
    "prompt_sets": _("versions of prompt sets"),
    "prompts": _("prompts"),
    "responses": _("responses"),
    "raters": _("raters"),
    "guides": _("versions of the guide"),
    "golds": _("golds"),
    "battles": _("battles"),
    "votes": _("votes"),
    "exclusions": _("exclusions"),
    "notes": _("notes of raters"),
    "judges": _("judges"),
    "judge_runs": _("judge runs"),
    "judgments": _("judgments"),
    "label_changes": _("changes of labels"),
    "spot_checks": _("spot checks"),
    "analysis_plans": _("versions of the analysis plan"),
    "calibrations": _("calibrations"),
    "calibration_labels": _("battles of calibrations"),
}

PERSONAL_KINDS = {
    EMAIL: _("e-mail addresses"),
    PHONE: _("phone numbers"),
    CARD: _("card numbers"),
}


def tables(contents: Mapping[str, Any]) -> Iterator[tuple[Any, int, int, int]]:
    """Of a whole campaign: what a table holds, its rows, and how many are new here and known here."""
    found = {name: (rows, known) for name, rows, known in contents.get("tables", [])}
    for name, words in TABLES.items():
        if name in found:
            rows, known = found[name]
            yield words, rows, rows - known, known


def personal(found: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each kind of likely personal data."""
    for kind, told in found.items():
        places = "; ".join(_place(*place) for place in told["places"])
        more = ", …" if told["count"] > len(told["places"]) else ""
        words = ngettext(
            "likely %(kind)s in %(count)s text: %(places)s",
            "likely %(kind)s in %(count)s texts: %(places)s",
            told["count"],
        )
        yield words % {"kind": PERSONAL_KINDS[kind], "count": f"{told['count']:,}", "places": places + more}


def _place(line: int, column: str, row: int | None = None, name: str = "") -> str:
    """Cells that hold line breaks make a file's lines more than a spreadsheet's rows; JSONL has no header."""
    words = gettext("line %(line)s, %(column)s") % {"line": line, "column": column}
    if row is not None and row < line:
        words = gettext("row %(row)s (%(place)s)") % {"row": row, "place": words}
    return f"{name}: {words}" if name else words
