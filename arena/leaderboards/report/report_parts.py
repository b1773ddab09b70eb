"""What each of the nine parts of a report says, and what it misses."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.battles.models import Exclusion
from arena.corpus.models import Competitor, Prompt
from arena.instants import say_moment
from arena.leaderboards import sentences
from arena.leaderboards.boards import board_page
from arena.leaderboards.boards.board_facts import worths_of
from arena.leaderboards.boards.board_rows import FLAGS, in_order, rank_words
from arena.leaderboards.boards.duels import mark_verdict
from arena.leaderboards.charts import chart_page
from arena.leaderboards.charts.chart_files import values_of
from arena.leaderboards.citation import cite
from arena.leaderboards.models import PairResult, SnapshotChart, Standing
from arena.leaderboards.plans.looks import LATER, registered_look, say_look
from arena.leaderboards.plans.registration_words import say_late
from arena.leaderboards.reading.reader_page import failure_values, failures_by_model, read_competitor
from arena.leaderboards.reading.reading_models import Reading
from arena.leaderboards.report.report_agreement import lay_out_agreement
from arena.leaderboards.report.report_answer import answer
from arena.leaderboards.report.report_draft import Block, Draft, Matter, interval_heading, say_day
from arena.leaderboards.report.report_open import list_endless, list_open
from arena.leaderboards.report.report_protocol import protocol

READ_SHOWN = 50
READ_ENOUGH = 20
"""A failure analysis rests on at least so many battles read."""


def _capability(matter: Matter, draft: Draft) -> None:
    draft.say(matter.text.capability)
    plan = matter.plans.followed
    if plan is not None:
        draft.say(_("The question of the analysis plan: %(question)s") % {"question": plan.question})
    if not matter.text.capability.strip():
        draft.missing.append(_("Which ability is measured, in a sentence."))


def _items(matter: Matter, draft: Draft) -> None:
    sets = matter.campaign.prompt_sets.annotate(n=Count("prompts")).order_by("name", "version")
    draft.lay_out(
        [_("Prompt set"), _("Prompts"), _("Licence"), _("Fixed on this site"), "SHA-256"],
        [
            [f"{s.name} v{s.version}", s.n, s.licence, say_day(s.published_at), s.content_hash or None]
            for s in sets
        ],
        file="report-prompt-sets",
    )
    prompts = Prompt.objects.filter(prompt_set__in=matter.campaign.prompt_sets.all()).order_by()
    labels = (("category", "categories", _("Category")), ("language", "languages", _("Language")))
    for name, names, words in labels:
        counted = list(prompts.values_list(name).annotate(n=Count("pk")).order_by("-n", name))
        told = [[value or _("not given"), n] for value, n in counted]
        draft.lay_out([words, _("Prompts")], told, file=f"report-prompt-{names}", values=counted)
    draft.say(matter.text.sourcing)
    draft.say(matter.text.contamination)
    if not matter.text.sourcing.strip():
        draft.missing.append(_("Where the prompts come from."))
    if not matter.text.contamination.strip():
        draft.missing.append(_("Whether models may have seen the prompts, and how that was checked."))


def _baselines(matter: Matter, draft: Draft) -> None:
    draft.say(matter.text.baselines)
    standings = _standings(matter)
    sentinels = [s for s in standings if s.competitor.role == Competitor.Role.SENTINEL]
    draft.lay_out(
        [_("Sentinel"), _("Rank"), _("Rating"), _("Won : lost (ties)")],
        [
            [s.competitor.name, rank_words(s), _points(s.rating), f"{s.wins:,} : {s.losses:,} ({s.ties:,})"]
            for s in sentinels
        ],
        file="report-sentinels",
        values=[
            (s.competitor.name, s.rank_lower, s.rank_upper, s.rating, s.wins, s.losses, s.ties)
            for s in sentinels
        ],
    )
    if not sentinels and not matter.text.baselines.strip():
        draft.missing.append(_("A baseline: an earlier model, or a trivial one that should lose."))


def _headline(matter: Matter, draft: Draft) -> None:
    answer(matter, draft)
    if matter.snapshot is None:
        draft.missing.append(_("A board: no snapshot has been taken."))
        return
    draft.say(_later(matter))
    draft.say(matter.page.sentence)
    draft.say(" · ".join(" ".join(filter(None, (f.before, f.figure, f.after))) for f in matter.page.facts))
    draft.lay_out(
        [_("Rank"), _("Model"), _("Rating"), interval_heading(), _("Battles"), _("To be careful about")],
        [
            [
                rank_words(s),
                s.competitor.name,
                _points(s.rating),
                _interval(s.lower, s.upper),
                s.battles,
                ", ".join(str(FLAGS[flag]) for flag in s.flags if FLAGS[flag]) or None,
            ]
            for s in _standings(matter)
        ],
        file="report-ratings",
        values=[
            (
                *(s.snapshot_id, s.rank_lower, s.rank_upper, s.competitor.name),
                *(s.rating, s.lower, s.upper, s.battles, " ".join(s.flags)),
            )
            for s in _standings(matter)
        ],
    )
    draft.say(matter.page.marked)
    _draw(matter, draft, "ratings")
    lay_out_agreement(matter, draft)


def _later(matter: Matter) -> str:
    """Where part five's answer is an earlier snapshot's, and the numbers beside it aren't."""
    look = None if matter.snapshot is None else registered_look(matter.snapshot)
    if matter.snapshot is None or look is None or look.kind != LATER:
        return ""
    words = {"snapshot": matter.snapshot.pk, "look": say_look(look, matter.snapshot)}
    return _("What follows is of snapshot %(snapshot)d, %(look)s.") % words


