from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.corpus.editing import NotEditableError, next_id, remove_prompt, save_prompt
from arena.corpus.forms import LABEL_NAMES, MOST_TURNS, LabelsForm, PromptForm, ReasonForm, Turns
from arena.corpus.label_models import LabelChange
from arena.corpus.labels import last_change, set_labels
from arena.corpus.models import OF_GOLDS, Prompt, Response
from arena.corpus.redaction import (
    redact_prompt,
    redact_prompt_everywhere,
    redact_response,
    redact_response_everywhere,
    same_prompts,
)
from arena.corpus.sweeping import is_swept
from arena.corpus.views import own_set, rows_of
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id
from arena.save_once import save_once

RESPONSES_A_PAGE = 20
SAME_SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def prompt_new(request: HttpRequest, pk: int) -> HttpResponseBase:
    prompt_set = own_set(request, pk)
    prompt = Prompt(prompt_set=prompt_set, external_id=next_id(prompt_set))
    return edit_prompt(request, prompt)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@vary_on_headers("HX-Request")
@access.admin_required
def prompt_edit(request: HttpRequest, pk: int) -> HttpResponseBase:
    """All of a draft's prompt; of a published one its labels alone."""
    prompt = own_prompt(request, pk)
    if prompt.prompt_set.is_draft and not prompt.tombstone:
        return edit_prompt(request, prompt)
    return edit_labels(request, prompt)


def edit_prompt(request: HttpRequest, prompt: Prompt) -> HttpResponseBase:
    data = request.POST if request.method == "POST" else None
    act = request.POST.get("act")
    form, labels = PromptForm(data, instance=prompt), LabelsForm(data, prompt=prompt)
    turns = Turns(
        more_turns(data) if act == "add-turn" and data else data, prefix="turn", initial=told(prompt)
    )
    if data is not None and act != "add-turn" and all([form.is_valid(), labels.is_valid(), turns.is_valid()]):
        by = request.user.get_username()

        def save() -> Prompt:
            return save_prompt(form, turns.messages(), labels.cleaned_data, by)

        try:
            if found := save_once(form, save):
                return saved(request, found)
        except NotEditableError as refusal:
            form.add_error(None, refusal.args[0])
    status = 422 if data is not None and act != "add-turn" else 200
    return show_edit(request, prompt, status, form=form, labels=labels, turns=turns)


def edit_labels(request: HttpRequest, prompt: Prompt) -> HttpResponseBase:
    labels = LabelsForm(request.POST if request.method == "POST" else None, prompt=prompt)
    if labels.is_bound and labels.is_valid():
        change = {prompt.pk: labels.cleaned_data}
        set_labels(change, source=LabelChange.Source.HAND, by=request.user.get_username())
        return saved(request, prompt)
    return show_edit(request, prompt, 422 if labels.is_bound else 200, labels=labels)


def more_turns(data: Any) -> Any:
    """The form as it was typed, with room for one more turn."""
    copy = data.copy()
    total = as_id(copy.get("turn-TOTAL_FORMS", "")) or 0
    copy["turn-TOTAL_FORMS"] = str(min(total + 1, MOST_TURNS))
    return copy


def told(prompt: Prompt) -> list[dict[str, str]]:
    return [dict(turn) for turn in prompt.messages] if prompt.pk else []


def saved(request: HttpRequest, prompt: Prompt) -> HttpResponseBase:
    """Where the form stood in a list, the row is shown again."""
    if getattr(request, "htmx", False):
        return show_row(request, prompt.pk)
    messages.success(request, _("Saved."))
    return redirect("prompt", prompt.pk)


@require_safe
@never_cache
@access.admin_required
def prompt_row(request: HttpRequest, pk: int) -> HttpResponse:
    """The row of a list, in place of a form that was given up."""
    return show_row(request, own_prompt(request, pk).pk)


def show_row(request: HttpRequest, pk: int) -> HttpResponse:
    """In place of its form: the focus goes to the link that opened it."""
    prompt = Prompt.objects.select_related("prompt_set").get(pk=pk)
    ((prompt, count),) = rows_of([prompt])
    context = {"prompt": prompt, "count": count, "prompt_set": prompt.prompt_set, "comes_back": True}
    return render(request, "corpus/row.html", context)


