"""How far a campaign is towards its targets, for its page. What pauses drawing counts for itself."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet, Sum, Value
from django.db.models.functions import Greatest, Least
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.campaigns.opening import drawable_responses

STANDING = Q(vote__isnull=False, vote__retraction=None)


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
    shown = []
    if campaign.target_votes:
        shown.append(votes_bar(campaign, campaign.target_votes))
    if campaign.target_raters:
        shown.append(raters_bar(campaign, campaign.target_raters))
    if campaign.ends_at and campaign.opened_at:
        shown.append(time_bar(campaign.opened_at, campaign.ends_at, timezone.now()))
    return shown


def votes_bar(campaign: Campaign, target: int) -> Bar:
    """Votes that count towards the target; what a pair has beyond it doesn't."""
    pairs = voted_battles(campaign).annotate(
        low=Least("competitor_a", "competitor_b"), high=Greatest("competitor_a", "competitor_b")
    )
    cells = pairs.order_by().values("prompt", "low", "high").annotate(votes=Count("pk"))
    return Bar(
        _("votes of all pairs on all prompts"),
        _sum_up_to(cells, "votes", target),
        target * possible_cells(campaign),
    )


def voted_battles(campaign: Campaign) -> QuerySet:
    """Of those prompts and models that can still be drawn."""
    active = campaign.competitors.filter(status="active").values("pk")
    sets = campaign.prompt_sets.values("pk")
    battles = campaign.battles.filter(STANDING, kind="regular", prompt__prompt_set__in=sets)
    return battles.filter(competitor_a__in=active, competitor_b__in=active)


def possible_cells(campaign: Campaign) -> int:
    """Prompts times pairs that can meet there: two models whose texts aren't one and the same."""
    texts = drawable_responses(campaign).order_by()
    per_prompt = texts.values("prompt").annotate(models=Count("competitor", distinct=True))
    pairs = sum(n * (n - 1) // 2 for n in per_prompt.values_list("models", flat=True))
    return pairs - _pairs_of_one_text(texts)


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


def raters_bar(campaign: Campaign, target: int) -> Bar:
    prompts = voted_battles(campaign).order_by().values("prompt")
    raters = prompts.annotate(raters=Count("rater", distinct=True))
    drawable = drawable_responses(campaign).order_by().values("prompt").distinct().count()
    return Bar(_("raters on all prompts"), _sum_up_to(raters, "raters", target), target * drawable)


def _sum_up_to(rows: QuerySet, column: str, most: int) -> int:
    """What a row has beyond `most` doesn't count."""
    return rows.annotate(counted=Least(column, Value(most))).aggregate(total=Sum("counted"))["total"] or 0


def time_bar(opened_at: datetime, ends_at: datetime, now: datetime) -> Bar:
    """In hours."""
    whole = max(int((ends_at - opened_at).total_seconds() // 3600), 1)
    passed = int((now - opened_at).total_seconds() // 3600)
    return Bar(_("hours until its end have passed"), min(max(passed, 0), whole), whole)
