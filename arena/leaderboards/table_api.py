"""Tables of a snapshot as files, for pandas and its kind: two lines load a board."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from arena.leaderboards import downloads
from arena.leaderboards.caching import cached
from arena.leaderboards.models import Leaderboard, Snapshot

_PARAMETERS = [
    OpenApiParameter("table", str, OpenApiParameter.PATH, enum=downloads.TABLES),
    OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=tuple(downloads.MEDIA_TYPES)),
]
FILES = {
    (200, "text/csv"): OpenApiTypes.STR,
    (200, "application/json"): {"type": "array", "items": {"type": "object", "additionalProperties": {}}},
    (200, downloads.MEDIA_TYPES[downloads.PARQUET]): OpenApiTypes.BINARY,
}


class ByAddress(BaseContentNegotiation):
    """The address says which kind of file it is, whatever Accept says."""

    def select_parser(self, request, parsers):
        return parsers[0]

    def select_renderer(self, request, renderers, format_suffix=None):
        return renderers[0], renderers[0].media_type


class TableView(APIView):
    permission_classes = [AllowAny]
    content_negotiation_class = ByAddress

    def find(self, request: Request, **wanted: object) -> Snapshot:
        """Pages about boards hide what may not be seen, and so does this."""
        boards = Leaderboard.objects.visible_to(request.user)
        snapshots = Snapshot.objects.filter(leaderboard__in=boards, **wanted)
        snapshot = snapshots.select_related("leaderboard__campaign", "plan__campaign").first()
        if snapshot is None:
            raise NotFound
        return snapshot

    def file(self, request: Request, snapshot: Snapshot, table: str, kind: str) -> HttpResponseBase:
        if table not in downloads.TABLES or kind not in downloads.MEDIA_TYPES:
            tables, kinds = ", ".join(downloads.TABLES), ", ".join(downloads.MEDIA_TYPES)
            raise NotFound(f"There is no {table}.{kind}; tables are {tables}, each as {kinds}.")
        look_whether_kept(snapshot, table)

        def make() -> HttpResponse:
            rows = downloads.table_of(snapshot, table)
            look_whether_kept(snapshot, table)  # another that came meanwhile has taken them away
            content = downloads.as_file(rows, kind)
            response = HttpResponse(content, content_type=downloads.MEDIA_TYPES[kind])
            name = f"{snapshot.leaderboard.slug}-snapshot-{snapshot.pk}-{table}.{kind}"
            response["Content-Disposition"] = f'attachment; filename="{name}"'
            return response

        return cached(request, snapshot, f"{table}.{kind} {downloads.form_of(snapshot, table)}", make)


def look_whether_kept(snapshot: Snapshot, table: str) -> None:
    if table not in downloads.OF_NEWEST or snapshot == snapshot.leaderboard.snapshots.first():
        return
    if table == "pairs" and snapshot.pairs.exists():  # a final look's
        return
    also = ", and for a registered board's final one" if table == "pairs" else " alone"
    raise NotFound(f"{table.capitalize()} are kept for a leaderboard's newest snapshot{also}.")


class SnapshotTable(TableView):
    @extend_schema(parameters=_PARAMETERS, responses=FILES, operation_id="snapshots_table_retrieve")
    def get(self, request: Request, pk: int, table: str, kind: str) -> HttpResponseBase:
        """One table of a snapshot: CSV, JSON or Parquet. Its numbers never change."""
        return self.file(request, self.find(request, pk=pk), table, kind)


class LatestTable(TableView):
    @extend_schema(parameters=_PARAMETERS, responses=FILES, operation_id="leaderboards_table_retrieve")
    def get(self, request: Request, slug: str, table: str, kind: str) -> HttpResponseBase:
        """One table of a leaderboard's newest snapshot: CSV, JSON or Parquet."""
        return self.file(request, self.find(request, leaderboard__slug=slug), table, kind)
