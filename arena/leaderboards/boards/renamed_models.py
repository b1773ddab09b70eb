"""Models that were called otherwise when a snapshot was taken: boards name them as they are called now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from arena.corpus.rename_models import Rename
from arena.instants import say_day
from arena.leaderboards.boards.board_rows import Column
from arena.leaderboards.models import Snapshot, Standing
from arena.leaderboards.sentences import list_names


@dataclass(frozen=True)
class Renamed:
    """`then`: when the snapshot was taken · at: when it got the name that it has now."""

    now: str
    then: str
    at: datetime

    @property
    def short(self) -> str:
        return f"{self.now} was {self.then} ({say_day(self.at)})"


def know_renames(snapshots: Sequence[Snapshot]) -> None:
    """Asked once for all of them."""
    unknown = [one for one in snapshots if one.known_renames is None]
    if not unknown:
        return
    since = min(one.taken_at for one in unknown)
    named = Rename.objects.filter(at__gt=since, competitor__standings__snapshot__in=unknown)
    found = list(named.distinct())
    models = {rename.competitor_id for rename in found}
    rows = (
        Standing.objects.filter(snapshot__in=unknown, competitor__in=models)
        if found
        else Standing.objects.none()
    )
    stands = set(rows.values_list("snapshot", "competitor"))
    for one in unknown:
        one.known_renames = [
            rename
            for rename in found
            if rename.at > one.taken_at and (one.pk, rename.competitor_id) in stands
        ]


def renamed_since(snapshot: Snapshot) -> dict[int, Renamed]:
    """By the model's number; one that has its name of then again isn't among them."""
    know_renames([snapshot])
    found: dict[int, Renamed] = {}
    for rename in snapshot.known_renames or ():
        first = found.get(rename.competitor_id)
        then = first.then if first else rename.was
        found[rename.competitor_id] = Renamed(rename.became, then, rename.at)
    return {model: told for model, told in found.items() if told.now != told.then}


def say_renamed(columns: Sequence[Column], about: Collection[int] = ()) -> Iterator[tuple[str, str]]:
    """A sentence for each model, and the boards that it holds for, empty: all that are shown.

    about: the models that the page is about, none: all of them.
    """
    shown = [column for column in columns if column.snapshot]
    know_renames([column.snapshot for column in shown if column.snapshot])
    where: dict[str, list[str]] = {}
    for column in shown:
        renamed = renamed_since(column.snapshot) if column.snapshot else {}
        for model, told in renamed.items():
            if not about or model in about:
                where.setdefault(_say(told), []).append(column.board.title)
    for words, boards in where.items():
        yield words, "" if len(boards) == len(shown) else list_names(boards)


def _say(told: Renamed) -> str:
    words = _("%(now)s was called %(then)s when this snapshot was taken (renamed on %(day)s).")
    return words % {"now": told.now, "then": told.then, "day": say_day(told.at)}


def say_renamed_of(snapshots: Sequence[Snapshot], about: Collection[int] = ()) -> list[str]:
    """The same where several snapshots of a board are shown: each sentence says which it is about."""
    know_renames(snapshots)
    words = _("%(now)s was called %(then)s when snapshot %(snapshot)d was taken (renamed on %(day)s).")
    return [
        words % {"now": told.now, "then": told.then, "day": say_day(told.at), "snapshot": snapshot.pk}
        for snapshot in snapshots
        for model, told in renamed_since(snapshot).items()
        if not about or model in about
    ]


def say_names_before(standing: Standing) -> list[str]:
    """Of a model whose history begins with that standing."""
    since = Rename.objects.filter(competitor=standing.competitor_id, at__gt=standing.snapshot.taken_at)
    words = _("Called %(was)s until %(day)s.")
    return [words % {"was": rename.was, "day": say_day(rename.at)} for rename in since]


def named_then(snapshot: Snapshot) -> str | None:
    """For files, in each of whose lines it stands; None where all are called as they were."""
    return "; ".join(told.short for told in renamed_since(snapshot).values()) or None
