"""Which battles a rater is given, and the drawing of new ones.

A draw looks at a few prompts at random, however many prompts and votes there are: it takes the first on
which some pair can still meet for this rater, then the pair. Taking the first that will do of prompts in
random order is a uniform choice among those that will do.
"""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Max, Min, Q, QuerySet, Subquery
from django.db.models.functions import Greatest
from django.utils import timezone

from arena.battles import pairing
from arena.battles.models import Battle
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Campaign
from arena.campaigns.opening import drawable_responses
from arena.corpus.models import Prompt, PromptSet
from arena.raters.models import Rater

# Battles a rater holds at most. The page gets two: the one on the screen and the one it paints next. When
# no other waits behind them, two more are drawn together.
LEASES, ON_PAGE = 4, 2
FIRST_LOOK, SECOND_LOOK, LOOK = 4, 32, 200  # prompts looked at
# Two tabs of one rater may draw the same battle at once; the database refuses the second, which draws again.
ATTEMPTS = 5

_random = secrets.SystemRandom()
Counts = dict[pairing.Pair, int]


@dataclass
class Desk:
    """What one rater has already met on a prompt."""

    met: set[pairing.Pair] = field(default_factory=set)
    revealed: set[int] = field(default_factory=set)
    lapsed: dict[pairing.Pair, int] = field(default_factory=dict)


class OvertakenError(Exception):
    """Another request of this rater has drawn meanwhile: what they may meet has to be looked at anew."""


def hand_out(campaign: Campaign, rater: Rater, wanted: int = LEASES) -> list[Battle]:
    """The first of the rater's open battles, in the order they are shown; tops them up to `wanted`."""
    if not campaign.is_open or wanted < 1:
        return []
    return _until_alone(lambda: _hand_out(campaign, rater, wanted))


def _until_alone(act: Callable[[], list[Battle]]) -> list[Battle]:
    for _attempt in range(ATTEMPTS - 1):
        with suppress(OvertakenError, IntegrityError):
            return act()
    return act()


def _hand_out(campaign: Campaign, rater: Rater, wanted: int) -> list[Battle]:
    texts = Battle.objects.open_for(rater, campaign).with_texts()
    # The newest battle comes along in the same query: nothing can be drawn between the two looks.
    held = texts.annotate(latest=Subquery(_newest_first(rater)[:1]))[: ON_PAGE + 1]
    rows = list(held)
    latest = rows[0].latest if rows else _latest(rater)
    if not rows:
        rows = list(held.all())  # what was drawn between the two looks shows now
    waiting: list[Battle] = [*rows]
    missing = wanted - len(waiting) if len(waiting) <= ON_PAGE else 0
    while missing > 0 and (drawn := _draw_once(campaign, rater, missing, latest)):
        missing -= len(drawn)
        latest = max(battle.pk for battle in drawn)
    enough = min(wanted, ON_PAGE)
    return waiting[:enough] if len(waiting) >= enough else list(texts[:enough])


def draw(campaign: Campaign, rater: Rater, wanted: int = 1) -> list[Battle]:
    """New battles for this rater, at most `wanted`; none when there is nothing left that they may meet."""
    return _until_alone(lambda: _draw_once(campaign, rater, wanted, _latest(rater)))


def _latest(rater: Rater) -> int | None:
    return _newest_first(rater).first()


def _newest_first(rater: Rater) -> QuerySet[Battle, int]:
    return Battle.objects.filter(rater=rater).order_by("-pk").values_list("pk", flat=True)


def _draw_once(campaign: Campaign, rater: Rater, wanted: int, latest: int | None) -> list[Battle]:
    for prompts in _prompts_in_random_order(campaign):
        texts = _drawable_texts(campaign, rater, prompts)
        desks = _desks(campaign, rater, list(texts))
        possible = {
            prompt: pairing.pairs_that_can_meet(texts[prompt], desks[prompt].met, desks[prompt].revealed)
            for prompt in prompts
            if prompt in texts
        }
        chosen = [prompt for prompt, pairs in possible.items() if pairs][:wanted]
        if chosen:
            counts = _counts(campaign, [possible[prompt] for prompt in chosen])
            known = set(counts)
            battles = [
                _battle(campaign, rater, prompt, possible[prompt], counts, desks[prompt]) for prompt in chosen
            ]
            return _place(battles, known, rater, latest)
    return []


def _prompts_in_random_order(campaign: Campaign) -> Iterator[list[int]]:
    prompts = Prompt.objects.filter(prompt_set__campaigns=campaign, prompt_set__status__in=PromptSet.FROZEN)
    spans = prompts.values("prompt_set").annotate(first=Min("pk"), last=Max("pk")).order_by()
    sample = pairing.sample_ids(spans.values_list("first", "last"), FIRST_LOOK + SECOND_LOOK, _random)
    yield sample[:FIRST_LOOK]
    yield sample[FIRST_LOOK:]
    rest = list(prompts.exclude(pk__in=sample).values_list("pk", flat=True))
    _random.shuffle(rest)
    for start in range(0, len(rest), LOOK):
        yield rest[start : start + LOOK]


