"""Campaigns, leaderboards and snapshots for programs; the same rows and the same access as the pages."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpResponseBase
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from arena.campaigns.models import Campaign
from arena.leaderboards.caching import cached
from arena.leaderboards.citation import cite
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.raters.access import objects_for
from arena.raters.models import Role


class CampaignSerializer(serializers.ModelSerializer):
    competitors: serializers.RelatedField = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )
    prompt_sets: serializers.RelatedField = serializers.StringRelatedField(many=True, read_only=True)

    class Meta:
        model = Campaign
        fields = (
            "slug",
            "name",
            "description",
            "status",
            "admission",
            "reveal",
            "quota",
            "competitors",
            "prompt_sets",
            "created_at",
            "opened_at",
            "closed_at",
        )


class LeaderboardSerializer(serializers.ModelSerializer):
    campaign: serializers.RelatedField = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    judge: serializers.RelatedField = serializers.SlugRelatedField(slug_field="name", read_only=True)

    class Meta:
        model = Leaderboard
        fields = (
            "slug",
            "name",
            "campaign",
            "subset",
            "source",
            "judge",
            "style_control",
            "policies",
            "part",
            "visibility",
            "created_at",
        )


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

    class Meta:
        model = AnalysisPlan
        fields = ("version", "frozen_at", "sha256")


class SnapshotListSerializer(serializers.ModelSerializer):
    leaderboard: serializers.RelatedField = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaign = serializers.CharField(source="leaderboard.campaign.slug", read_only=True)
    plan = RegisteredPlanSerializer(
        read_only=True, allow_null=True, help_text="frozen before the first vote; null: the board explores"
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
        )


class SnapshotSerializer(SnapshotListSerializer):
    """A snapshot whole: what it was fitted on, how, and every standing."""

    counts = serializers.SerializerMethodField()
    options = serializers.SerializerMethodField()
    coefficients = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField()
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
            "standings",
            "citation",
        )

    def get_citation(self, snapshot: Snapshot) -> str:
        return cite(snapshot)

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_counts(self, snapshot: Snapshot) -> dict[str, Any]:
        return snapshot.counts

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_options(self, snapshot: Snapshot) -> dict[str, Any]:
        return snapshot.options

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_coefficients(self, snapshot: Snapshot) -> list[dict[str, Any]]:
        return snapshot.coefficients

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_warnings(self, snapshot: Snapshot) -> list[str]:
        return snapshot.warnings


class LeaderboardFilter(filters.FilterSet):
    campaign = filters.CharFilter("campaign__slug")

    class Meta:
        model = Leaderboard
        fields = ("campaign", "subset", "source", "style_control")


class SnapshotFilter(filters.FilterSet):
    leaderboard = filters.CharFilter("leaderboard__slug")
    campaign = filters.CharFilter("leaderboard__campaign__slug")

    class Meta:
        model = Snapshot
        fields = ("leaderboard", "campaign")


class CampaignViewSet(ReadOnlyModelViewSet):
    """The campaigns of the teams in which the caller researches."""

    queryset = Campaign.objects.order_by("pk")
    serializer_class = CampaignSerializer
    permission_classes = [IsAuthenticated]
    lookup_field = "slug"

    def get_queryset(self) -> QuerySet[Campaign]:
        campaigns = objects_for(Campaign.objects.all(), self.request.user, Role.RESEARCHER)
        return campaigns.prefetch_related("competitors", "prompt_sets").order_by("pk")


class LeaderboardViewSet(ReadOnlyModelViewSet):
    """The leaderboards that the caller may see; public ones need no account."""

    queryset = Leaderboard.objects.order_by("pk")
    serializer_class = LeaderboardSerializer
    permission_classes = [AllowAny]
    filterset_class = LeaderboardFilter
    lookup_field = "slug"

    def get_queryset(self) -> QuerySet[Leaderboard]:
        boards = Leaderboard.objects.visible_to(self.request.user)
        return boards.select_related("campaign", "judge").order_by("pk")

    @extend_schema(responses=SnapshotSerializer)
    @action(detail=True, url_path="snapshots/latest", filterset_class=None, pagination_class=None)
    def latest(self, request: Request, slug: str) -> HttpResponseBase:
        """The newest snapshot of this leaderboard, with its standings."""
        snapshot = whole_snapshots().filter(leaderboard=self.get_object()).first()
        if snapshot is None:
            raise Http404
        return cached(request, snapshot, "whole with plan", lambda: whole(snapshot), is_its_own_address=False)


class SnapshotViewSet(ReadOnlyModelViewSet):
    """All snapshots of the leaderboards that the caller may see, newest first."""

    queryset = Snapshot.objects.order_by("-pk")
    permission_classes = [AllowAny]
    filterset_class = SnapshotFilter

    def get_queryset(self) -> QuerySet[Snapshot]:
        boards = Leaderboard.objects.visible_to(self.request.user)
        return whole_snapshots().filter(leaderboard__in=boards)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        """A snapshot whole. It never changes and may be kept."""
        snapshot = self.get_object()
        return cached(request, snapshot, "whole with plan", lambda: whole(snapshot), is_its_own_address=True)

    def get_serializer_class(self) -> type[SnapshotListSerializer]:
        return SnapshotListSerializer if self.action == "list" else SnapshotSerializer


def whole(snapshot: Snapshot) -> Response:
    return Response(SnapshotSerializer(snapshot).data)


def whole_snapshots() -> QuerySet[Snapshot]:
    snapshots = Snapshot.objects.select_related("leaderboard__campaign__team", "plan")
    return snapshots.prefetch_related("standings__competitor").order_by("-pk")
