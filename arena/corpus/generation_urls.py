from django.urls import path

from arena.corpus import generation_views as views

urlpatterns = [
    path("prompt-sets/<int:pk>/generate/", views.generation_new, name="generation-new"),
    path("models/asked/new/", views.asked_model_new, name="asked-model-new"),
    path("models/<int:pk>/asked/", views.asked_model_edit, name="asked-model-edit"),
    path("generation/", views.generation_run_list, name="generation-run-list"),
    path("generation/<int:pk>/", views.generation_run, name="generation-run"),
    path("generation/<int:pk>/cancel/", views.generation_run_cancel, name="generation-run-cancel"),
    path("generation/<int:pk>/pause/", views.generation_run_pause, name="generation-run-pause"),
    path("generation/<int:pk>/resume/", views.generation_run_resume, name="generation-run-resume"),
    path("generation/<int:pk>/retry/", views.generation_run_retry, name="generation-run-retry"),
]
