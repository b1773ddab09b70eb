"""What the battles of two models with each other say, by category too, and what would tell them apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.boards import board_facts
from arena.leaderboards.boards.compare_words import Figure
from arena.leaderboards.boards.duels import (
    NONE,
    Duel,
    say_interval,
    say_p,
    say_points,
    say_rate,
    say_rates,
    say_share,
    say_shares,
    three,
)
from arena.leaderboards.intervals import Estimate
from arena.leaderboards.plans.looks import plan_and_look
from arena.leaderboards.sentences import FEW_TO_RANK, too_few

MCNEMAR_EXACT_BELOW = 25
"""Prompts that went one way or the other; from so many on the test is the mid-p one (ratings.proportions)."""
DIRECT = {
    "snapshot": "count",
    "plan": "count",
    "look": "text",
    "wins": "count",
    "losses": "count",
    "ties": "count",
    "both_bad": "count",
    "sign_share": "number",
    "sign_lower": "number",
    "sign_upper": "number",
    "sign_p": "number",
    "prompts_a": "count",
    "prompts_b": "count",
    "prompts": "count",
    "mcnemar_p": "number",
    "net_rate": "number",
    "net_lower": "number",
    "net_upper": "number",
    "net_p": "number",
    "clustered_by": "text",
    "e_value": "number",
    "e_beyond_counting": "flag",
}
"""Columns of a table's file, here and below: name to kind; a line's `values` stand in their order."""
CATEGORIES = {
    "category": "text",
    "snapshot": "count",
    "wins": "count",
    "losses": "count",
    "ties": "count",
    "net_rate": "number",
    "net_lower": "number",
    "net_upper": "number",
    "difference": "number",
    "lower": "number",
    "upper": "number",
}
NEEDS = {
    "snapshot": "count",
    "points": "number",
    "new_raters": "count",
    "new_prompts": "count",
    "more_votes": "count",
    "out_of_reach": "text",
}
"""out_of_reach: those of the three of which no number is enough."""


@dataclass(frozen=True)
class CategoryLine:
    name: str
    counts: str
    points: Figure
    net: Figure
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Need:
    points: str
    raters: str
    prompts: str
    votes: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Direct:
    """What the battles of the two with each other say, on the overall board of the chosen source."""

    wins: int
    losses: int
    ties: int
    both_bad: int | None
    net: Figure
    clustered_by: str
    net_p: str
    sign: Figure | None
    sign_p: str
    prompts_a: int
    prompts_b: int
    prompts: int
    mcnemar_p: str
    mcnemar_kind: str
    e: str
    values: tuple[Any, ...]


def direct_of(duel: Duel) -> Direct:
    direct: dict[str, Any] = duel.direct or {}
    estimate, lower, upper = duel.net(direct["net"])
    sign, mcnemar, bet = direct["sign"], direct["mcnemar"], direct["e"]
    first, second = duel.sided(mcnemar, "only_first", "only_second") if mcnemar else (0, 0)
    snapshot = duel.pair.snapshot
    has_drawn = board_facts.has_drawn(snapshot.leaderboard.campaign)
    both_bad = direct["both_bad"] if board_facts.offers_both_bad(snapshot, has_drawn) else None
    share = _sign(sign, duel.turned) if sign else None
    return Direct(
        wins=duel.wins,
        losses=duel.losses,
        ties=duel.ties - direct["both_bad"],
        both_bad=both_bad,
        net=Figure(say_rate(estimate), say_rates(lower, upper)),
        clustered_by=direct["net"]["clustered_by"],
        net_p=say_p(direct["net"]["p"]),
        sign=Figure(say_share(share[0]), say_shares(*share[1:])) if share else None,
        sign_p=say_p(sign["p"]) if sign else "",
        prompts_a=first,
        prompts_b=second,
        prompts=mcnemar["prompts"] if mcnemar else 0,
        mcnemar_p=say_p(mcnemar["p"]) if mcnemar else "",
        mcnemar_kind=_("exact") if first + second < MCNEMAR_EXACT_BELOW else _("mid-p"),
        e="" if bet is None else _say_e(bet["e"]),
        values=(
            snapshot.pk,
            *plan_and_look(snapshot),
            duel.wins,
            duel.losses,
            duel.ties - direct["both_bad"],
            both_bad,
            *(share or (None,) * 3),
            sign["p"] if sign else None,
            *((first, second, mcnemar["prompts"], mcnemar["p"]) if mcnemar else (None,) * 4),
            *(estimate, lower, upper, direct["net"]["p"], direct["net"]["clustered_by"]),
            *((None, None) if bet is None else (bet["e"], bet["e"] is None)),
        ),
    )


def _sign(sign: dict[str, Any], turned: bool) -> tuple[float, float, float]:
    """The share of decisive votes that a won, with its interval."""
    share = sign["share"]
    estimate, lower, upper = share["estimate"], share["lower"], share["upper"]
    return (1 - estimate, 1 - upper, 1 - lower) if turned else (estimate, lower, upper)


def _say_e(e: float | None) -> str:
    if e is None:
        return _("beyond counting")
    return f"{e:,.0f}" if e >= 10 else f"{e:.2g}"


def categories_of(duel: Duel) -> Iterator[CategoryLine]:
    for one in duel.details.get("categories", []):
        wins, losses = duel.sided(one, "wins", "losses")
        estimate, lower, upper = duel.net(one["net"])
        points, found = Figure(NONE), None
        if one["difference"] is not None:
            ends = (one["lower"], one["upper"])
            low, high = ends if not duel.turned else tuple(None if v is None else -v for v in ends[::-1])
            difference = -one["difference"] if duel.turned else one["difference"]
            found = Estimate(difference, low, high)
            points = Figure(say_points(found), say_interval(low, high))
        yield CategoryLine(
            name=one["category"] or _("no category"),
            counts=f"{wins} : {losses} ({one['ties']})",
            points=points,
            net=Figure(say_rate(estimate), say_rates(lower, upper)),
            values=(
                one["category"],
                duel.pair.snapshot_id,
                wins,
                losses,
                one["ties"],
                *(estimate, lower, upper, *three(found)),
            ),
        )


def say_first_needed(duel: Duel) -> str:
    """Where so few raters or prompts stand behind a pair that no number of votes by them tells it apart."""
    snapshot = duel.pair.snapshot
    name = too_few(snapshot) if duel.details.get("needs") else None
    if name is None:
        return ""
    n = snapshot.counts[name]
    return (_few_raters(n) if name == "raters" else _few_prompts(n)) % {"n": n, "least": FEW_TO_RANK}


def _few_raters(n: int) -> str:
    return ngettext(
        "More raters first: %(n)d rater can’t tell how raters differ, and no number of votes or prompts by"
        " the same one makes up for that. From %(least)d on who judge about equally much, it is told here how"
        " many of each it takes.",
        "More raters first: %(n)d raters are too few to tell how raters differ, and no number of votes or"
        " prompts by the same ones makes up for that. From %(least)d on who judge about equally much, it is"
        " told here how many of each it takes.",
        n,
    )


def _few_prompts(n: int) -> str:
    return ngettext(
        "More prompts first: %(n)d prompt can’t tell how prompts differ, and no number of votes or raters on"
        " the same one makes up for that. From %(least)d on that are used about equally often, it is told"
        " here how many of each it takes.",
        "More prompts first: %(n)d prompts are too few to tell how prompts differ, and no number of votes or"
        " raters on the same ones makes up for that. From %(least)d on that are used about equally often, it"
        " is told here how many of each it takes.",
        n,
    )


def needs_of(duel: Duel) -> Iterator[Need]:
    """None of it where more raters, or prompts, must come first."""
    if say_first_needed(duel):
        return
    for need in duel.details.get("needs", []):
        new = need["new"]
        # Snapshots of before have `votes`, as if each came with a new rater and prompt: not said.
        counts = {
            "new_raters": new.get("rater"),
            "new_prompts": new.get("prompt"),
            "more_votes": need.get("votes_by_same"),
        }
        beyond = [name for name, count in counts.items() if isinstance(count, str)]
        numbers = (None if name in beyond else count for name, count in counts.items())
        yield Need(
            points=f"{need['points']:g}",
            raters=_say_count(counts["new_raters"]),
            prompts=_say_count(counts["new_prompts"]),
            votes=_say_count(counts["more_votes"]),
            values=(duel.pair.snapshot_id, need["points"], *numbers, " ".join(beyond)),
        )


def _say_count(count: int | str | None) -> str:
    if count is None:
        return NONE
    if isinstance(count, str):
        return _("not reachable")
    return f"{count:,}" if count else _("none: the present votes would find it")
