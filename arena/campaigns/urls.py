from django.urls import path

from arena.campaigns import views

urlpatterns = [
    path("campaigns/", views.campaign_list, name="campaign-list"),
    path("campaigns/new/", views.campaign_new, name="campaign-new"),
    path("campaigns/<slug:slug>/", views.campaign_page, name="campaign"),
    path("campaigns/<slug:slug>/edit/", views.campaign_edit, name="campaign-edit"),
    path("campaigns/<slug:slug>/open/", views.campaign_open, name="campaign-open"),
    path("campaigns/<slug:slug>/pause/", views.campaign_pause, name="campaign-pause"),
    path("campaigns/<slug:slug>/close/", views.campaign_close, name="campaign-close"),
    path("campaigns/<slug:slug>/invites/new/", views.invite_new, name="invite-new"),
    path("campaigns/<slug:slug>/invites/<int:pk>/revoke/", views.invite_revoke, name="invite-revoke"),
    path("campaigns/<slug:slug>/begin/", views.begin, name="begin"),
    path("campaigns/<slug:slug>/guide/", views.guide, name="guide"),
    path("join/<str:token>/", views.join, name="join"),
]
