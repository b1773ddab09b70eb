from importlib.util import find_spec

from django.urls import include, path

from arena import home

urlpatterns = [path("", home.index, name="home")]
for module in (
    "raters.urls",
    "campaigns.urls",
    "corpus.urls",
    "endpoints.urls",
    "battles.urls",
    "judging.urls",
    "leaderboards.urls",
    "exchange.urls",
):
    if find_spec(f"arena.{module}"):
        urlpatterns.append(path("", include(f"arena.{module}")))
if find_spec("arena.health"):
    from arena import health

    urlpatterns += [
        path("healthz", health.healthz, name="healthz"),
        path("readyz", health.readyz, name="readyz"),
    ]
if find_spec("arena.api_urls"):
    urlpatterns.append(path("api/v1/", include("arena.api_urls")))
