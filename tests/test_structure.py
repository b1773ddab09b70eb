"""The rules that no other tool checks: who may point at whom, how long a file may be, what is forbidden."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest
from django.apps import apps

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 400
FORBIDDEN = {
    "mark_safe": re.compile(r"\bmark_safe\b"),
    "|safe": re.compile(r"\|\s*safe\b"),
    "csrf_exempt": re.compile(r"\bcsrf_exempt\b"),
    "unsafe-inline": re.compile(r"unsafe-inline"),
    "unsafe-eval": re.compile(r"unsafe-eval"),
}


def rooms_from_the_top() -> list[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one["name"] == "Rooms import one way")
    return [layer.strip("()").removeprefix("arena.") for layer in layers]


def room_of(model) -> str | None:
    parts = model.__module__.split(".")
    return parts[1] if parts[0] == "arena" and len(parts) > 2 else None


def relations() -> list[tuple[str, str, str]]:
    return [
        (room_of(model), room_of(field.related_model), f"{model.__name__}.{field.name}")
        for model in apps.get_app_config("arena").get_models()
        for field in model._meta.get_fields()
        if field.is_relation and not field.auto_created and room_of(field.related_model)
    ]


def written_files(*folders: str, suffixes: tuple[str, ...]) -> list[Path]:
    return [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in suffixes and "migrations" not in path.parts
    ]


def test_imports_run_one_way():
    linter = Path(sys.executable).parent / "lint-imports"
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_two_files_import_each_other_not_even_round_others_late_or_for_a_type():
    files = grimp.build_graph("arena", "ratings", "bench", "tests", cache_dir=None)
    imports = {name: files.find_modules_directly_imported_by(name) for name in files.modules}
    assert sum(map(len, imports.values())) > 3000, (
        "the imports were not found; this test would pass on nothing"
    )
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as found:
        pytest.fail(f"a circle of imports: {' <- '.join(found.args[1])}")


# Files that import others of ours within a function, which otherwise only hides a circle.
IMPORT_LATE = {
    "arena/apps.py": "models can't be imported before Django is ready",
    "arena/exchange/exports.py": "an export of another layout doesn't need Arrow",
    "arena/leaderboards/tasks.py": "web processes import it, and neither fit nor draw",
}


def imports_late(path: Path) -> bool:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    inside = [node for function in functions for node in ast.walk(function)]
    named = {node.module or "." for node in inside if isinstance(node, ast.ImportFrom)}
    named |= {alias.name for node in inside if isinstance(node, ast.Import) for alias in node.names}
    return any(name.split(".")[0] in ("arena", "ratings", "") for name in named)


def test_what_is_ours_is_imported_at_the_top_unless_a_reason_is_said():
    files = written_files("arena", "ratings", suffixes=(".py",))
    assert {str(path.relative_to(ROOT)) for path in files if imports_late(path)} == set(IMPORT_LATE)


def test_every_room_with_models_has_its_place_in_the_order():
    rooms = {room_of(model) for model in apps.get_app_config("arena").get_models()}
    assert rooms <= set(rooms_from_the_top())


def test_every_relation_points_to_its_own_room_or_a_lower_one():
    height = {room: -place for place, room in enumerate(rooms_from_the_top())}
    found = relations()
    assert len(found) > 30, "the relations were not found; this test would pass on nothing"
    upwards = [f"{name}: {here} -> {there}" for here, there, name in found if height[there] > height[here]]
    assert upwards == []


@pytest.mark.parametrize("folder", ["arena", "ratings"])
def test_no_file_is_longer_than_a_reader_can_hold(folder):
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in written_files(folder, suffixes=(".py",))
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_nothing_gets_round_escaping_forgery_protection_or_the_content_policy():
    files = written_files(
        "arena", "ratings", "templates", "static", suffixes=(".py", ".html", ".txt", ".js", ".css", ".svg")
    )
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for name, pattern in FORBIDDEN.items()
        if pattern.search(path.read_text())
    ]
    assert files
    assert found == []


def test_no_row_is_written_by_a_statement_that_is_made_while_votes_wait():
    """`bulk_update` makes its own within its transaction, 0.4 ms for each value: use CompiledUpdate."""
    files = written_files("arena", suffixes=(".py",))
    assert [str(path.relative_to(ROOT)) for path in files if ".bulk_update(" in path.read_text()] == []


# Rows that are new where they are saved whole; an import's record is its own task's alone.
SAVED_WHOLE = {
    "arena/campaigns/models.py: invite.save",
    "arena/corpus/generate.py: response.save",
    "arena/exchange/import_campaign_return.py: row.save",
    "arena/exchange/imports.py: record.save",
    # No rows, or `RowForm`'s own.
    "arena/corpus/editing.py: form.save",
    "arena/leaderboards/part_views.py: form.save",
    "arena/leaderboards/views.py: form.save",
}


def saved_whole(path: Path) -> list[str]:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    saves = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "save"]
    return [
        f"{path.relative_to(ROOT)}: {ast.unparse(call.func)}"
        for call in saves
        if not any(keyword.arg == "update_fields" for keyword in call.keywords)
        and not ast.unparse(call.func).startswith("super()")
    ]


def test_no_row_is_saved_with_columns_that_were_read_before_somebody_else_wrote_them():
    """`save()` writes the whole row as it was read: say `update_fields`, or save through `save_once`."""
    files = written_files("arena", suffixes=(".py",))
    assert {found for path in files for found in saved_whole(path)} == SAVED_WHOLE


def test_every_form_of_a_row_writes_what_it_changes_alone():
    files = written_files("arena", suffixes=(".py",))
    bases = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and any("ModelForm" in ast.unparse(base) for base in node.bases)
    ]
    assert bases == ["arena/row_form.py: RowForm"]


# A file of its own, which the policy lets have this one style sheet, by its hash.
OWN_FILES = {"templates/leaderboards/report.html: <style"}


def test_templates_carry_no_inline_script_style_or_handler():
    inline = re.compile(
        r"<style\b|\sstyle=|\son[a-z]+=|<script(?![^>]*\bsrc=)[^>]*>|javascript:", re.IGNORECASE
    )
    data_block = re.compile(r'<script[^>]*type="application/json"')
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in written_files("templates", suffixes=(".html",))
        for match in inline.finditer(path.read_text())
        if not data_block.match(match[0])
    ]
    assert set(found) == OWN_FILES