def _breakdowns(matter: Matter, draft: Draft) -> None:
    columns = [column for column in matter.page.columns if column.snapshot]
    if not columns:
        draft.missing.append(_("Boards to break down."))
        return
    _side_by_side(matter.page, draft)
    planned = matter.plans.followed.boards if matter.plans.followed else []
    for absent in matter.page.absent:
        if absent.name not in planned:  # of those the result has spoken
            draft.say(absent.words)
    draft.lay_out(
        [_("More of"), _("Points, typical difference"), _("Interval"), _("Twice as much"), _("Interval")],
        [[c.name, c.typical, c.interval, c.doubled, c.doubled_interval] for c in matter.page.coefficients],
        _("What style is worth"),
        file="report-style",
        values=[worth.values for worth in worths_of(matter.page.columns[-1].snapshot)],
    )
    draft.say(matter.page.typical)
    charts = chart_page.build([c.leaderboard for c in columns if c.leaderboard], _key(matter), "overall")
    table = next((chart.table for chart in charts.charts if chart.name == "categories"), None)
    if table is not None and table.head and charts.rows is not None:
        values, caption = values_of(charts.rows, "chart-categories"), _("By category")
        draft.lay_out([_("Model"), *table.head], table.rows, caption, file="report-categories", values=values)
        draft.say(table.note)


def _side_by_side(page: board_page.Page, draft: Draft) -> None:
    moves = [(_("Hard move"), "hard"), (_("Style move"), "style")]
    moves = [(words, board) for words, board in moves if board in page.has_moves]
    rows = []
    for row in page.rows:
        ways = {"hard": row.hard_move, "style": row.style_move}
        told = [(f"{ways[board] or ''}", ways[board]) for _words, board in moves]
        rows.append(
            [
                row.name,
                *(f"{cell.figure} {_bracketed(cell.interval)}".strip() for cell in row.cells),
                *(f"{points} {_bracketed(move.interval if move else '')}".strip() for points, move in told),
            ]
        )
    headings = [*(column.heading for column in page.shown), *(words for words, _board in moves)]
    values = [row.values for row in page.rows]
    caption = _("The boards side by side")
    draft.lay_out([_("Model"), *headings], rows, caption, file="report-boards", values=values)


def _bracketed(interval: str) -> str:
    return f"({interval})" if interval else ""


def _key(matter: Matter) -> str:
    return matter.page.source.key if matter.page.source else ""


def _failures(matter: Matter, draft: Draft) -> None:
    kinds, lines, read = failures_by_model(matter.campaign)
    told = [[line.name, *line.counts] for line in lines]
    values = failure_values(kinds, lines)
    draft.lay_out([_("Model"), *kinds], told, file="report-failures", values=values)
    readings = Reading.objects.filter(battle__campaign=matter.campaign).exclude(failure=Reading.Failure.NONE)
    readings = readings.select_related("battle__prompt", "battle__competitor_a", "battle__competitor_b")
    draft.lay_out(
        [_("Prompt"), _("Model"), _("Failure"), _("Comment")],
        [
            [
                reading.battle.prompt.external_id if reading.battle.prompt else None,
                read_competitor(reading).name,
                reading.get_failure_display(),
                reading.comment,
            ]
            for reading in readings[:READ_SHOWN]
        ],
        _("Read battles with a failure"),
        file="report-read",
    )
    if read < READ_ENOUGH:
        words = _("Battles read: %(read)d of the %(enough)d that a failure analysis should rest on.")
        draft.missing.append(words % {"read": read, "enough": READ_ENOUGH})


def _undecided(matter: Matter, draft: Draft) -> None:
    if matter.snapshot is None:
        draft.missing.append(_("Pairs to tell apart: no snapshot has been taken."))
        return
    draft.say(_later(matter))
    pairs = matter.snapshot.pairs.select_related("first", "second")
    counted = dict(pairs.order_by().values_list("verdict").annotate(n=Count("pk")))
    words = dict(PairResult.Verdict.choices)
    verdicts = sorted(counted.items())
    told = [[mark_verdict(str(words[verdict]), verdict, matter.snapshot), n] for verdict, n in verdicts]
    caption = _("Verdicts on the board %(board)s") % {
        "board": next(c.heading for c in matter.page.columns if c.snapshot)
    }
    draft.lay_out([_("Verdict"), _("Pairs")], told, caption, file="report-verdicts", values=verdicts)
    list_endless(pairs, draft)
    list_open(pairs, matter.snapshot, draft)
    draft.say(sentences.say_marked([matter.snapshot], [str(verdict) for verdict, _n in told]))
    draft.list_out(
        [f"{one.text} ({one.boards})" if one.boards else one.text for one in matter.page.care.every],
        _("To be careful about"),
    )
    excluded = Exclusion.objects.filter(campaign=matter.campaign).values_list("rule", "reason")
    draft.lay_out(
        [_("Exclusion"), _("Reason")],
        [[rule, reason] for rule, reason in excluded],
        _("What was left out, and why"),
        file="report-exclusions",
    )


