"""What a board says in words: the sentence on top, the facts' wording, what was left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.row_words import in_rows
from ratings.style_left_out import LeftOut, Why, together

NAMED = 3


@dataclass(frozen=True)
class Move:
    """How far style control moves a model, in points.

    settled: its own interval excludes zero · clear: it does so with all models looked at together (Holm).
    """

    name: str
    points: float
    settled: bool
    clear: bool


def list_names(names: Sequence[str]) -> str:
    """ "A", "A and B", "A, B and C", "A, B and 4 others"."""
    if len(names) > NAMED:
        shown, more = names[: NAMED - 1], len(names) - NAMED + 1
        rest = ngettext("%(n)d other", "%(n)d others", more) % {"n": more}
    else:
        shown, rest = names[:-1], names[-1]
    if not shown:
        return rest
    return _("%(names)s and %(last)s") % {"names": ", ".join(shown), "last": rest}


def signed(points: float, decimals: int = 0) -> str:
    """ "+12", "−31" with a minus sign proper, "0"."""
    rounded = round(points, decimals)
    return f"{'−' if rounded < 0 else '+' if rounded > 0 else ''}{abs(rounded):.{decimals}f}"


def written(value: float, decimals: int = 0) -> str:
    """ "1012", "−31" with a minus sign proper, "0" and never −0: what may be negative is told so."""
    rounded = round(value, decimals)
    return f"{'−' if rounded < 0 else ''}{abs(rounded):.{decimals}f}"


# Below so many effective raters, or prompts, hardly any difference is told apart: that is no finding.
FEW_TO_RANK = 5


FEW = {
    "raters": ngettext_lazy("%(n)s rater%(told)s is too few", "%(n)s raters%(told)s are too few", "n"),
    "prompts": ngettext_lazy("%(n)s prompt%(told)s is too few", "%(n)s prompts%(told)s are too few", "n"),
}


def too_few(snapshot: Snapshot) -> str | None:
    """Which of the two it has too few of to rank by.

    What a judge's board says is the judge's, by its heading: its raters aren't asked after.
    """
    for name in FEW:
        effective = snapshot.counts.get(f"effective_{name}")
        if effective is None or (name == "raters" and snapshot.leaderboard.is_judged):
            continue
        if round(effective, 1) < FEW_TO_RANK:  # as it is shown
            return name
    return None


def say_few(snapshot: Snapshot) -> str:
    """That its raters or prompts are too few, as the start of a clause; empty where neither are."""
    name, counts = too_few(snapshot), snapshot.counts
    if name is None:
        return ""
    uneven = counts[name] - counts[f"effective_{name}"] >= 0.5
    told = _(" (effective %(n)s)") % {"n": f"{counts[f'effective_{name}']:.1f}"} if uneven else ""
    return FEW[name] % {"n": counts[name], "told": told}


UNSURE = "†"


def mark(words: str, snapshot: Snapshot) -> str:
    """A rank or a verdict in a table, marked where too few raters or prompts stand behind it."""
    return f"{words}{UNSURE}" if too_few(snapshot) else words


def say_marked(snapshots: Iterable[Snapshot], shown: Iterable[str]) -> str:
    """What the mark says, of all boards of a table; empty where none of the words shown is marked."""
    if not any(words.endswith(UNSURE) for words in shown):
        return ""
    few = list(dict.fromkeys(filter(None, map(say_few, snapshots))))
    words = _("%(mark)s %(few)s to rely on ranks, verdicts and moves marked so.")
    return words % {"mark": UNSURE, "few": "; ".join(few)} if few else ""


def say_first(
    first: Sequence[str], models: int, few: str = "", ranked: int | None = None, none: str = ""
) -> str:
    """Who is first, as a clause without its full stop; `first` are all who may be, by falling rating.

    few: as `say_few` has it · ranked: how many of the models have a rank, where not all do ·
    none: why none has.
    """
    ranked = models if ranked is None else ranked
    if not first:
        return none or _("no model has enough votes to be ranked")
    if few:
        return ngettext("%(few)s to rank %(n)d model", "%(few)s to rank %(n)d models", models) % {
            "few": few,
            "n": models,
        }
    if len(first) == ranked < models and ranked > 2:
        told = _(
            "nothing tells the ranked models apart in tests corrected for all pairs: all %(n)d are tied for"
            " first"
        )
        return told % {"n": ranked}
    if len(first) == models and models > 2:
        told = _(
            "nothing tells the %(n)d models apart in tests corrected for all %(pairs)s pairs: all are tied"
            " for first"
        )
        return told % {"n": models, "pairs": f"{comb(models, 2):,}"}
    if len(first) == 1:
        return _("%(name)s leads") % {"name": first[0]}
    if len(first) > max(NAMED, models / 2):
        words = {"n": len(first), "all": models, "name": first[0]}
        return _("%(n)d of %(all)d models are tied for first, %(name)s with the highest rating") % words
    return _("%(names)s are tied for first") % {"names": list_names(first)}


def say_top(
    first: Sequence[str],
    models: int,
    groups: int,
    few: str = "",
    ranked: int | None = None,
    none: str = "",
    as_large: bool = False,
) -> list[str]:
    """The clauses about the overall board; several groups make it a statement about the largest.

    as_large: another group has as many votes, so that there is no largest.
    """
    clauses = [say_first(first, models, few, ranked, none)]
    if groups > 1:
        words = _(
            "the models fall into %(n)d groups that can't be compared, and this is the one with most votes"
        )
        if as_large:
            words = _(
                "the models fall into %(n)d groups that can't be compared, and this is only one of them"
            )
        clauses.append(words % {"n": groups})
    return clauses


def say_hard(
    first: Sequence[str],
    models: int,
    overall: Sequence[str],
    few: str = "",
    ranked: int | None = None,
    top: str = "",
    none: str = "",
) -> str:
    """top: the clause about the overall board. That nothing can be ranked isn't said twice."""
    clause = say_first(first, models, few, ranked, none)
    if (first and set(first) == set(overall)) or (clause == top and (few or not first)):
        return _("hard prompts don't change that")
    return _("on hard prompts %(clause)s") % {"clause": clause}


