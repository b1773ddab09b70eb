from django.urls import path

from arena.leaderboards import card_views, plan_views, views

urlpatterns = [
    path("campaigns/<slug:slug>/plan/", plan_views.campaign_plan, name="campaign-plan"),
    path("boards/", views.board_list, name="board-list"),
    path("boards/<slug:campaign>/", views.board, name="board"),
    path("boards/<slug:campaign>/compare/", views.board_compare, name="board-compare"),
    path("boards/<slug:campaign>/model/", views.board_model, name="board-model"),
    path("boards/<slug:campaign>/charts/", views.board_charts, name="board-charts"),
    path("boards/<slug:campaign>/<slug:slug>/<slug:name>.svg", views.chart_svg, name="chart-svg"),
    path("boards/<slug:campaign>/<slug:slug>/<slug:name>.vl.json", views.chart_json, name="chart-json"),
    path("boards/<slug:campaign>/snapshot/", views.snapshot_take, name="snapshot-take"),
    path("boards/<slug:campaign>/visibility/", views.board_visibility, name="board-visibility"),
    path("boards/<slug:campaign>/<slug:slug>.csv", views.board_csv, name="board-csv"),
    path("boards/<slug:campaign>/<slug:slug>.json", views.board_json, name="board-json"),
    path("judges/<int:pk>/card/", card_views.judge_card, name="judge-card"),
]
