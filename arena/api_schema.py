"""The API's description of itself."""

from __future__ import annotations

from typing import Any

from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response


class Schema(SpectacularAPIView):
    # There is one; without this, any text that a visitor sends as `version` becomes part of a header.
    api_version = "1"

    def _get_filename(self, request: Any, version: str) -> str:
        return super()._get_filename(request, "")

    def handle_exception(self, exc: Exception) -> Response:
        """An error is no schema, and told as everywhere else."""
        self.request.accepted_renderer = JSONRenderer()
        self.request.accepted_media_type = JSONRenderer.media_type
        return super().handle_exception(exc)
