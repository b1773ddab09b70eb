from django.urls import path

from arena.judging import definition_views, views

urlpatterns = [
    path("judges/", definition_views.judge_list, name="judge-list"),
    path("judges/new/", definition_views.judge_new, name="judge-new"),
    path("judges/<int:pk>/canaries/", views.judge_canaries, name="judge-canaries"),
    path("rubrics/new/", definition_views.rubric_new, name="rubric-new"),
    path("judging/", views.judge_run_list, name="judge-run-list"),
    path("judging/new/", views.judge_run_new, name="judge-run-new"),
    path("judging/runs/<int:pk>/", views.judge_run, name="judge-run"),
    *views.acts.urls("judging/runs"),
    path("judging/judgments/<int:pk>/", views.judgment, name="judgment"),
]
