"""Pages on which an admin defines what judges are asked, and who they are."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from arena.campaigns.models import Campaign
from arena.judging.definition_forms import JudgeForm, RubricForm, fields_of
from arena.judging.errands import rubric_text
from arena.judging.models import Judge, Rubric
from arena.judging.prompting import RubricText
from arena.judging.starters import STARTERS, from_guide
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id
from arena.save_once import save_once


@require_safe
@access.admin_required
def judge_list(request: HttpRequest) -> HttpResponse:
    judges = access.objects_for(Judge.objects.select_related("endpoint", "rubric"), request.user, Role.ADMIN)
    rubrics = access.objects_for(Rubric.objects.order_by("name", "-version"), request.user, Role.ADMIN)
    context = {"judges": judges.order_by("name"), "rubrics": rubrics, "section": "judging"}
    return render(request, "judging/definitions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def judge_new(request: HttpRequest) -> HttpResponseBase:
    team = access.acting_team(request.user)
    form = JudgeForm(request.POST if request.method == "POST" else None, team=team, instance=Judge(team=team))
    if request.method == "POST" and form.is_valid() and save_once(form, form.save):
        messages.success(request, _("The judge is ready to be asked."))
        return redirect("judge-list")
    context = {"form": form, "title": _("New judge"), "section": "judging"}
    return render(request, "judging/define.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
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
    context = {
        "form": form,
        "title": _("New rubric"),
        "section": "judging",
        "starters": [(key, title) for key, (title, _text) in starters_of().items()],
        "guides": guides_of(request),
    }
    return render(request, "judging/rubric.html", context, status=422 if form.is_bound else 200)


def starters_of() -> dict[str, tuple[str, RubricText]]:
    titles = {
        "general": _("General"),
        "code": _("Code"),
        "writing": _("Writing"),
        "factual": _("Facts with a reference"),
    }
    return {key: (titles[key], text) for key, text in STARTERS.items()}


def guides_of(request: HttpRequest) -> QuerySet[Campaign]:
    """Campaigns whose guide may be a start."""
    mine = access.objects_for(Campaign.objects.filter(guides__isnull=False), request.user, Role.ADMIN)
    return mine.distinct().order_by("-pk")[:20]


def start_from(request: HttpRequest) -> dict[str, str]:
    """?from=ID a rubric, ?starter=NAME one of ours, ?guide=SLUG what people are asked in a campaign."""
    if "from" in request.GET:
        return _from_rubric(request)
    if "starter" in request.GET:
        found = starters_of().get(request.GET["starter"])
        if found is None:
            raise Http404
        return {"name": found[0]} | fields_of(found[1])
    if "guide" in request.GET:
        return _from_guide(request)
    return {}


def _from_rubric(request: HttpRequest) -> dict[str, str]:
    rubric = access.get_for(Rubric.objects.all(), request.user, Role.ADMIN, pk=as_id(request.GET["from"]))
    return {"name": rubric.name} | fields_of(rubric_text(rubric))


def _from_guide(request: HttpRequest) -> dict[str, str]:
    campaigns = Campaign.objects.all()
    campaign = access.get_for(campaigns, request.user, Role.ADMIN, slug=request.GET["guide"])
    guide = campaign.current_guide
    if guide is None or not guide.text.strip():
        raise Http404
    name = _("%(campaign)s, the guide") % {"campaign": campaign.name}
    return {"name": name[:120]} | fields_of(from_guide(guide.text))
