from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arena.judging.models import Judge
from arena.leaderboards.agreement import card_page
from arena.leaderboards.understood import leave_out, understands
from arena.raters import access
from arena.raters.models import Role


@require_safe
@access.researcher_required
@understands("campaign")
def judge_card(request: HttpRequest, pk: int) -> HttpResponse:
    """The card of one campaign, ?campaign=SLUG, or the newest."""
    judges = Judge.objects.select_related("endpoint", "rubric")
    judge = access.get_for(judges, request.user, Role.RESEARCHER, pk=pk)
    cards = list(judge.cards.select_related("campaign").order_by("-computed_at"))
    wanted = request.GET.get("campaign", "")
    card = next((card for card in cards if card.campaign.slug == wanted), cards[0] if cards else None)
    if wanted and card and card.campaign.slug != wanted:
        leave_out(request, "campaign", card.campaign.slug)
    context = {"judge": judge, "cards": cards, "card": card, "section": "judging"}
    if card:
        context["page"] = card_page.build(card)
    return render(request, "leaderboards/judge_card.html", context)
