from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.publishing import NotPublishableError, publish
from arena.raters import access
from arena.raters.models import Role

PROMPTS_A_PAGE = 50


@require_GET
@access.admin_required
def prompt_set_list(request: HttpRequest) -> HttpResponse:
    sets = access.objects_for(PromptSet.objects.all(), request.user, Role.ADMIN)
    sets = sets.annotate(prompt_count=Count("prompts")).order_by("name", "-version")
    return render(request, "corpus/list.html", {"prompt_sets": sets, "section": "corpus"})


@require_GET
@access.admin_required
def prompt_set_page(request: HttpRequest, pk: int) -> HttpResponse:
    prompt_set = access.get_for(PromptSet.objects.all(), request.user, Role.ADMIN, pk=pk)
    # Cut first and count then: counting the responses of 50,000 prompts to show fifty takes seconds.
    page = Paginator(prompt_set.prompts.order_by("pk"), PROMPTS_A_PAGE).get_page(request.GET.get("page"))
    responses = Response.objects.filter(prompt__prompt_set=prompt_set)
    facts = responses.aggregate(
        count=Count("pk"),
        blank=Count("pk", filter=Q(is_blank=True)),
        models=Count("competitor", distinct=True),
    )
    context = {
        "prompt_set": prompt_set,
        "page": page,
        "rows": rows_of(list(page.object_list)),
        "facts": facts,
        "section": "corpus",
    }
    return render(request, "corpus/page.html", context)


def rows_of(prompts: list[Prompt]) -> list[tuple[Prompt, int]]:
    """Each prompt with the number of responses that may be drawn for it."""
    found = Response.objects.filter(prompt__in=prompts, is_blank=False).values_list("prompt")
    counts = dict(found.annotate(count=Count("pk")).order_by())
    return [(prompt, counts.get(prompt.pk, 0)) for prompt in prompts]


@require_POST
@access.admin_required
def prompt_set_publish(request: HttpRequest, pk: int) -> HttpResponseBase:
    prompt_set = access.get_for(PromptSet.objects.all(), request.user, Role.ADMIN, pk=pk)
    try:
        publish(prompt_set)
        messages.success(request, _("“%(name)s” is published.") % {"name": prompt_set})
    except NotPublishableError as error:
        messages.error(request, error.args[0])
    return redirect("prompt-set", pk)


@require_GET
@access.admin_required
def competitor_list(request: HttpRequest) -> HttpResponse:
    competitors = access.objects_for(Competitor.objects.all(), request.user, Role.ADMIN)
    competitors = competitors.annotate(
        response_count=Count("responses"), blank_count=Count("responses", filter=Q(responses__is_blank=True))
    )
    context = {"competitors": competitors.order_by("name"), "section": "corpus"}
    return render(request, "corpus/competitors.html", context)
