"""“1 votes” stands nowhere: a number before a noun in the plural comes with the singular too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_structure import ROOT, written_files

NOUNS = (
    *(
        "answers",
        "attempts",
        "battles",
        "boards",
        "calls",
        "characters",
        "clusters",
        "comments",
        "competitors",
    ),
    *("differences", "errors", "exports", "files", "findings", "golds", "judges", "judgments", "labels"),
    *("levels", "links", "migrations", "models", "names", "notes", "pairs", "parts", "people", "places"),
    *("probes", "prompts", "raters", "ratings", "replies", "requests", "responses", "rows", "runs", "seals"),
    *("sets", "snapshots", "tasks", "texts", "things", "times", "tokens", "turns", "verdicts", "versions"),
    *("votes", "words"),
)
NUMBER = "\0"
# A number, at most one word ("effective clusters"), the noun.
NO_ADJECTIVE = "beyond|compares|from|has|have|holds|in|is|of|saw|to|which|with"
COUNTED = re.compile(rf"{NUMBER}(?:</\w+>)? (?:(?!(?:{NO_ADJECTIVE}) )[a-z]+ )?(?:{'|'.join(NOUNS)})\b")
PLACE = re.compile(r"%\((\w+)\)[sd]|\{\{.*?\}\}")
WITH_SINGULAR = re.compile(r"\{% blocktranslate [^%]*\bcount .*?\{% endblocktranslate %\}", re.DOTALL)
# Never one, or no number.
SEVERAL = {
    "arena/exchange/formats/cells.py: # characters",  # more than may be
    "arena/exchange/import_responses.py: # prompts",  # one is the right number
    "arena/judging/prompting.py: # runs",  # a criterion runs
    "arena/leaderboards/fitting/combined.py: # votes",  # of people, and a board takes many
    "arena/leaderboards/part.py: # prompts",  # of a category
    "arena/exchange/export_requests.py: # times",  # more often than MAX_ATTEMPTS
    "arena/leaderboards/charts/chart_page.py: # models",  # a part of a board's, of MOST_SHOWN and more
    "arena/leaderboards/boards/board_cautions.py: # models",  # behind `fewer than two`
    "arena/templatetags/long_table.py: # rows",  # more than WHOLE
    "arena/leaderboards/plans/asked_pairs.py: # characters",  # more than two names have
    "arena/leaderboards/plans/reckoning.py: # find differences",  # raters find them
    "arena/leaderboards/plans/registration_words.py: # names",  # the plan of that number names them
    "arena/leaderboards/report/report_answer.py: # pairs",  # behind `pairs > 1`
    "arena/leaderboards/sentences.py: # pairs",  # of three models and more
    "arena/leaderboards/sentences.py: # models",  # behind `models > 2`, and behind several that are first
    "arena/operation/supervisor.py: # times",  # more often than may be
    "arena/campaigns/names_file.py: # names",  # more than MOST_NAMES
}


def in_template(text: str) -> Iterator[str]:
    text = PLACE.sub(NUMBER, WITH_SINGULAR.sub("", text))
    yield from (found[0] for found in COUNTED.finditer(text))


def in_python(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    singular = {id(text) for node in ast.walk(tree) for text in with_singular(node)}
    constants = dict(pair for node in ast.walk(tree) for pair in constants_told(node))
    for node in ast.walk(tree):
        if id(node) in singular:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(map(told, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            known = constants.get(id(node), ())
            text = PLACE.sub(lambda found: "" if found[1] in known else NUMBER, node.value)  # noqa: B023
        else:
            continue
        yield from (found[0] for found in COUNTED.finditer(text))


def with_singular(node: ast.AST) -> list[ast.expr]:
    """The texts of ngettext, and pairs of texts that are handed to it."""
    if isinstance(node, ast.Call) and "ngettext" in ast.unparse(node.func):
        return node.args
    if isinstance(node, ast.Tuple) and [type(one) for one in node.elts] == [ast.Constant] * 2:
        first, _second = node.elts
        return [] if isinstance(first.value, str) and list(in_template(first.value)) else node.elts
    return []


def constants_told(node: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """`_("at most %(n)s names") % {"n": MOST}`: the text, and the places where a constant stands."""
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Call)
        and isinstance(node.right, ast.Dict)
    ):
        pairs = zip(node.right.keys, node.right.values, strict=True)
        names = {key.value for key, value in pairs if isinstance(key, ast.Constant) and is_constant(value)}
        yield from ((id(argument), names) for argument in node.left.args)


def is_constant(value: ast.expr) -> bool:
    return ast.unparse(value).rpartition(".")[2].isupper()


def told(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return part.value
    return "" if isinstance(part, ast.FormattedValue) and is_constant(part.value) else NUMBER


def found_in(path: Path) -> set[str]:
    look = in_template if path.suffix == ".html" else in_python
    return {f"{path.relative_to(ROOT)}: {one}".replace(NUMBER, "#") for one in look(path.read_text())}


def test_no_number_stands_before_a_plural_alone():
    files = [*written_files("templates", suffixes=(".html",)), *written_files("arena", suffixes=(".py",))]
    assert len(files) > 100
    found = {one for path in files for one in found_in(path)}
    assert found - SEVERAL == set()
    assert SEVERAL - found == set(), "these stand nowhere any more"


@pytest.mark.parametrize(
    "text",
    [
        "{{ n }} raters",
        "<strong>{{ n }}</strong> votes",
        "{% blocktranslate with n=n %}{{ n }} effective clusters{% endblocktranslate %}",
    ],
)
def test_a_number_before_a_plural_is_found_in_templates(text):
    assert list(in_template(text))
    assert not list(
        in_template("{% blocktranslate count n=n %}1{% plural %}{{ n }} votes{% endblocktranslate %}")
    )


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ('_("%(n)s raters") % {"n": n}', True),
        ('_("at most %(n)s raters") % {"n": MOST}', False),
        ('f"{count:,} votes"', True),
        ('f"at most {MOST} votes"', False),
        ('ngettext("%(n)s vote", "%(n)s votes", n)', False),
        ('ONES = ("%(n)s vote is in", "%(n)s votes are in")', False),
        ('ONES = ("%(n)s votes are in", "%(n)s votes are out")', True),
        ('f"{name} has votes"', False),
    ],
)
def test_a_number_before_a_plural_is_found_in_code(code, is_found):
    assert bool(list(in_python(code))) == is_found
