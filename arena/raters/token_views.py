from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from knox.models import AuthToken

from arena.raters.models import TokenName

MOST = 20  # tokens of one person


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=80,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("of the program or the computer that will use it"),
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Valid for"),
        coerce=int,
        choices=[
            (30, gettext_lazy("30 days")),
            (90, gettext_lazy("90 days")),
            (365, gettext_lazy("a year")),
        ],
        initial=90,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def token_list(request: HttpRequest) -> HttpResponse:
    form = TokenForm(request.POST or None)
    mine = AuthToken.objects.filter(user=request.user, expiry__gt=timezone.now())
    tokens = mine.select_related("named").order_by("-created")
    shown = ""
    if request.method == "POST" and tokens.count() >= MOST:
        form.add_error(None, _("You have %(n)s tokens; revoke one first.") % {"n": MOST})
    elif form.is_valid():
        shown = make_token(request.user, **form.cleaned_data)
        form = TokenForm()
    status = 422 if request.method == "POST" and not shown else 200
    # Shown in this answer and nowhere else.
    context = {"form": form, "tokens": tokens, "shown": shown}
    return render(request, "raters/tokens.html", context, status=status)


def make_token(user: Any, name: str, days: int) -> str:
    with transaction.atomic():
        token, shown = AuthToken.objects.create(user=user, expiry=timedelta(days=days))
        TokenName.objects.create(token=token, name=name)
    return str(shown)


@require_POST
@login_required
def token_revoke(request: HttpRequest, key: str) -> HttpResponseBase:
    found = AuthToken.objects.filter(user=request.user, token_key=key)
    if found.exists():
        found.delete()
        messages.success(request, _("The token is revoked; programs that use it are refused from now on."))
    return redirect("token-list")
