from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.campaigns.models import Campaign
from arena.exchange import export_requests, tasks
from arena.exchange.export_models import Export
from arena.raters import access
from arena.raters.models import Role


def get_campaign(request: HttpRequest, slug: str) -> Campaign:
    return access.get_for(Campaign.objects.select_related("team"), request.user, Role.RESEARCHER, slug=slug)


def get_export(request: HttpRequest, slug: str, public_id: str) -> Export:
    wanted = Export.objects.filter(campaign=get_campaign(request, slug), public_id=public_id).first()
    if wanted is None:
        raise Http404
    return wanted


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@access.researcher_required
def export_list(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    exports = list(Export.objects.filter(campaign=campaign).select_related("created_by").order_by("-pk"))
    context = {
        "campaign": campaign,
        "exports": exports,
        "is_busy": any(one.is_open for one in exports),
        "most_uploaded": settings.MAX_UPLOAD_MB * 1024 * 1024,
        "most_uploaded_mb": settings.MAX_UPLOAD_MB,
        "layouts": Export.Layout.choices,
        "section": "campaigns",
    }
    part = "#exports" if request.headers.get("HX-Request") else ""
    return render(request, f"exchange/exports.html{part}", context)


@require_POST
@access.researcher_required
def export_new(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = get_campaign(request, slug)
    layout = request.POST.get("layout", "")
    if layout not in Export.Layout.values:
        messages.error(request, _("Choose what the export shall hold; nothing was started."))
        return redirect("export-list", slug)
    export_requests.request_export(campaign, layout, request.user)
    tasks.work_off_exports()
    return redirect("export-list", slug)


@require_safe
@access.researcher_required
def export_file(request: HttpRequest, slug: str, public_id: str) -> HttpResponseBase:
    wanted = get_export(request, slug, public_id)
    path = export_requests.path_of(wanted)
    if not (wanted.is_ready and path.is_file()):
        raise Http404
    name = f"{export_requests.name_of(wanted)}.zip"
    answer = FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="application/zip")
    answer["Cache-Control"] = "private, no-store"
    return answer


@require_POST
@access.researcher_required
def export_delete(request: HttpRequest, slug: str, public_id: str) -> HttpResponseBase:
    wanted = get_export(request, slug, public_id)
    export_requests.delete_export(wanted)
    messages.success(request, _("The export was deleted."))
    return redirect("export-list", slug)
