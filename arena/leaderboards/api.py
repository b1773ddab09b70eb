"""Campaigns and leaderboards for programs; the same rows and the same access as the pages."""

from django.db.models import QuerySet
from django.http import Http404, HttpResponseBase
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.viewsets import ReadOnlyModelViewSet

from arena.api_filters import FlagFilter
from arena.campaigns.models import Campaign
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.snapshot_api import SnapshotSerializer, answer_whole, whole_snapshots
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
    judge: serializers.RelatedField = serializers.SlugRelatedField(
        slug_field="name", read_only=True, allow_null=True
    )

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


class LeaderboardFilter(filters.FilterSet):
    campaign = filters.CharFilter("campaign__slug")
    style_control = FlagFilter("style_control")

    class Meta:
        model = Leaderboard
        fields = ("campaign", "subset", "source", "style_control")


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
        return answer_whole(request, snapshot)
