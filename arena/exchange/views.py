from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.exchange import encodings, intake, onward, tasks, uploads, whose_votes, wording
from arena.exchange.formats.how import AS_FOUND, How
from arena.exchange.forms import AddressForm, ImportForm
from arena.exchange.models import Import
from arena.exchange.plans import latest_set
from arena.exchange.preview import by_place, first_look, layout_of
from arena.exchange.proposals import proposal_for
from arena.exchange.reading_form import ReadingForm
from arena.raters import access
from arena.raters.models import Role


@require_safe
@access.admin_required
def import_list(request: HttpRequest) -> HttpResponse:
    records = access.objects_for(Import.objects.all(), request.user, Role.ADMIN).order_by("-pk")
    return render(request, "exchange/list.html", {"imports": records[:100], "section": "corpus"})


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def import_new(request: HttpRequest) -> HttpResponseBase:
    kind = request.GET.get("kind", Import.Kind.PROMPTS)
    if kind not in Import.Kind.values:
        kind = Import.Kind.PROMPTS
    team = access.acting_team(request.user)
    initial = {name: request.GET.get(name, "") for name in ("target", "model")}
    bound = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ImportForm(*bound, kind=kind, team=team, initial=initial)
    if form.is_valid():
        said = form.cleaned_data
        record = intake.accept(
            team, request.user, kind, said["target"], said["file"], _first_guess(kind, said)
        )
        tasks.start(record)
        return redirect("import", record.public_id)
    context = {
        "form": form,
        "kind": kind,
        "kinds": Import.Kind.choices,
        "columns": wording.COLUMNS.get(kind, ()),
    }
    context |= {"other_columns": wording.OTHER_COLUMNS.get(kind, "")}
    status = 422 if form.is_bound else 200
    return render(request, "exchange/new.html", context | {"section": "corpus"}, status=status)


def _first_guess(kind: str, said: dict[str, Any]) -> How:
    return How(model=said.get("model", "").strip()) if kind == Import.Kind.RESPONSES else AS_FOUND


