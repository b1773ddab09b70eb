"""What an export names, while it is being brought back; or only looked through, before anything is stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count, islice
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from arena.battles.models import Vote
from arena.campaigns.models import Campaign, Guide
from arena.corpus.models import Arrival, Competitor
from arena.exchange.formats.cells import CellError
from arena.exchange.formats.lines import lines
from arena.exchange.formats.problems import RefusedError, SkippedError
from arena.exchange.formats.rows import AnyRow
from arena.exchange.import_campaign_lines import row_of
from arena.exchange.import_campaign_rows import Met, look_at_row
from arena.exchange.import_campaign_whole import SealedVotes, refuse_other_counts, seal_check
from arena.exchange.insertions import Spool, execute, insertions, reserve
from arena.exchange.personal import Personal
from arena.exchange.plans import BATCH
from arena.exchange.shifts import Shift
from arena.raters.models import Rater, Team

T = TypeVar("T")
K = TypeVar("K")
M = TypeVar("M", bound=Model)
_ODD = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
    OverflowError,
)  # what rows of the wrong shape come to
Row = dict[str, Any]
SetKey = tuple[str, int]


class Fought(NamedTuple):
    """Of a battle, what its vote, its findings and its notes need: there may be hundreds of thousands."""

    pk: int
    public_id: str
    competitor_a_id: int
    competitor_b_id: int
    prompt_id: int | None
    response_a_id: int | None
    response_b_id: int | None
    rater_id: int | None
    kind: str

    @property
    def pair(self) -> tuple[int, int]:
        low, high = sorted((self.competitor_a_id, self.competitor_b_id))
        return low, high


@dataclass
class Return:
    """What is being brought back, by the names it has in the export.

    With a `shift` rows get their numbers, and those that are stored all at once wait for the end.
    Without one every row is made and looked at, and nothing is stored.
    """

    team: Team
    folder: Path
    slug: str
    shift: Shift | None = None
    each_row: Callable[[int], object] | None = None
    personal: Personal | None = None
    arrival: Arrival | None = None
    campaign: Campaign = field(default_factory=Campaign)
    hashes: dict[SetKey, list[tuple[str, str]]] = field(default_factory=dict)  # of a set's prompts, by id
    told_hashes: dict[SetKey, tuple[int, str]] = field(default_factory=dict)  # and the lines that tell them
    sets: dict[SetKey, int] = field(default_factory=dict)
    prompts: dict[tuple[Any, ...], int] = field(default_factory=dict)
    texts: dict[tuple[Any, ...], str] = field(default_factory=dict)  # by the prompt, which text it is
    models: dict[str, Competitor] = field(default_factory=dict)
    responses: dict[tuple[int, int, int], int] = field(default_factory=dict)
    raters: dict[str, Rater] = field(default_factory=dict)
    guides: dict[int, Guide] = field(default_factory=dict)
    golds: dict[int, int] = field(default_factory=dict)
    battles: dict[str, Fought] = field(default_factory=dict)
    sealed: SealedVotes = field(default_factory=SealedVotes)
    voted: set[str] = field(default_factory=set)  # battles, of which an exclusion may name the vote
    waiting: Spool = field(default_factory=Spool)
    counts: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)  # rows for which there is one here already
    of_votes: list[tuple[Any, int]] = field(default_factory=list)  # rows about the vote of this battle
    afterwards: list[Callable[[], object]] = field(default_factory=list)  # within the last transaction
    read: int = 0
    line: int = 0  # of the table that is being read
    kept: int = 0
    most_kept: float = inf
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _free: dict[type[Model], deque[int]] = field(default_factory=dict)

    @property
    def stores(self) -> bool:
        return self.shift is not None

    def each(self, table: str, make: Callable[[Row], T]) -> Iterator[T]:
        path, row, met = self._path(table), {}, Met(table)
        self.counts[table] = self.line = 0
        try:
            with path.open(encoding="utf-8", newline="\n") as file:
                for self.line, line in enumerate(lines(file), start=1):
                    row = row_of(line)
                    if not self.stores:
                        look_at_row(table, row)
                        met.look_at(row)
                    made = make(row)
                    if not self.stores:
                        _look_at(made)
                    self.counts[table] = self.line
                    self._note_row()
                    yield made
        except FileNotFoundError as error:
            raise RefusedError(f"jsonl/{path.name} is missing from the export") from error
        except OSError as error:
            raise RefusedError(f"jsonl/{path.name} can't be read: {error.strerror}") from error
        except (RefusedError, CellError, SkippedError, ValidationError, *_ODD) as error:
            raise _refused(path.name, self.line, row, error) from error

    def _path(self, table: str) -> Path:
        return self.folder / "jsonl" / f"{table}.jsonl"

    def total(self, table: str) -> int:
        with self._path(table).open("rb") as file:
            return sum(1 for _line in file)

    def look_at_whole(self, about: Row) -> None:
        """When every row has been looked at: none is missing, and votes are those that were sealed."""
        if not self.stores:
            refuse_other_counts(about, self._lines_of)
            deque(self.each("seals", seal_check(self.sealed)), maxlen=0)

    def _lines_of(self, table: str) -> int:
        return self.counts[table] if table in self.counts else self.total(table)

    def look(self, row: AnyRow) -> None:
        if self.personal:
            self.personal.look(row)

    def _note_row(self) -> None:
        self.read += 1
        if self.shift:
            self.shift.reached = self.read
        if self.each_row:
            self.each_row(self.read)

    def numbered(self, row: M) -> M:
        """With a number that nothing else gets, so that others may refer to it."""
        free = self._free.setdefault(type(row), deque())
        if not free:
            free.extend(reserve(type(row), BATCH) if self.stores else islice(self._numbers, BATCH))
        row.pk = free.popleft()
        return row

    def keep(self, *rows: Model) -> None:
        """To be stored at the end, together with all else."""
        self.kept += len(rows)
        if self.kept > self.most_kept:
            raise RefusedError(
                f"battles, votes and judgments, stored all at once, are more than {self.most_kept:,}: "
                "bring it in with manage.py import_campaign while nobody votes"
            )
        if not self.stores:
            return
        by_model: dict[type[Model], list[Model]] = {}
        for row in rows:
            _date(row)
            by_model.setdefault(type(row), []).append(row)
        for same in by_model.values():
            self.waiting.add(same, as_given=True)

    def bring(
        self,
        table: str,
        make: Callable[[Row], Sequence[Model]],
        look: Callable[[list[Any], int], object] | None = None,
    ) -> None:
        """Each row as the rows that it makes; `look` sees them first, and the line of the first of them."""
        rows, line = self.each(table, make), 1
        while batch := list(islice(rows, BATCH)):
            if look and not self.stores:
                look(batch, line)
            self.keep(*(row for made in batch for row in made))
            line += len(batch)

    def stage_one(self, row: M) -> M:
        """Stored now, and hidden until the arrival lands."""
        if not self.stores:
            return self.numbered(row)
        row.arrival = self.arrival  # type: ignore[attr-defined]
        row.save()
        return row

    def stage(self, rows: Iterator[M]) -> None:
        """The same for many, which have their numbers."""
        if self.shift is None:
            deque(rows, maxlen=0)
            return

        def arriving() -> Iterator[M]:
            for row in rows:
                row.arrival = self.arrival  # type: ignore[attr-defined]
                yield row

        self.shift.store(arriving())

    def keep_with_vote(self, row: Model, battle: int) -> None:
        """To be stored when the battle's vote is: votes get their numbers as they become visible."""
        self.kept += 1
        _date(row)
        self.of_votes.append((row, battle))

    def store_kept(self) -> None:
        """Within one transaction."""
        self.waiting.store()
        for act in self.afterwards:
            act()
        for start in range(0, len(self.of_votes), BATCH):
            chunk = self.of_votes[start : start + BATCH]
            votes = Vote.objects.filter(battle__in=[battle for _row, battle in chunk])
            numbers = dict(votes.values_list("battle", "pk"))
            for row, battle in chunk:
                row.vote_id = numbers[battle]
            for model in {type(row) for row, _battle in chunk}:
                rows = [row for row, _battle in chunk if type(row) is model]
                execute(insertions(rows, as_given=True))

    def refuse_another_battle(self, row: Row, fought: Fought) -> None:
        """A vote and a finding tell their battle again, for readers of the one table."""
        told = {
            "model_a": (self.models[row["model_a"]].pk, fought.competitor_a_id),
            "model_b": (self.models[row["model_b"]].pk, fought.competitor_b_id),
            "prompt_id": (
                None if row["prompt_id"] is None else self.prompts[prompt_key(row)],
                fought.prompt_id,
            ),
            "kind": (row.get("kind", fought.kind), fought.kind),
        }
        for column, (said, is_so) in told.items():
            if said != is_so:
                raise CellError(column, f"{row[column]!r} isn't what the battle has")
        if not self.stores and "prompt_text" in row:
            text = None if row["prompt_id"] is None else self.texts[prompt_key(row)]
            if row["prompt_text"] != text:
                raise CellError(
                    "prompt_text", f"{row['prompt_text']!r}, but the prompt's text gives {text!r}"
                )

    def response_of(self, row: Row, side: str) -> int | None:
        """Which response of the side's model the row names; none where that isn't known."""
        if row["prompt_id"] is None or row[f"sample_{side}"] is None:
            return None
        prompt, model = self.prompts[prompt_key(row)], self.models[row[f"model_{side}"]]
        return self.responses[prompt, model.pk, row[f"sample_{side}"]]


