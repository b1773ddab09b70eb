"""Snapshots: a page of its own for each, where citations lead; a board's list; what moved between two."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from arena.leaderboards import downloads
from arena.leaderboards.boards import board_facts
from arena.leaderboards.boards.board_rows import flags_in_words, rank_words
from arena.leaderboards.boards.option_words import interval_words, option_label, option_words
from arena.leaderboards.boards.renamed_models import say_renamed_of
from arena.leaderboards.boards.snapshot_cautions import cautions_in
from arena.leaderboards.caching import kept_if_public
from arena.leaderboards.citation import bibtex, cite
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.plans.looks import say_looks
from arena.leaderboards.plans.registration_words import address_of_plans
from arena.leaderboards.sentences import say_marked, signed, written
from arena.leaderboards.snapshot_counts import say_no_spread
from arena.leaderboards.snapshot_diff import Diff, Moved, diff_of
from arena.leaderboards.snapshot_lines import lines_of, newest_first
from arena.leaderboards.understood import asked_page, understands
from arena.row_numbers import as_id

AT_ONCE = 50
TOLD_ELSEWHERE = (("interval", "robust"), ("anchor", None))
"""Options of nearly every board, whose intervals and mean are told elsewhere on the page; so is the seed."""


def get_leaderboard(request: HttpRequest, campaign: str, slug: str) -> Leaderboard:
    boards = Leaderboard.objects.visible_to(request.user).select_related("campaign", "judge")
    found = boards.filter(campaign__slug=campaign, slug=slug).first()
    if found is None:
        raise Http404
    return found


@require_safe
@kept_if_public
@understands("page")
def snapshot_list(request: HttpRequest, campaign: str, slug: str) -> HttpResponse:
    leaderboard = get_leaderboard(request, campaign, slug)
    page = asked_page(request, Paginator(newest_first(leaderboard), AT_ONCE))
    context = {
        "campaign": leaderboard.campaign,
        "leaderboard": leaderboard,
        "page": page,
        "lines": lines_of(page),
        "section": "boards",
    }
    return render(request, "leaderboards/snapshots.html", context)


@require_safe
@kept_if_public
@understands()
def snapshot_page(request: HttpRequest, pk: int) -> HttpResponse:
    boards = Leaderboard.objects.visible_to(request.user)
    snapshots = Snapshot.objects.filter(leaderboard__in=boards)
    known = ("leaderboard__campaign", "leaderboard__judge", "plan__campaign")
    snapshot = snapshots.select_related(*known).filter(pk=pk).first()
    if snapshot is None:
        raise Http404
    leaderboard = snapshot.leaderboard
    standings = list(snapshot.standings.as_listed())
    cautions, rows = cautions_in(snapshot, standings), [row_of(standing) for standing in standings]
    context = {
        "campaign": leaderboard.campaign,
        "leaderboard": leaderboard,
        "snapshot": snapshot,
        "newest": leaderboard.snapshots.first(),
        "before": leaderboard.snapshots.filter(pk__lt=pk).first(),
        "facts": board_facts.facts_of(snapshot),
        "rows": rows,
        "citation": cite(snapshot),
        "bibtex": bibtex(snapshot),
        "intervals": interval_words(snapshot.counts["interval_method"]),
        "options": [
            (option_label(name), _option(snapshot, name, value))
            for name, value in snapshot.options.items()
            if (name, value) not in TOLD_ELSEWHERE and name != "seed"
        ],
        "tables": downloads.TABLES,
        "kinds": downloads.SAID,
        "simulated": cautions.simulated,
        "marked": say_marked([snapshot], [rank for _standing, rank, *_told in rows]),
        "plans": address_of_plans(leaderboard.campaign),
        "care": cautions.care,
        "registered": "; ".join(cautions.registered),
        "section": "boards",
    }
    return render(request, "leaderboards/snapshot.html", context)


def _option(snapshot: Snapshot, name: str, value: Any) -> str:
    """Of the check also what came of it."""
    if name == "check" and value:
        return board_facts.say_check(snapshot.counts["check"])
    return option_words(name, value)


@require_safe
@kept_if_public
@understands("before", "after")
def snapshot_diff(request: HttpRequest, campaign: str, slug: str) -> HttpResponse:
    """?before=…&after=…; by default the newest against the one before it."""
    leaderboard = get_leaderboard(request, campaign, slug)
    choice = choose(leaderboard, request.GET.get("before", ""), request.GET.get("after", ""))
    context: dict[str, Any] = {
        "campaign": leaderboard.campaign,
        "leaderboard": leaderboard,
        "snapshots": choosable(leaderboard, choice),
        "choice": choice,
        "section": "boards",
    }
    if choice.before and choice.after:
        diff = diff_of(choice.before, choice.after)
        looks = say_looks([choice.after, choice.before])
        lines = [(moved, *ratings_of(moved), *words_of(moved)) for moved in diff.moved]
        context |= {
            "both": [(one, looks.get(one.pk, "")) for one in (choice.before, choice.after)],
            "diff": diff,
            "marked": say_marked(
                [choice.before, choice.after], [rank for line in lines for rank in line[3:5]]
            ),
            "renamed": say_renamed_of([choice.after, choice.before]),
            "counts": counts_of(diff),
            "options": options_of(diff),
            "lines": lines,
        }
    status = 404 if choice.is_unknown else 200
    return render(request, "leaderboards/snapshot_diff.html", context, status=status)


@dataclass(frozen=True)
class Choice:
    """Two snapshots, the older one first. Without them, or where they aren't as asked, `words` say why."""

    before: Snapshot | None = None
    after: Snapshot | None = None
    words: str = ""
    is_unknown: bool = False


