from django.urls import path

from arena.leaderboards import my_votes_views, part_views, snapshot_views, views
from arena.leaderboards.agreement import (
    agreement_views,
    card_views,
    judge_calibration_views,
    spot_check_views,
)
from arena.leaderboards.plans import analysis_plan_views, frozen_plan_views, plan_views
from arena.leaderboards.reading import reader_views
from arena.leaderboards.report import report_views

urlpatterns = [
    path("campaigns/<slug:slug>/plan/", plan_views.campaign_plan, name="campaign-plan"),
    path("campaigns/<slug:slug>/analysis-plan/", analysis_plan_views.analysis_plan, name="analysis-plan"),
    path(
        "campaigns/<slug:slug>/analysis-plan/save/",
        analysis_plan_views.analysis_plan_save,
        name="analysis-plan-save",
    ),
    path(
        "campaigns/<slug:slug>/analysis-plan/freeze/",
        analysis_plan_views.analysis_plan_freeze,
        name="analysis-plan-freeze",
    ),
    path("campaigns/<slug:slug>/my-votes/board/", my_votes_views.my_votes_board, name="my-votes-board"),
    path(
        "campaigns/<slug:slug>/my-votes/board.<slug:kind>", my_votes_views.my_votes_file, name="my-votes-file"
    ),
    path(
        "prompt-sets/<int:pk>/spot-check.<slug:kind>",
        spot_check_views.spot_check_file,
        name="spot-check-file",
    ),
    path("boards/", views.board_list, name="board-list"),
    path("boards/<slug:campaign>/", views.board, name="board"),
    path("boards/<slug:campaign>/parts/", part_views.board_parts, name="board-parts"),
    path("boards/<slug:campaign>/agreement/", agreement_views.board_agreement, name="board-agreement"),
    path("boards/<slug:campaign>/plan/", frozen_plan_views.board_plan, name="board-plan"),
    path(
        "boards/<slug:campaign>/plan/<int:version>.json",
        frozen_plan_views.board_plan_json,
        name="board-plan-json",
    ),
    path("boards/<slug:campaign>/report/", report_views.board_report, name="board-report"),
    path("boards/<slug:campaign>/report/text/", report_views.report_text, name="report-text"),
    path("boards/<slug:campaign>/battles/", reader_views.battle_reader, name="battle-reader"),
    path("boards/<slug:campaign>/battles.csv", reader_views.battle_reader_csv, name="battle-reader-csv"),
    path("battles/<uuid:public_id>/reading/", reader_views.battle_read, name="battle-read"),
    path("boards/<slug:campaign>/compare/", views.board_compare, name="board-compare"),
    path("boards/<slug:campaign>/model/", views.board_model, name="board-model"),
    path("boards/<slug:campaign>/charts/", views.board_charts, name="board-charts"),
    path("boards/<slug:campaign>/<slug:slug>/<slug:name>.svg", views.chart_svg, name="chart-svg"),
    path("boards/<slug:campaign>/<slug:slug>/<slug:name>.png", views.chart_png, name="chart-png"),
    path("boards/<slug:campaign>/<slug:slug>/<slug:name>.vl.json", views.chart_json, name="chart-json"),
    path("boards/<slug:campaign>/snapshot/", views.snapshot_take, name="snapshot-take"),
    path("boards/<slug:campaign>/visibility/", views.board_visibility, name="board-visibility"),
    path("boards/<slug:campaign>/<slug:slug>.csv", views.board_csv, name="board-csv"),
    path("boards/<slug:campaign>/<slug:slug>.json", views.board_json, name="board-json"),
    path("snapshots/<int:pk>/", snapshot_views.snapshot_page, name="snapshot"),
    path("boards/<slug:campaign>/<slug:slug>/snapshots/", snapshot_views.snapshot_list, name="snapshot-list"),
    path("boards/<slug:campaign>/<slug:slug>/diff/", snapshot_views.snapshot_diff, name="snapshot-diff"),
    path("judges/<int:pk>/card/", card_views.judge_card, name="judge-card"),
    path("judging/calibrations/", judge_calibration_views.calibration_list, name="calibration-list"),
    path("judging/calibrations/new/", judge_calibration_views.calibration_new, name="calibration-new"),
    path("judging/calibrations/<int:pk>/", judge_calibration_views.calibration, name="calibration"),
    path(
        "judging/calibrations/<int:pk>/measure/",
        judge_calibration_views.calibration_measure,
        name="calibration-measure",
    ),
    path("judging/runs/<int:pk>/wordings/", judge_calibration_views.run_wordings, name="judge-run-wordings"),
]
