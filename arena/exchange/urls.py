from django.urls import path

from arena.exchange import export_views, gold_file_views, label_views, views

urlpatterns = [
    path("imports/", views.import_list, name="import-list"),
    path("imports/new/", views.import_new, name="import-new"),
    path("imports/<uuid:public_id>/", views.import_page, name="import"),
    path("imports/<uuid:public_id>/reread/", views.import_reread, name="import-reread"),
    path("imports/<uuid:public_id>/responses/", views.import_onward, name="import-onward"),
    path("imports/<uuid:public_id>/confirm/", views.import_confirm, name="import-confirm"),
    path("imports/<uuid:public_id>/cancel/", views.import_cancel, name="import-cancel"),
    path("imports/<uuid:public_id>/discard/", views.import_discard, name="import-discard"),
    path("imports/<uuid:public_id>/errors.csv", views.import_errors, name="import-errors"),
    path("imports/<uuid:public_id>/notes.csv", views.import_notes, name="import-notes"),
    path("prompt-sets/<int:pk>/labels/file/", label_views.label_file, name="label-file"),
    path("campaigns/<slug:slug>/golds/file/", gold_file_views.gold_file_add, name="gold-file"),
    path("exports/<slug:slug>/", export_views.export_list, name="export-list"),
    path("exports/<slug:slug>/new/", export_views.export_new, name="export-new"),
    path("exports/<slug:slug>/<uuid:public_id>.zip", export_views.export_file, name="export-file"),
    path("exports/<slug:slug>/<uuid:public_id>/delete/", export_views.export_delete, name="export-delete"),
]
