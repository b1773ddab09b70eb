"""What so many raters with so many votes each will be able to tell apart, reckoned before the first vote.

Every pair is taken to be drawn equally often, and models to be close. In the half-win board's log-odds the
difference between two of M models then has the variance 4 (1 − t)(M − 1)/N + (1 − t)²(2 σr²/R + 2 σp²/P): N
votes, a share t of them ties, of R raters on P prompts, whose tastes for a model vary by σr and σp in votes
with a winner. More votes of the same people leave the last two terms as they are. Boards test by Student's t
with the degrees of freedom that the fewer of raters and prompts leave, and so does this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import pi, sqrt

from django.db.models import Count, Q

from arena.campaigns.models import Campaign
from arena.campaigns.opening import drawable_responses
from arena.corpus.models import Prompt
from arena.corpus.same_text import key_of
from ratings.planner import Detectable, minimum_detectable

# Of votes cast so far a tie share is believed from so many on; before that the usual one is taken.
FEWEST_FOR_TIES = 50
USUAL_TIES = 0.25
MOST_RATERS = 10_000
MOST_VOTES_EACH = 100_000
MOST_PROMPTS = 100_000
POWER, CONFIDENCE = 0.8, 0.95
# Standard deviations of tastes in log-odds, as bench/coverage.py simulates them.
TASTES = {"alike": 0.25, "usual": 0.5, "apart": 0.8}
ROWS = (5, 10, 20, 50, 100, 200)


@dataclass(frozen=True)
class Plan:
    """`counted` is the share of battles that count on a board: neither repeats nor golds.

    asked: pairs that the question is about, which alone are tested at once; None: all pairs.
    """

    models: int
    prompts: int
    raters: int
    votes_each: int
    tie_share: float
    taste: float
    counted: float = 1.0
    asked: int | None = None

    @property
    def on_the_board(self) -> float:
        """Votes that count, ties included."""
        return self.raters * self.votes_each * self.counted

    @property
    def pairs(self) -> int:
        return self.models * (self.models - 1) // 2

    @property
    def tested(self) -> int:
        return self.asked or self.pairs

    @property
    def per_pair(self) -> float:
        """Votes that would tell a lone pair as much as the whole board's votes tell it."""
        return self.on_the_board / (self.models - 1)

    @property
    def design_effect(self) -> float:
        """Variance with tastes over variance without."""
        return 1 + self._tastes_over(self.raters) + self._tastes_over(self.prompts)

    @property
    def degrees(self) -> int:
        """Of freedom, of a test on the board."""
        return min(self.raters, self.prompts) - 1

    @property
    def raters_share(self) -> float:
        """Of the variance, what raters' tastes leave however often the same ones vote."""
        return self._tastes_over(self.raters) / self.design_effect

    @property
    def prompts_share(self) -> float:
        return self._tastes_over(self.prompts) / self.design_effect

    def _tastes_over(self, number: int) -> float:
        taste = self.taste * self._drawn_together
        return 2 * (1 - self.tie_share) * taste**2 / number * self.per_pair / 4

    @property
    def _drawn_together(self) -> float:
        """What votes of many tastes show of one log-odds: the usual logistic-normal approximation."""
        of_a_vote = 4 * self.taste**2  # two models, a rater's taste and a prompt's for either
        return 1 / sqrt(1 + (16 * sqrt(3) / (15 * pi)) ** 2 * of_a_vote)


ROW = {"raters": "count", "votes": "count", "points": "number", "expected_score": "number"}


@dataclass(frozen=True)
class Row:
    """`points` on the board, where a tie counts half for either; None: no difference can be shown.

    expected_score: of the better one, at that difference.
    """

    raters: int
    votes: int
    points: float | None
    expected_score: float | None

    @property
    def values(self) -> tuple[int, int, float | None, float | None]:
        return self.raters, self.votes, self.points, self.expected_score

    @property
    def votes_in_words(self) -> str:
        return f"{self.votes:,}"

    @property
    def score_percent(self) -> int | None:
        return None if self.expected_score is None else round(100 * self.expected_score)


def detectable(plan: Plan) -> Row:
    """The smallest difference found in four of five tries, when all pairs that are asked about are tested."""
    votes = plan.raters * plan.votes_each
    found = Detectable(None, None, 0, CONFIDENCE, POWER, plan.tested)
    if plan.per_pair >= 1:
        found = minimum_detectable(
            int(plan.per_pair),
            confidence=CONFIDENCE,
            power=POWER,
            comparisons=plan.tested,
            tie_share=plan.tie_share,
            design_effect=plan.design_effect,
            degrees=plan.degrees,
        )
    return Row(plan.raters, votes, found.points, found.expected_score)


def rows(plan: Plan) -> list[Row]:
    """For other numbers of raters too, so that one sees what more people would bring."""
    return [detectable(replace(plan, raters=n)) for n in sorted({*ROWS, plan.raters})]


def raters_needed(plan: Plan, margin: float) -> int | None:
    """How many raters with so many votes each find a difference of `margin` points; None: no number does."""
    return _fewest(lambda n: replace(plan, raters=n), margin, MOST_RATERS)


def votes_needed(plan: Plan, margin: float) -> int | None:
    """How many votes each of so many raters; None: their tastes, or the prompts, are what limits."""
    return _fewest(lambda n: replace(plan, votes_each=n), margin, MOST_VOTES_EACH)


def prompts_needed(plan: Plan, margin: float) -> int | None:
    """How many prompts, over which as many votes of as many raters are spread."""
    return _fewest(lambda n: replace(plan, prompts=n), margin, MOST_PROMPTS)


def _fewest(with_number: Callable[[int], Plan], margin: float, most: int) -> int | None:
    def find(number: int) -> bool:
        points = detectable(with_number(number)).points
        return points is not None and points <= margin

    if not find(most):
        return None
    low, high = 0, most  # low doesn't find it, high does
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if find(middle) else (middle, high)
    return high


def prompts_of(campaign: Campaign) -> int:
    """Prompts of one text are one, as on the boards."""
    prompts = Prompt.objects.filter(pk__in=drawable_responses(campaign).order_by().values("prompt"))
    return len({key_of(*told) for told in prompts.values_list("messages", "tombstone").iterator()})


def plan_of(
    campaign: Campaign,
    *,
    raters: int,
    votes_each: int,
    taste: float,
    ties: Ties | None = None,
    asked: int | None = None,
) -> Plan | None:
    """With the campaign's own models, prompts and ties; None: too early to say."""
    models = campaign.competitors.filter(status="active").count()
    prompts = prompts_of(campaign)
    if models < 2 or not prompts:
        return None
    return Plan(
        models=models,
        prompts=prompts,
        raters=raters,
        votes_each=votes_each,
        tie_share=(ties or ties_of(campaign)).share,
        taste=taste,
        counted=1 - campaign.repeat_share - campaign.gold_share,
        asked=asked and min(asked, models * (models - 1) // 2),
    )


@dataclass(frozen=True)
class Ties:
    """`votes` says on how many the share rests; 0: it is assumed."""

    share: float
    votes: int


def ties_of(campaign: Campaign) -> Ties:
    """Both bad counts like a tie."""
    votes = campaign.battles.filter(
        kind__in=("regular", "recorded"), vote__isnull=False, vote__retraction=None
    )
    counts = votes.aggregate(
        every=Count("pk"), ties=Count("pk", filter=Q(vote__outcome__in=("tie", "both_bad")))
    )
    if counts["every"] < FEWEST_FOR_TIES:
        return Ties(USUAL_TIES, 0)
    return Ties(counts["ties"] / counts["every"], counts["every"])
