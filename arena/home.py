"""The front page: where each kind of visitor goes on from."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from arena.campaigns.admission import joined_campaigns
from arena.campaigns.models import Campaign
from arena.corpus.models import PromptSet
from arena.raters.access import objects_for
from arena.raters.models import Role


@require_GET
def index(request: HttpRequest) -> HttpResponse:
    managed = objects_for(Campaign.objects.all(), request.user, Role.RESEARCHER).order_by("-pk")
    context = {
        "joined": joined_campaigns(request),
        "campaigns": managed[:20],
        "has_prompt_sets": objects_for(PromptSet.objects.all(), request.user, Role.ADMIN).exists(),
    }
    return render(request, "home.html", context)
