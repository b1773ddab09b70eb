from django.contrib.auth import views as auth
from django.urls import path
from django.views.decorators.http import require_http_methods

from arena.raters import token_views, views
from arena.raters.forms import SignInForm

# Django's own forms would take a PUT for a POST.
as_forms_are = require_http_methods(["GET", "HEAD", "POST"])

urlpatterns = [
    path(
        "accounts/login/",
        as_forms_are(
            auth.LoginView.as_view(authentication_form=SignInForm, redirect_authenticated_user=True)
        ),
        name="login",
    ),
    path("accounts/logout/", views.sign_out, name="logout"),
    path(
        "accounts/reset/<uidb64>/<token>/",
        as_forms_are(auth.PasswordResetConfirmView.as_view(post_reset_login=False)),
        name="password_reset_confirm",
    ),
    path("accounts/reset/done/", auth.PasswordResetCompleteView.as_view(), name="password_reset_complete"),
    path("accounts/tokens/", token_views.token_list, name="token-list"),
    path("accounts/tokens/<str:key>/revoke/", token_views.token_revoke, name="token-revoke"),
    path("team/", views.member_list, name="member-list"),
    path("team/name/", views.team_rename, name="team-rename"),
    path("team/add/", views.member_add, name="member-add"),
    path("team/<int:pk>/role/", views.member_role, name="member-role"),
    path("team/<int:pk>/link/", views.member_link, name="member-link"),
    path("team/<int:pk>/remove/", views.member_remove, name="member-remove"),
]
