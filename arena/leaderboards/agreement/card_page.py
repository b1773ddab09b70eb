"""A judge card in words: stored figures to rows with n and interval, and what to be careful about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.agreement.agreement_words import say_cannot_stand_in, say_people_differ
from arena.leaderboards.agreement.card_models import JudgeCard
from arena.leaderboards.agreement.card_rows import (
    AgreementRow,
    Row,
    agreement_row,
    of_mean,
    of_share,
    tenths,
)
from arena.leaderboards.agreement.judge_figures import (
    FEW_PROMPTS,
    LOW,
    TOLERABLE,
    kappa_with_ends,
    level_of,
)
from arena.leaderboards.boards.board_cautions import about_texts
from arena.leaderboards.simulated_words import Simulated
from arena.percent import percent

Plain = dict[str, Any]
TOLERABLE_PERCENT = percent(TOLERABLE)
# First less second, over all calls: a third of them go by the place. The swap check makes unstable ties of
# most such findings, and of those that are left some agree in both orders by chance.
PLACE_LIMIT = 1 / 3


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True)
class CardPage:
    distrust: tuple[str, ...]
    cautions: tuple[str, ...]
    facts: tuple[str, ...]
    agreement: tuple[AgreementRow, ...]
    categories: tuple[AgreementRow, ...]
    sections: tuple[Section, ...]


def build(card: JudgeCard) -> CardPage:
    figures = card.figures
    agreement = figures["agreement"]
    return CardPage(
        distrust=tuple(_distrust(figures)),
        cautions=tuple(_cautions(figures)),
        facts=tuple(_facts(figures)),
        agreement=tuple(_agreement(agreement)) if agreement else (),
        categories=tuple(_categories(agreement)) if agreement else (),
        sections=tuple(section for section in _sections(figures) if section.rows),
    )


def _distrust(figures: Plain) -> Iterator[str]:
    """Nothing where the judge passed, or was never tried."""
    sentinels, canaries = figures["sentinels"], figures.get("canaries")
    if sentinels and not sentinels["passed"]:
        wins = sentinels["wins"]
        words = ngettext(
            "This judge isn't to be trusted: %(names)s, which no judge should prefer, won %(share)s of "
            "%(n)s battle. At most %(limit)s is tolerable.",
            "This judge isn't to be trusted: %(names)s, which no judge should prefer, won %(share)s of "
            "%(n)s battles. At most %(limit)s is tolerable.",
            wins["n"],
        )
        yield words % {
            "names": ", ".join(sentinels["names"]),
            "share": tenths(wins["estimate"]),
            "n": f"{wins['n']:,}",
            "limit": TOLERABLE_PERCENT,
        }
    if canaries and canaries["obeys"]:
        told, plain = canaries["instructed"], canaries["plain"]
        words = _(
            "This judge isn't to be trusted: it obeys the texts that it judges. A poor response that tells "
            "it to choose it wins %(told)s, and %(plain)s without the instruction."
        )
        yield words % {"told": tenths(told["estimate"]), "plain": tenths(plain["estimate"])}
    elif canaries and canaries.get("fails"):
        yield _prefers_the_poor(canaries)
    if _place_decides(figures["swap"]):
        words = _(
            "This judge isn't to be trusted: the place decides for it. The response shown first wins "
            "%(first)s of decisive calls, and %(hard)s of its findings turn round with the order."
        )
        swap = figures["swap"]
        yield words % {name: tenths(swap[name]["estimate"]) for name in ("first", "hard")}


def _prefers_the_poor(canaries: Plain) -> str:
    told, plain = canaries["instructed"], canaries["plain"]
    words = _(
        "This judge isn't to be trusted: a poor response that tells it to choose it wins %(told)s of "
        "calls (%(n)s in all, interval %(interval)s). At most %(limit)s is tolerable."
    )
    row = of_share("", told)
    said = words % {
        "told": row.figure,
        "n": f"{told['n']:,}",
        "interval": row.interval,
        "limit": TOLERABLE_PERCENT,
    }
    if plain and plain["estimate"] > TOLERABLE:
        why = _("It doesn't obey the text, it prefers poor responses anyway: %(plain)s win without it.")
        return f"{said} {why % {'plain': tenths(plain['estimate'])}}"
    return f"{said} {_('Whether it obeys the text or prefers poor responses anyway isn’t told by so few.')}"


def _place_decides(swap: Plain | None) -> bool:
    lean = swap and swap["lean"]
    if not lean or lean["clusters"] < FEW_PROMPTS:
        return False
    return abs(lean["estimate"]) >= PLACE_LIMIT and _clear_of_zero(lean)


def _facts(figures: Plain) -> Iterator[str]:
    counts = figures["counts"]
    numbers = {name: f"{counts[name]:,}" for name in counts if name != "outcomes"}
    words = ngettext(
        "%(decided)s of %(judgments)s judgment with a verdict",
        "%(decided)s of %(judgments)s judgments with a verdict",
        counts["judgments"],
    )
    yield words % numbers
    battles = ngettext("%(battles)s battle", "%(battles)s battles", counts["battles"]) % numbers
    if counts["prompts"]:
        prompts = ngettext("%(prompts)s prompt", "%(prompts)s prompts", counts["prompts"]) % numbers
        yield f"{battles}, {prompts}"
    else:
        words = ngettext(
            "%(battles)s, whose prompt isn't here",
            "%(battles)s, whose prompts aren't here",
            counts["battles"],
        )
        yield words % {"battles": battles}
    if counts["recorded"]:
        yield _("%(recorded)s recorded elsewhere") % numbers
    agreement = figures["agreement"]
    if agreement:
        known = {name: f"{agreement[name]:,}" for name in ("battles", "raters")}
        words = ngettext(
            "%(battles)s of them people voted on, %(raters)s rater",
            "%(battles)s of them people voted on, %(raters)s raters",
            agreement["raters"],
        )
        yield words % known


def _agreement(found: Plain) -> Iterator[AgreementRow]:
    names = {
        "votes": _("this judge, with each vote"),
        "majority": _("this judge, with the majority of three or more"),
        "people": _("two people with each other"),
        "longer": _("always the longer one"),
        "first": _("always the one people saw first"),
    }
    for name, label in names.items():
        if found[name]:
            yield agreement_row(label, found[name])
        if name == "people":
            for two in found.get("each_two", []):
                words = {"one": two["names"][0], "other": two["names"][1]}
                yield agreement_row(_("… %(one)s with %(other)s") % words, two)


def _categories(found: Plain) -> Iterator[AgreementRow]:
    for entry in found["categories"]:
        yield agreement_row(entry["category"] or _("no category"), entry["votes"])
        if entry["people"]:
            yield agreement_row(_("… people with each other"), entry["people"])


def _sections(figures: Plain) -> Iterator[Section]:
    yield Section("position", _("Order and position"), tuple(_position(figures)))
    yield Section("length", _("Length"), tuple(_length(figures["length"])))
    yield Section("self", _("Own family"), tuple(_own_family(figures["own_family"])))
    yield Section("steadiness", _("Steadiness"), tuple(_steadiness(figures)))
    yield Section("sentinels", _("Sentinels"), tuple(_sentinels(figures["sentinels"])))
    yield Section("canaries", _("Instructions in a response"), tuple(_canaries(figures.get("canaries"))))
    yield Section("failures", _("Calls without a verdict"), tuple(_failures(figures)))
    yield Section("cost", _("Cost"), tuple(_cost(figures["cost"])))


def _position(figures: Plain) -> Iterator[Row]:
    swap, sides = figures["swap"], figures["sides"]
    if swap:
        yield of_share(_("same finding in both orders"), swap["consistency"])
        yield of_share(_("hard flips: the other one wins when the order changes"), swap["hard"])
        yield of_share(_("soft flips: a tie in one order only"), swap["soft"])
        yield of_share(_("the one shown first wins, of decisive calls"), swap["first"])
        yield of_mean(_("first less second, in percentage points"), swap["lean"], 1, 100)
    if sides:
        yield of_share(_("side A wins, of decisive findings recorded elsewhere"), sides["a_wins"])


def _length(found: Plain | None) -> Iterator[Row]:
    if found is None:
        return
    yield of_share(_("the longer one wins, of all decisive findings"), found["judge"])
    if found["people"]:
        yield of_share(_("the same where people voted"), found["judge_on_shared"])
        yield of_share(_("the longer one wins with people, on the same battles"), found["people"])
    if found["gap"]:
        label = _("given to the longer one beyond what people give, in percentage points")
        yield of_mean(label, found["gap"]["difference"], 1, 100)


def _own_family(found: Plain | None) -> Iterator[Row]:
    if found:
        words = _("given to %(family)s beyond what judges of other families give, in percentage points")
        yield of_mean(words % {"family": found["family"]}, found["difference"], 1, 100)


def _steadiness(figures: Plain) -> Iterator[Row]:
    if figures["repeats"]:
        yield of_share(_("battles judged more than once with one and the same finding"), figures["repeats"])
    if figures["contradictions"]:
        yield of_share(_("calls whose winner has the lower scores"), figures["contradictions"])


def _sentinels(found: Plain | None) -> Iterator[Row]:
    if found:
        names = {"names": ", ".join(found["names"])}
        yield of_share(_("%(names)s wins") % names, found["wins"])
        yield of_share(_("%(names)s isn't beaten") % names, found["not_beaten"])


def _canaries(found: Plain | None) -> Iterator[Row]:
    if found:
        yield of_share(_("a poor response wins that tells the judge to choose it"), found["instructed"])
        yield of_share(_("the same response wins without the instruction"), found["plain"])
        yield of_mean(_("what the instruction adds, in percentage points"), found["difference"], 1, 100)


def _failures(figures: Plain) -> Iterator[Row]:
    swap = figures["swap"]
    if swap:
        yield of_share(_("judgments without a verdict"), swap["no_verdict"])
        for kind, count in figures["failures"].items():
            values = (count, None, None, None, swap["calls"])
            yield Row(kind, f"{count:,}", n=f"{swap['calls']:,}", values=values)


def _cost(found: Plain | None) -> Iterator[Row]:
    if found is None:
        return
    if found["dollars"] is None:
        yield Row(_("US dollars: unknown, the endpoint has no prices"), "—")
    else:
        yield of_mean(_("US dollars a judgment"), found["per_judgment"], 5)
        yield Row(_("US dollars in all"), f"{found['dollars']:,.4f}", values=(found["dollars"], *(None,) * 4))
    yield of_mean(_("tokens a judgment"), found["tokens"], 0)


def _cautions(figures: Plain) -> Iterator[str]:
    yield from _about_people(figures["agreement"])
    yield from _about_bias(figures)
    if figures["sentinels"] is None:
        yield _(
            "Never tried on a sentinel: add a model with the role of a sentinel, whose texts are empty, "
            "constant or shuffled, and judge its battles."
        )
    yield from _about_canaries(figures)
    counts = figures["counts"]
    yield from (text for _code, text in about_texts(counts))
    if counts["stopped"]:
        words = ngettext(
            "%(n)s judgment was cancelled or stopped by a budget. It's in no figure.",
            "%(n)s judgments were cancelled or stopped by a budget. They are in no figure.",
            counts["stopped"],
        )
        yield words % {"n": f"{counts['stopped']:,}"}
    if counts["open"]:
        words = ngettext("%(n)s judgment is still open.", "%(n)s judgments are still open.", counts["open"])
        yield words % {"n": f"{counts['open']:,}"}


def _about_canaries(figures: Plain) -> Iterator[str]:
    # A judge recorded elsewhere can't be asked anything.
    if figures.get("canaries") is None and figures["swap"]:
        yield _("Never tried on canaries: whether it obeys an instruction in a response isn't known.")
    found = figures.get("canaries")
    if found and not (found.get("passed", True) or found["obeys"] or found["fails"]):
        told = found["instructed"]
        words = ngettext(
            "A poor response that tells it to choose it wins %(told)s of %(n)s call. At most %(limit)s "
            "is tolerable; so few may be chance.",
            "A poor response that tells it to choose it wins %(told)s of %(n)s calls. At most %(limit)s "
            "is tolerable; so few may be chance.",
            told["n"],
        )
        yield words % {"told": tenths(told["estimate"]), "n": f"{told['n']:,}", "limit": TOLERABLE_PERCENT}


def _about_people(found: Plain | None) -> Iterator[str]:
    if found is None:
        yield _("No vote stands on a battle that it decided: its agreement with people isn't known.")
        return
    simulated = Simulated(found["simulated"], int(found["votes"]["every"]["n"]))
    if found["simulated"]:
        words = ngettext(
            "%(n)s of the %(all)s votes it is held against is simulated. It says nothing about people.",
            "%(n)s of the %(all)s votes it is held against are simulated. They say nothing about people.",
            simulated.votes,
        )
        yield words % {"n": f"{simulated.votes:,}", "all": f"{simulated.of:,}"}
    prompts = found["votes"]["every"]["clusters"]
    if prompts < FEW_PROMPTS:
        words = ngettext(
            "It shares %(n)s different prompt with people; agreement needs %(least)s or more to mean much.",
            "It shares %(n)s different prompts with people; agreement needs %(least)s or more to mean much.",
            prompts,
        )
        yield words % {"n": prompts, "least": FEW_PROMPTS}
    people = found["people"]
    kappa = people and people["kappa"]
    level = level_of(kappa, found["ambiguous_below"])
    if kappa and level:
        little = _("People agree little with each other (κ %(kappa)s).")
        open_ = _("Whether people agree well with each other isn’t settled (κ %(kappa)s).")
        told = (little if level == LOW else open_) % {"kappa": kappa_with_ends(kappa)}
        yield f"{told} {say_people_differ(simulated)}" if level == LOW else told
    yield from _about_own_kappa(found, simulated, level)
    mine, longer = found["votes"]["every"]["estimate"], found["longer"]["every"]["estimate"]
    if mine <= longer:
        words = _("Taking the longer one agrees with people at least as often: %(longer)s against %(mine)s.")
        yield words % {"longer": tenths(longer), "mine": tenths(mine)}


def _about_own_kappa(found: Plain, simulated: Simulated, among_people: str) -> Iterator[str]:
    kappa = found["votes"]["kappa"]
    if kappa and level_of(kappa, found["ambiguous_below"]) == LOW:
        told = _("It agrees little with people (κ %(kappa)s).") % {"kappa": kappa_with_ends(kappa)}
        yield f"{told} {say_cannot_stand_in(1, among_people, simulated)}"


def _about_bias(figures: Plain) -> Iterator[str]:
    swap, sides, length = figures["swap"], figures["sides"], figures["length"]
    lean = swap and swap["lean"]
    if lean and _clear_of_zero(lean):
        if lean["estimate"] > 0:
            yield _("It leans to the response shown first.")
        else:
            yield _("It leans to the response shown second.")
    if swap is None and sides:
        yield _("Its findings were recorded elsewhere: whether it was asked in both orders isn't known.")
    if sides and sides["confounded"]:
        yield _(
            "Sides are confounded with models: every two models always stood on the same sides, so a liking "
            "of a side can't be told from a liking of a model."
        )
    gap = length and length["gap"] and length["gap"]["difference"]
    if gap and _clear_of_zero(gap) and gap["estimate"] > 0:
        yield _("It favours the longer response more than people do.")


def _clear_of_zero(mean: Plain) -> bool:
    return mean["lower"] is not None and (mean["lower"] > 0 or mean["upper"] < 0)
