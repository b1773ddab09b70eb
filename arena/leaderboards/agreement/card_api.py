"""Judge cards for programs: the stored figures as they are."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.viewsets import ReadOnlyModelViewSet

from arena.api_filters import IdFilter
from arena.leaderboards.agreement.card_models import JudgeCard
from arena.raters.access import objects_for
from arena.raters.models import Role


class JudgeCardSerializer(serializers.ModelSerializer):
    campaign: serializers.RelatedField = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    judge_name = serializers.CharField(source="judge.name", read_only=True)
    figures = serializers.SerializerMethodField()

    class Meta:
        model = JudgeCard
        fields = ("id", "campaign", "judge", "judge_name", "computed_at", "code_version", "figures")

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_figures(self, card: JudgeCard) -> dict[str, Any]:
        return card.figures


class JudgeCardFilter(filters.FilterSet):
    campaign = filters.CharFilter("campaign__slug")
    judge = IdFilter("judge")

    class Meta:
        model = JudgeCard
        fields = ("campaign", "judge")


class JudgeCardViewSet(ReadOnlyModelViewSet):
    """What the judges of the caller's teams are worth, by campaign."""

    queryset = JudgeCard.objects.order_by("pk")
    serializer_class = JudgeCardSerializer
    permission_classes = [IsAuthenticated]
    filterset_class = JudgeCardFilter

    def get_queryset(self) -> QuerySet[JudgeCard]:
        cards = objects_for(JudgeCard.objects.all(), self.request.user, Role.RESEARCHER, "campaign__team")
        return cards.select_related("campaign", "judge").order_by("pk")
