from django.urls import path

from arena.judging import definition_views

urlpatterns = [
    path("judges/", definition_views.judge_list, name="judge-list"),
    path("judges/new/", definition_views.judge_new, name="judge-new"),
    path("rubrics/new/", definition_views.rubric_new, name="rubric-new"),
]