def _again(matter: Matter, draft: Draft) -> None:
    snapshots = [(c.heading, c.snapshot) for c in matter.page.columns if c.snapshot]
    draft.lay_out(
        [_("Board"), _("Snapshot"), _("Cutoff"), _("Status"), _("Votes’ digest"), _("Seed"), _("Code")],
        [
            [
                heading,
                f"{s.pk}",
                say_moment(s.cutoff),
                _("registered") if s.registered_plan else _("exploratory"),
                s.vote_digest,
                f"{s.seed}",
                s.code_version,
            ]
            for heading, s in snapshots
        ],
        file="report-snapshots",
        values=[
            (
                *(heading, s.pk, s.cutoff.isoformat(), s.registered_plan is not None),
                *(s.vote_digest, s.seed, s.code_version),
            )
            for heading, s in snapshots
        ],
    )
    _plans(matter, draft)
    for heading, snapshot in snapshots:
        draft.say(_("To cite the board %(board)s:") % {"board": heading} + f" {cite(snapshot)}")
    if snapshots:
        draft.say(
            _("“replay_snapshot” fits the same votes again; “export_campaign %(slug)s” writes all of them.")
            % {"slug": matter.campaign.slug}
        )
    else:
        draft.missing.append(_("A snapshot that could be computed again."))


def _plans(matter: Matter, draft: Draft) -> None:
    """All that were frozen, with their hashes: whether each came before the votes."""
    plans = matter.plans
    if plans.followed is None:
        draft.say(_("No analysis plan was frozen: every board is exploratory."))
        return
    before = _("frozen before the first vote: the boards that it names are registered")
    amends = _("frozen after votes were in: an amendment, which changes no number here")
    late = _("%(late)s: every board is exploratory")
    lates = {plan.pk: late % {"late": say_late(plans, plan)} for plan in plans.late}
    beside = _(
        "frozen before the first vote, but somebody may have seen what came from files: every board is"
        " exploratory"
    )
    elsewhere = _("elsewhere, and when can’t be checked here: every board is exploratory")
    when_of = {plan.pk: amends for plan in plans.amendments}
    when_of[plans.followed.pk] = (
        before if plans.before else beside if plans.is_first else lates[plans.followed.pk]
    )
    when_of |= {plan.pk: elsewhere for plan in plans.frozen if plan.came_from_file}
    frozen = [(plan, when_of.get(plan.pk, lates[plan.pk])) for plan in plans.late]
    frozen = [(plans.before, before), *frozen] if plans.before else frozen
    draft.lay_out(
        [_("Analysis plan"), _("Day"), _("When that was"), _("Margin, in points"), "SHA-256"],
        [
            [
                plan.version,
                plan.frozen_at and say_moment(plan.frozen_at),
                when,
                f"{plan.margin:g}",
                plan.sha256,
            ]
            for plan, when in frozen
        ],
        _("Analysis plans"),
        file="report-plans",
        values=[
            (plan.version, plan.frozen_at and plan.frozen_at.isoformat(), when, plan.margin, plan.sha256)
            for plan, when in frozen
        ],
    )


def _standings(matter: Matter) -> list[Standing]:
    return in_order(matter.snapshot.standings.select_related("competitor")) if matter.snapshot else []


def _draw(matter: Matter, draft: Draft, name: str) -> None:
    charts = SnapshotChart.objects.filter(snapshot=matter.snapshot, name=name, failure="")
    chart = charts.exclude(light="").first()
    if chart is not None:
        light, dark = (
            f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
            for svg in (chart.light, chart.dark)
        )
        draft.blocks.append(Block(source=light, dark=dark, caption=str(chart_page.TITLES[name])))


def _points(value: float | None) -> str | None:
    return None if value is None else sentences.written(value)


def _interval(lower: float | None, upper: float | None) -> str | None:
    ends = ["–" if end is None else sentences.written(end) for end in (lower, upper)]
    return None if lower is None and upper is None else " … ".join(ends)


PARTS: tuple[tuple[object, Callable[[Matter, Draft], None]], ...] = (
    (gettext_lazy("What is measured"), _capability),
    (gettext_lazy("Prompts: where from, and whether models knew them"), _items),
    (gettext_lazy("Protocol"), protocol),
    (gettext_lazy("Baselines"), _baselines),
    (gettext_lazy("Result"), _headline),
    (gettext_lazy("Breakdowns"), _breakdowns),
    (gettext_lazy("Failures, from battles that were read"), _failures),
    (gettext_lazy("Undecided and negative results"), _undecided),
    (gettext_lazy("How to compute it again"), _again),
)
