"""Calibrations for programs: what people's labels fixed, and each judge's measurements against them."""

from typing import Any

from django.db.models import Count, Q, QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.viewsets import ReadOnlyModelViewSet

from arena.api_filters import IdFilter
from arena.judging.calibration_models import Calibration, Measurement, Part
from arena.leaderboards.agreement.card_models import RunFigures
from arena.raters.access import objects_for
from arena.raters.models import Role


class MeasurementSerializer(serializers.ModelSerializer):
    judge_name = serializers.CharField(source="judge.name", read_only=True)
    run_status = serializers.CharField(source="run.status", read_only=True)
    figures = serializers.SerializerMethodField(
        help_text="agreement with the labels; null until the run has ended and the worker has computed them"
    )

    class Meta:
        model = Measurement
        fields = (
            "id",
            "judge",
            "judge_name",
            "part",
            "rubric_sha256",
            "started_at",
            "run",
            "run_status",
            "figures",
        )

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_figures(self, measurement: Measurement) -> dict[str, Any] | None:
        known: RunFigures | None = getattr(measurement.run, "figures", None)
        return known.figures["labels"] if known else None


class CalibrationSerializer(serializers.ModelSerializer):
    campaign: serializers.RelatedField = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    dev = serializers.IntegerField(read_only=True, help_text="labels of the development part")
    held_out = serializers.IntegerField(read_only=True, help_text="labels of the held-out part")
    measurements = MeasurementSerializer(many=True, read_only=True)

    class Meta:
        model = Calibration
        fields = (
            "id",
            "campaign",
            "name",
            "created_at",
            "seed",
            "held_out_percent",
            "least_votes",
            "dev",
            "held_out",
            "left_out",
            "sha256",
            "measurements",
        )


class CalibrationFilter(filters.FilterSet):
    campaign = filters.CharFilter("campaign__slug")
    judge = IdFilter(
        "measurements__judge", distinct=True, label="calibrations against which this judge was measured"
    )

    class Meta:
        model = Calibration
        fields = ("campaign", "judge")


class CalibrationViewSet(ReadOnlyModelViewSet):
    """Calibrations of the caller's teams, newest first, with every measurement of a judge in its order."""

    queryset = Calibration.objects.order_by("-pk")
    serializer_class = CalibrationSerializer
    permission_classes = [IsAuthenticated]
    filterset_class = CalibrationFilter

    def get_queryset(self) -> QuerySet[Calibration]:
        mine = objects_for(Calibration.objects.all(), self.request.user, Role.RESEARCHER, "campaign__team")
        counted = mine.annotate(
            **{part: Count("labels", filter=Q(labels__part=part), distinct=True) for part in Part.values}
        )
        rows = counted.select_related("campaign").order_by("-pk")
        return rows.prefetch_related("measurements__judge", "measurements__run__figures")
