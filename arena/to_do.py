"""What waits for an admin: campaigns that aren't ready, files that wait, work that failed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.campaigns.models import Campaign
from arena.campaigns.opening import missing_before_open
from arena.corpus.generation_models import GenerationRun
from arena.endpoints.runs import Run
from arena.exchange.models import Import
from arena.judging.models import JudgeRun
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.run_models import SnapshotRun
from arena.raters.access import User, teams_of
from arena.raters.models import Role

MOST_OF_A_KIND = 5
# Work that failed longer ago has been seen.
RECENT = timedelta(days=14)


@dataclass(frozen=True)
class Task:
    words: str
    act: str
    url: str
    has_failed: bool = False


def tasks_for(user: User) -> list[Task]:
    teams = list(teams_of(user, Role.ADMIN).values_list("pk", flat=True))
    if not teams:
        return []
    failed = [*run_tasks(teams), *snapshot_tasks(teams)]
    return [*failed, *import_tasks(teams), *campaign_tasks(teams)]


def campaign_tasks(teams: list[int]) -> Iterator[Task]:
    campaigns = Campaign.objects.filter(team__in=teams).order_by("-pk")
    for campaign in campaigns.filter(status=Campaign.Status.DRAFT)[:MOST_OF_A_KIND]:
        missing = len(missing_before_open(campaign))
        words = ngettext(
            "“%(name)s” is a draft: one thing is missing.",
            "“%(name)s” is a draft: %(n)s things are missing.",
            missing,
        )
        if not missing:
            words = _("“%(name)s” is a draft, and nothing is missing: it can be opened.")
        said = words % {"name": campaign.name, "n": missing}
        yield Task(said, _("Go on"), reverse("campaign", args=[campaign.slug]))
    open_ones = campaigns.filter(status=Campaign.Status.OPEN)
    for campaign in open_ones.filter(ends_at__lte=timezone.now())[:MOST_OF_A_KIND]:
        words = _("“%(name)s” has come to its end: close it, or move the end.") % {"name": campaign.name}
        yield Task(words, _("To the campaign"), reverse("campaign", args=[campaign.slug]))
    for campaign in open_ones.filter(admission=Campaign.Admission.INVITE)[:MOST_OF_A_KIND]:
        if not campaign.invites.usable().exists():
            words = _("“%(name)s” is open, but no link is valid: nobody can come.") % {"name": campaign.name}
            yield Task(words, _("Make links"), reverse("invite-list", args=[campaign.slug]))


def import_tasks(teams: list[int]) -> Iterator[Task]:
    waiting = Import.objects.filter(team__in=teams, state=Import.State.PREVIEWED, added__gt=0)
    for record in waiting.order_by("-pk")[:MOST_OF_A_KIND]:
        words = _("%(file)s is checked and waits to be imported.") % {"file": record.file_name}
        yield Task(words, _("Look at it"), reverse("import", args=[record.public_id]))


def run_tasks(teams: list[int]) -> Iterator[Task]:
    judged = JudgeRun.objects.filter(campaign__team__in=teams).annotate(what=F("campaign__name"))
    answered = GenerationRun.objects.filter(prompt_set__team__in=teams).annotate(what=F("prompt_set__name"))
    kinds = (
        (judged, "judge-run", _("Judging “%(what)s”")),
        (answered, "generation-run", _("Responses to “%(what)s”")),
    )
    for runs, page, title in kinds:
        for run in _troubled(runs):
            words = f"{title % {'what': run.what}}: {_trouble(run)}"
            yield Task(words, _("See why"), reverse(page, args=[run.pk]), has_failed=True)


def _troubled(runs: QuerySet) -> QuerySet:
    """Paused by themselves, or ended with failures of late. Whoever paused a run knows it."""
    paused = runs.filter(status=Run.Status.PAUSED).exclude(status_reason="")
    since = timezone.now() - RECENT
    failed = runs.filter(status=Run.Status.COMPLETED_WITH_FAILURES, finished_at__gt=since)
    return (paused | failed).order_by("-pk")[:MOST_OF_A_KIND]


def _trouble(run: Run) -> str:
    if run.status == Run.Status.PAUSED:
        return _("paused (%(why)s)") % {"why": run.status_reason}
    return _("some calls failed")


def snapshot_tasks(teams: list[int]) -> Iterator[Task]:
    newest = SnapshotRun.objects.filter(leaderboard=OuterRef("pk")).order_by("-pk")
    boards = Leaderboard.objects.filter(campaign__team__in=teams).annotate(
        last_state=Subquery(newest.values("state")[:1]), last_reason=Subquery(newest.values("reason")[:1])
    )
    failed = boards.filter(last_state=SnapshotRun.State.FAILED).select_related("campaign")
    for board in failed.order_by("-pk")[:MOST_OF_A_KIND]:
        words = _("The newest snapshot of “%(name)s” failed: %(why)s")
        said = words % {"name": board.name, "why": board.last_reason.partition("\n")[0][:200]}
        page = "board-parts" if board.part else "board"
        yield Task(said, _("To the board"), reverse(page, args=[board.campaign.slug]), has_failed=True)
