"""Near-duplicates among the prompts of a file, and between them and those that are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.corpus.near_duplicates import CHARACTERS, COMPARED, LOOKED_AT, near_duplicates
from arena.exchange.formats.problems import Report
from arena.exchange.formats.rows import PromptRow
from arena.percent import percent

NAMED = 5


class Alike:
    """Keeps texts until there are too many to be compared while somebody waits."""

    def __init__(self, stored: Iterable[tuple[str, str]] = ()) -> None:
        self._texts: dict[str, str] = {}
        self._new: set[str] = set()
        self._left = CHARACTERS // 2
        self._unseen = 0
        for name, text in stored:
            if not self._keep(name, text):
                break
        self._left += CHARACTERS // 2

    def look(self, rows: Iterable[PromptRow]) -> Iterator[PromptRow]:
        for row in rows:
            is_new = row.id not in self._texts
            if not self._keep(row.id, "\n\n".join(turn.content for turn in row.turns)):
                self._unseen += 1
            elif is_new:
                self._new.add(row.id)
            yield row

    def _keep(self, name: str, text: str) -> bool:
        text = text[:LOOKED_AT]
        if len(text) > self._left:
            self._left = 0
            return False
        self._left -= len(text)
        self._texts.setdefault(name, text)
        return True

    def tell(self, report: Report) -> None:
        pairs = near_duplicates(self._texts, compared=COMPARED)
        told = {pair.later: pair for pair in reversed(pairs) if pair.later in self._new}
        if told:
            listed = ", ".join(
                _("%(later)r (as %(earlier)r, %(share)s)")
                % {
                    "later": one.later,
                    "earlier": one.earlier,
                    "share": percent(int(100 * one.similarity) / 100),
                }
                for one in list(told.values())[::-1][:NAMED]
            )
            more = ", …" if len(told) > NAMED else ""
            words = ngettext(
                "%(count)s prompt says nearly what another says, and would count twice: %(listed)s",
                "%(count)s prompts say nearly what others say, and would count twice: %(listed)s",
                len(told),
            )
            report.notice(words % {"count": f"{len(told):,}", "listed": listed + more})
        if self._unseen:
            words = ngettext(
                "near-duplicates were looked for among the first %(count)s prompt",
                "near-duplicates were looked for among the first %(count)s prompts",
                len(self._new),
            )
            report.notice(words % {"count": f"{len(self._new):,}"})
