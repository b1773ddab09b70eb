"""Accounts are made without a password; whoever holds the link sets it."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from arena.raters.models import Membership, Team


def password_link(user: User) -> str:
    """Path of the page that sets the password; works once, and only as long as Django's reset tokens do."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    return reverse("password_reset_confirm", kwargs={"uidb64": uid, "token": token})


def add_member(team: Team, username: str, role: str, email: str = "") -> tuple[User, bool]:
    """Gives the account this role in the team, making the account if there is none; True if it was made."""
    with transaction.atomic():
        user, made = get_user_model().objects.get_or_create(username=username, defaults={"email": email})
        if made:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        Membership.objects.update_or_create(user=user, team=team, defaults={"role": role})
    return user, made
