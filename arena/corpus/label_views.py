from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.choices import limit_choices
from arena.corpus import label_asking, label_planning, spot_checks
from arena.corpus.forms import CRITERIA_WORDS, LABEL_NAMES
from arena.corpus.label_agreement import Agreement
from arena.corpus.label_models import LabelRun, SpotCheck
from arena.corpus.models import HARD_CRITERIA, PromptSet
from arena.corpus.tasks import enqueue
from arena.corpus.views import own_set
from arena.endpoints.forms import BudgetField
from arena.endpoints.models import Endpoint
from arena.endpoints.run_acts import RunActs
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id


class LabelRunForm(forms.Form):
    endpoint = forms.ModelChoiceField(Endpoint.objects.none(), label=gettext_lazy("Endpoint"))
    budget_usd = BudgetField(help_text=gettext_lazy("never exceeded; needs the endpoint's prices"))

    def __init__(self, *args: Any, prompt_set: PromptSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limit_choices(self, "endpoint", label_planning.askable_endpoints(prompt_set))


class SpotCheckForm(forms.Form):
    """Seven statements; each is answered."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in HARD_CRITERIA:
            self.fields[name] = forms.TypedChoiceField(
                choices=[("yes", _("yes")), ("no", _("no"))],
                coerce=lambda word: word == "yes",
                widget=forms.RadioSelect,
                label=f"{LABEL_NAMES[name]}: {CRITERIA_WORDS[name]}",
            )


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@vary_on_headers("HX-Request")
@access.admin_required
def label_run_new(request: HttpRequest, pk: int) -> HttpResponseBase:
    """A GET with an endpoint, or "Estimate", shows what a run would take; a POST starts it."""
    prompt_set = own_set(request, pk)
    data = request.POST if request.method == "POST" else request.GET if "endpoint" in request.GET else None
    form = LabelRunForm(data, prompt_set=prompt_set)
    chosen = form.is_bound and form.is_valid()
    if request.method == "POST" and chosen and request.POST.get("act") != "estimate":
        try:
            run = label_planning.plan_run(prompt_set, **form.cleaned_data)
        except label_planning.CannotLabelError as refusal:
            form.add_error(None, str(refusal))
        else:
            enqueue(run)
            return redirect("label-run", run.pk)
    context: dict[str, Any] = {"form": form, "prompt_set": prompt_set, "section": "corpus"}
    context["runs"] = prompt_set.label_runs.select_related("endpoint").order_by("-pk")[:20]
    context["missing"] = label_planning.unlabelled(prompt_set).count()
    context["has_endpoints"] = label_planning.askable_endpoints(prompt_set).exists()
    if chosen:
        context["estimate"] = label_planning.estimate(prompt_set, form.cleaned_data["endpoint"])
    refused = bool(form.errors)
    part = "#estimate" if getattr(request, "htmx", False) else ""
    return render(request, f"corpus/label_new.html{part}", context, status=422 if refused else 200)


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@access.admin_required
def label_run(request: HttpRequest, pk: int) -> HttpResponse:
    run = own_run(request, pk)
    failed = run.label_calls.exclude(failure="").select_related("prompt").order_by("pk")[:50]
    context = {
        "run": run,
        "progress": label_planning.read_progress(run),
        "failed": failed,
        "section": "corpus",
    }
    if not getattr(request, "htmx", False):
        return render(request, "corpus/label_run.html", context)
    part = render(request, "corpus/label_run.html#live", context)
    if not run.is_open:
        part["HX-Refresh"] = "true"  # what can be done with the run is another now
    return part


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def spot_check(request: HttpRequest, pk: int) -> HttpResponseBase:
    """One prompt at random, without what the LLM said about it."""
    prompt_set = own_set(request, pk)
    waiting = spot_checks.open_prompts(prompt_set, request.user)
    form = SpotCheckForm(request.POST if request.method == "POST" else None)
    prompt = waiting.filter(pk=as_id(request.POST.get("prompt", ""))).first()
    if prompt and form.is_bound and form.is_valid():
        SpotCheck.objects.get_or_create(
            prompt=prompt, checked_by=request.user, defaults={"criteria": form.cleaned_data}
        )
        return redirect("spot-check", pk)
    if prompt is None:
        prompt, form = spot_checks.draw(prompt_set, request.user), SpotCheckForm()
    report = spot_checks.report(prompt_set)
    context = {
        "prompt_set": prompt_set,
        "prompt": prompt,
        "form": form,
        "waiting": waiting.count(),
        "mine": SpotCheck.objects.filter(prompt__prompt_set=prompt_set, checked_by=request.user).count(),
        "report": report,
        "rows": report_rows(report),
        "section": "corpus",
    }
    return render(request, "corpus/spot_check.html", context, status=422 if form.errors else 200)


def report_rows(report: spot_checks.Report) -> list[tuple[str, Agreement]]:
    named = [(str(LABEL_NAMES[name]), found) for name, found in report.criteria.items()]
    return [*named, (_("Hard by them"), report.hard)]


def own_run(request: HttpRequest, pk: int) -> LabelRun:
    runs = LabelRun.objects.select_related("prompt_set", "endpoint")
    return access.get_for(runs, request.user, Role.ADMIN, "prompt_set__team", pk=pk)


acts = RunActs("label-run", own_run, label_asking.ASKER.cancel, label_asking.ASKER.retry_failed, enqueue)
