from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.campaigns.models import Campaign
from arena.leaderboards import downloads, tasks
from arena.leaderboards.asked import about_model, charted, compared
from arena.leaderboards.boards import board_page, compare_page, pair_battles
from arena.leaderboards.boards.board_list import list_campaigns
from arena.leaderboards.boards.board_rows import HEADINGS
from arena.leaderboards.boards.board_view import SORTS, View, sorts_of
from arena.leaderboards.caching import cached, kept_if_public
from arena.leaderboards.charts.chart_names import names_alone
from arena.leaderboards.forms import VisibilityForm
from arena.leaderboards.models import Leaderboard, Snapshot, SnapshotChart
from arena.leaderboards.packing import packed
from arena.leaderboards.schedule import request_snapshots
from arena.leaderboards.snapshot_api import answer_whole
from arena.leaderboards.understood import LONGEST, asks_nothing, leave_out, say_page, tell, understands
from arena.leaderboards.visible import get_visible_campaign, visible_boards
from arena.raters import access
from arena.raters.models import Role


@require_safe
@kept_if_public
@packed
@understands()
def board_list(request: HttpRequest) -> HttpResponse:
    context = {"campaigns": list_campaigns(request.user), "section": "boards"}
    return render(request, "leaderboards/list.html", context)


@require_safe
@kept_if_public
@packed
@vary_on_headers("HX-Request")
@understands(
    *("source", "q", "pin", "page"),
    several=("pin",),
    board=HEADINGS,
    interval=board_page.INTERVALS,
    sort=SORTS,
)
def board(request: HttpRequest, campaign: str) -> HttpResponse:
    shown = get_visible_campaign(request, campaign)
    may_take = access.has_role(request.user, shown.team_id, Role.RESEARCHER)
    boards = visible_boards(request, shown)
    progress = board_page.progress_of(boards) if may_take else None
    if asks_nothing(request) and progress is None and compare_page.is_a_duel(shown, boards):
        return redirect("board-compare", shown.slug)
    context: dict[str, Any] = {"campaign": shown, "progress": progress, "may_take": may_take}
    if request.headers.get("HX-Request"):
        return render_progress(request, context)
    view = View.of(request.GET)
    source, interval, asked = (request.GET.get(name, "") for name in ("source", "interval", "board"))
    page = board_page.build(boards, source, interval, view, asked)
    say_left_out(request, page, view)
    context |= {
        "page": page,
        "unchanged_at": board_page.unchanged_at(page.columns) if may_take and progress is None else None,
        "view": view,
        "sorts": sorts_of(page.shown),
        "turns": turns_of(page, view),
        "missing": board_page.missing_of(shown, page),
        "may_publish": access.has_role(request.user, shown.team_id, Role.ADMIN),
        "visibilities": Leaderboard.Visibility.choices,
        "section": "boards",
    }
    return render(request, "leaderboards/board.html", context)


@require_safe
@kept_if_public
@packed
@understands("a", "b", "source")
def board_compare(request: HttpRequest, campaign: str) -> HttpResponse:
    shown, choice, page = compared(request, campaign)
    context: dict[str, Any] = {"campaign": shown, "choice": choice, "section": "boards"}
    if page is not None:
        context["page"] = page
        if access.has_role(request.user, shown.team_id, Role.RESEARCHER):
            context["battles"] = pair_battles.address_of(shown, choice.a, choice.b)
    return render(request, "leaderboards/compare.html", context)


@require_safe
@kept_if_public
@packed
@understands("name", "source")
def board_model(request: HttpRequest, campaign: str) -> HttpResponse:
    shown, page = about_model(request, campaign)
    context = {"campaign": shown, "page": page, "section": "boards"}
    return render(request, "leaderboards/model.html", context)


@require_safe
@kept_if_public
@packed
@understands("source", "sort", board=HEADINGS)
def board_charts(request: HttpRequest, campaign: str) -> HttpResponse:
    shown, page = charted(request, campaign)
    if request.GET.get("sort") and page.charts and not any(chart.sorted_by for chart in page.charts):
        leave_out(request, "sort", known=_("a chart and the number of a column of its table, “ratings:1”"))
    context = {"campaign": shown, "page": page, "section": "boards"}
    return render(request, "leaderboards/charts.html", context)


@require_safe
@packed
def chart_svg(request: HttpRequest, campaign: str, slug: str, name: str) -> HttpResponseBase:
    scheme = "dark" if request.GET.get("scheme") == "dark" else "light"
    file_name = f"{slug}-{name}.svg" if "download" in request.GET else ""

    def make(chart: SnapshotChart) -> HttpResponse:
        svg = getattr(chart, scheme)
        shown = names_alone(svg, name) if "names" in request.GET else svg
        return HttpResponse(shown, content_type="image/svg+xml")

    form = f"{scheme} {'names' in request.GET}"
    return chart_file(request, get_latest(request, campaign, slug), name, form, make, file_name)


