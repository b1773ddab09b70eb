"""Which battles a researcher reads: pairs of responses with all their votes, at random or for a reason."""

from __future__ import annotations

import random

from django.utils.translation import gettext_lazy as _

from arena.battles.models import Battle, BattleNote, Outcome
from arena.campaigns.models import Campaign
from arena.leaderboards.reading.influential import add_influence
from arena.leaderboards.reading.response_pairs import Key, PairOfResponses, add_judges, pairs_of

RANDOM, LOSSES, DISPUTED, BOTH_BAD, NOTED = "random", "losses", "disputed", "both_bad", "noted"
INFLUENTIAL = "influential"
PICKS = {
    RANDOM: _("at random"),
    LOSSES: _("lost by the model, the most agreed first"),
    DISPUTED: _("people and judges disagree"),
    INFLUENTIAL: _("whose votes move a rating most"),
    BOTH_BAD: _("both bad, the most agreed first"),
    NOTED: _("with a comment or a flag"),
}


def choose(
    campaign: Campaign, pick: str, model: int | None, against: int | None, seed: int
) -> list[PairOfResponses]:
    """In the order in which they are to be read. An unknown pick is an error of the caller's."""
    pairs = pairs_of(campaign, model, against)
    add_judges(campaign, pairs)
    if pick == RANDOM:
        random.Random(seed).shuffle(pairs)
        return pairs
    if pick == LOSSES:
        if model is None:
            return []
        lost = [pair for pair in pairs if pair.lost_by(model)]
        return sorted(lost, key=lambda pair: (-pair.net_loss(model), -pair.lost_by(model), pair.battle))
    if pick == DISPUTED:
        return [pair for pair in pairs if pair.is_disputed]
    if pick == BOTH_BAD:
        bad = [pair for pair in pairs if pair.people[Outcome.BOTH_BAD.value]]
        return sorted(bad, key=lambda pair: (-pair.people[Outcome.BOTH_BAD.value], pair.battle))
    if pick == INFLUENTIAL:
        known = add_influence(campaign, pairs, model, against)
        return sorted(pairs, key=lambda pair: (-abs(pair.influence), pair.battle)) if known else []
    if pick == NOTED:
        noted = _noted(campaign)
        return [pair for pair in pairs if (pair.prompt, *pair.responses) in noted]
    raise ValueError(f"there is no way {pick!r} to choose battles")


def _noted(campaign: Campaign) -> set[Key]:
    kinds = (BattleNote.Kind.COMMENT, BattleNote.Kind.FLAG)
    battles = Battle.objects.filter(campaign=campaign, notes__kind__in=kinds, response_a__isnull=False)
    rows = battles.filter(response_b__isnull=False).values_list("prompt_id", "response_a_id", "response_b_id")
    return {(prompt, min(a, b), max(a, b)) for prompt, a, b in rows}
