"""Several people, or one with an impatient finger, act at the same moment: each in a thread of their own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import connections
from django.db.models.sql.compiler import SQLUpdateCompiler
from django.test import Client

# They guard nothing: a battle's lease means nothing once it has a vote, a reply blanked twice is blank, and
# an arrival lands within a transaction that holds its import.
NO_GUARDS = {"open_campaign", "_end_open_battles", "_blank_other_copies", "land"}


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each act gives, in the order given. None begins before all are ready."""
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        try:
            start.wait(timeout=60)
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def same_browser(client: Client) -> Client:
    """Another tab: the cookies that the browser has now, and an error is an answer."""
    tab = Client(raise_request_exception=False)
    for name, cookie in client.cookies.items():
        tab.cookies[name] = cookie.value
    return tab


def post(client: Client, path: str, data: Any = None, **how: Any) -> Callable[[], Any]:
    """An act that posts from a tab of its own."""
    tab = same_browser(client)
    return lambda: tab.post(path, data or {}, **how)


@contextmanager
def guards_look_at_their_own_row() -> Iterator[None]:
    """Fails where an UPDATE has a condition on another table.

    Its rows are chosen by a subquery then, which PostgreSQL doesn't ask again after waiting for one of them:
    two at once both find what the first was about to change. Hold the row, and ask then.
    """
    look, joined = SQLUpdateCompiler.pre_sql_setup, set()

    def look_and_note(self: Any) -> None:
        self.query.get_initial_alias()
        if self.query.count_active_tables() > 1:
            joined.add(_act())
        look(self)

    SQLUpdateCompiler.pre_sql_setup = look_and_note  # type: ignore[method-assign]
    try:
        yield
    finally:
        SQLUpdateCompiler.pre_sql_setup = look  # type: ignore[method-assign]
    assert joined <= NO_GUARDS, f"updates with a condition on another table: {joined - NO_GUARDS}"


def _act() -> str:
    """The product's function that asked for the update."""
    frame = sys._getframe()
    while frame and "/arena/" not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_code.co_name if frame else "a test"