@require_safe
def chart_png(request: HttpRequest, campaign: str, slug: str, name: str) -> HttpResponseBase:
    def make(chart: SnapshotChart) -> HttpResponse:
        if chart.png is None:
            raise Http404
        return HttpResponse(bytes(chart.png), content_type="image/png")

    snapshot = get_latest(request, campaign, slug)
    return chart_file(request, snapshot, name, "png", make, f"{slug}-{name}.png")


@require_safe
def chart_json(request: HttpRequest, campaign: str, slug: str, name: str) -> HttpResponseBase:
    def make(chart: SnapshotChart) -> HttpResponse:
        return JsonResponse(chart.spec)

    snapshot = get_latest(request, campaign, slug)
    return chart_file(request, snapshot, name, "spec", make, f"{slug}-{name}.vl.json")


def chart_file(
    request: HttpRequest,
    snapshot: Snapshot,
    name: str,
    form: str,
    make: Callable[[SnapshotChart], HttpResponse],
    file_name: str,
) -> HttpResponseBase:
    """A form of a drawn chart; with a file name it is taken away, else shown in a page."""
    chart = snapshot.charts.filter(name=name, failure="").first()
    if chart is None:
        raise Http404

    def make_file() -> HttpResponse:
        response = make(chart)
        if file_name:
            response["Content-Disposition"] = f'attachment; filename="{file_name}"'
        return response

    known = f"chart {chart.pk} {form} {file_name}"
    return cached(request, snapshot, known, make_file)


def say_left_out(request: HttpRequest, page: board_page.Page, view: View) -> None:
    """Models to be kept on top that the board hasn’t, and a page of it that there isn’t."""
    there = {row.name for row in page.pinned}
    for name in view.pins:
        if page.part and name not in there:
            words = _("“%(name)s” is no model of this board: nothing is kept on top.")
            tell(request, words % {"name": name[:LONGEST]})
    if page.part:
        say_page(request, page.part.page, page.part.pages)


def turns_of(page: board_page.Page, view: View) -> list[tuple[str, str]]:
    """The pages before and after this one: what each link says, and the parameters that lead there."""
    part = page.part
    if part is None:
        return []
    turns = ((_("Models before"), part.page - 1), (_("Further models"), part.page + 1))
    return [(words, view.parameters(number)) for words, number in turns if 1 <= number <= part.pages]


def render_progress(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The bar alone, while there is one; then the whole page again."""
    response = render(request, "leaderboards/board.html#progress", context)
    if context["progress"] is None:
        response["HX-Refresh"] = "true"
    return response


@require_POST
def snapshot_take(request: HttpRequest, campaign: str) -> HttpResponse:
    taken = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=campaign)
    with transaction.atomic():
        pks = [run.pk for run in request_snapshots(taken)]
        transaction.on_commit(lambda: tasks.compute_runs(pks))
    return redirect("board", taken.slug)


@require_POST
def board_visibility(request: HttpRequest, campaign: str) -> HttpResponse:
    shown = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=campaign)
    form = VisibilityForm(request.POST, campaign=shown)
    if not form.is_valid():
        messages.error(request, _("Nothing changed: choose who may see these boards."))
        return redirect("board", shown.slug)
    form.save()
    messages.success(request, _("Now seen by: %(who)s.") % {"who": form.audience})
    return redirect(form.address)


@require_safe
def board_csv(request: HttpRequest, campaign: str, slug: str) -> HttpResponseBase:
    snapshot = get_latest(request, campaign, slug)

    def make() -> HttpResponse:
        response = HttpResponse(downloads.as_csv(snapshot), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{slug}-snapshot-{snapshot.pk}.csv"'
        return response

    return cached(request, snapshot, f"board csv {downloads.form_of(snapshot, 'standings')}", make)


@require_safe
def board_json(request: HttpRequest, campaign: str, slug: str) -> HttpResponseBase:
    return answer_whole(request, get_latest(request, campaign, slug), JsonResponse)


def get_latest(request: HttpRequest, campaign: str, slug: str) -> Snapshot:
    boards = Leaderboard.objects.visible_to(request.user).filter(campaign__slug=campaign, slug=slug)
    snapshot = Snapshot.objects.filter(leaderboard__in=boards).select_related("leaderboard__campaign").first()
    if snapshot is None:
        raise Http404
    return snapshot
