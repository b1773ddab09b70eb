"""What stands above and below a board's table: its basis, the worth of style, what to be careful about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.campaigns.models import Campaign
from arena.corpus.models import HARD_AT_LEAST, HARD_CRITERIA
from arena.leaderboards import sentences
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.row_words import in_rows
from arena.leaderboards.sentences import signed
from arena.leaderboards.simulated_words import simulated_in
from arena.leaderboards.snapshot_counts import design_effect_of, knows_both_orders, say_no_spread
from arena.leaderboards.style_words import Worth, worth_of
from arena.percent import percent


@dataclass(frozen=True)
class Fact:
    """`before` and `after` stand quietly around the figure; `after` leads to the address."""

    figure: str
    after: str = ""
    before: str = ""
    address: str = ""


@dataclass(frozen=True)
class Term:
    """A word of the strip of facts, and what it means."""

    word: str
    meaning: str


@dataclass(frozen=True)
class CoefficientRow:
    """What a style feature is worth in points: for a typical difference, and for twice as much of it."""

    name: str
    typical: str
    interval: str
    settled: bool
    doubled: str
    doubled_interval: str


def say_simulated(snapshots: Sequence[Snapshot]) -> str:
    """Loud wherever such votes are shown; empty when there are none."""
    told = (simulated_in(snapshot.counts).say(_("any model")) for snapshot in snapshots)
    return next(filter(None, told), "")


def has_drawn(campaign: Campaign) -> bool:
    return campaign.pair_counts.filter(battles__gt=0).exists()


def offers_both_bad(snapshot: Snapshot, has_drawn: bool) -> bool:
    """Could those whose votes these are call both bad? A judge can’t, nor could every file's raters.

    Whoever gets a battle here can, if any was drawn; of a file without a single one it counts as never asked.
    """
    if snapshot.leaderboard.is_judged:
        return False
    return has_drawn or snapshot.counts["both_bad"] > 0


def facts_of(snapshot: Snapshot) -> list[Fact]:
    counts, options, judged = snapshot.counts, snapshot.options, snapshot.leaderboard.is_judged
    votes = counts["votes"]
    facts = [
        Fact(
            f"{votes:,}",
            ngettext("judgment", "judgments", votes) if judged else ngettext("vote", "votes", votes),
        )
    ]
    if not judged:
        facts.append(Fact(f"{counts['raters']:,}", _raters(counts["raters"], counts["effective_raters"])))
    if counts["prompts"]:
        facts.append(Fact(f"{counts['prompts']:,}", _prompts(counts)))
    else:
        facts.append(Fact("", in_rows(_("no vote names its prompt"), judged)))
    if "combined" in counts:
        alone = say_alone(snapshot)
        facts.append(Fact("", alone) if alone else _help(counts["combined"]))
    facts.append(_design_effect(snapshot))
    facts.append(Fact("", _(sentences.TIES[options["ties"]])))
    # A policy of what can't occur here isn't told.
    if counts["both_bad"] or offers_both_bad(
        snapshot, not judged and has_drawn(snapshot.leaderboard.campaign)
    ):
        facts.append(Fact("", _(sentences.BOTH_BAD[options["both_bad"]])))
    if judged and knows_both_orders(snapshot):
        facts.append(Fact("", _(sentences.UNSTABLE[options["unstable"]])))
    criteria = {"least": counts.get("hard_at_least", HARD_AT_LEAST), "all": len(HARD_CRITERIA)}
    facts.append(Fact("", _("hard: marked so, or ≥ %(least)d of %(all)d criteria") % criteria))
    facts.append(_check(counts["check"]))
    return facts


def _design_effect(snapshot: Snapshot) -> Fact:
    effect = design_effect_of(snapshot)
    if effect is None:
        return Fact("", _("no design effect: %(reason)s") % {"reason": say_no_spread()})
    return Fact(f"{effect:.1f}", before=_("design effect"))


def say_alone(snapshot: Snapshot | None) -> str:
    """Of a board of people with a judge on which the judge isn't heard; empty for every other."""
    combined = snapshot.counts.get("combined") if snapshot else None
    if combined is None or combined["used"]:
        return ""
    board = snapshot.leaderboard if snapshot else None
    by_panel = board and board.source == Leaderboard.Source.COMBINED and board.judge_id is None
    helper = {"helper": _("the panel of judges") if by_panel else _("the judge")}
    if combined.get("refused", True):
        return _("people alone: %(helper)s can’t be used") % helper
    return _("people alone: %(helper)s doesn’t help") % helper


def _help(combined: dict) -> Fact:
    """What the judge brings to people's votes, where it is used."""
    if combined["gain"] < 0.005:
        return Fact("", _("the judge adds next to nothing"))
    share, after = percent(combined["gain"]), _("effective votes, an estimate")
    if "narrower" in combined:  # older snapshots don't know
        words = _("effective votes, an estimate; intervals are %(share)s narrower than people’s alone")
        after = words % {"share": percent(combined["narrower"])}
    return Fact(share, before=_("the judge adds"), after=after)


