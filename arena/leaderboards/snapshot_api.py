"""Snapshots for programs: the same numbers, and the same words of caution, as on their pages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from arena.leaderboards.boards.caution_codes import CODES
from arena.leaderboards.boards.snapshot_cautions import cautions_in
from arena.leaderboards.caching import cached
from arena.leaderboards.citation import cite
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.looks import KINDS, looks_of
from arena.leaderboards.snapshot_counts import counts_of


class StandingSerializer(serializers.ModelSerializer):
    competitor: serializers.RelatedField = serializers.SlugRelatedField(slug_field="name", read_only=True)
    organisation = serializers.CharField(source="competitor.organisation", read_only=True)

    class Meta:
        model = Standing
        fields = (
            "competitor",
            "organisation",
            "rating",
            "lower",
            "upper",
            "bootstrap_lower",
            "bootstrap_upper",
            "rank_lower",
            "rank_upper",
            "tied_first",
            "component",
            "battles",
            "wins",
            "losses",
            "ties",
            "flags",
            "shift",
            "shift_lower",
            "shift_upper",
            "move",
            "move_lower",
            "move_upper",
        )


class RegisteredPlanSerializer(serializers.ModelSerializer):
    """The analysis plan that a snapshot is registered under."""

    pairs = serializers.SerializerMethodField(
        help_text="of models, by the names it was frozen with, that its question is about; empty: all pairs"
    )

    class Meta:
        model = AnalysisPlan
        fields = ("version", "frozen_at", "sha256", "pairs")

    @extend_schema_field(serializers.ListField(child=serializers.ListField(child=serializers.CharField())))
    def get_pairs(self, plan: AnalysisPlan) -> list[list[str]]:
        return plan.content().get("pairs", [])


class LookSerializer(serializers.Serializer):
    """A registered board before the planned number of votes was cast, or the campaign closed, and after."""

    kind = serializers.ChoiceField(choices=KINDS, read_only=True)
    votes_cast = serializers.IntegerField(source="got", read_only=True)
    planned_votes = serializers.IntegerField(
        source="planned", read_only=True, allow_null=True, help_text="null: the plan names no number"
    )
    final_snapshot = serializers.IntegerField(
        source="final", read_only=True, allow_null=True, help_text="its number; null: not taken yet"
    )


class CautionSerializer(serializers.Serializer):
    code = serializers.ChoiceField(choices=CODES, read_only=True)
    text = serializers.CharField(read_only=True)


class SnapshotListSerializer(serializers.ModelSerializer):
    leaderboard: serializers.RelatedField = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaign = serializers.CharField(source="leaderboard.campaign.slug", read_only=True)
    plan = RegisteredPlanSerializer(
        source="registered_plan",
        read_only=True,
        allow_null=True,
        help_text="frozen before the first vote; null: the board explores",
    )
    look = serializers.SerializerMethodField(
        help_text="null: the board explores, or is a judge’s, of whom no plan says how much to wait for"
    )

    class Meta:
        model = Snapshot
        fields: tuple[str, ...] = (
            "id",
            "leaderboard",
            "campaign",
            "cutoff",
            "taken_at",
            "vote_digest",
            "plan",
            "look",
        )

    @extend_schema_field(LookSerializer(allow_null=True))
    def get_look(self, snapshot: Snapshot) -> dict[str, Any] | None:
        known = self.context.get("looks")
        look = (looks_of([snapshot]) if known is None else known).get(snapshot.pk)
        return LookSerializer(look).data if look else None


class SnapshotSerializer(SnapshotListSerializer):
    """A snapshot whole: what it was fitted on, how, and every standing."""

    counts = serializers.SerializerMethodField()
    options = serializers.SerializerMethodField()
    coefficients = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField(
        help_text="of the fit alone, as they were stored; `cautions` has all"
    )
    cautions = serializers.SerializerMethodField(
        help_text="every sentence of caution that the snapshot’s page shows"
    )
    standings = StandingSerializer(many=True, read_only=True)
    citation = serializers.SerializerMethodField()

    class Meta(SnapshotListSerializer.Meta):
        fields = (
            *SnapshotListSerializer.Meta.fields,
            "seed",
            "code_version",
            "counts",
            "options",
            "coefficients",
            "warnings",
            "cautions",
            "standings",
            "citation",
        )

    def get_citation(self, snapshot: Snapshot) -> str:
        return cite(snapshot)

    @extend_schema_field(CautionSerializer(many=True))
    def get_cautions(self, snapshot: Snapshot) -> list[dict[str, str]]:
        found = cautions_in(snapshot, list(snapshot.standings.all()))
        return [{"code": caution.code, "text": caution.text} for caution in found.every]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_counts(self, snapshot: Snapshot) -> dict[str, Any]:
        return counts_of(snapshot)

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_options(self, snapshot: Snapshot) -> dict[str, Any]:
        return snapshot.options

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_coefficients(self, snapshot: Snapshot) -> list[dict[str, Any]]:
        return snapshot.coefficients

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_warnings(self, snapshot: Snapshot) -> list[str]:
        return snapshot.warnings


class SnapshotFilter(filters.FilterSet):
    leaderboard = filters.CharFilter("leaderboard__slug")
    campaign = filters.CharFilter("leaderboard__campaign__slug")

    class Meta:
        model = Snapshot
        fields = ("leaderboard", "campaign")


class SnapshotViewSet(ReadOnlyModelViewSet):
    """All snapshots of the leaderboards that the caller may see, newest first."""

    queryset = Snapshot.objects.order_by("-pk")
    permission_classes = [AllowAny]
    filterset_class = SnapshotFilter

    def get_queryset(self) -> QuerySet[Snapshot]:
        boards = Leaderboard.objects.visible_to(self.request.user)
        listed = Snapshot.objects.select_related("leaderboard__campaign", "plan__campaign").order_by("-pk")
        return (listed if self.action == "list" else whole_snapshots()).filter(leaderboard__in=boards)

    def get_serializer(self, *args: Any, **kwargs: Any) -> serializers.BaseSerializer:
        """A page's looks are found together."""
        if kwargs.get("many"):
            kwargs["context"] = {**self.get_serializer_context(), "looks": looks_of(args[0])}
        return super().get_serializer(*args, **kwargs)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        """A snapshot whole. Its numbers never change; names in it, and whether it is final, may."""
        return answer_whole(request, self.get_object())

    def get_serializer_class(self) -> type[SnapshotListSerializer]:
        return SnapshotListSerializer if self.action == "list" else SnapshotSerializer


def answer_whole(
    request: Request | HttpRequest,
    snapshot: Snapshot,
    answer: Callable[[Any], HttpResponseBase] = Response,
) -> HttpResponseBase:
    """Its tag is of all that it says, for cautions come of votes, plans and closings too."""
    told = SnapshotSerializer(snapshot).data
    said = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    return cached(request, snapshot, f"whole {said}", lambda: answer(told))


def whole_snapshots() -> QuerySet[Snapshot]:
    snapshots = Snapshot.objects.select_related(
        "leaderboard__campaign__team", "leaderboard__judge", "plan__campaign"
    )
    listed = Prefetch("standings", Standing.objects.as_listed())
    return snapshots.prefetch_related(listed).order_by("-pk")
