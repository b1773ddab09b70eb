"""Whether an export holds all that it says: as many rows as it counts, and the votes that its seals cover."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

from arena.counted import counted
from arena.exchange.archive import ABOUT
from arena.exchange.export_schema import TABLES
from arena.exchange.formats.cells import CellError, shown
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_campaign_rows import Row

DIGEST = 32  # bytes


class SealedVotes:
    """Number and digest of every vote that the export holds: there may be hundreds of thousands."""

    def __init__(self) -> None:
        self._numbers, self._digests = array("q"), bytearray()

    def add(self, number: int, digest: str) -> None:
        self._numbers.append(number)
        self._digests += bytes.fromhex(digest)

    def in_order(self) -> tuple[list[int], Callable[[int, int], Iterator[str]]]:
        """Their numbers, and the digests of those from one place to before another."""
        places = sorted(range(len(self._numbers)), key=self._numbers.__getitem__)

        def digests(start: int, end: int) -> Iterator[str]:
            for place in places[start:end]:
                yield self._digests[place * DIGEST : (place + 1) * DIGEST].hex()

        return [self._numbers[place] for place in places], digests


def refuse_other_counts(about: Row, count_of: Callable[[str], int]) -> None:
    """A row that was taken out is missed."""
    told = about.get("rows")
    if not isinstance(told, dict):
        raise RefusedError(f"{ABOUT}: rows: how many rows each table has is missing; get the export again")
    for table in TABLES:
        said, there = told.get(table.name), count_of(table.name)
        if type(said) is not int:
            raise RefusedError(f"{ABOUT}: rows.{table.name}: a whole number is needed, this is {shown(said)}")
        if said != there:
            both = f"it has {counted(there, 'line')}, and {ABOUT} says {counted(said, 'row')}"
            raise RefusedError(
                f"{table.name}.jsonl: {both}: some were taken out or put in; get the export again"
            )
    for name in told.keys() - {table.name for table in TABLES}:
        raise RefusedError(f"{ABOUT}: rows.{name}: this version knows no such table; take it out")


def seal_check(votes: SealedVotes) -> Callable[[Row], None]:
    """Of a seal whose votes are all here: others are over votes of other campaigns, too."""
    numbers, digests = votes.in_order()

    def check(seal: Row) -> None:
        start, end = bisect_left(numbers, seal["first_vote"]), bisect_right(numbers, seal["last_vote"])
        if end - start < seal["votes"]:
            return
        if end - start > seal["votes"]:
            many = counted(seal["votes"], "vote")
            raise CellError("votes", f"it is over {many}, and the export holds {end - start} of them")
        sha = hashlib.sha256(seal["previous_sha256"].encode())
        for digest in digests(start, end):
            sha.update(digest.encode())
        if sha.hexdigest() != seal["sha256"]:
            which = f"votes {seal['first_vote']} to {seal['last_vote']}"
            raise CellError(
                "sha256", f"isn't that of the digests of {which}; one of them was changed, or it was"
            )

    return check