def terms_of(snapshot: Snapshot, moves: bool = True) -> list[Term]:
    """What the figures above a board mean, for who meets them for the first time.

    moves: the table tells some.
    """
    criteria = ", ".join(name.replace("_", " ") for name in HARD_CRITERIA)
    check = snapshot.counts["check"]
    engine = check["engine"] if check else "choix"
    hard = _(
        "a prompt that somebody marked as hard, or that meets at least %(least)d of these: %(criteria)s."
    ) % {"least": snapshot.counts.get("hard_at_least", HARD_AT_LEAST), "criteria": criteria}
    terms = [
        Term(
            _("interval"),
            _(
                "the figures under a rating: of 100 such intervals about 95 hold the rating that endless"
                " votes would give. They allow for the likeness of votes by one rater, or on one prompt."
            ),
        ),
        Term(
            _("effective raters, prompts"),
            _(
                "as many raters who all vote equally often, or prompts all used equally often, would tell as"
                " much; with few busy ones it is far below their number. Below 10 of either the intervals"
                " aren’t tested, and models say which are too few."
            ),
        ),
        Term(
            _("design effect"),
            _(
                "so many times the votes are needed to be as sure as with independent ones, because votes of"
                " one rater, or on one prompt, resemble each other. Models with too few votes to tell are"
                " left out of it, unless all have too few."
            ),
        ),
        Term(
            _("checked against %(engine)s") % {"engine": engine},
            _("the same votes were fitted by software of others; the largest difference of any rating."),
        ),
        Term(_("hard"), hard),
        Term(
            _("win rate"),
            _(
                "the share of a model’s votes that it won, a tie counting half, whoever it met: ratings allow"
                " for that."
            ),
        ),
        Term(_("what is estimated"), f"{snapshot.counts['estimand']}."),
        Term(
            _("hard move, style move"),
            _(
                "rating on hard prompts, or at equal length and format, less the overall one, with the move’s"
                " own interval, which knows that both boards rest on the same votes. Bold where it leaves out"
                " 0, each model by itself: of 20 models that don’t move about one is bold by chance. A hard"
                " move is told against the mean of the models that are well measured on both boards. No"
                " interval yet: too few votes, raters or prompts to say how sure it is."
            ),
        ),
    ]
    return terms if moves else terms[:-1]


def say_resampled(snapshot: Snapshot | None) -> str:
    """How the bootstrap interval was made; empty where there is none."""
    if snapshot is None or not snapshot.options["bootstrap"] or not _has_bootstrap(snapshot):
        return ""
    method = snapshot.counts["interval_method"]
    units = [_(UNITS[name]) for name in ("rater", "prompt") if name in method.split(" by ")[-1]]
    what = _(" and, separately, ").join(units) if units else _("single votes")
    return _("%(n)s resamples, drawn with replacement: %(what)s.") % {
        "n": f"{snapshot.options['bootstrap']:,}",
        "what": what,
    }


UNITS = {"rater": "whole raters", "prompt": "whole prompts"}


def _has_bootstrap(snapshot: Snapshot) -> bool:
    return snapshot.standings.filter(bootstrap_lower__isnull=False).exists()


def _raters(raters: int, effective: float | None) -> str:
    return _with_effective(ngettext("rater", "raters", raters), effective)


def _with_effective(word: str, effective: float | None) -> str:
    if effective is None:
        return word
    told = f"{effective:.1f}" if effective < 10 else f"{effective:,.0f}"
    return _("%(word)s (effective %(n)s)") % {"word": word, "n": told}


def _prompts(counts: dict) -> str:
    word = ngettext("prompt", "prompts", counts["prompts"])
    word = _with_effective(word, counts.get("effective_prompts"))
    hard = _("%(prompts)s, %(n)s hard") % {"prompts": word, "n": f"{counts['hard_prompts']:,}"}
    unknown = counts["prompts_of_unknown_hardness"]
    return f"{hard}, {_('%(n)s not rated') % {'n': f'{unknown:,}'}}" if unknown else hard


def _check(check: dict | None) -> Fact:
    if check is None:
        return Fact("", _("not checked by a second engine"))
    difference = check["largest_difference"]
    shown = "< 0.0001" if difference < 0.0001 else f"{difference:.4f}"
    words = _("checked against %(engine)s, largest difference") % {"engine": check["engine"]}
    return Fact(shown, before=words, after=_("points"))


def say_check(check: dict | None) -> str:
    """As an answer to whether the ratings were checked, and against what."""
    if check is None:
        return _("no")
    fact = _check(check)
    return _("yes, %(before)s %(figure)s %(after)s") % {
        "before": fact.before,
        "figure": fact.figure,
        "after": fact.after,
    }


def worths_of(snapshot: Snapshot | None) -> list[Worth]:
    if snapshot is None:
        return []
    unit = snapshot.counts["length_unit"]
    return [worth_of(coefficient, unit) for coefficient in snapshot.coefficients]


def coefficients_of(snapshot: Snapshot | None) -> list[CoefficientRow]:
    return [_coefficient(worth) for worth in worths_of(snapshot)]


def _coefficient(worth: Worth) -> CoefficientRow:
    lower, upper = worth.lower, worth.upper
    return CoefficientRow(
        name=worth.name,
        typical=signed(worth.points),
        interval=_ends(lower, upper),
        settled=lower is not None and upper is not None and (lower > 0 or upper < 0),
        doubled="" if worth.doubled is None else signed(worth.doubled),
        doubled_interval=_ends(worth.doubled_lower, worth.doubled_upper),
    )


def _ends(lower: float | None, upper: float | None) -> str:
    return "" if lower is None or upper is None else f"{signed(lower)} … {signed(upper)}"
