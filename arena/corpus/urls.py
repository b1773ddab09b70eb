from django.urls import path

from arena.corpus import views

urlpatterns = [
    path("prompt-sets/", views.prompt_set_list, name="prompt-set-list"),
    path("prompt-sets/<int:pk>/", views.prompt_set_page, name="prompt-set"),
    path("prompt-sets/<int:pk>/publish/", views.prompt_set_publish, name="prompt-set-publish"),
    path("models/", views.competitor_list, name="competitor-list"),
]
