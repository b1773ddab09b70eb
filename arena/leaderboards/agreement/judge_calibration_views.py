"""Pages on which labels are fixed and judges are measured against them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.campaigns.models import Campaign
from arena.judging import calibration as calibrating
from arena.judging import tasks
from arena.judging.calibration_models import Calibration
from arena.judging.choosing import CannotPlanError
from arena.judging.models import JudgeRun
from arena.leaderboards.agreement import judge_calibration_page
from arena.leaderboards.agreement.judge_calibration_forms import CalibrationForm, MeasureForm
from arena.leaderboards.understood import leave_out, understands
from arena.raters import access
from arena.raters.models import Role
from arena.save_once import save_once


@require_safe
@access.admin_required
@understands()
def calibration_list(request: HttpRequest) -> HttpResponse:
    mine = access.objects_for(Calibration.objects.all(), request.user, Role.ADMIN, "campaign__team")
    calibrations = mine.select_related("campaign").prefetch_related("measurements")
    context = {"calibrations": calibrations, "section": "judging"}
    return render(request, "leaderboards/calibrations.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
@understands("campaign")
def calibration_new(request: HttpRequest) -> HttpResponseBase:
    campaigns = access.objects_for(Campaign.objects.all(), request.user, Role.ADMIN)
    chosen = campaigns.filter(slug=request.GET.get("campaign", "")).first()
    if request.GET.get("campaign") and chosen is None:
        leave_out(request, "campaign")
    data = request.POST if request.method == "POST" else None
    form = CalibrationForm(data, campaigns=campaigns, initial={"campaign": chosen})
    if request.method == "POST" and form.is_valid():
        try:
            found = save_once(form, lambda: calibrating.fix_labels(**form.cleaned_data))
        except CannotPlanError as refusal:
            found = form.add_error(None, str(refusal))
        if found:
            messages.success(request, _("The labels are fixed. Later votes change nothing in them."))
            return redirect("calibration", found.pk)
    context = {"form": form, "section": "judging"}
    return render(request, "leaderboards/calibration_new.html", context, status=422 if form.is_bound else 200)


@require_safe
@access.researcher_required
@understands()
def calibration(request: HttpRequest, pk: int) -> HttpResponse:
    return show(request, own(request, pk, Role.RESEARCHER))


@require_POST
@access.admin_required
def calibration_measure(request: HttpRequest, pk: int) -> HttpResponseBase:
    found = own(request, pk, Role.ADMIN)
    form = MeasureForm(request.POST, calibration=found)
    if not form.is_valid():
        return show(request, found, form)
    try:
        measured = calibrating.measure(found, form.cleaned_data["judge"], form.cleaned_data["part"])
    except (calibrating.AlreadyMeasuredError, CannotPlanError) as refusal:
        form.add_error(None, str(refusal))
        return show(request, found, form)
    tasks.enqueue(measured.run)
    return redirect("judge-run", measured.run_id)


def show(request: HttpRequest, found: Calibration, form: MeasureForm | None = None) -> HttpResponse:
    context = {
        "calibration": found,
        "page": judge_calibration_page.build(found),
        "form": form or MeasureForm(calibration=found),
        "may_measure": access.has_role(request.user, found.campaign.team_id, Role.ADMIN),
        "section": "judging",
    }
    return render(request, "leaderboards/calibration.html", context, status=422 if form else 200)


@require_safe
@access.admin_required
@understands()
def run_wordings(request: HttpRequest, pk: int) -> HttpResponse:
    """How far the wordings of a rubric agree; a run whose judges are no wordings says what would be."""
    runs = JudgeRun.objects.select_related("campaign")
    run = access.get_for(runs, request.user, Role.ADMIN, "campaign__team", pk=pk)
    context = {
        "run": run,
        "wordings": calibrating.wordings_of(run),
        "least": calibrating.LEAST_WORDINGS,
        "page": judge_calibration_page.build_wordings(run),
        "section": "judging",
    }
    return render(request, "leaderboards/wordings.html", context)


def own(request: HttpRequest, pk: int, role: Role) -> Calibration:
    rows = Calibration.objects.select_related("campaign")
    return access.get_for(rows, request.user, role, "campaign__team", pk=pk)
