"""A judge and what its own family wrote: which battles those are, and which a policy leaves to the judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from arena.battles.models import Battle
from arena.corpus.models import Competitor
from arena.judging.choosing import Entry, NewPair
from arena.judging.models import Judge, JudgeRun

_CHUNK = 5_000
E = TypeVar("E", int, Entry)


def family_of(judge: Judge) -> str:
    """The judge's, or its endpoint's; empty when nobody said. Capitals and spaces around it don't count."""
    return _key(judge.family or (judge.endpoint.family if judge.endpoint else ""))


def _key(family: str) -> str:
    return family.strip().casefold()


@dataclass(frozen=True)
class OwnFamily:
    """By judge: the battles in which a response comes from its own family."""

    battles: Mapping[int, frozenset[Entry]]
    policy: str

    @property
    def pairs(self) -> int:
        """Judge and battle of one family, however the policy treats them; none are looked at when all may."""
        return 0 if self.policy == JudgeRun.FamilyPolicy.ALLOW else sum(map(len, self.battles.values()))

    def left_to(self, judge: Judge, battles: Sequence[E]) -> list[E]:
        if self.policy != JudgeRun.FamilyPolicy.EXCLUDE:
            return list(battles)
        own = self.battles.get(judge.pk, frozenset())
        return [battle for battle in battles if battle not in own]

    def left_to_nobody(self, judges: Sequence[Judge], battles: Sequence[Entry]) -> int:
        """Battles that no judge may judge."""
        judged = {battle for judge in judges for battle in self.left_to(judge, battles)}
        return len(set(battles) - judged)


def find_own_family(judges: Sequence[Judge], battles: Sequence[Entry], policy: str) -> OwnFamily:
    """Raises ValueError for an unknown policy."""
    policies = JudgeRun.FamilyPolicy.values
    if policy not in policies:
        raise ValueError(f"a family policy is one of {', '.join(policies)}, not {policy!r}")
    families = {judge.pk: family_of(judge) for judge in judges if family_of(judge)}
    found: dict[int, set[Entry]] = {pk: set() for pk in families}
    for entry, sides in _families_of(battles) if families else ():
        for judge, family in families.items():
            if family in sides:
                found[judge].add(entry)
    return OwnFamily({judge: frozenset(own) for judge, own in found.items()}, policy)


def _families_of(entries: Sequence[Entry]) -> Iterator[tuple[Entry, tuple[str, str]]]:
    known = [entry for entry in entries if isinstance(entry, int)]
    for start in range(0, len(known), _CHUNK):
        rows = Battle.objects.filter(pk__in=known[start : start + _CHUNK])
        for pk, a, b in rows.values_list("pk", "competitor_a__family", "competitor_b__family"):
            yield pk, (_key(a), _key(b))
    new = [entry for entry in entries if isinstance(entry, NewPair)]
    ids = {competitor for pair in new for competitor in (pair.competitor_a, pair.competitor_b)}
    families = dict(Competitor.objects.filter(pk__in=ids).values_list("pk", "family"))
    for pair in new:
        yield pair, (_key(families[pair.competitor_a]), _key(families[pair.competitor_b]))