def choosable(leaderboard: Leaderboard, choice: Choice) -> list[Snapshot]:
    """The newest, and the two chosen however old they are."""
    newest = list(leaderboard.snapshots.all()[:AT_ONCE])
    chosen = {one.pk: one for one in (choice.before, choice.after) if one}
    old = chosen.keys() - {one.pk for one in newest}
    return newest + [chosen[pk] for pk in sorted(old, reverse=True)]


def choose(leaderboard: Leaderboard, before: str, after: str) -> Choice:
    """By number; whichever isn't asked for is the newest, or the one before the other."""
    snapshots = leaderboard.snapshots.select_related("plan__campaign")
    asked = {wanted: snapshots.filter(pk=as_id(wanted)).first() for wanted in (before, after) if wanted}
    if unknown := [wanted for wanted, found in asked.items() if found is None]:
        # Whether another board has it is nobody's business who may not see that board.
        words = _("This board has no snapshot %(number)s. Choose two of its own.")
        return Choice(words=words % {"number": " or ".join(unknown)}, is_unknown=True)
    to = asked[after] if after else snapshots.first()
    since = asked[before] if before else snapshots.filter(pk__lt=to.pk).first() if to else None
    if since and since == to:
        words = _("That is snapshot %(number)d twice: nothing can have moved. Choose two.")
        return Choice(words=words % {"number": since.pk})
    if since is None or to is None:
        words = _("Nothing is older than snapshot %(number)d.") % {"number": to.pk} if after and to else ""
        return Choice(words=words or _("It takes two snapshots to see what moved, and this board has fewer."))
    if since.pk < to.pk:
        return Choice(since, to)
    words = _("Snapshot %(newer)d is the newer one: shown is what moved from %(older)d to %(newer)d.")
    return Choice(to, since, words % {"newer": since.pk, "older": to.pk})


def row_of(standing: Standing) -> tuple[Standing, str, list[str], str, str]:
    """With rank, flags, rating and interval as written."""
    lower, upper = _rating(standing.lower), _rating(standing.upper)
    unknown = standing.lower is None and standing.upper is None
    interval = "" if unknown else f"{lower} … {upper}"
    return standing, rank_words(standing), flags_in_words(standing), _rating(standing.rating), interval


def ratings_of(moved: Moved) -> tuple[str, str]:
    before, after = (one.rating if one else None for one in (moved.before, moved.after))
    return _rating(before), _rating(after)


def _rating(value: float | None) -> str:
    return "–" if value is None else written(value, 1)


COUNTED = {
    "votes": gettext_lazy("votes"),
    "raters": gettext_lazy("raters"),
    "prompts": gettext_lazy("prompts"),
    "competitors": gettext_lazy("models"),
    "design_effect": gettext_lazy("design effect"),
    "effective_clusters": gettext_lazy("effective clusters"),
}


def counts_of(diff: Diff) -> list[tuple[str, str, str]]:
    """What is counted, before and after, as written; what is the same when written isn't told."""
    told = [
        (str(COUNTED[name]), *(_count(value, name) for value in both)) for name, both in diff.counts.items()
    ]
    return [(name, before, after) for name, before, after in told if before != after]


def options_of(diff: Diff) -> list[tuple[str, str, str]]:
    """Options that differ, in words, before and after."""
    return [
        (option_label(name), option_words(name, before), option_words(name, after))
        for name, (before, after) in diff.options.items()
    ]


def _count(value: float | None, name: str) -> str:
    if value is None and name == "design_effect":
        return _("not known (%(reason)s)") % {"reason": say_no_spread()}
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def words_of(moved: Moved) -> tuple[str, str, str]:
    """The rank before and after, and the change in points."""
    ranks = [rank_words(standing) if standing else "–" for standing in (moved.before, moved.after)]
    if moved.before is None:
        return ranks[0], ranks[1], _("new")
    if moved.after is None:
        return ranks[0], ranks[1], _("gone")
    return ranks[0], ranks[1], "–" if moved.change is None else signed(moved.change)
