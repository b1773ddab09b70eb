from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from arena.exchange import uploads
from arena.exchange.forms import ImportForm
from arena.exchange.imports import OvertakenError, finish, new_record, outcome, plan_import
from arena.exchange.models import Import
from arena.exchange.plans import Plan, latest_set
from arena.exchange.preview import first_look
from arena.exchange.wording import COLUMNS
from arena.raters import access
from arena.raters.models import Role


@require_GET
@access.admin_required
def import_list(request: HttpRequest) -> HttpResponse:
    records = access.objects_for(Import.objects.all(), request.user, Role.ADMIN).order_by("-pk")
    return render(request, "exchange/list.html", {"imports": records[:100], "section": "corpus"})


@require_http_methods(["GET", "POST"])
@access.admin_required
def import_new(request: HttpRequest) -> HttpResponseBase:
    kind = request.GET.get("kind", Import.Kind.PROMPTS)
    if kind not in Import.Kind.values:
        kind = Import.Kind.PROMPTS
    team = access.acting_team(request.user)
    initial = {"target": request.GET.get("target", "")}
    bound = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ImportForm(*bound, kind=kind, team=team, initial=initial)
    if form.is_valid():
        return redirect("import", _take(request, kind, form).public_id)
    context = {"form": form, "kind": kind, "kinds": Import.Kind.choices, "columns": COLUMNS[kind]}
    status = 422 if form.is_bound else 200
    return render(request, "exchange/new.html", context | {"section": "corpus"}, status=status)


def _take(request: HttpRequest, kind: str, form: ImportForm) -> Import:
    """Keeps the upload, checks it, and writes down what was found."""
    uploads.forget_stale()
    upload = form.cleaned_data["file"]
    stored_as = uploads.keep(upload)
    team = access.acting_team(request.user)
    plan = plan_import(kind, team, form.cleaned_data["target"], uploads.folder() / stored_as, upload.name)
    record = new_record(plan, request.user)
    record.stored_as = stored_as
    if not plan.is_sound:
        uploads.forget(record)
    record.save()
    return record


@require_GET
@never_cache
@access.admin_required
def import_page(request: HttpRequest, public_id: str) -> HttpResponse:
    record = access.get_for(Import.objects.all(), request.user, Role.ADMIN, public_id=public_id)
    context = {
        "record": record,
        "look": first_look(record),
        "more_errors": record.error_count - len(record.errors),
        "prompt_set": latest_set(record.team, record.target),
        "section": "corpus",
    }
    return render(request, "exchange/page.html", context)


@require_POST
@access.admin_required
def import_confirm(request: HttpRequest, public_id: str) -> HttpResponseBase:
    record = access.get_for(Import.objects.all(), request.user, Role.ADMIN, public_id=public_id)
    if record.state != Import.State.PREVIEWED:
        return redirect("import", public_id)
    if not uploads.is_kept(record):
        record.delete()
        messages.error(request, _("The file is no longer here, so nothing was imported. Upload it again."))
        return redirect("import-new")
    _carry_out(request, record)
    return redirect("import", public_id)


def _carry_out(request: HttpRequest, record: Import) -> None:
    # Checked anew: what is stored may have changed since the preview.
    plan = plan_import(record.kind, record.team, record.target, uploads.path_of(record), record.file_name)
    if not plan.is_sound:
        _refuse(record, plan)
        return
    try:
        finish(record, plan)
    except OvertakenError as error:
        messages.error(request, str(error))
        return
    uploads.forget(record)
    record.save()


def _refuse(record: Import, plan: Plan) -> None:
    uploads.forget(record)
    record.state, record.added = Import.State.REFUSED, 0
    for name, value in outcome(plan).items():
        setattr(record, name, value)
    record.save()


@require_POST
@access.admin_required
def import_discard(request: HttpRequest, public_id: str) -> HttpResponseBase:
    record = access.get_for(
        Import.objects.filter(state=Import.State.PREVIEWED), request.user, Role.ADMIN, public_id=public_id
    )
    uploads.forget(record)
    record.delete()
    messages.success(request, _("The file was dropped; nothing was imported."))
    return redirect("import-new")
