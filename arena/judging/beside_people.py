"""What people voted on the pairs that a judge judged, told in the sides of the judge's battle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from arena.battles.models import Outcome, Vote
from arena.campaigns.models import Campaign
from arena.judging.models import JudgeRun, Judgment

_CHUNK = 5_000
_TURNED = {"model_a": "model_b", "model_b": "model_a"}
_TIES = {Judgment.Outcome.TIE, Judgment.Outcome.TIE_UNSTABLE, Judgment.Outcome.TIE_VERBOSE}

# A prompt and two responses, the lower id first; outcomes are told as if it stood on side a.
Pair = tuple[int, int, int]


def pair_of(prompt: int, a: int, b: int) -> Pair:
    return prompt, min(a, b), max(a, b)


def turned(outcome: str, a: int, b: int) -> str:
    """The outcome of a battle of a and b, told from the lower of both; and back."""
    return outcome if a < b else _TURNED.get(outcome, outcome)


def votes_by_pair(campaign: Campaign, prompts: Collection[int]) -> dict[Pair, Counter[str]]:
    """The votes that count on these prompts, by pair, both bad told as a tie."""
    found: dict[Pair, Counter[str]] = defaultdict(Counter)
    ids = sorted(prompts)
    for start in range(0, len(ids), _CHUNK):
        votes = Vote.objects.counted(campaign.pk).filter(
            battle__prompt__in=ids[start : start + _CHUNK],
            battle__response_a__isnull=False,
            battle__response_b__isnull=False,
        )
        sides = ("battle__prompt_id", "battle__response_a_id", "battle__response_b_id")
        rows = votes.order_by("pk").values_list("outcome", *sides)
        for outcome, prompt, a, b in rows.iterator():
            told = "tie" if outcome == Outcome.BOTH_BAD else outcome
            found[pair_of(prompt, a, b)][turned(told, a, b)] += 1
    return found


def majority(votes: Mapping[str, int]) -> str | None:
    """What more than half of the votes say; None where nothing has so many."""
    if not votes:
        return None
    outcome, count = max(votes.items(), key=lambda item: item[1])
    return outcome if 2 * count > sum(votes.values()) else None


def differing(run: JudgeRun) -> list[int]:
    """Judgments with a verdict whose outcome isn't what most people found on the pair."""
    sides = ("battle__prompt_id", "battle__response_a_id", "battle__response_b_id")
    decided = run.judgments.exclude(outcome__in=["", Judgment.Outcome.NO_VERDICT]).order_by("pk")
    rows = list(decided.filter(battle__response_a__isnull=False).values_list("pk", "outcome", *sides))
    votes = votes_by_pair(run.campaign, {prompt for _, _, prompt, _, _ in rows if prompt})
    found: list[int] = []
    for pk, outcome, prompt, a, b in rows:
        people = majority(votes.get(pair_of(prompt, a, b), {}))
        told = "tie" if outcome in _TIES else outcome
        if people is not None and turned(people, a, b) != told:
            found.append(pk)
    return found


def votes_on(judgment: Judgment) -> dict[str, int]:
    """How people voted on the judgment's pair, in the sides of its battle."""
    battle = judgment.battle
    if battle.prompt_id is None or battle.response_a_id is None or battle.response_b_id is None:
        return {}
    a, b = battle.response_a_id, battle.response_b_id
    votes = votes_by_pair(judgment.run.campaign, [battle.prompt_id])
    found = votes.get(pair_of(battle.prompt_id, a, b), Counter())
    return {turned(outcome, a, b): count for outcome, count in found.items()}
