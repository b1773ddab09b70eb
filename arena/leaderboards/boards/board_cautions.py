"""What to be careful about: on a board's page, and on every other page that shows some of its numbers.

Each page says what concerns what it shows, and leaves out what it says elsewhere in its own words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from arena.leaderboards import sentences
from arena.leaderboards.boards.board_rows import Column
from arena.leaderboards.boards.board_sources import Source
from arena.leaderboards.boards.caution_codes import code_of, weight_of
from arena.leaderboards.boards.first_words import about_first
from arena.leaderboards.boards.meeting_words import about_meetings
from arena.leaderboards.boards.renamed_models import say_renamed
from arena.leaderboards.boards.side_words import about_sides
from arena.leaderboards.boards.unranked import why_unranked
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.by_hand import by_hand_since_votes, say_by_hand
from arena.leaderboards.plans.looks import other_look, say_other
from arena.leaderboards.plans.registration import models_chosen_since_votes
from arena.leaderboards.plans.registration_words import say_models_chosen
from arena.leaderboards.row_words import in_rows
from arena.leaderboards.style_words import feature
from arena.percent import percent
from ratings.warnings_in_words import ABOUT_SOME, GROUPS


@dataclass(frozen=True)
class Caution:
    """code: one of `CODES`, for programs · boards: those it holds for by name, empty: all that are shown ·
    judge: whose card says more.
    """

    code: str
    text: str
    boards: str = ""
    judge: int | None = None


Said = tuple[str, str]
"""A code and a sentence."""


@dataclass(frozen=True)
class Care:
    """`more`: what a page leaves to a click."""

    shown: list[Caution]
    more: list[Caution]

    @property
    def every(self) -> list[Caution]:
        return [*self.shown, *self.more]


NO_CARE = Care([], [])
RANKS, ALONE, MOVES = "ranks", "alone", "moves"
"""Kinds a page may leave out: of ranks or moves that it doesn’t show, of people alone where it says so."""
SHOWN_CAUTIONS = 4
FEW_VOTES = 100


def care_of(
    columns: Sequence[Column],
    source: Source | None,
    *,
    about: Collection[int] = (),
    named: Collection[int] | None = None,
    leave: Collection[str] = (),
    shown: int = SHOWN_CAUTIONS,
) -> Care:
    """What the fits of one source's boards warn of and what was left out, each said once.

    about: the models that the page is about, none: all of them · named: those it names, unless the same ·
    leave: kinds that don't concern it.
    """
    there = [column for column in columns if column.snapshot]
    if not there or source is None:
        return NO_CARE
    ranked = any(one.rank_lower is not None for column in there for one in column.standings.values())
    renamed = say_renamed(there, about if named is None else named)
    always = [Caution("renamed", *said) for said in renamed]
    always += _always(source, leave if ranked else {*leave, RANKS})
    found = cautions_of(there, about=about, leave=leave)
    return Care([*always, *found[:shown]], found[shown:])


def _always(source: Source, leave: Collection[str]) -> Iterator[Caution]:
    """What holds of every board of its kind."""
    if RANKS not in leave:
        yield Caution(
            "rank_sets",
            _(
                "Ranks are sets: at %(level)s confidence, for all models at once, a model may hold any place"
                " in its set. The intervals shown are each model’s own, not corrected: two may lie apart"
                " where no test corrected for all pairs tells these models apart."
            )
            % {"level": percent(0.95)},
        )
    if source.kind == Leaderboard.Source.JUDGE and source.judge:
        words = _(
            "All judgments are one judge’s: the intervals say nothing about another judge, or about people."
        )
        yield Caution("one_judge", words, judge=source.judge.pk)
    elif source.kind == Leaderboard.Source.PANEL:
        yield Caution(
            "panel",
            _(
                "A row is what most judges of the same two responses found; without a majority it counts as"
                " orders that disagree. Of several judges with one model only the newest is heard. The"
                " intervals say nothing about other judges, or about people."
            ),
        )


def cautions_of(
    columns: Sequence[Column], *, about: Collection[int] = (), leave: Collection[str] = ()
) -> list[Caution]:
    shown = [column for column in columns if column.snapshot]
    where: dict[Said, list[str]] = {}
    for column in shown:
        if column.snapshot and column.snapshot.counts["votes"] < FEW_VOTES:
            few = _("Fewer than 100 votes: take every number for a sketch.")
            few = in_rows(few, column.snapshot.leaderboard.is_judged)
            where.setdefault(("few_votes", few), []).append(column.board.title)
    for column in shown:
        if column.snapshot:
            for said in (
                *_about_models(column, about),
                *_cautions(column, column.snapshot, about, leave),
            ):
                where.setdefault(said, []).append(column.board.title)
    return [
        Caution(code, text, "" if len(boards) == len(shown) else sentences.list_names(boards))
        for (code, text), boards in sorted(where.items(), key=lambda one: weight_of(one[0][0]))
    ]


def _cautions(
    column: Column, snapshot: Snapshot, about: Collection[int], leave: Collection[str]
) -> Iterator[Said]:
    counts, judged = snapshot.counts, snapshot.leaderboard.is_judged
    if (look := other_look(snapshot)) is not None:
        yield say_other(look)
    if snapshot.plan_id and (chosen := models_chosen_since_votes(snapshot)):
        yield "models_chosen", say_models_chosen(chosen)
    if snapshot.plan_id and (by_hand := by_hand_since_votes(snapshot)):
        yield "left_out_after_votes", say_by_hand(by_hand)
    if ALONE not in leave and not counts.get("combined", {"used": True})["used"]:
        yield "no_judge_heard", _("No judge is heard here: these are the votes of people alone.")
    yield from about_texts(counts)
    yield from _about_unknown_prompts(counts, judged)
    for warning in snapshot.warnings:
        if not (about and _is_of_others(warning, column, about)):
            yield code_of(warning), warning
    bounded = sum(None not in (one.lower, one.upper) for one in column.standings.values())
    # Snapshots of before counted models without an interval too.
    yield from _about_errors(min(counts.get("models_own_error", 0), bounded), len(column.standings))
    yield from _about_policies(counts.get("policy_moves", []), snapshot.options, RANKS not in leave)
    if RANKS not in leave:
        yield from about_first(column.standings, counts, about, judged)
    yield from _about_votes(column, snapshot, about)
    if MOVES not in leave:
        yield from _about_moves(counts.get("moves"))
    # That a board of hard prompts leaves out the others is its definition.
    left_out = {reason: n for reason, n in counts["left_out"].items() if reason != "not_hard"}
    for reason, text in zip(left_out, sentences.say_left_out(left_out, judged), strict=True):
        yield f"left_out_{reason}", text
    if counts["votes_about_blank_responses"]:
        blank = counts["votes_about_blank_responses"], counts["blank_responses"]
        yield "blank_responses", say_blank(*blank, judged)


def _about_unknown_prompts(counts: Mapping[str, Any], judged: bool) -> Iterator[Said]:
    """A file may have named prompts that no prompt set here holds: of these nothing was kept."""
    n, every = counts.get("votes_without_prompt", 0), counts["votes"]
    if not n:
        return
    words = ngettext(
        "%(n)s of %(all)s votes has no prompt that is known here, whatever a file named: it counts as a"
        " question of its own, and intervals are too narrow if others are about the same one.",
        "%(n)s of %(all)s votes have no prompt that is known here, whatever a file named: each counts as a"
        " question of its own, and intervals are too narrow if several are about the same one.",
        n,
    )
    if n == every:
        words = _(
            "No vote has a prompt that is known here, whatever a file named: intervals ignore prompts, and"
            " are too narrow if several votes are about the same one."
        )
    yield "prompts_unknown", in_rows(words, judged) % {"n": f"{n:,}", "all": f"{every:,}"}


# Points by which moves and ratings may differ without a word: what rounding makes of them.
SAME_MEAN = 1.0


def _about_moves(moves: Mapping[str, Any] | None) -> Iterator[Said]:
    """Other models may be in the mean of the two boards than in that of both."""
    if moves is None:
        return
    if not moves["mean_of"]:
        yield (
            "no_moves",
            _("No move from the overall board is told: fewer than two models are well measured on both."),
        )
    elif abs(moves["offset"]) >= SAME_MEAN:
        words = _(
            "Moves are against the mean of the %(n)s models that are well measured on both boards; ratings as"
            " shown differ by %(points)s points more, for other models are in their means."
        )
        yield (
            "moves_mean",
            words % {"n": f"{moves['mean_of']:,}", "points": sentences.signed(moves["offset"])},
        )


def _is_of_others(warning: str, column: Column, about: Collection[int]) -> bool:
    """Counts some models, which `_about_models` names if they are those of the page; or divides others."""
    if GROUPS in warning and len(about) > 1:
        groups = {column.standings[one].component for one in about if one in column.standings}
        return len(groups) < 2
    return any(phrase in warning for phrase in ABOUT_SOME)


ABOUT_MODEL = {
    "unbounded_above": gettext_lazy(
        "%(name)s has won every battle against the rest: its rating is provisional, without an upper bound."
    ),
    "unbounded_below": gettext_lazy(
        "%(name)s has lost every battle against the rest: its rating is provisional, without a lower bound."
    ),
    "too_few_raters": gettext_lazy(
        "%(name)s was judged by too few raters for an interval that has been tested."
    ),
    "too_few_prompts": gettext_lazy(
        "%(name)s was judged on too few prompts for an interval that has been tested."
    ),
    "unranked": gettext_lazy("%(name)s has too few votes to be ranked."),
    "no_interval": gettext_lazy(
        "%(name)s has no interval yet: too few votes, raters or prompts, or nearly all of them ties."
    ),
}


def _about_models(column: Column, about: Collection[int]) -> Iterator[Said]:
    """The flags of the page's models, but for those that all have: a warning says these already."""
    if not about:
        return
    common = set.intersection(*(set(standing.flags) for standing in column.standings.values()))
    for one in about:
        standing = column.standings.get(one)
        if standing is None:
            continue
        for flag in standing.flags:
            if flag in ABOUT_MODEL and (flag not in common or len(column.standings) <= len(about)):
                words = str(why_unranked(standing) if flag == "unranked" else ABOUT_MODEL[flag])
                judged = bool(column.snapshot and column.snapshot.leaderboard.is_judged)
                yield f"model_{flag}", in_rows(words, judged) % {"name": standing.competitor.name}


