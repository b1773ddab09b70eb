"""All tables by name."""

from __future__ import annotations

from arena.leaderboards.tables import board_tables, plan_tables, team_tables
from arena.leaderboards.tables.page_tables import Page

PAGES = (*board_tables.PAGES, *plan_tables.PAGES, *team_tables.PAGES)
PAGE_OF: dict[str, Page] = {table: page for page in PAGES for table in page.tables}


def _asks() -> dict[str, str]:
    """Each parameter with what it means, and for which tables."""
    found: dict[str, list[str]] = {}
    for page in PAGES:
        for name, words in page.asks.items():
            found.setdefault(name, []).append(f"{words} ({', '.join(page.tables)})")
    return {name: "; ".join(words) for name, words in found.items()}


ASKS = _asks()
