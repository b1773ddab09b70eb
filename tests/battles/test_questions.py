"""No question that a rater can put to a page filters, orders or counts by what they mustn't know."""

from __future__ import annotations

import ast
import re
from itertools import product
from pathlib import Path

import pytest
from django.test import Client

from arena.battles.models import Battle, Vote

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
FIELDS = (
    *("competitor_a__name", "competitor_b__name__startswith", "response_a__competitor", "response_b__text"),
    *("left__model__name__startswith", "model", "competitor", "rater__user__password", "vote__outcome", "pk"),
    *("propensity", "kind", "_connector", "_negated", "gold__expected", "campaign__team__name__contains"),
)
QUESTIONS = [
    *({field: value} for field, value in product(FIELDS, ("g", "Grove", "1", "OR", "pbkdf2"))),
    *(
        {name: field}
        for name, field in product(("ordering", "order_by", "sort", "fields", "include"), FIELDS)
    ),
    *({name: "Grove"} for name in ("q", "search", "filter", "name", "model_a", "as", "format", "expand")),
    *({"format": kind} for kind in ("json", "csv", "api", "xml")),
    *({"page": "2"}, {"page_size": "999999999"}, {"source": "judge:1"}, {"campaign": "other"}),
]
RATERS_PAGES = (
    "/",
    "/campaigns/small/battle/",
    "/campaigns/small/my-votes/",
    "/campaigns/small/guide/",
    "/campaigns/small/",
    "/boards/small/",
    "/api/v1/campaigns/",
    "/api/v1/leaderboards/",
    "/api/v1/snapshots/",
)
# As the API refuses a value that isn't offered, or a form of answer that it doesn't have.
REFUSED = {400, 404}
CHANGES_ANYWAY = re.compile(
    rb'data-key="[^"]+"|name="key" value="[^"]*"|x-csrftoken": "[^"]+|csrfmiddlewaretoken" value="[^"]+"'
    rb'|name="next" value="[^"]*"|[?]next=[^"]*',
    re.IGNORECASE,
)


def without_tokens(visitor: Client, path: str, question: dict[str, str]) -> tuple[int, str, bytes]:
    answer = visitor.get(path, question)
    return answer.status_code, answer.get("Content-Type", ""), CHANGES_ANYWAY.sub(b"", answer.getvalue())


@pytest.mark.parametrize("path", RATERS_PAGES)
def test_a_raters_page_answers_every_question_as_it_answers_none(desk, path):
    assert len(QUESTIONS) > 150
    for number in range(3):
        desk.vote(desk.on_screen(), ("model_a", "tie", "model_b")[number])
    rows = Battle.objects.count(), Vote.objects.count()
    # The API refuses a parameter that it doesn't have.
    plain = without_tokens(desk.client, path, {} if path.startswith("/api/") else {"nonsense": "1"})
    assert plain[0] in {200, 302, 403, 404}
    other = []
    for question in QUESTIONS:
        answer = without_tokens(desk.client, path, question)
        if answer != plain and not (path.startswith("/api/") and answer[0] in REFUSED):
            other.append((question, answer))
    assert other == []
    assert (Battle.objects.count(), Vote.objects.count()) == rows


def spread_into_filters() -> set[str]:
    """Calls of filter(), exclude() and get() whose names of columns come from a variable, by function."""
    found = set()
    for path in sorted((ROOT / "arena").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                found |= {
                    f"{path.relative_to(ROOT / 'arena')}: {function.name}"
                    for call in ast.walk(function)
                    if isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Attribute)
                    and call.func.attr in {"filter", "exclude", "get", "Q"}
                    and any(keyword.arg is None for keyword in call.keywords)
                }
    return found


# Each of these spreads names that stand in the code: none comes from a request.
KNOWN = {
    "battles/golds.py: _refuse_known",
    "corpus/models.py: _is_in",
    "corpus/generate.py: stored_response",
    "corpus/prompt_filter.py: found",
    "corpus/quotations.py: keys_about",
    "corpus/row_asking.py: rows_of",
    "corpus/sweeping.py: _blank_other_copies",
    "endpoints/usual.py: _latest",
    "judging/views.py: shown_of",
    "leaderboards/plans/analysis_plan.py: freeze",
    "leaderboards/part.py: _check_labels",
    "leaderboards/fitting/part_rows.py: _dated",
    "leaderboards/fitting/part_rows.py: in_part",
    "leaderboards/table_api.py: find",
    "raters/access.py: get_for",
    "raters/access.py: objects_for",
}


def test_no_name_of_a_column_comes_from_a_request():
    assert spread_into_filters() == KNOWN
