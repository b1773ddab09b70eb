from django.urls import include, path
from django.views.i18n import set_language

from arena import home
from arena.operation import health

urlpatterns = [
    # First, because votes are most of all requests and addresses are tried in this order.
    path("", include("arena.battles.urls")),
    path("", home.index, name="home"),
    path("language/", set_language, name="set-language"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("", include("arena.raters.urls")),
    path("", include("arena.endpoints.urls")),
    path("", include("arena.corpus.generation_urls")),
    path("", include("arena.corpus.urls")),
    path("", include("arena.campaigns.urls")),
    path("", include("arena.judging.urls")),
    path("", include("arena.leaderboards.urls")),
    path("", include("arena.exchange.urls")),
    path("api/v1/", include("arena.api_urls")),
]