def say_blank(votes: int, responses: int, judged: bool = False) -> str:
    about = ngettext("one empty response", "one of %(n)s empty responses", responses)
    words = ngettext(
        "%(votes)s vote is about %(about)s. It was recorded and counts.",
        "%(votes)s votes are about %(about)s. They were recorded and count.",
        votes,
    )
    return in_rows(words, judged) % {"votes": f"{votes:,}", "about": about % {"n": f"{responses:,}"}}


def _about_policies(
    moves: Sequence[Mapping[str, Any]], options: Mapping[str, Any], in_ranks: bool
) -> Iterator[Said]:
    """The other policy that moves a rank most; where none moves one there is nothing to say."""
    moved = [move for move in moves if move["largest_rank_move"]]
    if not moved:
        return
    if in_ranks:
        worst = max(moved, key=lambda move: (move["largest_rank_move"], move["largest_rating_move"]))
        places = ngettext("%(n)d place", "%(n)d places", worst["largest_rank_move"])
        how_far = places % {"n": worst["largest_rank_move"]}
        words = _("Ranks hang on how draws are counted: if %(policy)s, a model moves by %(how_far)s.")
    else:
        worst = max(moved, key=lambda move: move["largest_rating_move"])
        how_far = f"{worst['largest_rating_move']:.0f}"
        words = _(
            "Ratings hang on how draws are counted: if %(policy)s, a model moves by up to %(how_far)s points."
        )
    yield "draws", words % {"policy": _policy(worst, options), "how_far": how_far}