def say_moves(moves: Iterable[Move], together: int) -> str:
    """together: how many models were looked at, all of which a clear move allows for."""
    moves = list(moves)
    clear = [move for move in moves if move.clear]
    if not clear:
        if any(move.settled for move in moves):
            told = ngettext(
                "at equal length and format no model moves clearly",
                "at equal length and format no model moves clearly, with all %(n)d looked at together",
                together,
            )
            return told % {"n": together}
        return _("at equal length and format no model moves by more than its uncertainty")
    largest = max(clear, key=lambda move: abs(move.points))
    words = {"name": largest.name, "points": f"{abs(largest.points):.0f}"}
    if largest.points < 0:
        told = _(
            "at equal length and format %(name)s drops by %(points)s points, the largest move that is clear"
        )
    else:
        told = _(
            "at equal length and format %(name)s gains %(points)s points, the largest move that is clear"
        )
    whole = ngettext("%(told)s", "%(told)s with all %(n)d models looked at together", together)
    return whole % {"told": told % words, "n": together}


def compose(opening: str, clauses: Sequence[str]) -> str:
    """The first clause is a sentence of its own, the others share one."""
    first = f"{opening}{clauses[0]}"
    sentences = [first, "; ".join(clauses[1:])]
    return " ".join(capitalise(sentence) + "." for sentence in sentences if sentence)


def capitalise(sentence: str) -> str:
    """Names keep their own spelling: only a clause's first word of ours is raised."""
    raised = ("no ", "nothing ", "among ", "this pair ", "the ", "on ", "hard ", "at ", "in ", "according ")
    return sentence[0].upper() + sentence[1:] if sentence.startswith(raised) else sentence


def say_nothing(leaderboard: Leaderboard, left_out: Mapping[str, int]) -> str:
    """Why a leaderboard has no row at all, as far as the rows that it leaves out can tell."""
    judged = leaderboard.source == Leaderboard.Source.JUDGE
    by_panel = leaderboard.source == Leaderboard.Source.PANEL
    if leaderboard.style_control and left_out.get("no_response"):
        first = _("Style control compares two texts, and no vote here was recorded with both.")
    elif leaderboard.part and left_out.get("not_in_part"):
        first = _("Nothing that counts belongs to this part yet.")
    elif leaderboard.subset == Leaderboard.Subset.HARD:
        first = _("Nothing here is about a prompt known to be hard.")
    elif judged:
        first = _("This judge has given no verdict yet.")
    elif by_panel:
        first = _("No two responses have been judged by two judges yet.")
    else:
        first = _("There is no vote yet.")
    return " ".join([in_rows(first, leaderboard.is_judged), *say_left_out(left_out, leaderboard.is_judged)])