def _refused(name: str, line: int, row: Row, error: Exception) -> RefusedError:
    """Where in the export it went wrong, and what is wrong there."""
    column = None
    if isinstance(error, RefusedError):
        line, column, reason = error.problem.line or line, error.problem.column, error.problem.reason
    elif isinstance(error, CellError):
        column, reason = error.column, error.reason
    elif isinstance(error, ValidationError):
        ((column, wrong), *_others) = error.message_dict.items()
        reason = " ".join(wrong)
    elif isinstance(error, KeyError):
        missing = error.args[0]
        held = isinstance(missing, str) and missing in row
        is_column = isinstance(missing, str) and not held and missing not in row.values()
        reason = (
            f"it has no {missing!r}" if is_column else f"it names {missing!r}, which the export doesn't hold"
        )
    else:
        line += isinstance(error, UnicodeDecodeError)
        reason = f"{type(error).__name__}: {error}"
    return RefusedError(f"{name}: {reason}", line or None, column)


def _look_at(made: Any) -> None:
    """A row's values are such as its columns hold; ValidationError names the first that isn't."""
    for row in made if isinstance(made, tuple | list) else (made,):
        if not isinstance(row, Model):
            continue
        for column in row._meta.concrete_fields:
            value = getattr(row, column.attname)
            if column.primary_key or column.is_relation or value in column.empty_values:
                continue
            try:
                column.clean(value, row)
            except ValidationError as error:
                raise ValidationError({column.name: error.messages}) from error


def _date(row: Model) -> None:
    """A new row is dated now, unless it has the time that it came with."""
    for column in row._meta.concrete_fields:
        is_own = getattr(column, "auto_now_add", False) or getattr(column, "auto_now", False)
        if is_own and getattr(row, column.attname) is None:
            setattr(row, column.attname, timezone.now())


def put(mapping: dict[K, T], key: K, value: T) -> None:
    """Names are given once in an export."""
    if key in mapping:
        raise ValueError(f"{key!r} stands twice")
    mapping[key] = value


def prompt_key(row: Row) -> tuple[Any, ...]:
    return row["prompt_set"], row["set_version"], row["prompt_id"]


def moment(text: str | None) -> datetime | None:
    """When something was: no time to come."""
    found = any_moment(text)
    if found is not None and found > timezone.now():
        raise ValueError(f"{text!r} is in the future")
    return found


def any_moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    found = parse_datetime(text)
    if found is None:
        raise ValueError(f"{text!r} is no time")
    if timezone.is_naive(found):
        raise ValueError(f"{text!r} has no time zone")
    return found
