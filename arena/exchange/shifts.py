"""Work on an import: who is at it, how far it is, and that it leaves everything or nothing.

Rows are stored in transactions short enough for votes to be cast in between. All of them belong to one
arrival, which hides them until it lands together with the record's last change of state. Whoever works holds
a lease that every transaction renews; one that is cancelled, or was given up and taken over by another,
finds that out in the same transaction and stores nothing more. What an arrival leaves behind that will never
land is removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils import timezone

from arena.corpus.models import Arrival, Competitor, Prompt, PromptSet, Response
from arena.exchange.insertions import execute, insertions
from arena.exchange.models import Import
from arena.giving_way import short_transaction

LEASE = timedelta(minutes=2)
AT_WORK = (Import.State.CHECKING, Import.State.STORING)
ENDED = (Import.State.DONE, Import.State.REFUSED, Import.State.CANCELLED)
# One transaction, in which a vote has to wait: 4 ms or so, half of them in the commit.
ROWS, CHARACTERS = 100, 500_000
REMOVED = 200  # rows of one transaction


class StoppedError(Exception):
    """The import was cancelled, or somebody else has taken it over."""


@dataclass
class Shift:
    """One turn of work on one import."""

    record: Import
    reached: int = 0  # the row that whoever makes things to store is at

    @classmethod
    def begin(cls, record: Import) -> Shift | None:
        """Takes the import if nobody else is at it."""
        free = waiting(Import.objects.filter(pk=record.pk), timezone.now())
        turn = record.turn + 1
        if not free.filter(turn=record.turn, state=record.state).update(
            turn=turn, leased_until=timezone.now() + LEASE
        ):
            return None
        record.turn = turn
        return cls(record)

    @property
    def _mine(self) -> QuerySet[Import]:
        return Import.objects.filter(pk=self.record.pk, turn=self.record.turn, state=self.record.state)

    def note(self, done: int, **also: Any) -> None:
        """How far it is. Within the transaction of the rows that it tells of."""
        mine = self._mine.filter(is_cancelled=False)
        if not mine.update(done_rows=done, leased_until=timezone.now() + LEASE, **also):
            raise StoppedError
        self.record.done_rows = done

    def end(self, state: str, **facts: Any) -> None:
        """The work's last change of the record: nothing else is at it after that."""
        facts |= {"state": state, "leased_until": None}
        if state in ENDED:
            facts.setdefault("finished_at", timezone.now())
        if not self._mine.update(**facts):
            raise StoppedError
        for name, value in facts.items():
            setattr(self.record, name, value)

    def expect_rows(self) -> Arrival:
        with transaction.atomic():
            arrival = Arrival.objects.create()
            self.note(0, arrival=arrival)
        self.record.arrival = arrival
        return arrival

    def store(self, made: Iterable[Model]) -> None:
        """In batches. What can be done before a transaction is done before: a vote waits for the rest."""
        for batch in _batches(made):
            statements = list(insertions(batch))
            with short_transaction():
                execute(statements)
                self.note(self.reached)

    def land(self, added: int) -> None:
        """Within the transaction of whatever has to appear together with the arrival."""
        self.note(self.record.total_rows)  # from here on nobody can cancel it
        Arrival.objects.filter(file=self.record).update(landed_at=timezone.now())
        self.end(Import.State.DONE, added=added, done_rows=self.record.total_rows)


def waiting(imports: QuerySet[Import], now: Any) -> QuerySet[Import]:
    """Those that somebody has to work on and nobody does."""
    at_work = imports.filter(state__in=AT_WORK)
    return at_work.filter(leased_until=None) | at_work.filter(leased_until__lt=now)


def _batches(made: Iterable[Model]) -> Iterator[list[Model]]:
    batch: list[Model] = []
    characters = 0
    for item in made:
        batch.append(item)
        characters += len(getattr(item, "rendered_html", ""))
        if len(batch) >= ROWS or characters >= CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def remove_rest(record: Import) -> None:
    """What the import stored and will never show, in short transactions."""
    arrival = record.arrival
    if arrival is None or arrival.landed_at is not None:
        return
    for model in (Response, Prompt, Competitor, PromptSet):
        rows = model.stored.filter(arrival=arrival).order_by("pk")
        while pks := list(rows.values_list("pk", flat=True)[:REMOVED]):
            with short_transaction():
                model.stored.filter(pk__in=pks).delete()
    Import.objects.filter(pk=record.pk).update(arrival=None)
    record.arrival = None
    arrival.delete()
