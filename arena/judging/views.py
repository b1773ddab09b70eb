from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.campaigns.models import Campaign
from arena.endpoints.run_acts import RunActs
from arena.judging import beside_people, choosing, ending, planning, probing, tasks
from arena.judging.errands import takes_one_response
from arena.judging.forms import RunForm
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.judging.progress import panel_counts, read_progress, with_counts
from arena.judging.stability import told_of_each
from arena.raters import access
from arena.raters.models import Role

JUDGMENTS_PER_PAGE = 50
RUN_OPTIONS = ("budget_usd", "max_calls", "seed", "family_policy", "verbosity_rule")
SHOWN = {
    "all": {},
    "unstable": {"outcome": Judgment.Outcome.TIE_UNSTABLE},
    "failed": {"outcome": Judgment.Outcome.NO_VERDICT},
}


@require_safe
@never_cache
@access.admin_required
def judge_run_list(request: HttpRequest) -> HttpResponse:
    runs = access.objects_for(JudgeRun.objects.all(), request.user, Role.ADMIN, "campaign__team")
    judges = access.objects_for(Judge.objects.all(), request.user, Role.ADMIN)
    newest = with_counts(runs.select_related("campaign")).prefetch_related("judges").order_by("-pk")[:100]
    context = {
        "runs": told_of_each(newest),
        "can_ask": judges.filter(endpoint__isnull=False, rubric__isnull=False).exists(),
        "section": "judging",
    }
    return render(request, "judging/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@vary_on_headers("HX-Request")
@access.admin_required
def judge_run_new(request: HttpRequest) -> HttpResponseBase:
    """A GET with the form's fields, or "Estimate", shows what a run would take; a POST starts it."""
    form = run_form(request)
    choice = choose(form) if form.is_bound and form.is_valid() else None
    if request.method == "POST" and choice and not only_estimates(request):
        run = start(request, form, choice)
        if run:
            return redirect("judge-run", run.pk)
    return show_form(request, form, choice)


def only_estimates(request: HttpRequest) -> bool:
    return request.POST.get("act") == "estimate"


def run_form(request: HttpRequest) -> RunForm:
    campaigns = access.objects_for(Campaign.objects.all(), request.user, Role.ADMIN)
    judges = access.objects_for(Judge.objects.all(), request.user, Role.ADMIN)
    chosen = campaigns.filter(slug=request.GET.get("campaign", "")).first()
    initial = {"campaign": chosen, "judges": judges.filter(endpoint__isnull=False)[:1]}
    data = request.POST if request.method == "POST" else request.GET if "which" in request.GET else None
    return RunForm(data, campaigns=campaigns, judges=judges, initial=initial)


def choose(form: RunForm) -> choosing.Choice:
    names = ("campaign", "judges", "which", "limit", "seed")
    return choosing.choose_battles(*(form.cleaned_data[name] for name in names))


def start(request: HttpRequest, form: RunForm, choice: choosing.Choice) -> JudgeRun | None:
    try:
        run = plan(form, choice)
    except choosing.CannotPlanError as refusal:
        form.add_error(None, str(refusal))
        return None
    tasks.enqueue(run)
    return run


def plan(form: RunForm, choice: choosing.Choice) -> JudgeRun:
    """Comparisons of the chosen battles, or, by judges that score one response, scores of their responses."""
    campaign, judges = form.cleaned_data["campaign"], list(form.cleaned_data["judges"])
    options = {name: form.cleaned_data[name] for name in RUN_OPTIONS}
    if not any(takes_one_response(judge) for judge in judges):
        return planning.plan_run(campaign, judges, choice.battles, **options)
    kept = {name: options[name] for name in ("budget_usd", "max_calls", "seed")}
    return probing.plan_scores(campaign, judges, probing.responses_of(choice.battles), **kept)


def show_form(request: HttpRequest, form: RunForm, choice: choosing.Choice | None) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "choice": choice, "section": "judging"}
    if choice:
        judges = list(form.cleaned_data["judges"])
        scored = any(takes_one_response(judge) for judge in judges)
        responses = len(probing.responses_of(choice.battles)) if scored else 0
        context |= {"policy": form.cleaned_data["family_policy"], "responses": responses}
        context["estimate"] = planning.estimate(
            judges, choice.battles, form.cleaned_data["family_policy"], responses
        )
    refused = request.method == "POST" and not (choice and only_estimates(request))
    part = "#estimate" if getattr(request, "htmx", False) and not refused else ""
    return render(request, f"judging/new.html{part}", context, status=422 if refused else 200)


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@access.admin_required
def judge_run(request: HttpRequest, pk: int) -> HttpResponse:
    run = own_run(request, pk)
    context = {"run": run, "progress": read_progress(run), "section": "judging"} | shown_of(request, run)
    if not getattr(request, "htmx", False):
        context["panel"] = {} if run.is_open or run.is_probing else panel_counts(run)
        return render(request, "judging/run.html", context)
    part = render(request, "judging/run.html#live", context)
    if not run.is_open:
        part["HX-Refresh"] = "true"  # what can be done with the run is another now
    return part


