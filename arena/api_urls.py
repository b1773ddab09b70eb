from django.urls import include, path
from rest_framework.routers import SimpleRouter

from arena.api_docs import api_docs
from arena.api_schema import Schema
from arena.exchange import api as exchange
from arena.leaderboards import api as leaderboards
from arena.leaderboards import snapshot_api, table_api
from arena.leaderboards.agreement import calibration_api, card_api
from arena.leaderboards.tables.page_table_api import PageTable

router = SimpleRouter(use_regex_path=False)
router.register("campaigns", leaderboards.CampaignViewSet, basename="api-campaign")
router.register("leaderboards", leaderboards.LeaderboardViewSet, basename="api-leaderboard")
router.register("snapshots", snapshot_api.SnapshotViewSet, basename="api-snapshot")
router.register("judge-cards", card_api.JudgeCardViewSet, basename="api-judge-card")
router.register("calibrations", calibration_api.CalibrationViewSet, basename="api-calibration")
router.register("imports", exchange.ImportViewSet, basename="api-import")

urlpatterns = [
    path("", api_docs, name="api"),
    path("docs/", api_docs, name="api-docs"),
    path("", include(router.urls)),
    path(
        "snapshots/<int:pk>/<slug:table>.<slug:kind>",
        table_api.SnapshotTable.as_view(),
        name="snapshot-table",
    ),
    path(
        "leaderboards/<slug:slug>/snapshots/latest/<slug:table>.<slug:kind>",
        table_api.LatestTable.as_view(),
        name="latest-table",
    ),
    path(
        "campaigns/<slug:slug>/tables/<slug:table>.<slug:kind>",
        PageTable.as_view(),
        name="page-table",
    ),
    path("schema/", Schema.as_view(), name="api-schema"),
]