def say_no_style(votes: int, left_out: Sequence[LeftOut], judged: bool = False) -> str:
    """Why a style-controlled board would only repeat the plain one: in sum, and by feature."""
    counted = in_rows(ngettext("%(n)s vote", "%(n)s votes", votes), judged) % {"n": f"{votes:,}"}
    why = {one.why for one in left_out}
    why = why - {Why.SAME} or why
    if why <= {Why.SAME}:
        first = _("There is no style to control for: in %(votes)s no two responses differ in it.")
    elif why <= {Why.FEW_VOTES, Why.NO_LIMIT}:
        first = _("Not enough data to control for style: %(votes)s.")
    elif why <= {Why.MODELS, Why.FEATURES}:
        first = _(
            "Style can’t be told from the models: more votes won’t change that, only responses of one model"
            " that differ in style."
        )
    else:
        first = _("No feature of style can be controlled for with these %(votes)s.")
    return " ".join([first % {"votes": counted}, *(one.sentence() for one in together(left_out))])


def say_unsettled(votes: int, unjudged: bool = False, judged: bool = False) -> str:
    """`unjudged`: of a board that judges were to help with, and didn't."""
    counted = in_rows(ngettext("%(n)s vote", "%(n)s votes", votes), judged) % {"n": f"{votes:,}"}
    if unjudged:
        return _("No judged battles yet: people's %(votes)s alone don't settle these ratings.") % {
            "votes": counted
        }
    return _("Not enough data: %(votes)s that count don't settle these ratings yet.") % {"votes": counted}


def say_unexpected() -> str:
    return _("The computation ended in an error of ours. The worker's log says which.")


def say_others_write() -> str:
    return _(
        "Another session of the database was in the middle of writing for longer than a snapshot waits: which"
        " votes are in couldn’t be said. The worker’s log names it; the next round tries again."
    )


def say_left_out(left_out: Mapping[str, int], judged: bool = False) -> list[str]:
    """One sentence for each kind of row that isn't in. An unknown kind is an error, not silence."""
    sentences = []
    for reason, count in left_out.items():
        one, many = LEFT_OUT[reason]
        sentences.append(in_rows(ngettext(one, many, count), judged) % {"n": f"{count:,}"})
    return sentences


LEFT_OUT = {
    "retracted": (
        "%(n)s vote was taken back by its rater and is not in.",
        "%(n)s votes were taken back by their raters and are not in.",
    ),
    "after_cutoff": (
        "%(n)s vote is dated after this snapshot and is not in.",
        "%(n)s votes are dated after this snapshot and are not in.",
    ),
    "repeated": (
        "%(n)s vote on a planned repeat is not in: it says how steady a rater is.",
        "%(n)s votes on planned repeats are not in: they say how steady raters are.",
    ),
    "excluded_by_hand": (
        "%(n)s vote was left out by the team, with a reason that is exported.",
        "%(n)s votes were left out by the team, with reasons that are exported.",
    ),
    "excluded_unblinded": (
        "%(n)s vote is left out: it was cast by someone who may see which model wrote what.",
        "%(n)s votes are left out: they were cast by people who may see which model wrote what.",
    ),
    "excluded_by_check": (
        "%(n)s vote is left out by a check of raters.",
        "%(n)s votes are left out by checks of raters.",
    ),
    "not_in_part": (
        "%(n)s vote is outside this part.",
        "%(n)s votes are outside this part.",
    ),
    "hardness_unknown": (
        "%(n)s vote is about a prompt of which nobody has said whether it is hard; it is not in.",
        "%(n)s votes are about prompts of which nobody has said whether they are hard; they are not in.",
    ),
    "not_hard": (
        "%(n)s vote is about a prompt that isn't hard.",
        "%(n)s votes are about prompts that aren't hard.",
    ),
    "no_response": (
        "%(n)s vote was recorded without the two texts, whose style nobody can compare; it is not in.",
        "%(n)s votes were recorded without the two texts, whose style nobody can compare; they are not in.",
    ),
    "unresolved": (
        "%(n)s judgment is still open and is not in.",
        "%(n)s judgments are still open and are not in.",
    ),
    "no_verdict": (
        "%(n)s judgment ended without a verdict and is not in.",
        "%(n)s judgments ended without a verdict and are not in.",
    ),
    "no_quorum": (
        "%(n)s pair of responses has fewer than two judges with a verdict, or half of them: it is not in.",
        "%(n)s pairs of responses have fewer than two judges with a verdict, or half of them: they are out.",
    ),
    "superseded": (
        "%(n)s judgment was replaced by a later one on the same battle.",
        "%(n)s judgments were replaced by later ones on the same battles.",
    ),
}

TIES = {
    "half": "ties count half",
    "drop": "ties are left out",
    "davidson": "ties are an outcome of their own",
}
BOTH_BAD = {"half": "both bad counts as a tie", "drop": "both bad is left out"}
UNSTABLE = {
    "half": "orders that disagree count as a tie",
    "drop": "orders that disagree are left out",
    "average": "orders that disagree count by their average",
}