def show_edit(request: HttpRequest, prompt: Prompt, status: int, **forms: Any) -> HttpResponse:
    context = {"prompt": prompt, "prompt_set": prompt.prompt_set, "section": "corpus", **forms}
    part = "#row" if getattr(request, "htmx", False) and prompt.pk else ""
    return render(request, f"corpus/prompt_edit.html{part}", context, status=status)


@require_safe
@never_cache
@access.admin_required
def prompt_page(request: HttpRequest, pk: int) -> HttpResponse:
    prompt = own_prompt(request, pk)
    every = prompt.responses.select_related("competitor").order_by("competitor__name", "sample")
    responses, golds = every.exclude(OF_GOLDS), every.filter(OF_GOLDS)
    context = {
        "prompt": prompt,
        "prompt_set": prompt.prompt_set,
        "page": Paginator(responses, RESPONSES_A_PAGE).get_page(request.GET.get("page")),
        "golds": golds,
        "labels": [
            (words, getattr(prompt, name)) for name, words in LABEL_NAMES.items() if name != "is_hard"
        ],
        "label_change": last_change([prompt.pk]).get(prompt.pk),
        "reason_form": ReasonForm(),
        "same": [] if prompt.tombstone else list(same_prompts(prompt)[:SAME_SHOWN]),
        "section": "corpus",
    }
    return render(request, "corpus/prompt.html", context)


@require_POST
@access.admin_required
def prompt_remove(request: HttpRequest, pk: int) -> HttpResponseBase:
    prompt = own_prompt(request, pk)
    try:
        remove_prompt(prompt)
    except NotEditableError as refusal:
        messages.error(request, refusal.args[0])
        return redirect("prompt", pk)
    messages.success(request, _("Prompt %(id)s is taken out.") % {"id": prompt.external_id})
    return redirect("prompt-set", prompt.prompt_set_id)


@require_POST
@access.admin_required
def prompt_redact(request: HttpRequest, pk: int) -> HttpResponseBase:
    prompt = own_prompt(request, pk)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A redaction needs a reason."))
    else:
        signed = {"reason": form.cleaned_data["reason"], "by": request.user.get_username()}
        gone = [prompt]
        if "everywhere" in request.POST and not prompt.tombstone:
            gone = redact_prompt_everywhere(prompt, **signed)
        else:
            redact_prompt(prompt, **signed)
        tell_of_redaction(request, gone)
    return redirect("prompt", pk)


@require_POST
@access.admin_required
def response_redact(request: HttpRequest, pk: int) -> HttpResponseBase:
    response = access.get_for(
        Response.objects.all(), request.user, Role.ADMIN, "prompt__prompt_set__team", pk=pk
    )
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A redaction needs a reason."))
    else:
        signed = {"reason": form.cleaned_data["reason"], "by": request.user.get_username()}
        gone = [response]
        if "everywhere" in request.POST:
            gone = redact_response_everywhere(response, **signed)
        else:
            redact_response(response, **signed)
        tell_of_redaction(request, gone)
    return redirect("prompt", response.prompt_id)


def tell_of_redaction(request: HttpRequest, gone: Sequence[Prompt | Response]) -> None:
    messages.success(request, told_gone(len(gone) - 1))
    if not all(map(is_swept, gone)):
        words = _(
            "Not every copy of it in replies, reasons and files could be taken out yet. That is tried again "
            "each minute; the log says what is in the way."
        )
        messages.warning(request, words)
    tell_of_uploads(request, gone)


def told_gone(others: int) -> str:
    if not others:
        return _("The text is gone. Votes and boards stay as they are.")
    words = ngettext(
        "The text is gone, here and in %(count)s other place. Votes and boards stay as they are.",
        "The text is gone, here and in %(count)s other places. Votes and boards stay as they are.",
        others,
    )
    return words % {"count": others}


def tell_of_uploads(request: HttpRequest, redacted: Sequence[Prompt | Response]) -> None:
    names: set[str] = set()
    for each in redacted:
        each.refresh_from_db(fields=["tombstone"])
        names |= set((each.tombstone or {}).get("uploads", ()))
    if names:
        words = _("Uploads that still held it were dropped: %(names)s")
        messages.warning(request, words % {"names": ", ".join(sorted(names))})


def own_prompt(request: HttpRequest, pk: int) -> Prompt:
    prompts = Prompt.objects.select_related("prompt_set")
    return access.get_for(prompts, request.user, Role.ADMIN, "prompt_set__team", pk=pk)
