from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from arena.leaderboards import api as leaderboards

router = SimpleRouter(use_regex_path=False)
router.register("campaigns", leaderboards.CampaignViewSet, basename="api-campaign")
router.register("leaderboards", leaderboards.LeaderboardViewSet, basename="api-leaderboard")
router.register("snapshots", leaderboards.SnapshotViewSet, basename="api-snapshot")

urlpatterns = [
    path("", include(router.urls)),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
]
