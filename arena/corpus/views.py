from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from arena.corpus import personal_in_sets, versions
from arena.corpus.forms import BulkLabelForm, PromptSetForm
from arena.corpus.label_models import LabelChange
from arena.corpus.labels import set_labels
from arena.corpus.models import GOLD_HOLDERS, OF_GOLDS, Prompt, PromptSet, Response
from arena.corpus.near_duplicates import COMPARED, SIMILAR, near_duplicates, within
from arena.corpus.prompt_filter import PromptFilter
from arena.corpus.publishing import NotPublishableError, publish, reinstate, retire
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id
from arena.save_once import save_once

PROMPTS_A_PAGE = 50
CHANGES_A_PAGE = 20
DUPLICATES_SHOWN = 200


@require_safe
@access.admin_required
def prompt_set_list(request: HttpRequest) -> HttpResponse:
    sets = access.objects_for(PromptSet.objects.all(), request.user, Role.ADMIN)
    sets = sets.annotate(prompt_count=Count("prompts")).order_by("name", "-version")
    return render(request, "corpus/list.html", {"prompt_sets": sets, "section": "corpus"})


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def prompt_set_new(request: HttpRequest) -> HttpResponseBase:
    return edit_set(request, PromptSet(team=access.acting_team(request.user)), _("New prompt set"))


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def prompt_set_edit(request: HttpRequest, pk: int) -> HttpResponseBase:
    prompt_set = own_set(request, pk)
    return edit_set(request, prompt_set, _("Change %(name)s") % {"name": prompt_set})


def edit_set(request: HttpRequest, prompt_set: PromptSet, title: str) -> HttpResponseBase:
    form = PromptSetForm(request.POST if request.method == "POST" else None, instance=prompt_set)
    if form.is_bound and form.is_valid() and (saved := save_once(form, form.save)):
        messages.success(request, _("“%(name)s” is saved.") % {"name": form.instance})
        return redirect("prompt-set", saved.pk)
    context = {"form": form, "prompt_set": prompt_set, "title": title, "section": "corpus"}
    return render(request, "corpus/set_edit.html", context, status=422 if form.is_bound else 200)


@require_safe
@vary_on_headers("HX-Request")
@access.admin_required
def prompt_set_page(request: HttpRequest, pk: int) -> HttpResponse:
    prompt_set = own_set(request, pk)
    question = PromptFilter(request.GET, prompt_set=prompt_set)
    # Cut first and count then: counting the responses of 50,000 prompts to show fifty takes seconds.
    page = Paginator(question.found(), PROMPTS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "prompt_set": prompt_set,
        "filter": question,
        "asked": asked(request),
        "page": page,
        "rows": rows_of(list(page.object_list)),
        "bulk": BulkLabelForm(),
        "section": "corpus",
    }
    if getattr(request, "htmx", False):
        return render(request, "corpus/page.html#prompts", context)
    context |= {"facts": facts_of(prompt_set), "likely": personal_in_sets.look(prompt_set)}
    return render(request, "corpus/page.html", context)


def asked(request: HttpRequest) -> str:
    """The question without the page, for links that keep it."""
    query = request.GET.copy()
    query.pop("page", None)
    return query.urlencode()


