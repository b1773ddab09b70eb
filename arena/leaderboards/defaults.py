"""The leaderboards every campaign has: overall, hard and style-controlled, of people, judges and a panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.battles.models import Vote
from arena.campaigns.models import Campaign
from arena.judging.models import Judge, Judgment
from arena.leaderboards.models import Leaderboard


@dataclass(frozen=True)
class Board:
    """One of the three that are read together."""

    name: str
    title: str
    subset: str
    style_control: bool


BOARDS = (
    Board("overall", "overall", Leaderboard.Subset.ALL, False),
    Board("hard", "hard prompts", Leaderboard.Subset.HARD, False),
    Board("style", "style-controlled", Leaderboard.Subset.ALL, True),
)


MOST_CATEGORIES = 12
"""Categories that have a board of their own: those with the most votes."""


def ensure_leaderboards(campaign: Campaign) -> list[Leaderboard]:
    """Those of people, of every judge with a judgment here, of two or more as a panel, and of people combined
    with the judge or the panel, which knows no style control.

    What exists stays as it is.
    """
    judges = list(Judge.objects.filter(pk__in=judges_of(campaign)).order_by("pk"))
    boards = [default_leaderboard(campaign, board, judge) for judge in (None, *judges) for board in BOARDS]
    # As in a panel's rows: wordings on one model are one voice.
    is_panel = len({judge.voice for judge in judges}) > 1
    if is_panel:
        panel = Leaderboard.Source.PANEL
        boards += [default_leaderboard(campaign, board, None, panel) for board in BOARDS]
    if judges and Vote.objects.filter(battle__campaign=campaign).exists():
        helper = None if is_panel else judges[-1]
        combined = Leaderboard.Source.COMBINED
        boards += [
            default_leaderboard(campaign, board, helper, combined)
            for board in BOARDS
            if not board.style_control
        ]
    return boards


def judges_of(campaign: Campaign) -> set[int]:
    resolved = Judgment.objects.filter(run__campaign=campaign).exclude(outcome="")
    return set(resolved.order_by().values_list("judge_id", flat=True).distinct())


def default_leaderboard(
    campaign: Campaign, board: Board, judge: Judge | None, source: str = ""
) -> Leaderboard:
    """Without a source: the judge's, or people's."""
    source = source or (Leaderboard.Source.RATERS if judge is None else Leaderboard.Source.JUDGE)
    definition: dict[str, Any] = {
        "campaign_id": campaign.pk,
        "judge_id": None if judge is None else judge.pk,
        "source": source,
        "subset": board.subset,
        "style_control": board.style_control,
        "part": {},
    }
    whose, part = _names(source, judge)
    rest = {
        "name": f"{_led_by(campaign.name)} {board.title}, {whose}",
        "visibility": inherited_visibility(campaign, judge, source),
    }
    return made_once(f"{campaign.slug}-{part}{board.name}", definition, rest)


def made_once(stem: str, definition: dict[str, Any], rest: dict[str, Any]) -> Leaderboard:
    """The leaderboard so defined under that slug, or under the next that isn't another's."""
    number = 1
    while True:
        # Slugs are unique over all campaigns: "a" with judge 7 and a campaign "a-judge-7" want the same one.
        slug = stem if number == 1 else f"{stem}-{number}"
        leaderboard, _made = Leaderboard.objects.get_or_create(slug=slug, defaults=definition | rest)
        if all(getattr(leaderboard, field) == value for field, value in definition.items()):
            return leaderboard
        number += 1


def _led_by(name: str) -> str:
    """A colon behind a question or an exclamation reads as two marks."""
    return f"{name} –" if name.endswith(("?", "!", ".", ":", "…", "؟")) else f"{name}:"


def _names(source: str, judge: Judge | None) -> tuple[str, str]:
    """Whose boards they are, in a name and in a slug."""
    if source == Leaderboard.Source.COMBINED:
        helper, part = ("a panel", "") if judge is None else (judge.name, f"{judge.pk}-")
        return f"people combined with {helper}", f"combined-{part}"
    if judge is not None:
        return f"judge {judge.name}", f"judge-{judge.pk}-"
    return ("panel of judges", "panel-") if source == Leaderboard.Source.PANEL else ("people", "")


def inherited_visibility(campaign: Campaign, judge: Judge | None, source: str) -> str:
    """A later board of the same source shows itself to whom its siblings do; a new source is private."""
    sibling = Leaderboard.objects.whole().filter(campaign=campaign, judge=judge, source=source).first()
    return sibling.visibility if sibling else Leaderboard.Visibility.PRIVATE
