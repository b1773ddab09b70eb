"""The report as one HTML file that needs nothing else: it prints, and it can be sent as it is."""

from base64 import b64encode
from hashlib import sha256
from typing import Any

from csp.constants import NONE
from csp.decorators import csp_replace
from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.campaigns.models import Campaign
from arena.leaderboards.report import report
from arena.leaderboards.report.report_models import ReportText
from arena.leaderboards.understood import leave_out, understands
from arena.leaderboards.visible import visible_boards
from arena.raters import access
from arena.raters.models import Role
from arena.row_form import RowForm
from arena.save_once import save_once

STYLE = (settings.BASE_DIR / "templates" / "leaderboards" / "report.css").read_text()
# The one style sheet that may stand in the page: this one, by its hash.
STYLE_HASH = f"'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"


@require_safe
@never_cache
@access.researcher_required
@csp_replace({"default-src": [NONE], "style-src": [STYLE_HASH], "img-src": ["data:"], "script-src": [NONE]})
@understands("source", "download")
def board_report(request: HttpRequest, campaign: str) -> HttpResponse:
    shown = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=campaign)
    boards = list(visible_boards(request, shown))
    wanted = request.GET.get("source", "")
    found = report.build(shown, boards, wanted)
    if wanted and wanted != found.source_key:
        leave_out(request, "source", found.source)
    context: dict[str, Any] = {
        "report": found,
        "style": STYLE,
        "download": "download" in request.GET,
    }
    response = render(request, "leaderboards/report.html", context)
    if "download" in request.GET:
        response["Content-Disposition"] = f'attachment; filename="{shown.slug}-report.html"'
    return response


class ReportTextForm(RowForm):
    class Meta:
        model = ReportText
        fields = ("capability", "sourcing", "contamination", "protocol", "baselines")
        widgets = {"capability": forms.Textarea(attrs={"rows": 2})}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.researcher_required
@understands()
def report_text(request: HttpRequest, campaign: str) -> HttpResponseBase:
    """What only people can say in the report."""
    shown = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=campaign)
    if request.method == "POST":
        text = ReportText.objects.get_or_create(campaign=shown)[0]
    else:
        text = ReportText.objects.filter(campaign=shown).first() or ReportText(campaign=shown)
    form = ReportTextForm(request.POST if request.method == "POST" else None, instance=text)
    if form.is_valid() and save_once(form, form.save):
        messages.success(request, _("Kept. The report says it now."))
        return redirect("report-text", shown.slug)
    context = {"campaign": shown, "form": form, "section": "boards"}
    status = 422 if form.is_bound else 200
    return render(request, "leaderboards/report_text.html", context, status=status)