def facts_of(prompt_set: PromptSet) -> dict[str, int]:
    of_set = Response.objects.filter(prompt__prompt_set=prompt_set)
    responses = of_set.by_models()
    facts = responses.aggregate(
        count=Count("pk"),
        blank=Count("pk", filter=Q(is_blank=True)),
        leaks=Count("pk", filter=Q(leak=Response.Leak.FOUND)),
        models=Count("competitor", distinct=True),
        redacted_responses=Count("pk", filter=Q(tombstone__isnull=False)),
    )
    labelled = prompt_set.prompts.aggregate(
        prompts=Count("pk"),
        hard=Count("pk", filter=Q(is_hard=True)),
        unknown=Count("pk", filter=Q(is_hard=None)),
        redacted=Count("pk", filter=Q(tombstone__isnull=False)),
    )
    return facts | labelled | {"golds": of_set.filter(OF_GOLDS).count() // len(GOLD_HOLDERS)}


def rows_of(prompts: list[Prompt]) -> list[tuple[Prompt, int]]:
    """Each prompt with the number of responses that may be drawn for it."""
    found = Response.objects.filter(prompt__in=prompts, is_blank=False, tombstone__isnull=True).by_models()
    counts = dict(found.values_list("prompt").annotate(count=Count("pk")).order_by())
    return [(prompt, counts.get(prompt.pk, 0)) for prompt in prompts]


@require_POST
@access.admin_required
def prompt_set_labels(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Sets one label of the chosen prompts, or of all that the filter finds."""
    prompt_set = own_set(request, pk)
    form = BulkLabelForm(request.POST)
    asked_for = QueryDict(request.POST.get("filter", ""))
    question = PromptFilter(asked_for, prompt_set=prompt_set)
    if not form.is_valid():
        messages.error(request, _("Choose a label and its value."))
    elif chosen := chosen_prompts(request, question):
        change = {form.cleaned_data["label"]: form.cleaned_data["value"]}
        by = request.user.get_username()
        changed = set_labels(dict.fromkeys(chosen, change), source=LabelChange.Source.HAND, by=by)
        words = ngettext(
            "%(count)d prompt has another label.", "%(count)d prompts have another label.", changed
        )
        messages.success(request, words % {"count": changed})
    else:
        messages.error(request, _("Choose the prompts first."))
    return redirect(f"{reverse('prompt-set', args=[pk])}?{asked_for.urlencode()}")


def chosen_prompts(request: HttpRequest, question: PromptFilter) -> list[int]:
    found = question.found()
    if "all" not in request.POST:
        found = found.filter(pk__in=[as_id(pk) for pk in request.POST.getlist("prompt")])
    return list(found.values_list("pk", flat=True))


@require_POST
@access.admin_required
def prompt_set_publish(request: HttpRequest, pk: int) -> HttpResponseBase:
    prompt_set = own_set(request, pk)
    try:
        publish(prompt_set)
        messages.success(request, _("“%(name)s” is published.") % {"name": prompt_set})
    except NotPublishableError as error:
        messages.error(request, error.args[0])
    return redirect("prompt-set", pk)


@require_POST
@access.admin_required
def prompt_set_retire(request: HttpRequest, pk: int) -> HttpResponseBase:
    prompt_set = own_set(request, pk)
    if retire(prompt_set):
        messages.success(
            request, _("“%(name)s” is retired: new campaigns don't see it.") % {"name": prompt_set}
        )
    return redirect("prompt-set", pk)


@require_POST
@access.admin_required
def prompt_set_reinstate(request: HttpRequest, pk: int) -> HttpResponseBase:
    if reinstate(own_set(request, pk)):
        messages.success(request, _("The set is offered to campaigns again."))
    return redirect("prompt-set", pk)


@require_POST
@access.admin_required
def prompt_set_next(request: HttpRequest, pk: int) -> HttpResponseBase:
    try:
        draft = versions.draft_next(own_set(request, pk))
    except versions.NoNewVersionError as refusal:
        messages.error(request, refusal.args[0])
        return redirect("prompt-set", pk)
    messages.success(
        request, _("This draft holds the prompts of the version before. Responses aren't copied.")
    )
    return redirect("prompt-set", draft.pk)


@require_safe
@never_cache
@access.admin_required
def prompt_set_compare(request: HttpRequest, pk: int) -> HttpResponse:
    """With the version before, or with another one of its name (`with`)."""
    prompt_set = own_set(request, pk)
    others = access.objects_for(PromptSet.objects.all(), request.user, Role.ADMIN)
    others = others.filter(team=prompt_set.team_id, name=prompt_set.name).exclude(pk=pk).order_by("-version")
    wanted = as_id(request.GET.get("with", ""))
    before = others.filter(pk=wanted).first() if wanted else versions.previous_version(prompt_set)
    context: dict[str, Any] = {"prompt_set": prompt_set, "others": others, "before": before}
    if before:
        difference = versions.compare(before, prompt_set)
        page = Paginator(difference.changed, CHANGES_A_PAGE).get_page(request.GET.get("page"))
        changes = list(versions.changes(before, prompt_set, tuple(page.object_list)))
        listed = [(_("New"), difference.added), (_("Taken out"), difference.removed)]
        context |= {"difference": difference, "page": page, "changes": changes, "listed": listed}
    return render(request, "corpus/compare.html", context | {"section": "corpus"})


@require_safe
@never_cache
@access.admin_required
def prompt_set_duplicates(request: HttpRequest, pk: int) -> HttpResponse:
    prompt_set = own_set(request, pk)
    prompts = prompt_set.prompts.filter(tombstone__isnull=True).order_by("pk").only("external_id", "messages")
    texts = within((prompt.external_id, prompt.text) for prompt in prompts.iterator())
    pairs = near_duplicates(texts, compared=COMPARED)
    shown = pairs[:DUPLICATES_SHOWN]
    wanted = {name for pair in shown for name in (pair.earlier, pair.later)}
    by_id = {prompt.external_id: prompt for prompt in prompts.filter(external_id__in=wanted)}
    context = {
        "prompt_set": prompt_set,
        "rows": [(pair.similarity * 100, by_id[pair.earlier], by_id[pair.later]) for pair in shown],
        "count": len(pairs),
        "looked_at": len(texts),
        "in_all": prompts.count(),
        "similar": round(SIMILAR * 100),
        "section": "corpus",
    }
    return render(request, "corpus/duplicates.html", context)


def own_set(request: HttpRequest, pk: int) -> PromptSet:
    return access.get_for(PromptSet.objects.all(), request.user, Role.ADMIN, pk=pk)
