"""Accounts are made without a password; whoever holds the link sets it."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from knox.models import AuthToken

from arena.raters.models import Membership, NamesSeen, Role, Team


def password_link(user: User) -> str:
    """Path of the page that sets the password; works once, and only as long as Django's reset tokens do."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    return reverse("password_reset_confirm", kwargs={"uidb64": uid, "token": token})


class TokensEndWithThePassword:
    """Django tells validators of a new password: whoever sets one shuts out whoever had the old one."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Nothing is asked of it."""

    def password_changed(self, password: str, user: User) -> None:
        AuthToken.objects.filter(user=user).delete()

    def get_help_text(self) -> str:
        return ""


class CannotAddError(ValueError):
    """Nothing was changed; the message says why and what to do."""


def make_account(username: str, email: str = "") -> tuple[User, bool]:
    """The account of this name, made if there is none; True if it was made."""
    user, made = get_user_model().objects.get_or_create(username=username, defaults={"email": email})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user, made


@transaction.atomic
def add_member(team: Team, username: str, role: str, *, by_operator: bool = False) -> tuple[User, bool]:
    """A new member of the team, and whether the account is new too. Raises CannotAddError."""
    user, made = make_account(username)
    if Membership.objects.filter(user=user).exclude(team=team).exists() and not by_operator:
        raise CannotAddError(_("%(user)s belongs to another team; ask the operator.") % {"user": username})
    joined = Membership.objects.get_or_create(user=user, team=team, defaults={"role": role})[1]
    if not joined:
        raise CannotAddError(
            _("%(user)s is in this team already; change the role in the list.") % {"user": username}
        )
    return user, made


class LastAdminError(ValueError):
    """Nothing was changed: the team would have had no admin left."""


@transaction.atomic
def change_role(membership: Membership, role: str) -> None:
    if role != Role.ADMIN:
        _leave_an_admin(membership)
    if role == Role.RATER:
        _keep_what_was_seen(membership)
    Membership.objects.filter(pk=membership.pk).update(role=role)


@transaction.atomic
def remove_member(membership: Membership) -> None:
    _leave_an_admin(membership)
    _keep_what_was_seen(membership)
    Membership.objects.filter(pk=membership.pk).delete()


def _keep_what_was_seen(membership: Membership) -> None:
    if Membership.objects.filter(pk=membership.pk).exclude(role=Role.RATER).exists():
        NamesSeen.objects.get_or_create(user_id=membership.user_id, team_id=membership.team_id)


def _leave_an_admin(membership: Membership) -> None:
    """Locks the team: two admins who remove each other at once must not both succeed."""
    Team.objects.select_for_update().get(pk=membership.team_id)
    admins = Membership.objects.filter(team_id=membership.team_id, role=Role.ADMIN)
    if admins.filter(pk=membership.pk).exists() and not admins.exclude(pk=membership.pk).exists():
        raise LastAdminError
