from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.endpoints import tasks
from arena.endpoints.connection import probe
from arena.endpoints.facts import read_facts
from arena.endpoints.forms import EndpointForm
from arena.endpoints.hosts import is_named, origin_of
from arena.endpoints.models import Endpoint
from arena.raters import access
from arena.raters.models import Role
from arena.save_once import save_once


@require_safe
@never_cache
@access.admin_required
def endpoint_list(request: HttpRequest) -> HttpResponse:
    endpoints = access.objects_for(Endpoint.objects.all(), request.user, Role.ADMIN)
    return render(
        request, "endpoints/list.html", {"endpoints": endpoints.order_by("name"), "section": "endpoints"}
    )


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def endpoint_new(request: HttpRequest) -> HttpResponseBase:
    endpoint = Endpoint(team=access.acting_team(request.user))
    return edit(
        request,
        EndpointForm(request.POST if request.method == "POST" else None, instance=endpoint),
        _("New endpoint"),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def endpoint_edit(request: HttpRequest, pk: int) -> HttpResponseBase:
    endpoint = own_endpoint(request, pk)
    form = EndpointForm(request.POST if request.method == "POST" else None, instance=endpoint)
    return edit(request, form, _("Change %(name)s") % {"name": endpoint.name})


def edit(request: HttpRequest, form: EndpointForm, title: str) -> HttpResponseBase:
    if form.is_bound and form.is_valid() and save_once(form, form.save):
        endpoint = form.instance
        if form.initial.get("key_variable") and not endpoint.has_key:
            messages.warning(request, _("The host changed, so its key was forgotten. Name the key again."))
        messages.success(request, _("%(name)s is saved.") % {"name": endpoint.name})
        return redirect("endpoint-list")
    endpoint = form.instance
    context = {"form": form, "title": title, "endpoint": endpoint, "section": "endpoints"}
    if endpoint.pk:
        context |= {"facts": read_facts(endpoint), "is_named": is_allowed_by_name(endpoint.base_url)}
    return render(request, "endpoints/edit.html", context, status=422 if form.is_bound else 200)


def is_allowed_by_name(base_url: str) -> bool:
    _scheme, host, port = origin_of(base_url)
    return is_named(host, port, settings.ENDPOINT_ALLOWED_HOSTS)


@require_POST
@access.admin_required
def endpoint_wake(request: HttpRequest, pk: int) -> HttpResponseBase:
    endpoint = own_endpoint(request, pk)
    endpoint.wake()
    tasks.call_workers([endpoint.pk])
    messages.success(request, _("%(name)s is asked again.") % {"name": endpoint.name})
    return redirect("endpoint-edit", pk)


@require_POST
@access.admin_required
def endpoint_send_all(request: HttpRequest, pk: int) -> HttpResponseBase:
    own_endpoint(request, pk).send_all_again()
    messages.success(request, _("All parameters are sent again."))
    return redirect("endpoint-edit", pk)


@require_POST
@never_cache
@access.admin_required
def endpoint_test(request: HttpRequest, pk: int) -> HttpResponse:
    """One small call, made while the admin waits."""
    endpoint = own_endpoint(request, pk)
    context = {"endpoint": endpoint, "finding": probe(endpoint), "section": "endpoints"}
    template = "endpoints/test.html#result" if getattr(request, "htmx", False) else "endpoints/test.html"
    return render(request, template, context)


def own_endpoint(request: HttpRequest, pk: int) -> Endpoint:
    return access.get_for(Endpoint.objects.all(), request.user, Role.ADMIN, pk=pk)