def _unless_it_goes(view: Callable[[HttpRequest, str], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The file may go while it is read: another has it discarded, or it has landed. Then the page says so."""

    @wraps(view)
    def wrapped(request: HttpRequest, public_id: str) -> HttpResponseBase:
        try:
            return view(request, public_id)
        except FileNotFoundError:
            if uploads.is_kept(_own(request, public_id)):
                raise
            return redirect("import", public_id)

    return wrapped


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@access.admin_required
@_unless_it_goes
def import_page(request: HttpRequest, public_id: str) -> HttpResponse:
    record = _own(request, public_id)
    if getattr(request, "htmx", False):
        part = render(request, "exchange/page.html#live", {"record": record})
        if not record.is_at_work:
            part["HX-Refresh"] = "true"  # what can be done with the file is another now
        return part
    return _show(request, record, _reading_form(record, None))


def _own(request: HttpRequest, public_id: str) -> Import:
    return access.get_for(Import.objects.all(), request.user, Role.ADMIN, public_id=public_id)


def _reading_form(record: Import, data: Any) -> ReadingForm | None:
    is_table = record.kind != Import.Kind.CAMPAIGN
    if record.state == Import.State.DONE or not is_table or not uploads.is_kept(record):
        return None
    how, layout = How.from_json(record.options), layout_of(record)
    return ReadingForm(
        data,
        kind=record.kind,
        layout=layout,
        how=how,
        proposal=proposal_for(record, layout),
        words={} if how.encoding else encodings.odd_words(uploads.path_of(record)),
    )


def _show(request: HttpRequest, record: Import, form: ReadingForm | None, status: int = 200) -> HttpResponse:
    is_refused = record.state == Import.State.REFUSED
    asks = bool(form and is_refused and (form.words or form.proposal.models or form.lacks_columns))
    is_campaign, is_kept = record.kind == Import.Kind.CAMPAIGN, uploads.is_kept(record)
    context = {
        "record": record,
        "form": form,
        "is_kept": is_kept,
        "address": AddressForm(initial={"target": record.target}) if is_campaign and is_kept else None,
        "tables": list(wording.tables(record.contents)),
        "doubt": whose_votes.say_doubt(record.asks_whose) if record.asks_whose else "",
        "asks": asks,  # the file may be in order: it is to be said how it is read
        "onward": onward.columns_of(record),
        "personal": list(wording.personal(record.personal)),
        "look": first_look(record) if form else [],
        "more_errors": record.error_count - len(record.errors),
        "all_errors": form is not None and uploads.errors_path(record).is_file(),
        "all_notes": form is not None and uploads.notes_path(record).is_file(),
        "prompt_set": None if is_campaign else latest_set(record.team, record.target),
        "section": "corpus",
    }
    return render(request, "exchange/page.html", context, status=status)


@require_POST
@access.admin_required
@_unless_it_goes
def import_reread(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Checks the file again, read as the form says."""
    record = _own(request, public_id)
    if record.kind == Import.Kind.CAMPAIGN:
        return _sent_elsewhere(request, record)
    if (whose := request.POST.get("whose")) in ("people", "judges"):
        return _answered(request, record, whose == "judges")
    form = _reading_form(record, request.POST)
    if form is None:
        return _gone(request)
    if not form.is_valid():
        return _show(request, record, form, status=422)
    if intake.read_otherwise(record, by_place(record, form.layout, form.chosen())):
        tasks.start(record)
    return redirect("import", public_id)


def _answered(request: HttpRequest, record: Import, are_judges: bool) -> HttpResponseBase:
    """Whose votes they are."""
    if not uploads.is_kept(record):
        return _gone(request)
    if intake.say_whose(record, are_judges):
        tasks.start(record)
    return redirect("import", record.public_id)


def _sent_elsewhere(request: HttpRequest, record: Import) -> HttpResponseBase:
    """A whole campaign under another address."""
    form = AddressForm(request.POST)
    if not uploads.is_kept(record):
        return _gone(request)
    if form.is_valid() and intake.send_to(record, form.cleaned_data["target"]):
        tasks.start(record)
    return redirect("import", record.public_id)


@require_POST
@access.admin_required
@_unless_it_goes
def import_onward(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """The file of imported prompts once more, for the responses in its other columns."""
    record = _own(request, public_id)
    following = onward.take_on(record, request.user)
    if following is None:
        return _gone(request)
    tasks.start(following)
    return redirect("import", following.public_id)


@require_POST
@access.admin_required
def import_confirm(request: HttpRequest, public_id: str) -> HttpResponseBase:
    record = _own(request, public_id)
    if record.state != Import.State.PREVIEWED:
        return redirect("import", public_id)
    if not uploads.is_kept(record):
        intake.discard(record)
        return _gone(request)
    if intake.confirm(record):
        tasks.start(record)
    return redirect("import", public_id)


def _gone(request: HttpRequest) -> HttpResponseBase:
    messages.error(request, _("The file is no longer here, so nothing was imported. Upload it again."))
    return redirect("import-new")


@require_POST
@access.admin_required
def import_cancel(request: HttpRequest, public_id: str) -> HttpResponseBase:
    record = _own(request, public_id)
    if intake.cancel(record):
        tasks.start(record)  # nobody may be at it
        messages.success(request, _("The import stops; nothing of it stays."))
    return redirect("import", public_id)


@require_POST
@access.admin_required
def import_discard(request: HttpRequest, public_id: str) -> HttpResponseBase:
    record = _own(request, public_id)
    if record.state not in uploads.WAITING:
        raise Http404
    if not intake.discard(record):
        return redirect("import", public_id)
    messages.success(request, _("The file was dropped; nothing was imported."))
    return redirect("import-new")


@require_safe
@access.admin_required
def import_errors(request: HttpRequest, public_id: str) -> FileResponse:
    """Every error, also those beyond the first hundred."""
    return _table(_own(request, public_id), uploads.errors_path, "errors.csv")


@require_safe
@access.admin_required
def import_notes(request: HttpRequest, public_id: str) -> FileResponse:
    """Every row that isn't taken as the others are, though it is no error."""
    return _table(_own(request, public_id), uploads.notes_path, "notes.csv")


def _table(record: Import, path_of: Callable[[Import], Path], name: str) -> FileResponse:
    if not record.stored_as or not path_of(record).is_file():
        raise Http404
    file = path_of(record).open("rb")
    return FileResponse(file, as_attachment=True, filename=name, content_type="text/csv; charset=utf-8")