def _drawable_texts(campaign: Campaign, rater: Rater, prompts: list[int]) -> dict[int, list[pairing.Text]]:
    responses = drawable_responses(campaign).filter(prompt__in=prompts, renderer_version__gt=0)
    if rater.languages:
        responses = responses.filter(Q(prompt__language="") | Q(prompt__language__in=rater.languages))
    texts: dict[int, list[pairing.Text]] = {}
    columns = responses.values_list("prompt_id", "pk", "competitor_id", "text_hash")
    for prompt, response, competitor, text_hash in columns:
        texts.setdefault(prompt, []).append(pairing.Text(response, competitor, text_hash))
    return texts


def _desks(campaign: Campaign, rater: Rater, prompts: list[int]) -> defaultdict[int, Desk]:
    """What the rater met here and had revealed anywhere on these prompts; a lapsed battle may return."""
    desks: defaultdict[int, Desk] = defaultdict(Desk)
    if not prompts:
        return desks
    battles = Battle.objects.filter(rater=rater, prompt__in=prompts, replaced_by=None).with_skips()
    now = timezone.now()
    for battle in battles.annotate(skip_id=F("skip__pk")).select_related("campaign", "vote"):
        desk = desks[battle.prompt_id or 0]
        lapsed = battle.has_expired(now) and battle.skip_id is None and not hasattr(battle, "vote")
        if lapsed and battle.campaign_id == campaign.pk:
            desk.lapsed[battle.pair] = battle.pk
        elif battle.campaign_id == campaign.pk:
            desk.met.add(battle.pair)
        # Where votes reveal, an open battle counts: its names may be out before one drawn now is voted on.
        if not lapsed and battle.campaign.names_are_out:
            desk.revealed.update(battle.pair)
    return desks


def _counts(campaign: Campaign, possible: Iterable[Iterable[pairing.Pair]]) -> Counts:
    competitors = {competitor for pairs in possible for pair in pairs for competitor in pair}
    counts = PairCount.objects.filter(campaign=campaign, low__in=competitors, high__in=competitors)
    return {(low, high): battles for low, high, battles in counts.values_list("low_id", "high_id", "battles")}


def _battle(
    campaign: Campaign, rater: Rater, prompt: int, possible: pairing.Possible, counts: Counts, desk: Desk
) -> Battle:
    """Chooses pair and sides. `counts` goes up, so that the next of a row is drawn as if this one stood."""
    pair, propensity = pairing.choose_pair(possible, counts, _random)
    a, b = pairing.choose_texts(possible[pair], _random)
    lapsed = desk.lapsed.get(pair)
    if lapsed is None:
        counts[pair] = counts.get(pair, 0) + 1
    now = timezone.now()
    return Battle(
        campaign=campaign,
        rater=rater,
        prompt_id=prompt,
        competitor_a_id=a.competitor,
        competitor_b_id=b.competitor,
        response_a_id=a.response,
        response_b_id=b.response,
        propensity=propensity,
        replaces_id=lapsed,
        drawn_at=now,
        expires_at=now + timedelta(hours=settings.BATTLE_HOURS),
    )


def _place(battles: list[Battle], known: set[pairing.Pair], rater: Rater, latest: int | None) -> list[Battle]:
    """Stores the battles and counts their pairs; `known` are the pairs that have a count.

    Two draws at once could hand out more than a desk holds, or a text that the other's vote reveals: only
    the one that still finds the rater's `latest` battle places its own.
    """
    # What comes back after its lease ran out was counted when it was first drawn.
    pairs = Counter(battle.pair for battle in battles if battle.replaces_id is None)
    with transaction.atomic():
        if connection.features.has_select_for_update:  # elsewhere a transaction writes alone
            Rater.objects.select_for_update().get(pk=rater.pk)
        if _latest(rater) != latest:
            raise OvertakenError
        placed = Battle.objects.bulk_create(battles)
        PairCount.objects.add(battles[0].campaign_id, pairs, pairs.keys() - known)
    return placed


def draw_again(battle: Battle) -> Battle:
    """The same prompt and pair as a new battle, with its sides redrawn, in place of an undone one."""
    now = timezone.now()
    names = ("a", "b") if secrets.randbits(1) else ("b", "a")
    return Battle.objects.create(
        campaign_id=battle.campaign_id,
        kind=battle.kind,
        rater_id=battle.rater_id,
        prompt_id=battle.prompt_id,
        competitor_a_id=getattr(battle, f"competitor_{names[0]}_id"),
        competitor_b_id=getattr(battle, f"competitor_{names[1]}_id"),
        response_a_id=getattr(battle, f"response_{names[0]}_id"),
        response_b_id=getattr(battle, f"response_{names[1]}_id"),
        propensity=battle.propensity,
        replaces=battle,
        drawn_at=now,
        expires_at=now + timedelta(hours=settings.BATTLE_HOURS),
    )


def uncount(battle: Battle) -> None:
    low, high = battle.pair
    counts = PairCount.objects.filter(campaign_id=battle.campaign_id, low_id=low, high_id=high)
    counts.update(battles=Greatest(F("battles") - 1, 0))
