"""Frozen plans as whoever may read the boards reads them: each with its JSON, hash and date."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.asked_pairs import say_changed, say_pairs
from arena.leaderboards.plans.plan_words import say_boards, say_changes
from arena.leaderboards.plans.reckoning import told_of
from arena.leaderboards.plans.registration import plans_of
from arena.leaderboards.plans.registration_words import say_late
from arena.leaderboards.understood import understands
from arena.leaderboards.visible import get_visible_campaign


@require_safe
@never_cache
@understands()
def board_plan(request: HttpRequest, campaign: str) -> HttpResponse:
    shown = get_visible_campaign(request, campaign)
    plans = plans_of(Leaderboard(campaign=shown))
    followed = plans.followed
    frozen = shown.analysis_plans.frozen().select_related("campaign").order_by("-version")
    told = [
        {
            "plan": plan,
            "boards": say_boards(plan.boards),
            "pairs": say_pairs(plan.pairs),
            "changed_since": say_changed(plan),
            "answer": told_of(plan),
            "changes": say_changes(followed, plan) if followed and plan in plans.amendments else [],
            "late": say_late(plans, plan) if plan in plans.late else "",
            "from_file": plan.came_from_file,
            "governs": plan == plans.before,
            "is_unchanged": plan.hash_content() == plan.sha256,
        }
        for plan in frozen
    ]
    told.sort(key=lambda one: not one["governs"])
    context = {"campaign": shown, "plans": told, "section": "boards"}
    return render(request, "leaderboards/frozen_plan.html", context)


@require_safe
@never_cache
def board_plan_json(request: HttpRequest, campaign: str, version: int) -> HttpResponse:
    """Byte for byte what was hashed when it was frozen."""
    shown = get_visible_campaign(request, campaign)
    plan = shown.analysis_plans.frozen().filter(version=version).first()
    if plan is None:
        raise Http404
    response = HttpResponse(plan.canonical(), content_type="application/json")
    name = f"{shown.slug}-analysis-plan-{version}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
