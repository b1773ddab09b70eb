"""How tests in a browser may wait, so that none is red by chance."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent
FUNCTION = re.compile(r"\s*(\(\w*\)|\w+)\s*=>")


def beginning(expression: ast.expr, names: dict[str, ast.expr]) -> str:
    """What a string that a test writes begins with."""
    if isinstance(expression, ast.Name):
        return beginning(names[expression.id], names)
    if isinstance(expression, ast.JoinedStr):
        return beginning(expression.values[0], names)
    return expression.value if isinstance(expression, ast.Constant) else ""


def waits(path: Path) -> list[tuple[str, str]]:
    tree = ast.parse(path.read_text())
    names = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return [
        (f"{path.relative_to(TESTS)}:{call.lineno}", beginning(call.args[0], names))
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "wait_for_function"
    ]


def test_what_a_browser_waits_for_is_a_function():
    """An expression is read anew each time it is asked, which our policy forbids from the second time on."""
    found = [wait for path in sorted(TESTS.rglob("*.py")) for wait in waits(path)]
    assert len(found) > 20
    assert [where for where, begins in found if not FUNCTION.match(begins)] == []
