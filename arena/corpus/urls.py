from django.urls import path

from arena.corpus import competitor_views, leak_views, prompt_views, views

urlpatterns = [
    path("prompt-sets/", views.prompt_set_list, name="prompt-set-list"),
    path("prompt-sets/new/", views.prompt_set_new, name="prompt-set-new"),
    path("prompt-sets/<int:pk>/", views.prompt_set_page, name="prompt-set"),
    path("prompt-sets/<int:pk>/edit/", views.prompt_set_edit, name="prompt-set-edit"),
    path("prompt-sets/<int:pk>/publish/", views.prompt_set_publish, name="prompt-set-publish"),
    path("prompt-sets/<int:pk>/retire/", views.prompt_set_retire, name="prompt-set-retire"),
    path("prompt-sets/<int:pk>/reinstate/", views.prompt_set_reinstate, name="prompt-set-reinstate"),
    path("prompt-sets/<int:pk>/next/", views.prompt_set_next, name="prompt-set-next"),
    path("prompt-sets/<int:pk>/compare/", views.prompt_set_compare, name="prompt-set-compare"),
    path("prompt-sets/<int:pk>/duplicates/", views.prompt_set_duplicates, name="prompt-set-duplicates"),
    path("prompt-sets/<int:pk>/labels/", views.prompt_set_labels, name="prompt-set-labels"),
    path("prompt-sets/<int:pk>/leaks/", leak_views.leak_list, name="leak-list"),
    path("prompt-sets/<int:pk>/leaks/again/", leak_views.leak_look_again, name="leak-look-again"),
    path("prompt-sets/<int:pk>/prompts/new/", prompt_views.prompt_new, name="prompt-new"),
    path("prompts/<int:pk>/", prompt_views.prompt_page, name="prompt"),
    path("prompts/<int:pk>/edit/", prompt_views.prompt_edit, name="prompt-edit"),
    path("prompts/<int:pk>/row/", prompt_views.prompt_row, name="prompt-row"),
    path("prompts/<int:pk>/remove/", prompt_views.prompt_remove, name="prompt-remove"),
    path("prompts/<int:pk>/redact/", prompt_views.prompt_redact, name="prompt-redact"),
    path("responses/<int:pk>/redact/", prompt_views.response_redact, name="response-redact"),
    path("responses/<int:pk>/no-leak/", leak_views.leak_dismiss, name="leak-dismiss"),
    path("responses/<int:pk>/leak/", leak_views.leak_take_back, name="leak-take-back"),
    path("models/", competitor_views.competitor_list, name="competitor-list"),
    path("models/new/", competitor_views.competitor_new, name="competitor-new"),
    path("models/<int:pk>/", competitor_views.competitor_edit, name="competitor-edit"),
    path("models/<int:pk>/remove/", competitor_views.competitor_remove, name="competitor-remove"),
]
