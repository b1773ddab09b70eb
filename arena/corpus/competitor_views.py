from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.corpus.editing import NotEditableError, remove_competitor
from arena.corpus.forms import CompetitorForm
from arena.corpus.leak_checks import look_again
from arena.corpus.models import Competitor, Response
from arena.raters import access
from arena.raters.models import Role
from arena.save_once import save_once

# What the check for leaks goes by.
_NAMES = {"name", "aliases", "organisation"}


@require_safe
@access.admin_required
def competitor_list(request: HttpRequest) -> HttpResponse:
    competitors = access.objects_for(Competitor.objects.all(), request.user, Role.ADMIN)
    competitors = competitors.select_related("endpoint").annotate(
        response_count=Count("responses"),
        blank_count=Count("responses", filter=Q(responses__is_blank=True)),
        leak_count=Count("responses", filter=Q(responses__leak=Response.Leak.FOUND)),
    )
    context = {"competitors": competitors.order_by("name"), "section": "corpus"}
    return render(request, "corpus/competitors.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def competitor_new(request: HttpRequest) -> HttpResponseBase:
    return edit(request, Competitor(team=access.acting_team(request.user)), _("New model"))


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def competitor_edit(request: HttpRequest, pk: int) -> HttpResponseBase:
    competitor = own_competitor(request, pk)
    return edit(request, competitor, _("Change %(name)s") % {"name": competitor.name})


def edit(request: HttpRequest, competitor: Competitor, title: str) -> HttpResponseBase:
    form = CompetitorForm(
        request.POST if request.method == "POST" else None,
        instance=competitor,
        team=competitor.team,
        by=request.user.get_username(),
    )
    if form.is_bound and form.is_valid() and save_once(form, form.save):
        if _NAMES & set(form.changed_data):
            # Any response of the team may name it.
            look_again(Response.objects.filter(competitor__team=competitor.team_id))
        messages.success(request, _("%(name)s is saved.") % {"name": competitor.name})
        return redirect("competitor-list")
    context = {"form": form, "competitor": competitor, "title": title, "section": "corpus"}
    return render(request, "corpus/competitor_edit.html", context, status=422 if form.is_bound else 200)


@require_POST
@access.admin_required
def competitor_remove(request: HttpRequest, pk: int) -> HttpResponseBase:
    competitor = own_competitor(request, pk)
    try:
        remove_competitor(competitor)
        messages.success(request, _("%(name)s is removed.") % {"name": competitor.name})
    except NotEditableError as refusal:
        messages.error(request, refusal.args[0])
    return redirect("competitor-list")


def own_competitor(request: HttpRequest, pk: int) -> Competitor:
    return access.get_for(Competitor.objects.select_related("team"), request.user, Role.ADMIN, pk=pk)
