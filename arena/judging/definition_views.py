"""Pages on which an admin defines what judges are asked, and who they are."""

import re

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from arena.judging.definition_forms import JudgeForm, RubricForm, criteria_as_text
from arena.judging.models import Judge, Rubric
from arena.raters import access
from arena.raters.models import Role


@require_GET
@access.admin_required
def judge_list(request: HttpRequest) -> HttpResponse:
    judges = access.objects_for(Judge.objects.select_related("endpoint", "rubric"), request.user, Role.ADMIN)
    rubrics = access.objects_for(Rubric.objects.order_by("name", "-version"), request.user, Role.ADMIN)
    context = {"judges": judges.order_by("name"), "rubrics": rubrics, "section": "judging"}
    return render(request, "judging/definitions.html", context)


@require_http_methods(["GET", "POST"])
@access.admin_required
def judge_new(request: HttpRequest) -> HttpResponseBase:
    team = access.acting_team(request.user)
    form = JudgeForm(request.POST if request.method == "POST" else None, team=team, instance=Judge(team=team))
    if request.method == "POST" and form.is_valid() and form.save_once():
        messages.success(request, _("The judge is ready to be asked."))
        return redirect("judge-list")
    context = {"form": form, "title": _("New judge"), "section": "judging"}
    return render(request, "judging/define.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "POST"])
@access.admin_required
def rubric_new(request: HttpRequest) -> HttpResponseBase:
    """A rubric, or with ?from=ID the next version of one: what has been asked never changes."""
    team = access.acting_team(request.user)
    form = RubricForm(request.POST if request.method == "POST" else None, initial=start_from(request))
    if request.method == "POST" and form.is_valid():
        rubric = Rubric.publish(team, form.cleaned_data["name"], form.text)
        messages.success(
            request, _("%(rubric)s is saved. Judges keep the version they have.") % {"rubric": rubric}
        )
        return redirect("judge-list")
    context = {"form": form, "title": _("New rubric"), "section": "judging"}
    return render(request, "judging/define.html", context, status=422 if form.is_bound else 200)


def start_from(request: HttpRequest) -> dict[str, str]:
    pk = request.GET.get("from", "")
    if not pk:
        return {}
    if not re.fullmatch("[0-9]{1,18}", pk):
        raise Http404
    rubric = access.get_for(Rubric.objects.all(), request.user, Role.ADMIN, pk=int(pk))
    return {
        "name": rubric.name,
        "instructions": rubric.instructions,
        "criteria": criteria_as_text(rubric.criteria),
    }
