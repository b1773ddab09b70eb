"""Which battles a researcher reads: pairs of responses with all their votes, at random or for a reason."""

from __future__ import annotations

import random

from django.utils.translation import gettext_lazy as _

from arena.battles.models import BattleNote, Outcome
from arena.campaigns.models import Campaign
from arena.leaderboards.reading.influential import add_influence
from arena.leaderboards.reading.response_pairs import (
    PairOfResponses,
    add_judges,
    noted_pairs,
    pairs_of,
)

RANDOM, LOSSES, DISPUTED, BOTH_BAD = "random", "losses", "disputed", "both_bad"
INFLUENTIAL, FLAGGED, NOTED = "influential", "flagged", "noted"
PICKS = {
    RANDOM: _("at random"),
    LOSSES: _("lost by the model chosen, the most agreed first"),
    DISPUTED: _("people and judges disagree"),
    INFLUENTIAL: _("whose votes move a rating most"),
    BOTH_BAD: _("both bad, the most agreed first"),
    FLAGGED: _("with a flag, voted on or not"),
    NOTED: _("with a comment or a flag, voted on or not"),
}
SAID = {
    FLAGGED: (BattleNote.Kind.FLAG,),
    NOTED: (BattleNote.Kind.FLAG, BattleNote.Kind.COMMENT),
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
    if pick in SAID:
        return _noted(campaign, pairs, SAID[pick], model, against)
    raise ValueError(f"there is no way {pick!r} to choose battles")


def _noted(
    campaign: Campaign,
    voted: list[PairOfResponses],
    kinds: tuple[str, ...],
    model: int | None,
    against: int | None,
) -> list[PairOfResponses]:
    """Whoever flags a broken text often skips it: it is read although nobody voted on it."""
    noted = noted_pairs(campaign, kinds, model, against)
    known = {(pair.prompt, *pair.responses): pair for pair in voted}
    alone = [pair for key, pair in noted.items() if key not in known]
    add_judges(campaign, alone)
    return sorted([*(known[key] for key in noted.keys() & known), *alone], key=lambda pair: pair.battle)