def _about_errors(own: int, models: int) -> Iterator[Said]:
    """Older snapshots don't say how many."""
    if own:
        words = ngettext(
            "The interval of %(n)s of %(all)s models is as wide as the fit’s own error: likeness among so few"
            " votes, raters or prompts, or votes that were hardly ever close, made it narrower, which isn’t"
            " trusted.",
            "The intervals of %(n)s of %(all)s models are as wide as the fit’s own error: likeness among so"
            " few votes, raters or prompts, or votes that were hardly ever close, made them narrower, which"
            " isn’t trusted.",
            own,
        )
        yield "own_error", words % {"n": f"{own:,}", "all": f"{models:,}"}


def _policy(move: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """What is other than on this board."""
    kinds = ((sentences.TIES, "ties"), (sentences.BOTH_BAD, "both_bad"), (sentences.UNSTABLE, "unstable"))
    return sentences.list_names(
        [_(words[move[name]]) for words, name in kinds if move[name] != options[name]]
    )


# A share of the votes.
SPARSE = 0.1


def _about_votes(column: Column, snapshot: Snapshot, about: Collection[int]) -> Iterator[Said]:
    """Who met whom, sides that never change, features of style that hardly differ; older ones don't know."""
    counts = snapshot.counts
    names = {key: standing.competitor.name for key, standing in column.standings.items()}
    yield from about_meetings(snapshot, names, about)
    yield from about_sides(snapshot)
    if sparse := _sparse(snapshot):
        words = ngettext(
            "%(features)s of %(all)s vote: their worth rests on these.",
            "%(features)s of %(all)s votes: their worth rests on these.",
            counts["votes"],
        )
        words = in_rows(words, snapshot.leaderboard.is_judged)
        told = words % {"features": "; ".join(sparse), "all": f"{counts['votes']:,}"}
        yield "sparse_feature", told[0].upper() + told[1:]


def _sparse(snapshot: Snapshot) -> list[str]:
    """Features of style that hardly differ, as one sentence has them: in how many votes each does."""
    counts = snapshot.counts
    weighed = {coefficient["name"] for coefficient in snapshot.coefficients}
    return [
        _("%(feature)s differ in only %(n)s")
        % {"feature": feature(name, counts["length_unit"]), "n": f"{differing:,}"}
        for name, differing in counts.get("differing", {}).items()
        if name in weighed and differing < SPARSE * counts["votes"]
    ]


def about_texts(counts: Mapping[str, Any]) -> Iterator[Said]:
    """Prompts that say the same: one question in a snapshot of today, several in one from before."""
    prompts = counts["prompts"]
    if (texts := counts.get("distinct_texts", prompts)) < prompts:
        words = ngettext(
            "The %(prompts)s prompts have only %(texts)s text among them: it counts as one question in every"
            " interval.",
            "The %(prompts)s prompts have only %(texts)s different texts: those of one text count as one"
            " question in every interval.",
            texts,
        )
        yield "same_texts", words % {"texts": f"{texts:,}", "prompts": f"{prompts:,}"}
    if (texts := counts.get("prompt_texts", prompts)) < prompts:
        words = ngettext(
            "The %(prompts)s prompts have only %(texts)s text among them: prompts of one text count as"
            " independent, so the intervals are too narrow.",
            "The %(prompts)s prompts have only %(texts)s different texts: prompts of one text count as"
            " independent, so the intervals are too narrow.",
            texts,
        )
        yield "same_texts_independent", words % {"texts": f"{texts:,}", "prompts": f"{prompts:,}"}
