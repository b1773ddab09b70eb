from django.urls import path

from arena.corpus import generation_views as views

urlpatterns = [
    path("prompt-sets/<int:pk>/generate/", views.generation_new, name="generation-new"),
    path("models/asked/new/", views.asked_model_new, name="asked-model-new"),
    path("models/<int:pk>/asked/", views.asked_model_edit, name="asked-model-edit"),
    path("generation/", views.generation_run_list, name="generation-run-list"),
    path("generation/<int:pk>/", views.generation_run, name="generation-run"),
    *views.acts.urls("generation"),
]
