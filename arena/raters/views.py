from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.csrf import rotate_token
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from arena.raters import access
from arena.raters.accounts import (
    CannotAddError,
    LastAdminError,
    add_member,
    change_role,
    password_link,
    remove_member,
)
from arena.raters.forms import MemberForm, TeamForm
from arena.raters.models import Membership, Role
from arena.save_once import save_once


def sign_out(request: HttpRequest) -> HttpResponseBase:
    """Whoever begins in this browser afterwards may be somebody else: with the session the cookie goes by
    which a second “Begin” is known.
    """
    answer = LogoutView.as_view()(request)
    if request.method == "POST":
        rotate_token(request)
    return answer


@require_safe
@never_cache
@access.admin_required
def member_list(request: HttpRequest) -> HttpResponse:
    return show(request)


def show(request: HttpRequest, link: str = "", naming: TeamForm | None = None) -> HttpResponse:
    """`naming` is the form that was sent and didn’t pass: it stands open with its errors."""
    team = access.acting_team(request.user)
    shown = naming or TeamForm(instance=team)
    context = {
        "team": team,
        "members": team.memberships.select_related("user").order_by("user__username"),
        "roles": Role.choices,
        "form": MemberForm(),
        "password_link": link,
        "naming": shown,
        "named": team.name if naming is None else naming.initial["name"],
        "section": "team",
    }
    status = 200 if naming is None else 422
    return render(request, "raters/members.html", context, status=status)


@require_POST
@never_cache
@access.admin_required
def team_rename(request: HttpRequest) -> HttpResponseBase:
    """What is cited from now on names it so; citations written down before keep the old name."""
    form = TeamForm(request.POST, instance=access.acting_team(request.user))
    if form.is_valid() and save_once(form, form.save):
        messages.success(
            request, _("The team is called %(name)s from now on.") % {"name": form.instance.name}
        )
        return redirect("member-list")
    return show(request, naming=form)


@require_POST
@never_cache
@access.admin_required
def member_add(request: HttpRequest) -> HttpResponseBase:
    team = access.acting_team(request.user)
    form = MemberForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(error for errors in form.errors.values() for error in errors))
        return redirect("member-list")
    try:
        user, made = add_member(
            team,
            form.cleaned_data["username"],
            form.cleaned_data["role"],
            by_operator=request.user.is_superuser,
        )
    except CannotAddError as refusal:
        messages.error(request, str(refusal))
        return redirect("member-list")
    messages.success(request, _("%(user)s belongs to the team.") % {"user": user.get_username()})
    # Shown in this answer and nowhere else.
    return show(request, request.build_absolute_uri(password_link(user)) if made else "")


@require_POST
@access.admin_required
def member_role(request: HttpRequest, pk: int) -> HttpResponseBase:
    membership = access.get_for(Membership.objects.all(), request.user, Role.ADMIN, pk=pk)
    role = request.POST.get("role")
    if role not in Role.values:
        messages.error(request, _("Choose one of the roles."))
        return redirect("member-list")
    return change(request, lambda: change_role(membership, role))


@require_POST
@access.admin_required
def member_remove(request: HttpRequest, pk: int) -> HttpResponseBase:
    membership = access.get_for(Membership.objects.all(), request.user, Role.ADMIN, pk=pk)
    return change(request, lambda: remove_member(membership))


def change(request: HttpRequest, act: Callable[[], None]) -> HttpResponseBase:
    try:
        act()
    except LastAdminError:
        messages.error(request, _("A team needs an admin; make someone else admin first."))
    return redirect("member-list")


@require_POST
@never_cache
@access.admin_required
def member_link(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Another link for an account whose password was never set.

    Whoever has set one keeps it: with such a link an admin could act in their name, also in other teams.
    """
    membership = access.get_for(Membership.objects.select_related("user"), request.user, Role.ADMIN, pk=pk)
    if membership.user.has_usable_password():
        messages.error(request, _("This account has a password; only the operator can set another."))
        return redirect("member-list")
    return show(request, request.build_absolute_uri(password_link(membership.user)))
