from django.urls import path

from arena.battles import exclusion_views, gold_views, own_views, views

urlpatterns = [
    path("campaigns/<slug:slug>/battle/", views.battle, name="battle"),
    path("campaigns/<slug:slug>/battle/more/", views.battle_more, name="battle-more"),
    path("campaigns/<slug:slug>/battle/text/", views.battle_text, name="battle-text"),
    path("campaigns/<slug:slug>/preview/", views.battle_preview, name="battle-preview"),
    path("campaigns/<slug:slug>/my-votes/", own_views.my_votes, name="my-votes"),
    path("campaigns/<slug:slug>/my-link/", own_views.my_link, name="my-link"),
    path("campaigns/<slug:slug>/exclusions/", exclusion_views.battle_exclusions, name="battle-exclusions"),
    path(
        "campaigns/<slug:slug>/exclusions/<int:pk>/revoke/",
        exclusion_views.battle_exclusion_revoke,
        name="battle-exclusion-revoke",
    ),
    path("campaigns/<slug:slug>/golds/", gold_views.battle_golds, name="battle-golds"),
    path(
        "campaigns/<slug:slug>/golds/<int:pk>/retire/",
        gold_views.battle_gold_retire,
        name="battle-gold-retire",
    ),
    path("battles/<uuid:public_id>/vote/", views.battle_vote, name="battle-vote"),
    path("battles/<uuid:public_id>/undo/", views.battle_undo, name="battle-undo"),
    path("battles/<uuid:public_id>/skip/", views.battle_skip, name="battle-skip"),
    path("battles/<uuid:public_id>/flag/", views.battle_flag, name="battle-flag"),
    path("battles/<uuid:public_id>/reasons/", views.battle_reasons, name="battle-reasons"),
]
