import csv
from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from arena.battles.models import Battle, BattleNote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.leaderboards.reading import read_battles, reader_page
from arena.leaderboards.reading.reading_models import Reading
from arena.leaderboards.understood import asked_page, understands
from arena.raters import access
from arena.raters.models import Role
from arena.row_form import RowForm

AT_ONCE = 10


class ChoiceForm(forms.Form):
    pick = forms.ChoiceField(label=_("Battles"), choices=list(read_battles.PICKS.items()))
    model = forms.ModelChoiceField(
        Competitor.objects.none(), label=_("of"), required=False, empty_label=_("any model")
    )
    against = forms.ModelChoiceField(
        Competitor.objects.none(), label=_("against"), required=False, empty_label=_("any model")
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31, required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fought = Competitor.objects.filter(pk__in=campaign.competitors.values("pk")).order_by("name")
        for name in ("model", "against"):
            self.fields[name].queryset = fought  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("pick") == read_battles.LOSSES and not cleaned.get("model"):
            self.add_error("model", _("Choose the model that lost."))
        return cleaned

    def chosen(self, campaign: Campaign) -> list[read_battles.PairOfResponses]:
        data = self.cleaned_data
        model, against = (data[name].pk if data[name] else None for name in ("model", "against"))
        return read_battles.choose(campaign, data["pick"], model, against, data["seed"] or 0)


class ReadingForm(RowForm):
    class Meta:
        model = Reading
        fields = ("side", "failure", "comment")


def bound(request: HttpRequest, campaign: Campaign) -> ChoiceForm:
    asked = {"pick": read_battles.RANDOM} | request.GET.dict()
    return ChoiceForm(asked, campaign=campaign, auto_id="choose-%s")


@require_safe
@never_cache
@access.researcher_required
@understands("pick", "model", "against", "seed", "page")
def battle_reader(request: HttpRequest, campaign: str) -> HttpResponse:
    read = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=campaign)
    form = bound(request, read)
    pairs = form.chosen(read) if form.is_valid() else []
    page = asked_page(request, Paginator(pairs, AT_ONCE))
    query = request.GET.copy()
    query.pop("page", None)
    reasons, reason_lines = reader_page.reasons_by_model(read)
    failures, failure_lines, battles_read = reader_page.failures_by_model(read)
    context = {
        "campaign": read,
        "form": form,
        "page": page,
        "shown": reader_page.shown(list(page.object_list), request.user),
        "query": query.urlencode(),
        "failure_choices": Reading.Failure.choices,
        "reasons": reasons,
        "reason_lines": reason_lines,
        "failures": failures,
        "failure_lines": failure_lines,
        "battles_read": battles_read,
        "section": "boards",
    }
    return render(request, "leaderboards/reader.html", context, status=200 if form.is_valid() else 422)


@require_safe
@never_cache
@access.researcher_required
def battle_reader_csv(request: HttpRequest, campaign: str) -> StreamingHttpResponse:
    read = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=campaign)
    form = bound(request, read)
    if not form.is_valid():
        raise Http404
    rows = reader_page.csv_rows(form.chosen(read), request.user)
    response = StreamingHttpResponse(lines(rows), content_type="text/csv; charset=utf-8")
    name = f"{read.slug}-battles-{form.cleaned_data['pick']}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class Echo:
    """csv writes to what has a write(); here a line goes straight to the browser."""

    def write(self, line: str) -> str:
        return line


def lines(rows: Any) -> Iterator[str]:
    writer = csv.writer(Echo(), lineterminator="\r\n")
    return (writer.writerow(row) for row in rows)


@require_POST
@access.researcher_required
def battle_read(request: HttpRequest, public_id: str) -> HttpResponse:
    """What the reader found on one side; said again, it replaces what was said before."""
    said = BattleNote.objects.filter(battle=OuterRef("pk"), kind__in=read_battles.SAID[read_battles.NOTED])
    battles = Battle.objects.filter(
        Q(vote__isnull=False) | Exists(said), response_a__isnull=False, response_b__isnull=False
    )
    battle = access.get_for(battles, request.user, Role.RESEARCHER, "campaign__team", public_id=public_id)
    form = ReadingForm(request.POST)
    if not form.is_valid():
        return HttpResponse(form.errors.as_text(), status=422, content_type="text/plain; charset=utf-8")
    data = form.cleaned_data
    found = {"failure": data["failure"], "comment": data["comment"]}
    reading, _made = Reading.objects.update_or_create(
        battle=battle, reader=request.user, side=data["side"], defaults=found
    )
    if request.headers.get("HX-Request"):
        return render(request, "leaderboards/reader.html#saved", {"reading": reading})
    return redirect("battle-reader", battle.campaign.slug)
