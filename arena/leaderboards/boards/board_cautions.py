"""What to be careful about on a board: warnings of its fits, what is left out, what its votes are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards import sentences
from arena.leaderboards.models import Snapshot
from arena.leaderboards.plans.looks import look_of, say_early
from arena.leaderboards.style_words import feature

if TYPE_CHECKING:
    from arena.leaderboards.boards.board_rows import Column


@dataclass(frozen=True)
class Caution:
    """`boards` names the boards it holds for; empty: all that are shown."""

    text: str
    boards: str


SHOWN_CAUTIONS = 4
FEW_VOTES = 100


def cautions_of(columns: Sequence[Column]) -> list[Caution]:
    """What the fits warn of and what was left out, said once."""
    shown = [(column.board.title, column.snapshot) for column in columns if column.snapshot]
    where: dict[str, list[str]] = {}
    for title, snapshot in shown:
        if snapshot.counts["votes"] < FEW_VOTES:
            where.setdefault(_("Fewer than 100 votes: take every number for a sketch."), []).append(title)
    for title, snapshot in shown:
        for text in _cautions(snapshot):
            where.setdefault(text, []).append(title)
    return [
        Caution(text, "" if len(boards) == len(shown) else sentences.list_names(boards))
        for text, boards in where.items()
    ]


def _cautions(snapshot: Snapshot) -> Iterator[str]:
    counts = snapshot.counts
    look = look_of(snapshot, snapshot.plan) if snapshot.plan else None
    if look is not None and look.is_interim:
        yield say_early(look)
    yield from _about_texts(counts)
    yield from snapshot.warnings
    yield from _about_policies(counts.get("policy_moves", []), snapshot.options)
    yield from _about_votes(snapshot)
    yield from _about_moves(counts.get("moves"))
    # That a board of hard prompts leaves out the others is its definition.
    left_out = {reason: n for reason, n in counts["left_out"].items() if reason != "not_hard"}
    yield from sentences.say_left_out(left_out)
    if counts["votes_about_blank_responses"]:
        yield say_blank(counts["votes_about_blank_responses"], counts["blank_responses"])


# Points by which moves and ratings may differ without a word: what rounding makes of them.
SAME_MEAN = 1.0


def _about_moves(moves: Mapping[str, Any] | None) -> Iterator[str]:
    """Other models may be in the mean of the two boards than in that of both."""
    if moves is None:
        return
    if not moves["mean_of"]:
        yield _("No move from the overall board is told: fewer than two models are well measured on both.")
    elif abs(moves["offset"]) >= SAME_MEAN:
        words = _(
            "Moves are against the mean of the %(n)s models that are well measured on both boards; ratings as"
            " shown differ by %(points)s points more, for other models are in their means."
        )
        yield words % {"n": f"{moves['mean_of']:,}", "points": sentences.signed(moves["offset"])}


def say_blank(votes: int, responses: int) -> str:
    about = ngettext("one empty response", "one of %(n)s empty responses", responses)
    words = ngettext(
        "%(votes)s vote is about %(about)s. It was recorded and counts.",
        "%(votes)s votes are about %(about)s. They were recorded and count.",
        votes,
    )
    return words % {"votes": f"{votes:,}", "about": about % {"n": f"{responses:,}"}}


def _about_policies(moves: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> Iterator[str]:
    """The other policy that moves a rank most; where none moves one there is nothing to say."""
    moved = [move for move in moves if move["largest_rank_move"]]
    if not moved:
        return
    worst = max(moved, key=lambda move: (move["largest_rank_move"], move["largest_rating_move"]))
    places = ngettext("%(n)d place", "%(n)d places", worst["largest_rank_move"])
    words = _("Ranks hang on how draws are counted: if %(policy)s, a model moves by %(places)s.")
    yield words % {"policy": _policy(worst, options), "places": places % {"n": worst["largest_rank_move"]}}


def _policy(move: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """What is other than on this board."""
    kinds = ((sentences.TIES, "ties"), (sentences.BOTH_BAD, "both_bad"), (sentences.UNSTABLE, "unstable"))
    return sentences.list_names(
        [_(words[move[name]]) for words, name in kinds if move[name] != options[name]]
    )


# Shares of the votes.
ONE_SIDED, SPARSE = 0.25, 0.1


def _about_votes(snapshot: Snapshot) -> Iterator[str]:
    """A hub, sides that never change, features of style that hardly ever differ; older ones don't know."""
    counts = snapshot.counts
    if counts.get("hub"):
        hub = snapshot.standings.select_related("competitor").get(competitor=counts["hub"])
        words = _("%(name)s stands in %(share)s %% of the votes: most models are compared through it alone.")
        yield words % {"name": hub.competitor.name, "share": f"{100 * counts['hub_share']:.0f}"}
    if counts.get("one_sided", 0) >= ONE_SIDED:
        words = _(
            "In %(share)s %% of the votes the same model of the two always stood first: that it won can’t be"
            " told from that it was seen first."
        )
        yield words % {"share": f"{100 * counts['one_sided']:.0f}"}
    weighed = {coefficient["name"] for coefficient in snapshot.coefficients}
    for name, differing in counts.get("differing", {}).items():
        if name in weighed and differing < SPARSE * counts["votes"]:
            words = ngettext(
                "%(feature)s differ in only %(n)s of %(all)s vote: their worth rests on these.",
                "%(feature)s differ in only %(n)s of %(all)s votes: their worth rests on these.",
                counts["votes"],
            )
            told = words % {
                "feature": feature(name, counts["length_unit"]),
                "n": f"{differing:,}",
                "all": f"{counts['votes']:,}",
            }
            yield told[0].upper() + told[1:]


def _about_texts(counts: Mapping[str, Any]) -> Iterator[str]:
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
        yield words % {"texts": f"{texts:,}", "prompts": f"{prompts:,}"}
    if (texts := counts.get("prompt_texts", prompts)) < prompts:
        words = ngettext(
            "The %(prompts)s prompts have only %(texts)s text among them: prompts of one text count as"
            " independent, so the intervals are too narrow.",
            "The %(prompts)s prompts have only %(texts)s different texts: prompts of one text count as"
            " independent, so the intervals are too narrow.",
            texts,
        )
        yield words % {"texts": f"{texts:,}", "prompts": f"{prompts:,}"}