def shown_of(request: HttpRequest, run: JudgeRun) -> dict[str, Any]:
    """The judgments that the reader asks for, or what the probes came to."""
    if run.kind == JudgeRun.Kind.SCORES:
        return {"scores": probing.score_rows(run)}
    if run.kind == JudgeRun.Kind.CANARY:
        return {"canaries": run.probes.order_by("canary", "order")}
    shown = request.GET.get("show", "all")
    found = run.judgments.filter(**SHOWN.get(shown, {})).order_by("pk")
    if shown == "people":
        found = found.filter(pk__in=beside_people.differing(run))
    rows = found.select_related("judge", "battle__prompt", "battle__competitor_a", "battle__competitor_b")
    page = Paginator(rows, JUDGMENTS_PER_PAGE).get_page(request.GET.get("page"))
    return {"page": page, "shown": shown}


@require_POST
@access.admin_required
def judge_canaries(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Asks a judge whether it obeys the texts that it judges; the campaign is where the card stands."""
    judges = Judge.objects.select_related("endpoint", "rubric")
    judge = access.get_for(judges, request.user, Role.ADMIN, pk=pk)
    campaigns = Campaign.objects.filter(team=judge.team_id)
    campaign = access.get_for(campaigns, request.user, Role.ADMIN, slug=request.POST.get("campaign", ""))
    try:
        run = probing.plan_canaries(campaign, judge)
    except choosing.CannotPlanError as refusal:
        messages.error(request, str(refusal))
        return redirect("judge-card", pk)
    tasks.enqueue(run)
    return redirect("judge-run", run.pk)


@require_safe
@never_cache
@access.admin_required
def judgment(request: HttpRequest, pk: int) -> HttpResponse:
    found = access.get_for(
        Judgment.objects.with_battle(), request.user, Role.ADMIN, "run__campaign__team", pk=pk
    )
    calls = found.judge_calls.select_related("call").prefetch_related("call__attempts").order_by("order")
    context = {
        "judgment": found,
        "calls": calls,
        "people": beside_people.votes_on(found),
        "previous": found.run.judgments.filter(pk__lt=pk).order_by("-pk").first(),
        "next": found.run.judgments.filter(pk__gt=pk).order_by("pk").first(),
        "section": "judging",
    }
    return render(request, "judging/judgment.html", context)


def own_run(request: HttpRequest, pk: int) -> JudgeRun:
    runs = JudgeRun.objects.select_related("campaign")
    return access.get_for(runs, request.user, Role.ADMIN, "campaign__team", pk=pk)


acts = RunActs("judge-run", own_run, ending.cancel, ending.retry_failed, tasks.enqueue)
