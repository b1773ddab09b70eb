"""The table of a set's spot checks as a file: corpus, a lower room, shows it, and writes no files."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.corpus import spot_checks
from arena.corpus.label_agreement import COLUMNS
from arena.corpus.label_views import report_rows
from arena.corpus.models import PromptSet
from arena.leaderboards.downloads import Table, attached
from arena.raters import access
from arena.raters.models import Role


@require_safe
@never_cache
@access.admin_required
def spot_check_file(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    prompt_set = access.get_for(PromptSet.objects.all(), request.user, Role.ADMIN, pk=pk)
    report = spot_checks.report(prompt_set)
    shown = report_rows(report) if report.n else []
    rows = [(prompt_set.pk, name, *found.values) for name, found in shown]
    columns = {"prompt_set": "count", "criterion": "text", **COLUMNS}
    return attached(Table(columns, rows), f"prompt-set-{prompt_set.pk}-spot-check", kind)
