"""What each of the nine parts of a report says, and what it misses."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Max, Min
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.battles.models import Exclusion, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, Response
from arena.judging.models import Judge, Judgment
from arena.leaderboards import board_page, chart_page, sentences
from arena.leaderboards.board_page import Page
from arena.leaderboards.board_rows import rank_words
from arena.leaderboards.models import PairResult, Snapshot, SnapshotChart, Standing
from arena.leaderboards.reader_page import failures_by_model, read_competitor
from arena.leaderboards.registration import frozen_plan
from arena.leaderboards.report_models import Reading, ReportText

READ_SHOWN = 50
READ_ENOUGH = 20
"""A failure analysis rests on at least so many battles read."""
PAIRS_SHOWN = 60


@dataclass(frozen=True)
class Block:
    """Text, a table (`rows` under `head`) or a picture (`source`), with what stands above it."""

    text: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    source: str = ""
    caption: str = ""


@dataclass
class Draft:
    """What one part says, as it is being written."""

    blocks: list[Block] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        if text.strip():
            self.blocks.append(Block(text=text))

    def lay_out(self, head: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> None:
        if rows:
            told = [["–" if cell is None else str(cell) for cell in row] for row in rows]
            self.blocks.append(Block(head=head, rows=told, caption=caption))


@dataclass(frozen=True)
class Matter:
    """What the parts are written from."""

    campaign: Campaign
    page: Page
    snapshot: Snapshot | None
    text: ReportText


def _capability(matter: Matter, draft: Draft) -> None:
    draft.say(matter.text.capability)
    plan = frozen_plan(matter.campaign)
    if plan is not None:
        draft.say(_("The question of the analysis plan: %(question)s") % {"question": plan.question})
    if not matter.text.capability.strip():
        draft.missing.append(_("Which ability is measured, in a sentence."))


def _items(matter: Matter, draft: Draft) -> None:
    sets = matter.campaign.prompt_sets.annotate(n=Count("prompts")).order_by("name", "version")
    draft.lay_out(
        [_("Prompt set"), _("Prompts"), _("Licence"), _("Published"), "SHA-256"],
        [
            [f"{s.name} v{s.version}", s.n, s.licence, _day(s.published_at), s.content_hash or None]
            for s in sets
        ],
    )
    prompts = Prompt.objects.filter(prompt_set__in=matter.campaign.prompt_sets.all()).order_by()
    for name, words in (("category", _("Category")), ("language", _("Language"))):
        counted = prompts.values_list(name).annotate(n=Count("pk")).order_by("-n", name)
        draft.lay_out([words, _("Prompts")], [[value or _("not given"), n] for value, n in counted])
    draft.say(matter.text.sourcing)
    draft.say(matter.text.contamination)
    if not matter.text.sourcing.strip():
        draft.missing.append(_("Where the prompts come from."))
    if not matter.text.contamination.strip():
        draft.missing.append(_("Whether models may have seen the prompts, and how that was checked."))


def _protocol(matter: Matter, draft: Draft) -> None:
    campaign = matter.campaign
    span = Vote.objects.filter(battle__campaign=campaign).aggregate(a=Min("voted_at"), b=Max("voted_at"))
    words = {
        "admission": campaign.get_admission_display(),
        "reveal": campaign.get_reveal_display(),
        "first": _day(span["a"]) or "–",
        "last": _day(span["b"]) or "–",
    }
    draft.say(
        _(
            "Raters were admitted %(admission)s and saw two responses to one prompt side by side, without"
            " names; sides by chance. Names were shown: %(reveal)s. Votes from %(first)s to %(last)s."
        )
        % words
    )
    guide = campaign.current_guide
    if guide is None:
        draft.missing.append(_("What raters were asked: there is no guide."))
    else:
        asked = {"version": guide.version, "text": guide.text}
        draft.say(_("The guide, version %(version)d: %(text)s") % asked)
    draft.lay_out(
        [_("Model"), _("Organisation"), _("Licence"), _("Responses"), _("Answered as")],
        list(_competitors(campaign)),
    )
    draft.lay_out(
        [_("Judge"), _("Model"), _("Rubric"), _("Judgments")],
        list(_judges(campaign)),
        _("Judges, asked in both orders"),
    )


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
    counted = list(judged.values_list("judge").annotate(n=Count("pk")))
    judges = Judge.objects.select_related("endpoint", "rubric").in_bulk([pk for pk, _n in counted])
    for pk, n in counted:
        judge = judges[pk]
        endpoint = judge.endpoint.model_id if judge.endpoint else None
        rubric = f"{judge.rubric} ({judge.rubric.sha256[:12]})" if judge.rubric else None
        yield [judge.name, endpoint, rubric, n]


def _baselines(matter: Matter, draft: Draft) -> None:
    draft.say(matter.text.baselines)
    standings = _standings(matter)
    sentinels = [s for s in standings if s.competitor.role == Competitor.Role.SENTINEL]
    draft.lay_out(
        [_("Sentinel"), _("Rank"), _("Rating"), _("Won : lost (ties)")],
        [
            [s.competitor.name, rank_words(s), _points(s.rating), f"{s.wins} : {s.losses} ({s.ties})"]
            for s in sentinels
        ],
    )
    if not sentinels and not matter.text.baselines.strip():
        draft.missing.append(_("A baseline: an earlier model, or a trivial one that should lose."))


def _headline(matter: Matter, draft: Draft) -> None:
    if matter.snapshot is None:
        draft.missing.append(_("A board: no snapshot has been taken."))
        return
    draft.say(matter.page.sentence)
    draft.say(" · ".join(" ".join(filter(None, (f.before, f.figure, f.after))) for f in matter.page.facts))
    draft.lay_out(
        [_("Rank"), _("Model"), _("Rating"), _("95 % interval"), _("Battles")],
        [
            [rank_words(s), s.competitor.name, _points(s.rating), _interval(s.lower, s.upper), s.battles]
            for s in _standings(matter)
        ],
    )
    _draw(matter, draft, "ratings")


def _breakdowns(matter: Matter, draft: Draft) -> None:
    columns = [column for column in matter.page.columns if column.snapshot]
    if not columns:
        draft.missing.append(_("Boards to break down."))
        return
    draft.lay_out(
        [_("Model"), *(column.heading for column in columns), _("Style move")],
        [
            [
                row.name,
                *(f"{c.figure} {c.interval}".strip() for c in row.cells if c.board in _names(columns)),
                row.move,
            ]
            for row in matter.page.rows
        ],
        _("The boards side by side"),
    )
    draft.lay_out(
        [_("More of"), _("Points, typical difference"), _("Interval"), _("Twice as much")],
        [[c.name, c.typical, c.interval, c.doubled] for c in matter.page.coefficients],
        _("What style is worth"),
    )
    charts = chart_page.build(
        [c.leaderboard for c in columns if c.leaderboard], _key(matter), "overall"
    ).charts
    table = next((chart.table for chart in charts if chart.name == "categories"), None)
    if table is not None and table.head:
        draft.lay_out([_("Model"), *table.head], table.rows, _("By category"))


def _names(columns: Sequence[board_page.Column]) -> set[str]:
    return {column.board.name for column in columns}


def _key(matter: Matter) -> str:
    return matter.page.source.key if matter.page.source else ""


def _failures(matter: Matter, draft: Draft) -> None:
    kinds, lines, read = failures_by_model(matter.campaign)
    draft.lay_out([_("Model"), *kinds], [[line.name, *line.counts] for line in lines])
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
    )
    if read < READ_ENOUGH:
        words = _("Battles read: %(read)d of the %(enough)d that a failure analysis should rest on.")
        draft.missing.append(words % {"read": read, "enough": READ_ENOUGH})


def _undecided(matter: Matter, draft: Draft) -> None:
    if matter.snapshot is None:
        draft.missing.append(_("Pairs to tell apart: no snapshot has been taken."))
        return
    pairs = matter.snapshot.pairs.select_related("first", "second")
    counted = dict(pairs.order_by().values_list("verdict").annotate(n=Count("pk")))
    words = dict(PairResult.Verdict.choices)
    draft.lay_out([_("Verdict"), _("Pairs")], [[words[verdict], n] for verdict, n in sorted(counted.items())])
    open_ = pairs.exclude(verdict=PairResult.Verdict.DIFFERENT)
    draft.lay_out(
        [_("Pair"), _("Verdict"), _("Points"), _("95 % interval"), _("p (Holm)")],
        [
            [
                f"{p.first.name} – {p.second.name}",
                p.get_verdict_display(),
                None if p.difference is None else sentences.signed(p.difference),
                _interval(p.lower, p.upper),
                None if p.p_adjusted is None else f"{p.p_adjusted:.3f}",
            ]
            for p in open_[:PAIRS_SHOWN]
        ],
        _("Pairs that are not told apart"),
    )
    for caution in [*matter.page.cautions, *matter.page.more_cautions]:
        draft.say(f"{caution.text}{f' ({caution.boards})' if caution.boards else ''}")
    excluded = Exclusion.objects.filter(campaign=matter.campaign).values_list("rule", "reason")
    draft.lay_out(
        [_("Exclusion"), _("Reason")],
        [[rule, reason] for rule, reason in excluded],
        _("What was left out, and why"),
    )


def _again(matter: Matter, draft: Draft) -> None:
    snapshots = [(c.heading, c.snapshot) for c in matter.page.columns if c.snapshot]
    draft.lay_out(
        [_("Board"), _("Snapshot"), _("Cutoff"), _("Status"), _("Votes’ digest"), _("Seed"), _("Code")],
        [
            [
                heading,
                s.pk,
                f"{s.cutoff:%Y-%m-%d %H:%M} UTC",
                _("registered") if s.plan_id else _("exploratory"),
                s.vote_digest,
                s.seed,
                s.code_version,
            ]
            for heading, s in snapshots
        ],
    )
    plan = frozen_plan(matter.campaign)
    if plan is None:
        draft.say(_("No analysis plan was frozen: every board is exploratory."))
    else:
        draft.say(
            _("Analysis plan %(version)d, frozen %(at)s, SHA-256 %(hash)s.")
            % {"version": plan.version, "at": f"{plan.frozen_at:%Y-%m-%d %H:%M} UTC", "hash": plan.sha256}
        )
    if snapshots:
        draft.say(
            _("“replay_snapshot” fits the same votes again; “export_campaign %(slug)s” writes all of them.")
            % {"slug": matter.campaign.slug}
        )
    else:
        draft.missing.append(_("A snapshot that could be computed again."))


def _standings(matter: Matter) -> list[Standing]:
    return list(matter.snapshot.standings.select_related("competitor")) if matter.snapshot else []


def _draw(matter: Matter, draft: Draft, name: str) -> None:
    charts = SnapshotChart.objects.filter(snapshot=matter.snapshot, name=name, failure="")
    chart = charts.exclude(light="").first()
    if chart is not None:
        source = "data:image/svg+xml;base64," + b64encode(chart.light.encode()).decode()
        draft.blocks.append(Block(source=source, caption=str(chart_page.TITLES[name])))


def _day(at: datetime | None) -> str | None:
    return f"{at:%Y-%m-%d}" if at else None


def _points(value: float | None) -> str | None:
    return None if value is None else f"{value:.0f}"


def _interval(lower: float | None, upper: float | None) -> str | None:
    ends = ["–" if end is None else f"{end:.0f}" for end in (lower, upper)]
    return None if lower is None and upper is None else " … ".join(ends)


PARTS: tuple[tuple[object, Callable[[Matter, Draft], None]], ...] = (
    (gettext_lazy("What is measured"), _capability),
    (gettext_lazy("Prompts: where from, and whether models knew them"), _items),
    (gettext_lazy("Protocol"), _protocol),
    (gettext_lazy("Baselines"), _baselines),
    (gettext_lazy("Result"), _headline),
    (gettext_lazy("Breakdowns"), _breakdowns),
    (gettext_lazy("Failures, from battles that were read"), _failures),
    (gettext_lazy("Undecided and negative results"), _undecided),
    (gettext_lazy("How to compute it again"), _again),
)
