from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.campaigns.forms import GuideForm
from arena.campaigns.guide_history import changes, versions
from arena.campaigns.guide_texts import GENERAL, STARTING_TEXTS, is_starting_text
from arena.campaigns.models import Campaign, Guide
from arena.corpus.html import stored_html
from arena.corpus.render import render as render_markdown
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def guide_edit(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    if request.method != "POST":
        form = GuideForm(initial={"text": text_to_begin_with(campaign, request.GET)})
        return show(request, campaign, form)
    if wanted := request.POST.get("replace") or request.POST.get("begin"):
        return begin_anew(request, campaign, wanted)
    form = GuideForm(request.POST)
    if not form.is_valid():
        return show(request, campaign, form, status=422)
    if request.POST.get("act") == "preview":
        return show(request, campaign, form, preview=form.cleaned_data["text"])
    before = campaign.current_guide
    guide = Guide.publish(campaign, form.cleaned_data["text"])
    if before and before.pk == guide.pk:
        messages.info(
            request, _("Nothing was changed: version %(n)s reads so already.") % {"n": guide.version}
        )
    else:
        messages.success(request, _("Version %(n)s is what raters see from now on.") % {"n": guide.version})
    return redirect("guide-edit", slug)


def text_to_begin_with(campaign: Campaign, wanted) -> str:
    """The present guide; or a starting text or an earlier version, where the address asks for one."""
    if start := STARTING_TEXTS.get(wanted.get("start", "")):
        return str(start.text)
    if version := wanted.get("version", ""):
        return version_of(campaign, version).text
    return campaign.current_guide.text if campaign.current_guide else str(GENERAL.text)


def begin_anew(request: HttpRequest, campaign: Campaign, wanted: str) -> HttpResponse:
    """A starting text or an earlier version in the form; asks first if what was typed would be lost."""
    kind, _space, which = wanted.partition(" ")
    if kind == "start" and which in STARTING_TEXTS:
        text, label = str(STARTING_TEXTS[which].text), str(STARTING_TEXTS[which].label)
    elif kind == "version":
        text, label = version_of(campaign, which).text, _("Version %(n)s") % {"n": which}
    else:
        raise Http404
    typed = request.POST.get("text", "").replace("\r\n", "\n")
    if "replace" in request.POST or is_kept_elsewhere(campaign, typed):
        return show(request, campaign, GuideForm(initial={"text": text}))
    asked = {"value": wanted, "label": label}
    return show(request, campaign, GuideForm(initial={"text": typed}), asked=asked)


def is_kept_elsewhere(campaign: Campaign, typed: str) -> bool:
    kept = campaign.guides.values_list("text", flat=True)
    return not typed.strip() or is_starting_text(typed) or typed.strip() in {text.strip() for text in kept}


def version_of(campaign: Campaign, version: str) -> Guide:
    guide = campaign.guides.filter(version=as_id(version)).first()
    if guide is None:
        raise Http404
    return guide


def show(
    request: HttpRequest,
    campaign: Campaign,
    form: GuideForm,
    preview: str = "",
    status: int = 200,
    asked: dict[str, Any] | None = None,
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "form": form,
        "asked": asked,
        "preview": stored_html(render_markdown(preview)) if preview else "",
        "starting_texts": STARTING_TEXTS.values(),
        "versions": versions(campaign),
        "section": "campaigns",
    }
    part = "#preview" if request.headers.get("HX-Request") else ""
    return render(request, f"campaigns/guide_edit.html{part}", context, status=status)


@require_safe
@never_cache
@access.researcher_required
def guide_diff(request: HttpRequest, slug: str) -> HttpResponse:
    """What changed from one version to another."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    old, new = (version_of(campaign, request.GET.get(name, "")) for name in ("old", "new"))
    context = {
        "campaign": campaign,
        "old": old,
        "new": new,
        "lines": changes(old.text, new.text),
        "versions": versions(campaign),
        "section": "campaigns",
    }
    return render(request, "campaigns/guide_diff.html", context)
