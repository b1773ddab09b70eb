"""The API's description of itself."""

from __future__ import annotations

from typing import Any

from drf_spectacular.views import SpectacularAPIView


class Schema(SpectacularAPIView):
    # There is one; without this, any text that a visitor sends as `version` becomes part of a header.
    api_version = "1"

    def _get_filename(self, request: Any, version: str) -> str:
        return super()._get_filename(request, "")
