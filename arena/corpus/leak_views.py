from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from arena.corpus import leak_checks
from arena.corpus.leak_tasks import check_leaks
from arena.corpus.models import Response
from arena.corpus.views import own_set
from arena.raters import access
from arena.raters.models import Role

LEAKS_A_PAGE = 50
SHOWN = {"found": Response.Leak.FOUND, "dismissed": Response.Leak.DISMISSED}


@require_safe
@never_cache
@access.admin_required
def leak_list(request: HttpRequest, pk: int) -> HttpResponse:
    """Responses to a set that say who wrote them, with the words."""
    prompt_set = own_set(request, pk)
    shown = request.GET.get("show") if request.GET.get("show") in SHOWN else "found"
    responses = Response.objects.filter(prompt__prompt_set=prompt_set).by_models()
    found = responses.filter(leak=SHOWN[shown or "found"]).select_related("prompt", "competitor")
    context = {
        "prompt_set": prompt_set,
        "shown": shown,
        "counts": dict(responses.values_list("leak").annotate(count=Count("pk")).order_by()),
        "page": Paginator(found.order_by("pk"), LEAKS_A_PAGE).get_page(request.GET.get("page")),
        "section": "corpus",
    }
    return render(request, "corpus/leaks.html", context)


@require_POST
@access.admin_required
def leak_look_again(request: HttpRequest, pk: int) -> HttpResponseBase:
    prompt_set = own_set(request, pk)
    leak_checks.look_again(Response.objects.filter(prompt__prompt_set=prompt_set))
    check_leaks()
    messages.success(request, _("The responses are looked at anew; that may take a minute."))
    return redirect("leak-list", pk)


@require_POST
@access.admin_required
def leak_dismiss(request: HttpRequest, pk: int) -> HttpResponseBase:
    response = own_response(request, pk)
    leak_checks.dismiss(response)
    return redirect("leak-list", response.prompt.prompt_set_id)


@require_POST
@access.admin_required
def leak_take_back(request: HttpRequest, pk: int) -> HttpResponseBase:
    response = own_response(request, pk)
    leak_checks.take_back(response)
    return redirect("leak-list", response.prompt.prompt_set_id)


def own_response(request: HttpRequest, pk: int) -> Response:
    responses = Response.objects.select_related("prompt")
    return access.get_for(responses, request.user, Role.ADMIN, "prompt__prompt_set__team", pk=pk)
