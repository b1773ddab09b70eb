from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.corpus import generate, generation_planning, tasks
from arena.corpus.generation_forms import AskingForm, GenerationForm
from arena.corpus.generation_models import GenerationRun
from arena.corpus.generation_progress import read_progress, with_counts
from arena.corpus.models import Competitor, PromptSet
from arena.endpoints.models import Endpoint
from arena.endpoints.run_acts import RunActs
from arena.raters import access
from arena.raters.models import Role
from arena.save_once import save_once

RUN_OPTIONS = ("samples", "budget_usd", "max_calls")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@vary_on_headers("HX-Request")
@access.admin_required
def generation_new(request: HttpRequest, pk: int) -> HttpResponseBase:
    """A GET with the form's fields, or "Estimate", shows what a run would take; a POST starts it."""
    prompt_set = access.get_for(PromptSet.objects.all(), request.user, Role.ADMIN, pk=pk)
    data = request.POST if request.method == "POST" else request.GET if "samples" in request.GET else None
    form = GenerationForm(data, prompt_set=prompt_set)
    if request.method == "POST" and request.POST.get("act") != "estimate" and form.is_valid():
        run = start(form, prompt_set)
        if run:
            return redirect("generation-run", run.pk)
    return show_form(request, form, prompt_set)


def start(form: GenerationForm, prompt_set: PromptSet) -> GenerationRun | None:
    options = {name: form.cleaned_data[name] for name in RUN_OPTIONS}
    try:
        run = generation_planning.plan_run(prompt_set, list(form.cleaned_data["competitors"]), **options)
    except generation_planning.CannotGenerateError as refusal:
        form.add_error(None, str(refusal))
        return None
    tasks.enqueue(run)
    return run


def show_form(request: HttpRequest, form: GenerationForm, prompt_set: PromptSet) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "prompt_set": prompt_set, "section": "corpus"}
    if form.is_bound and form.is_valid():
        context["estimate"] = generation_planning.estimate(
            prompt_set, list(form.cleaned_data["competitors"]), form.cleaned_data["samples"]
        )
    refused = request.method == "POST" and not (form.is_valid() and request.POST.get("act") == "estimate")
    part = "#estimate" if getattr(request, "htmx", False) and not refused else ""
    return render(request, f"corpus/generation_new.html{part}", context, status=422 if refused else 200)


@require_safe
@never_cache
@access.admin_required
def generation_run_list(request: HttpRequest) -> HttpResponse:
    runs = access.objects_for(GenerationRun.objects.all(), request.user, Role.ADMIN, "prompt_set__team")
    sets = access.objects_for(PromptSet.objects.all(), request.user, Role.ADMIN)
    context = {
        "runs": with_counts(runs.select_related("prompt_set")).order_by("-pk")[:100],
        "prompt_sets": sets.filter(status=PromptSet.Status.PUBLISHED).order_by("name", "-version"),
        "section": "corpus",
    }
    return render(request, "corpus/generation_list.html", context)


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@access.admin_required
def generation_run(request: HttpRequest, pk: int) -> HttpResponse:
    run = own_run(request, pk)
    resting = Endpoint.objects.filter(recipes__run=run).distinct() if run.is_open else []
    context = {
        "run": run,
        "progress": read_progress(run),
        "resting": [endpoint for endpoint in resting if endpoint.is_resting],
        "section": "corpus",
    }
    if not getattr(request, "htmx", False):
        return render(request, "corpus/generation_run.html", context)
    part = render(request, "corpus/generation_run.html#live", context)
    if not run.is_open:
        part["HX-Refresh"] = "true"  # what can be done with the run is another now
    return part


def own_run(request: HttpRequest, pk: int) -> GenerationRun:
    runs = GenerationRun.objects.select_related("prompt_set")
    return access.get_for(runs, request.user, Role.ADMIN, "prompt_set__team", pk=pk)


acts = RunActs("generation-run", own_run, generate.ASKER.cancel, generate.ASKER.retry_failed, tasks.enqueue)


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def asked_model_new(request: HttpRequest) -> HttpResponseBase:
    competitor = Competitor(team=access.acting_team(request.user))
    return edit_asking(request, competitor, _("New model"))


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def asked_model_edit(request: HttpRequest, pk: int) -> HttpResponseBase:
    competitor = access.get_for(Competitor.objects.all(), request.user, Role.ADMIN, pk=pk)
    return edit_asking(request, competitor, _("How %(name)s is asked") % {"name": competitor.name})


def edit_asking(request: HttpRequest, competitor: Competitor, title: str) -> HttpResponseBase:
    form = AskingForm(request.POST if request.method == "POST" else None, instance=competitor)
    if form.is_bound and form.is_valid() and save_once(form, form.save):
        messages.success(request, _("Saved. Runs that were started before go on as they were."))
        return redirect("generation-run-list")
    context = {
        "form": form,
        "title": title,
        "responses": competitor.responses.count() if competitor.pk else 0,
        "has_endpoints": Endpoint.objects.filter(team=competitor.team_id).exists(),
        "section": "corpus",
    }
    return render(request, "corpus/generation_model.html", context, status=422 if form.is_bound else 200)
