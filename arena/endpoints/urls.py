from django.urls import path

from arena.endpoints import views

urlpatterns = [
    path("endpoints/", views.endpoint_list, name="endpoint-list"),
    path("endpoints/new/", views.endpoint_new, name="endpoint-new"),
    path("endpoints/<int:pk>/", views.endpoint_edit, name="endpoint-edit"),
    path("endpoints/<int:pk>/wake/", views.endpoint_wake, name="endpoint-wake"),
    path("endpoints/<int:pk>/send-all/", views.endpoint_send_all, name="endpoint-send-all"),
    path("endpoints/<int:pk>/test/", views.endpoint_test, name="endpoint-test"),
]
