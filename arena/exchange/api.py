"""Uploads by programs: the same intake and the same access as the pages."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from arena.exchange import intake, tasks
from arena.exchange.formats.columns import COLUMNS
from arena.exchange.formats.how import How
from arena.exchange.formats.known import AUTO, NAMES
from arena.exchange.formats.lines import unstorable
from arena.exchange.formats.tables import CHOOSABLE
from arena.exchange.forms import say_too_large
from arena.exchange.models import Import
from arena.raters import access
from arena.raters.models import Role


class ImportSerializer(serializers.ModelSerializer):
    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = Import
        fields = (
            "id",
            "kind",
            "target",
            "file_name",
            "file_size",
            "file_sha256",
            "state",
            "description",
            "done_rows",
            "total_rows",
            "added",
            "skipped",
            "error_count",
            "errors",
            "notices",
            "personal",
            "contents",
            "created_at",
            "finished_at",
        )
        read_only_fields = fields


class ColumnsField(serializers.JSONField):
    def to_internal_value(self, data: Any) -> Any:
        """JSON from outside may nest deeper than Python reads."""
        try:
            return super().to_internal_value(data)
        except RecursionError:
            self.fail("invalid")


class UploadSerializer(serializers.Serializer):
    kind = serializers.ChoiceField(choices=Import.Kind.choices)
    target = serializers.CharField(
        max_length=120, help_text="name of the prompt set, or the last part of the campaign's address"
    )
    file = serializers.FileField(max_length=255, allow_empty_file=True)
    confirm = serializers.BooleanField(
        default=False, help_text="store it as soon as it is found in order; else it waits to be confirmed"
    )
    format = serializers.ChoiceField(choices=NAMES, default=AUTO, help_text="of a file of votes")
    judges = serializers.BooleanField(
        default=None,
        allow_null=True,
        help_text="the raters of the file are LLM judges; false: people, whatever they are called",
    )
    model = serializers.CharField(
        max_length=200, default="", allow_blank=True, help_text="whose responses they all are"
    )
    model_columns = serializers.ListField(
        child=serializers.CharField(max_length=1000),
        default=list,
        max_length=200,
        help_text="columns that hold one model's responses each",
    )
    columns = ColumnsField(
        default=None, help_text='our columns to the file\'s, as JSON: {"id": "Number", "prompt": "Question"}'
    )
    encoding = serializers.ChoiceField(choices=CHOOSABLE, default="", allow_blank=True)
    delimiter = serializers.ChoiceField(choices=(",", ";", "\t", "|"), default="", allow_blank=True)

    def validate_file(self, file: Any) -> Any:
        if file.size > settings.MAX_UPLOAD_MB * 1024 * 1024:
            raise serializers.ValidationError(say_too_large(self.initial_data.get("kind", "")))
        return file

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        columns, ours = attrs["columns"], COLUMNS.get(attrs["kind"], {})
        if columns is None:
            return attrs
        is_map = isinstance(columns, dict) and all(isinstance(header, str) for header in columns.values())
        if not is_map or not columns.keys() <= ours.keys():
            words = _("An object is needed that gives some of %(ours)s the name of a column in the file.")
            raise serializers.ValidationError({"columns": words % {"ours": ", ".join(ours)}})
        for header in columns.values():
            if reason := unstorable(header):
                raise serializers.ValidationError({"columns": _("A name %(reason)s.") % {"reason": reason}})
        return attrs


def how_told(said: dict[str, Any]) -> How:
    names = ("format", "model", "columns", "encoding", "delimiter")
    return How(
        **{name: said[name] for name in names},
        judges=said["judges"] is True,
        people=said["judges"] is False,
        model_columns=tuple(said["model_columns"]),
    )


class ImportViewSet(mixins.RetrieveModelMixin, mixins.ListModelMixin, GenericViewSet):
    """Files brought in by the teams that the caller administers, with their state and what they held."""

    serializer_class = ImportSerializer
    parser_classes = (MultiPartParser,)
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "uuid"
    queryset = Import.objects.none()

    def get_queryset(self) -> QuerySet[Import]:
        return access.objects_for(Import.objects.all(), self.request.user, Role.ADMIN).order_by("-pk")

    @extend_schema(request={"multipart/form-data": UploadSerializer}, responses={201: ImportSerializer})
    def create(self, request: Request) -> Response:
        """A small file is checked (and stored) at once, a larger one in the background: ask for its state."""
        team = access.acting_team(request.user)
        upload = UploadSerializer(data=request.data)
        upload.is_valid(raise_exception=True)
        said = upload.validated_data
        record = intake.accept(
            team,
            request.user,
            said["kind"],
            said["target"],
            said["file"],
            how_told(said),
            at_once=said["confirm"],
        )
        tasks.start(record)
        return self._answer(record, status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={200: ImportSerializer, 409: ImportSerializer})
    @action(detail=True, methods=["post"], parser_classes=[])
    def confirm(self, request: Request, id: str) -> Response:
        """Stores what was checked and found in order."""
        record = self.get_object()
        if not intake.confirm(record):
            return self._answer(record, status.HTTP_409_CONFLICT)
        tasks.start(record)
        return self._answer(record)

    @extend_schema(request=None, responses={200: ImportSerializer, 409: ImportSerializer})
    @action(detail=True, methods=["post"], parser_classes=[])
    def cancel(self, request: Request, id: str) -> Response:
        """Stops what is under way, and drops the file of what waits; nothing stays."""
        record = self.get_object()
        if intake.cancel(record):
            tasks.start(record)
        elif not intake.drop(record):
            return self._answer(record, status.HTTP_409_CONFLICT)
        return self._answer(record)

    def _answer(self, record: Import, code: int = status.HTTP_200_OK) -> Response:
        try:
            record.refresh_from_db()
        except Import.DoesNotExist:  # discarded in this moment
            raise NotFound from None
        return Response(ImportSerializer(record).data, status=code)
