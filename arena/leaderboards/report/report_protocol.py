"""Part three of a report: who was asked what, and how. Of votes from a file that isn't known."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Max, Min
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.battles.models import Battle, Vote, VoteQuerySet
from arena.campaigns.models import Campaign
from arena.corpus.models import Response
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.report.report_draft import Draft, Matter, say_day
from arena.leaderboards.sentences import list_names


def protocol(matter: Matter, draft: Draft) -> None:
    votes = Vote.objects.filter(battle__campaign=matter.campaign)
    recorded = votes.filter(battle__kind=Battle.Kind.RECORDED)
    _of_own_votes(matter.campaign, votes.exclude(battle__kind=Battle.Kind.RECORDED), draft)
    if count := recorded.count():
        words = ngettext(
            "%(n)s vote was recorded elsewhere and came in a file.",
            "%(n)s votes were recorded elsewhere and came in a file.",
            count,
        )
        draft.say(words % {"n": f"{count:,}"})
    judges = _recorded_judges(matter.campaign)
    if count or judges:
        draft.say(matter.text.protocol)
    if not matter.text.protocol.strip():
        draft.missing.extend(_unknown(count, judges))
    draft.lay_out(
        [_("Model"), _("Organisation"), _("Licence"), _("Responses"), _("Answered as")],
        list(_competitors(matter.campaign)),
        file="report-models",
    )
    draft.lay_out(
        [_("Judge"), _("Model"), _("Rubric"), _("Asked"), _("Judgments")],
        list(_judges(matter.campaign)),
        _("Judges"),
        file="report-judges",
    )


def _recorded_judges(campaign: Campaign) -> list[str]:
    judged = Judgment.objects.filter(run__campaign=campaign, run__kind=JudgeRun.Kind.RECORDED)
    return list(
        judged.exclude(outcome="").order_by("judge__name").values_list("judge__name", flat=True).distinct()
    )


def _unknown(votes: int, judges: list[str]) -> Iterator[str]:
    """What a file doesn't say, and nobody has said."""
    if votes:
        yield _(
            "Of the votes recorded elsewhere: who voted, what they were asked, whether they saw"
            " names, and how it was decided which response stood first."
        )
    if judges:
        words = ngettext(
            "Of the judge %(names)s, whose judgments came in a file: which model it was, in which version,"
            " what it was asked, and whether in both orders.",
            "Of the judges %(names)s, whose judgments came in a file: which models they were, in which"
            " versions, what they were asked, and whether in both orders.",
            len(judges),
        )
        yield words % {"names": list_names(judges)}


def _of_own_votes(campaign: Campaign, votes: VoteQuerySet, draft: Draft) -> None:
    span = votes.aggregate(first=Min("voted_at"), last=Max("voted_at"))
    if span["first"] is None:
        return
    days = {"first": say_day(span["first"]), "last": say_day(span["last"])}
    when = (
        _("Votes of %(first)s.") if days["first"] == days["last"] else _("Votes from %(first)s to %(last)s.")
    )
    words = {
        "admission": campaign.get_admission_display(),
        "reveal": say_reveal(campaign),
        "when": when % days,
    }
    draft.say(
        _(
            "Raters were admitted %(admission)s and saw two responses to one prompt side by side, without"
            " names; sides by chance. %(reveal)s %(when)s"
        )
        % words
    )
    guide = campaign.current_guide
    if guide is None:
        draft.missing.append(_("What raters were asked: there is no guide."))
    else:
        draft.say(
            _("What they were asked, by version %(version)d of the guide:") % {"version": guide.version}
        )
        draft.quote(guide.html)


def say_reveal(campaign: Campaign) -> str:
    """When raters saw names, or will."""
    if campaign.reveals_each_vote:
        return _("Names were shown to a rater after each of their votes.")
    if campaign.revealed_by_closing:
        return _("Names were shown once the campaign had closed.")
    if campaign.names_shown_at is not None:
        told = _("Names were shown when it closed on %(day)s, after which it was opened again.")
        return told % {"day": say_day(campaign.names_shown_at)}
    if campaign.reveal == Campaign.Reveal.NEVER:
        return _("Raters are never shown names.")
    return _("Names are shown once the campaign closes, and haven’t been yet.")


def _competitors(campaign: Campaign) -> Iterator[list[object]]:
    for competitor in campaign.competitors.order_by("name"):
        responses = Response.objects.filter(
            competitor=competitor, prompt__prompt_set__in=campaign.prompt_sets.all()
        )
        answered = {
            model for model in responses.values_list("answering_model", flat=True).distinct() if model
        }
        yield [
            competitor.name,
            competitor.organisation or None,
            competitor.licence or None,
            responses.count(),
            ", ".join(sorted(answered)) or None,
        ]


def _judges(campaign: Campaign) -> Iterator[list[object]]:
    judged = Judgment.objects.filter(run__campaign=campaign).exclude(outcome="").order_by("judge")
    counted = list(judged.values_list("judge", "run__kind").annotate(n=Count("pk")))
    judges = Judge.objects.select_related("endpoint", "rubric").in_bulk([pk for pk, _kind, _n in counted])
    for pk, kind, n in counted:
        judge = judges[pk]
        endpoint = judge.endpoint.model_id if judge.endpoint else None
        rubric = f"{judge.rubric} ({judge.rubric.sha256[:12]})" if judge.rubric else None
        is_recorded = kind == JudgeRun.Kind.RECORDED
        asked = _("recorded elsewhere: not known how") if is_recorded else _("in both orders")
        yield [judge.name, endpoint, rubric, asked, n]
