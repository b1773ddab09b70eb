"""Several people, or one with an impatient finger, act at the same moment: each in a thread of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections
from django.test import Client


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
