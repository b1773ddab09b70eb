"""Who may see and do what. Every view gets its objects through here; other teams' objects answer 404.

Imports no other room: predicates work on the objects passed to them, which all lead to a team.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase

from arena.raters.models import Membership, Role, Team

User = AbstractBaseUser | AnonymousUser
M = TypeVar("M", bound=Model)
P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

_RANK: dict[str, int] = {Role.RATER: 0, Role.RESEARCHER: 1, Role.ADMIN: 2}


def _roles_from(role: str) -> list[str]:
    return [name for name, rank in _RANK.items() if rank >= _RANK[role]]


def teams_of(user: User, role: str) -> QuerySet[Team]:
    """The teams in which the user holds at least this role; a superuser is admin of every team."""
    if not user.is_authenticated:
        return Team.objects.none()
    if getattr(user, "is_superuser", False):
        return Team.objects.all()
    return Team.objects.filter(memberships__user_id=user.pk, memberships__role__in=_roles_from(role))


def has_role(user: User, team: Team | int, role: str) -> bool:
    return teams_of(user, role).filter(pk=team.pk if isinstance(team, Team) else team).exists()


def objects_for(queryset: QuerySet[M], user: User, role: str, team_path: str = "team") -> QuerySet[M]:
    """The rows that belong to teams in which the user holds at least this role."""
    return queryset.filter(**{f"{team_path}__in": teams_of(user, role)})


def get_for(queryset: QuerySet[M], user: User, role: str, team_path: str = "team", **lookup: Any) -> M:
    """One such row. Someone else's and none at all look the same: 404."""
    found = objects_for(queryset, user, role, team_path).filter(**lookup).first()
    if found is None:
        raise Http404
    return found


def acting_team(user: User, role: str = Role.ADMIN) -> Team:
    """The team that owns what the user makes: the first in which they hold the role."""
    team = teams_of(user, role).order_by("pk").first()
    if team is None:
        raise Http404
    return team


def role_required(role: str) -> Callable[[View[P]], View[P]]:
    """Sends strangers to the login page; whoever holds the role in no team finds nothing here."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if not teams_of(request.user, role).exists():
                raise Http404
            return view(request, *args, **kwargs)

        return guarded

    return decorate


admin_required = role_required(Role.ADMIN)
researcher_required = role_required(Role.RESEARCHER)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Template context: which sections the menu shows."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"is_admin": False, "is_researcher": False}
    if getattr(user, "is_superuser", False):
        return {"is_admin": True, "is_researcher": True}
    roles = set(Membership.objects.filter(user_id=user.pk).values_list("role", flat=True))
    return {"is_admin": Role.ADMIN in roles, "is_researcher": bool(roles & set(_roles_from(Role.RESEARCHER)))}
