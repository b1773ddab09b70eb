"""A judge and what its own family wrote: which battles those are, and which a policy leaves to the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.battles.models import Battle
from arena.judging.models import Judge, JudgeRun

_CHUNK = 5_000


def family_of(judge: Judge) -> str:
    """The judge's, or its endpoint's; empty when nobody said. Capitals and spaces around it don't count."""
    return _key(judge.family or (judge.endpoint.family if judge.endpoint else ""))


def _key(family: str) -> str:
    return family.strip().casefold()


@dataclass(frozen=True)
class OwnFamily:
    """By judge: the battles in which a response comes from its own family."""

    battles: Mapping[int, frozenset[int]]
    policy: str

    @property
    def pairs(self) -> int:
        """Judge and battle of one family, however the policy treats them; none are looked at when all may."""
        return 0 if self.policy == JudgeRun.FamilyPolicy.ALLOW else sum(map(len, self.battles.values()))

    def left_to(self, judge: Judge, battles: Sequence[int]) -> list[int]:
        if self.policy != JudgeRun.FamilyPolicy.EXCLUDE:
            return list(battles)
        own = self.battles.get(judge.pk, frozenset())
        return [battle for battle in battles if battle not in own]

    def left_to_nobody(self, judges: Sequence[Judge], battles: Sequence[int]) -> int:
        """Battles that no judge may judge."""
        judged = {battle for judge in judges for battle in self.left_to(judge, battles)}
        return len(set(battles) - judged)


def find_own_family(judges: Sequence[Judge], battles: Sequence[int], policy: str) -> OwnFamily:
    """Raises ValueError for an unknown policy."""
    if policy not in JudgeRun.FamilyPolicy.values:
        raise ValueError(
            f"a family policy is one of {', '.join(JudgeRun.FamilyPolicy.values)}, not {policy!r}"
        )
    families = {judge.pk: family_of(judge) for judge in judges if family_of(judge)}
    found: dict[int, set[int]] = {pk: set() for pk in families}
    for start in range(0, len(battles) if families else 0, _CHUNK):
        rows = Battle.objects.filter(pk__in=battles[start : start + _CHUNK])
        for pk, a, b in rows.values_list("pk", "competitor_a__family", "competitor_b__family"):
            for judge, family in families.items():
                if family in (_key(a), _key(b)):
                    found[judge].add(pk)
    return OwnFamily({judge: frozenset(own) for judge, own in found.items()}, policy)
