from dataclasses import asdict
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from arena.campaigns.models import Campaign
from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.asked_pairs import read_pairs, say_changed, say_choice, say_pairs, written_of
from arena.leaderboards.plans.plan_words import say_boards, say_changes
from arena.leaderboards.plans.reckoning import reckon, told_of
from arena.leaderboards.plans.registration import anything_before, is_fixed, plans_of
from arena.leaderboards.plans.registration_words import say_late
from arena.leaderboards.understood import understands
from arena.percent import percent
from arena.raters import access
from arena.raters.models import Role
from arena.row_form import STAMP, RowForm
from arena.save_once import save_once


class AnalysisPlanForm(RowForm):
    stands_on = ("frozen_at",)

    boards = forms.MultipleChoiceField(
        label=gettext_lazy("Boards that answer the question"),
        choices=[(board.name, board.title) for board in BOARDS],
        initial=[board.name for board in BOARDS],
        widget=forms.CheckboxSelectMultiple,
    )
    pairs = forms.CharField(
        label=gettext_lazy("Pairs of models the question is about"),
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy(
            "One pair a line, “A / B”. Its tests are corrected for these pairs alone, and all others explore."
            " Empty: every pair of the campaign’s models."
        ),
    )

    class Meta:
        model = AnalysisPlan
        fields = ("question", "pairs", "margin", "ties", "both_bad", "boards", "raters", "votes")
        widgets = {"question": forms.Textarea(attrs={"rows": 3})}
        help_texts = {
            "margin": gettext_lazy(
                "A smaller difference wouldn’t matter. 10 points: expected score %(score)s, a tie counting"
                " half."
            )
            % {"score": percent(0.514, 1)}
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["pairs"] = written_of(self.instance.pairs)
        if self.instance._state.adding:
            # A row that isn't there yet has a list too, an empty one.
            self.initial["boards"] = self.fields["boards"].initial
        self.fields["pairs"].help_text += say_choice(self.instance.campaign)
        self.order_fields(("question", "pairs"))

    def clean_pairs(self) -> list[dict[str, Any]]:
        return read_pairs(self.cleaned_data["pairs"], self.instance.campaign)


@require_safe
@never_cache
@access.researcher_required
@understands()
def analysis_plan(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    return show(request, campaign)


def show(request: HttpRequest, campaign: Campaign, form: AnalysisPlanForm | None = None) -> HttpResponse:
    written = list(campaign.analysis_plans.select_related("frozen_by"))
    draft = next((plan for plan in written if plan.frozen_at is None), None)
    may_edit = access.has_role(request.user, campaign.team_id, Role.ADMIN)
    frozen = [plan for plan in written if plan.frozen_at]
    board = Leaderboard(campaign=campaign)  # of people: votes are what a plan is frozen before
    plans = plans_of(board)
    current = plans.followed
    if may_edit and form is None and (draft or not frozen):
        form = AnalysisPlanForm(instance=draft or AnalysisPlan(campaign=campaign))
    context: dict[str, Any] = {
        "campaign": campaign,
        "draft": draft,
        "answer": told_of(draft),
        "current": current,
        "newest": frozen[0] if frozen else None,
        "came_late": plans.before is None,
        "late": say_late(plans, current) if current else "",
        "votes_are_in": anything_before(board, timezone.now()),
        "amends": is_fixed(board, current),
        "amendments": [(plan, say_changes(current, plan)) for plan in plans.amendments if current],
        "others": [plan for plan in frozen if plan != current and plan not in plans.amendments],
        "current_boards": say_boards(current.boards) if current else "",
        "current_pairs": say_pairs(current.pairs) if current else "",
        "changed_since": say_changed(current) if current else [],
        "newest_pairs": written_of(frozen[0].pairs) if frozen else "",
        "frozen_answer": told_of(current),
        "form": form if may_edit else None,
        "may_edit": may_edit,
        "section": "campaigns",
    }
    status = 422 if form is not None and form.is_bound else 200
    return render(request, "leaderboards/analysis_plan.html", context, status=status)


@require_POST
@access.admin_required
def analysis_plan_save(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Saves the draft, which is made if there is none: the next version after the frozen ones."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    with transaction.atomic():
        campaign.hold()  # versions are given one at a time
        newest = campaign.analysis_plans.first()
        draft = newest if newest and newest.frozen_at is None else None
        number = newest.version + 1 if newest else 1
        instance = draft or AnalysisPlan(campaign=campaign, version=number)
        form = AnalysisPlanForm(request.POST, instance=instance)
        saved = form.is_valid() and save_once(form, form.save)
    if not saved:
        return show(request, campaign, form)
    messages.success(request, _("The draft is saved. It counts once it is frozen."))
    return redirect("analysis-plan", campaign.slug)


@require_POST
@access.admin_required
def analysis_plan_freeze(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    draft = campaign.analysis_plans.filter(frozen_at=None).first()
    if draft is not None and draft.as_read != request.POST.get(STAMP):
        messages.error(
            request,
            _(
                "Nothing was frozen: the draft of version %(version)d isn’t the one that you were shown."
                " Somebody has saved it meanwhile: read it again before you freeze it."
            )
            % {"version": draft.version},
        )
        return redirect("analysis-plan", campaign.slug)
    if draft is not None and (changed := say_changed(draft)):
        words = _("Nothing was frozen: %(changed)s Change the draft’s pairs.")
        messages.error(request, words % {"changed": " ".join(changed)})
        return redirect("analysis-plan", campaign.slug)
    found = reckon(draft) if draft else None
    if found is not None and not found.answers and "though_it_cannot_answer" not in request.POST:
        messages.error(
            request,
            _("Nothing was frozen: this plan can’t answer its question. Say that you know, or change it."),
        )
        return redirect("analysis-plan", campaign.slug)
    if draft is None or not draft.freeze(request.user, asdict(found) if found else None):
        messages.error(request, _("Nothing was frozen: there is no draft, or it has just changed."))
        return redirect("analysis-plan", campaign.slug)
    if plans_of(Leaderboard(campaign=campaign)).amendments:
        messages.success(request, _("The amendment is frozen. The plan frozen before the votes still holds."))
    else:
        messages.success(request, _("The plan is frozen. It can’t change any more."))
    return redirect("analysis-plan", campaign.slug)
