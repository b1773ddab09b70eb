"""The tables of the pages that are for a team's researchers alone."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest

from arena.campaigns.models import Campaign
from arena.judging import probing
from arena.judging.models import Judge, JudgeRun
from arena.leaderboards import part_views
from arena.leaderboards.agreement import (
    agreement_views,
    agreement_words,
    card_page,
    judge_calibration_page,
)
from arena.leaderboards.agreement.card_rows import VALUES, columns_of
from arena.leaderboards.agreement.judge_calibration_views import own
from arena.leaderboards.reading import reader_page
from arena.leaderboards.report import report
from arena.leaderboards.report.report_files import FILES
from arena.leaderboards.tables.board_tables import SOURCE, values
from arena.leaderboards.tables.page_tables import Page, Read
from arena.leaderboards.visible import visible_boards
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id


def _agreement(request: HttpRequest, campaign: str) -> Read:
    found, known = agreement_views.find_agreement(request, campaign)
    if known is None:
        raise Http404
    tables = agreement_views.tables_of(known.figures)
    rows = {
        "agreement": values(tables.lines),
        "agreement-categories": [(name, *line.values) for name, lines in tables.categories for line in lines],
    }
    return Read(rows, simulated=bool(agreement_words.say_simulated(found)))


def _reader(request: HttpRequest, campaign: str) -> Read:
    read = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=campaign)
    failures, failure_lines, _battles = reader_page.failures_by_model(read)
    rows = {
        "reader-failures": list(reader_page.failure_values(failures, failure_lines)),
        "reader-reasons": list(reader_page.reason_values(*reader_page.reasons_by_model(read))),
    }
    return Read(rows, simulated=bool(agreement_words.say_simulated(read)))


def _card(request: HttpRequest, campaign: str) -> Read:
    number = as_id(request.GET.get("judge", ""))
    judge = access.get_for(Judge.objects.all(), request.user, Role.RESEARCHER, pk=number)
    card = judge.cards.filter(campaign__slug=campaign).first()
    if card is None:
        raise Http404
    page = card_page.build(card)
    wanted = request.GET.get("section", "")
    rows = {
        "judge-agreement": values(page.agreement),
        "judge-categories": values(page.categories),
        "judge-figures": [
            (section.key, row.label, *row.values)
            for section in page.sections
            for row in section.rows
            if wanted in ("", section.key)
        ],
    }
    agreement = card.figures["agreement"]
    return Read(rows, {"judge": judge.name}, bool(agreement and agreement["simulated"]))


def _calibration(request: HttpRequest, campaign: str) -> Read:
    found = own(request, as_id(request.GET.get("calibration", "")) or 0, Role.RESEARCHER)
    if found.campaign.slug != campaign:
        raise Http404
    page = judge_calibration_page.build(found)
    rows = {"calibration-measurements": values(page.rows), "calibration-labels": values(page.categories)}
    return Read(rows, {"calibration": found.name}, bool(page.simulated))


def _run(request: HttpRequest, campaign: str) -> JudgeRun:
    runs = JudgeRun.objects.filter(campaign__slug=campaign)
    number = as_id(request.GET.get("run", ""))
    return access.get_for(runs, request.user, Role.ADMIN, "campaign__team", pk=number)


def _scores(request: HttpRequest, campaign: str) -> Read:
    run = _run(request, campaign)
    if run.kind != JudgeRun.Kind.SCORES:
        raise Http404
    rows = [one for row in probing.score_rows(run) for one in row.values]
    return Read({"judge-scores": rows}, {"run": run.pk})


def _parts(request: HttpRequest, campaign: str) -> Read:
    _campaign, boards = part_views.own_parts(request, campaign)
    parts = part_views.list_parts(boards)
    return Read({"parts": values(parts)}, simulated=any(part.simulated for part in parts))


def _wordings(request: HttpRequest, campaign: str) -> Read:
    run = _run(request, campaign)
    page = judge_calibration_page.build_wordings(run)
    if page is None:
        raise Http404
    return Read(
        {"judge-wordings": [(row.label, *row.values) for row in (*page.figures, *page.pairs)]},
        {"run": run.pk},
    )


def _report(request: HttpRequest, campaign: str) -> Read:
    shown = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=campaign)
    boards = list(visible_boards(request, shown))
    found = report.build(shown, boards, request.GET.get("source", ""))
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for part in found.parts:
        for block in part.blocks:
            rows.setdefault(block.file, []).extend(block.values)
    return Read(rows, simulated=bool(found.simulated))


PAGES = (
    Page({"source": SOURCE}, FILES, _report),
    Page(
        {"judge": "a judge's number; needed", "section": "position, length, …; without it all"},
        {
            "judge-agreement": {"on": "text", **columns_of("every", "decisive", "kappa")},
            "judge-categories": {"category": "text", **columns_of("every", "decisive", "kappa")},
            "judge-figures": {"section": "text", "figure": "text", **VALUES},
        },
        _card,
        {"judge": "text"},
    ),
    Page(
        {"calibration": "a calibration's number; needed"},
        {
            "calibration-measurements": judge_calibration_page.MEASUREMENTS,
            "calibration-labels": judge_calibration_page.LABELS,
        },
        _calibration,
        {"calibration": "text"},
    ),
    Page(
        {"run": "a judge run's number; needed"},
        {"judge-wordings": {"figure": "text", **VALUES}},
        _wordings,
        {"run": "count"},
    ),
    Page(
        {"run": "a judge run's number; needed"},
        {"judge-scores": probing.SCORES},
        _scores,
        {"run": "count"},
    ),
    Page({}, {"parts": part_views.COLUMNS}, _parts),
    Page(
        {},
        {"reader-failures": reader_page.FAILURES, "reader-reasons": reader_page.REASONS},
        _reader,
    ),
    Page(
        {},
        {
            "agreement": agreement_views.COLUMNS,
            "agreement-categories": {"category": "text", **agreement_views.COLUMNS},
        },
        _agreement,
    ),
)
