from django.urls import path

from arena.campaigns import guide_views, invite_views, join_views, views

urlpatterns = [
    path("campaigns/", views.campaign_list, name="campaign-list"),
    path("campaigns/new/", views.campaign_new, name="campaign-new"),
    path("campaigns/<slug:slug>/", views.campaign_page, name="campaign"),
    path("campaigns/<slug:slug>/edit/", views.campaign_edit, name="campaign-edit"),
    path("campaigns/<slug:slug>/adopt/", views.campaign_adopt, name="campaign-adopt"),
    path(
        "campaigns/<slug:slug>/sets/<int:pk>/publish/",
        views.campaign_publish,
        name="campaign-publish",
    ),
    path("campaigns/<slug:slug>/open/", views.campaign_open, name="campaign-open"),
    path("campaigns/<slug:slug>/pause/", views.campaign_pause, name="campaign-pause"),
    path("campaigns/<slug:slug>/close/", views.campaign_close, name="campaign-close"),
    path("campaigns/<slug:slug>/clone/", views.campaign_clone, name="campaign-clone"),
    path("campaigns/<slug:slug>/progress/", views.campaign_progress, name="campaign-progress"),
    path("campaigns/<slug:slug>/guide/edit/", guide_views.guide_edit, name="guide-edit"),
    path("campaigns/<slug:slug>/guide/changes/", guide_views.guide_diff, name="guide-diff"),
    path("campaigns/<slug:slug>/invites/", invite_views.invite_list, name="invite-list"),
    path("campaigns/<slug:slug>/invites/new/", invite_views.invite_new, name="invite-new"),
    path("campaigns/<slug:slug>/invites/personal/", invite_views.invite_personal, name="invite-personal"),
    path("campaigns/<slug:slug>/invites/revoke/", invite_views.invite_revoke_all, name="invite-revoke-all"),
    path("campaigns/<slug:slug>/invites/roster.csv", invite_views.roster_csv, name="roster-csv"),
    path("campaigns/<slug:slug>/invites/<int:pk>/revoke/", invite_views.invite_revoke, name="invite-revoke"),
    path("campaigns/<slug:slug>/invites/<int:pk>/anew/", invite_views.invite_reissue, name="invite-reissue"),
    path("campaigns/<slug:slug>/invites/<int:pk>/name/", invite_views.invite_rename, name="invite-rename"),
    path("campaigns/<slug:slug>/invites/<int:pk>/remove/", invite_views.invite_remove, name="invite-remove"),
    path("campaigns/<slug:slug>/begin/", join_views.begin, name="begin"),
    path("campaigns/<slug:slug>/guide/", join_views.guide, name="guide"),
    path("join/<str:token>/", join_views.join, name="join"),
]
