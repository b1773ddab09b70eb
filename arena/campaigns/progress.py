"""How far a campaign is towards its targets, for its page. What pauses drawing counts for itself."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, groupby
from operator import itemgetter

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.campaigns.opening import drawable_responses

STANDING = Q(vote__isnull=False, vote__retraction=None)
CHUNK = 2000


def cast_so_far(campaign: Campaign) -> dict[str, int]:
    """Votes that stand, who ever voted, and flags that raters raised on battles, voted on or not."""
    voted = campaign.battles.filter(vote__isnull=False)
    cast = voted.aggregate(
        votes=Count("pk", filter=Q(vote__retraction=None)), raters=Count("rater", distinct=True)
    )
    return cast | {"flags": campaign.battles.filter(notes__kind="flag").count()}


@dataclass(frozen=True)
class Exposed:
    """Of the responses that can be drawn, those whose names at least one rater has been shown."""

    responses: int
    of: int

    @property
    def percent(self) -> int:
        return round(100 * self.responses / self.of)


def exposed(campaign: Campaign) -> Exposed | None:
    """None without responses. What another campaign showed of them counts too."""
    showing = Campaign.objects.filter(Campaign.with_names_shown(), team=campaign.team_id)
    voted = campaign.battles.model.objects.filter(STANDING, campaign__in=showing.values("pk"))
    # Sets here: to look up each of 100,000 responses in lists of votes took the database seconds.
    seen = set(chain.from_iterable(voted.values_list("response_a", "response_b").iterator(CHUNK)))
    drawable = set(drawable_responses(campaign).order_by().values_list("pk", flat=True).iterator(CHUNK))
    return Exposed(len(drawable & seen), len(drawable)) if drawable else None


@dataclass(frozen=True)
class Bar:
    """`done` of `of`, both in the unit that the words name."""

    words: Promise
    done: int
    of: int

    @property
    def is_full(self) -> bool:
        return self.done >= self.of


def bars(campaign: Campaign) -> list[Bar]:
    shown: list[Bar] = []
    if campaign.target_votes or campaign.target_raters:
        shown += _target_bars(campaign)
    if campaign.ends_at and campaign.opened_at:
        shown.append(time_bar(campaign.opened_at, campaign.ends_at, timezone.now()))
    return shown


def _target_bars(campaign: Campaign) -> Iterator[Bar]:
    done, models = _reached(campaign), _models_by_prompt(campaign)
    if campaign.target_votes:
        of = campaign.target_votes * _possible_cells(campaign, models)
        yield Bar(_("votes of all pairs on all prompts"), done.votes, of)
    if campaign.target_raters:
        yield Bar(_("raters on all prompts"), done.raters, campaign.target_raters * len(models))


@dataclass
class Reached:
    votes: int = 0
    raters: int = 0


def _reached(campaign: Campaign) -> Reached:
    """What counts towards the targets, in one walk over the votes: nothing beyond them does."""
    columns = ("prompt", "competitor_a", "competitor_b", "rater")
    rows = voted_battles(campaign).order_by("prompt").values_list(*columns).iterator(CHUNK)
    done = Reached()
    for _prompt, votes in groupby(rows, key=itemgetter(0)):
        pairs: Counter[tuple[int, int]] = Counter()
        raters: set[int] = set()
        for _same, a, b, rater in votes:
            pairs[min(a, b), max(a, b)] += 1
            raters.add(rater)
        done.votes += sum(min(count, campaign.target_votes or 0) for count in pairs.values())
        done.raters += min(len(raters), campaign.target_raters or 0)
    return done


def voted_battles(campaign: Campaign) -> QuerySet:
    """Of those prompts and models that can still be drawn."""
    active = campaign.competitors.filter(status="active").values("pk")
    sets = campaign.prompt_sets.values("pk")
    battles = campaign.battles.filter(STANDING, kind="regular", prompt__prompt_set__in=sets)
    return battles.filter(competitor_a__in=active, competitor_b__in=active)


def possible_cells(campaign: Campaign) -> int:
    """Prompts times pairs that can meet there: two models whose texts aren't one and the same."""
    return _possible_cells(campaign, _models_by_prompt(campaign))


def _models_by_prompt(campaign: Campaign) -> list[int]:
    """How many models can be drawn on each prompt that has any."""
    per_prompt = drawable_responses(campaign).order_by().values("prompt")
    return list(
        per_prompt.annotate(models=Count("competitor", distinct=True)).values_list("models", flat=True)
    )


def _possible_cells(campaign: Campaign, models: list[int]) -> int:
    texts = drawable_responses(campaign).order_by()
    return sum(n * (n - 1) // 2 for n in models) - _pairs_of_one_text(texts)


def _pairs_of_one_text(texts: QuerySet) -> int:
    """Pairs of models that have nothing but the same text on a prompt."""
    shared = texts.values("prompt", "text_hash").annotate(models=Count("competitor", distinct=True))
    prompts = shared.filter(models__gte=2).values("prompt")
    held: dict[tuple[int, int], set[str]] = {}
    for prompt, model, text in texts.filter(prompt__in=prompts).values_list(
        "prompt", "competitor", "text_hash"
    ):
        held.setdefault((prompt, model), set()).add(text)
    same: dict[tuple[int, str], int] = {}
    for (prompt, _model), hashes in held.items():
        if len(hashes) == 1:
            key = (prompt, next(iter(hashes)))
            same[key] = same.get(key, 0) + 1
    return sum(n * (n - 1) // 2 for n in same.values())


def time_bar(opened_at: datetime, ends_at: datetime, now: datetime) -> Bar:
    """In hours."""
    whole = max(int((ends_at - opened_at).total_seconds() // 3600), 1)
    passed = int((now - opened_at).total_seconds() // 3600)
    return Bar(_("hours until its end have passed"), min(max(passed, 0), whole), whole)
