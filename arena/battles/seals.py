"""The chain of seals over the votes, and whether it still holds.

A seal takes the votes that have come since the one before; whoever changes or removes a sealed vote has to
make every later seal anew, and then the newest differs from the one that was noted down elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from arena.battles.append_only import missing_triggers
from arena.battles.ballots import digest
from arena.battles.models import Vote
from arena.battles.seal_models import Seal
from arena.counted import counted
from arena.settled import UnsettledError, settled

CHUNK = 2_000
PATIENCE = 10.0  # seconds
NAMED = 5


def seal_votes() -> Seal | None:
    """Seals what has come since the last seal; None when that is nothing, or another worker was faster."""
    last, upto = Seal.objects.order_by("-pk").first(), _settled()
    since = Vote.objects.filter(pk__gt=last.last_vote if last else 0, pk__lte=upto).order_by("pk")
    chain = Chain(last.sha256 if last else "")
    for pk, written in since.values_list("pk", "digest").iterator(CHUNK):
        chain.add(pk, written)
    if not chain.votes:
        return None
    try:
        with transaction.atomic():
            return Seal.objects.create(previous=last, at=timezone.now(), **chain.fields())
    except IntegrityError:
        return None


@dataclass
class Chain:
    """One seal in the making."""

    previous: str
    numbers: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._sha = hashlib.sha256(self.previous.encode())

    def add(self, pk: int, written: str) -> None:
        self.numbers.append(pk)
        self._sha.update(written.encode())

    @property
    def votes(self) -> int:
        return len(self.numbers)

    def fields(self) -> dict[str, int | str]:
        return {
            "first_vote": self.numbers[0],
            "last_vote": self.numbers[-1],
            "votes": self.votes,
            "sha256": self._sha.hexdigest(),
        }


def _settled() -> int:
    """The highest number below which no vote can still appear; 0 when that can't be said now."""
    try:
        return settled(_highest, PATIENCE)
    except UnsettledError:
        return 0


def _highest() -> int:
    return Vote.objects.aggregate(highest=Max("pk"))["highest"] or 0


@dataclass(frozen=True)
class Report:
    """`fault` names the first bad row; None when there is none."""

    votes: int
    seals: int
    unsealed: int
    newest: str
    fault: str | None


class FaultError(Exception):
    """args[0]: the first bad row, and what is wrong with it."""


def verify(expected: str = "") -> Report:
    """Reads every vote and seal anew. `expected`: a seal noted down earlier, which has to be in the chain."""
    walk = Walk()
    try:
        walk.go()
        if expected and expected not in walk.seen:
            raise FaultError(f"the seal {expected} isn't in the chain: it was made anew, or cut before it")
    except FaultError as fault:
        return walk.report(str(fault))
    return walk.report(None)


@dataclass
class Walk:
    """Votes and seals side by side, in the order of their numbers."""

    votes: int = 0
    unsealed: int = 0
    newest: str = ""
    seen: set[str] = field(default_factory=set)

    def go(self) -> None:
        if missing := missing_triggers():
            names = ", ".join(sorted(missing))
            raise FaultError(f"nothing refuses changes ({names} is missing): ./tiltyard manage migrate")
        votes, vote = _votes(), None
        last: Seal | None = None
        for seal in Seal.objects.order_by("pk").iterator(CHUNK):
            _follows(seal, last)
            chain = Chain(self.newest)
            vote = vote or next(votes, None)
            while vote is not None and vote.pk <= seal.last_vote:
                self._read(vote)
                chain.add(vote.pk, vote.digest)
                vote = next(votes, None)
            _covers(seal, chain)
            self.newest, last = seal.sha256, seal
            self.seen.add(seal.sha256)
        self._read_rest(vote, votes)

    def _read(self, vote: Vote) -> None:
        self.votes += 1
        if digest(vote) != vote.digest:
            raise FaultError(f"vote {vote.pk}: its digest doesn't match what the vote says now")

    def _read_rest(self, vote: Vote | None, votes: Iterator[Vote]) -> None:
        vote = vote or next(votes, None)
        while vote is not None:
            self._read(vote)
            self.unsealed += 1
            vote = next(votes, None)

    def report(self, fault: str | None) -> Report:
        return Report(self.votes, len(self.seen), self.unsealed, self.newest, fault)


def _votes() -> Iterator[Vote]:
    needed = (
        "outcome",
        "idempotency_key",
        "dwell_ms",
        "layout",
        "guide_id",
        "voted_at",
        "digest",
        "battle__public_id",
        "battle__competitor_a_id",
        "battle__competitor_b_id",
        "battle__prompt_id",
        "battle__response_a_id",
        "battle__response_b_id",
        "rater__public_id",
    )
    return Vote.objects.select_related("battle", "rater").only(*needed).order_by("pk").iterator(CHUNK)


def _follows(seal: Seal, last: Seal | None) -> None:
    if seal.previous_id != (last.pk if last else None):
        before = f"seal {last.pk}" if last else "no seal"
        raise FaultError(f"seal {seal.pk}: the chain is broken, it should follow {before}")
    if last and seal.first_vote <= last.last_vote:
        raise FaultError(f"seal {seal.pk}: it begins at vote {seal.first_vote}, inside the seal before")


def _covers(seal: Seal, chain: Chain) -> None:
    """The seal's votes are all there and are those that it was made of."""
    if chain.votes < seal.votes:
        absent = sorted(set(range(seal.first_vote, seal.last_vote + 1)) - set(chain.numbers))
        named = ", ".join(map(str, absent[:NAMED])) + (" …" if len(absent) > NAMED else "")
        raise FaultError(
            f"vote {named}: missing; seal {seal.pk} covers {counted(seal.votes, 'vote')} from "
            f"{seal.first_vote} to {seal.last_vote}, and {chain.votes} are there"
        )
    if chain.votes > seal.votes:
        raise FaultError(
            f"seal {seal.pk}: it covers {counted(seal.votes, 'vote')} up to {seal.last_vote}, and "
            f"{chain.votes} are there: some were slipped in"
        )
    if chain.fields() != {name: getattr(seal, name) for name in chain.fields()}:
        raise FaultError(
            f"seal {seal.pk}: it doesn't match the digests of votes {seal.first_vote} to {seal.last_vote}:"
            " one of them was changed together with its digest, or the seal was"
        )
