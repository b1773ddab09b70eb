from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.campaigns import checklist, opening, progress
from arena.campaigns.creation import clone_campaign
from arena.campaigns.forms import PARTS, NewCampaignForm, PartForm, choosable_sets
from arena.campaigns.models import Campaign
from arena.corpus import personal_in_sets
from arena.corpus.models import PromptSet
from arena.corpus.publishing import NotPublishableError, publish
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id
from arena.save_once import save_once


@require_safe
@access.researcher_required
def campaign_list(request: HttpRequest) -> HttpResponse:
    campaigns = access.objects_for(Campaign.objects.all(), request.user, Role.RESEARCHER)
    context = {
        "campaigns": campaigns.annotate(
            vote_count=Count("battles__vote", filter=Q(battles__vote__retraction=None))
        ).order_by("-pk")
    }
    return render(request, "campaigns/list.html", context | {"section": "campaigns"})


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def campaign_new(request: HttpRequest) -> HttpResponseBase:
    team = access.acting_team(request.user)
    chosen = choosable_sets(team).filter(
        pk__in=[pk for told in request.GET.getlist("set") if (pk := as_id(told)) is not None]
    )
    initial = {"prompt_sets": chosen} if chosen.exists() else {}
    form = NewCampaignForm(request.POST if request.method == "POST" else None, team=team, initial=initial)
    if form.is_valid() and (campaign := form.store()):
        return redirect("campaign", campaign.slug)
    status = 422 if form.is_bound else 200
    return render(request, "campaigns/new.html", {"form": form, "section": "campaigns"}, status=status)


@require_safe
@never_cache
@access.researcher_required
def campaign_page(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    return show(request, campaign)


def show(request: HttpRequest, campaign: Campaign, refused: PartForm | None = None) -> HttpResponse:
    """`refused` is the form that was sent and didn't pass: it stands open with its errors."""
    may_administer = access.has_role(request.user, campaign.team_id, Role.ADMIN)
    models = checklist.models_of(campaign)
    steps = checklist.steps(campaign, models)
    context = {
        "campaign": campaign,
        "means": checklist.MEANINGS[campaign.status],
        "steps": steps,
        "missing": [words for step in steps for words in step.missing],
        "forms": forms_for(campaign, refused) if may_administer else {},
        "refused": refused.part if refused else "",
        "models": models,
        "counts": checklist.counts(campaign, models),
        **progress.cast_so_far(campaign),
        "exposed": progress.exposed(campaign) if may_administer and campaign.reveals_each_vote else None,
        "may_administer": may_administer,
        "section": "campaigns",
        **parts_of(campaign),
    }
    if may_administer:
        for prompt_set in context["prompt_sets"]:
            prompt_set.likely = personal_in_sets.look(prompt_set)
    return render(request, "campaigns/page.html", context, status=422 if refused else 200)


def forms_for(campaign: Campaign, refused: PartForm | None) -> dict[str, PartForm]:
    return {
        name: refused if refused and refused.part == name else form(instance=campaign)
        for name, form in PARTS.items()
    }


def parts_of(campaign: Campaign) -> dict[str, Any]:
    """What the steps on prompts and models offer."""
    others = opening.answering(campaign).exclude(pk__in=campaign.competitors.values("pk"))
    return {
        "prompt_sets": campaign.prompt_sets.annotate(
            prompt_count=Count("prompts"),
            redacted_count=Count("prompts", filter=Q(prompts__tombstone__isnull=False)),
        ).order_by("name", "-version"),
        "answering": others.order_by("name"),
    }


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def campaign_edit(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Stores one step of the page; the forms stand on the page itself."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    kind = PARTS.get(request.POST.get("part", ""))
    if request.method != "POST" or kind is None:
        return redirect("campaign", slug)
    form = kind(request.POST, instance=campaign)
    stored = save_once(form, form.save) if form.is_valid() else None
    if stored is None:
        campaign.refresh_from_db()  # the refused values mustn't show as if they stood
        return show(request, campaign, refused=form)
    messages.success(request, _("Saved."))
    return to_step(stored, kind.part)


def to_step(campaign: Campaign, name: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('campaign', args=[campaign.slug])}#{name}")


@require_POST
@access.admin_required
def campaign_adopt(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    added = opening.adopt_competitors(campaign)
    messages.success(
        request, ngettext("%(n)s model is added.", "%(n)s models are added.", added) % {"n": added}
    )
    return to_step(campaign, "models")


@require_POST
@access.admin_required
def campaign_publish(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    prompt_set = access.get_for(PromptSet.objects.filter(campaigns=campaign), request.user, Role.ADMIN, pk=pk)
    try:
        publish(prompt_set)
        messages.success(request, _("“%(name)s” is published.") % {"name": prompt_set})
    except NotPublishableError as error:
        messages.error(request, error.args[0])
    return to_step(campaign, "prompts")


@require_POST
@access.admin_required
def campaign_open(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    consents = request.POST.get("though_names_were_shown") == "on"
    try:
        opening.open_campaign(campaign, though_names_were_shown=consents)
        messages.success(request, _("%(name)s is open for votes.") % {"name": campaign.name})
    except opening.NotReadyError as refusal:
        for reason in refusal.args[0]:
            messages.error(request, reason)
    except opening.NamesShownError:
        words = _(
            "It was closed and its names were shown: new votes wouldn't all be blind. Say that you know."
        )
        messages.error(request, words)
    return redirect("campaign", slug)


@require_POST
@access.admin_required
def campaign_pause(request: HttpRequest, slug: str) -> HttpResponseBase:
    return change_state(request, slug, opening.pause_campaign)


@require_POST
@access.admin_required
def campaign_close(request: HttpRequest, slug: str) -> HttpResponseBase:
    return change_state(request, slug, opening.close_campaign)


def change_state(request: HttpRequest, slug: str, change) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    try:
        change(campaign)
    except opening.NotReadyError as refusal:
        messages.error(request, refusal.args[0][0])
    return redirect("campaign", slug)


@require_POST
@access.admin_required
def campaign_clone(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    clone = clone_campaign(campaign)
    messages.success(request, _("This is a copy of %(name)s, as a draft.") % {"name": campaign.name})
    return redirect("campaign", clone.slug)


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@access.researcher_required
def campaign_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """A part of the campaign's page that takes its time: it counts all votes."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    context = {"campaign": campaign, "bars": progress.bars(campaign), "section": "campaigns"}
    template = (
        "campaigns/progress.html#bars" if request.headers.get("HX-Request") else "campaigns/progress.html"
    )
    return render(request, template, context)
