"""A snapshot as a reference: who, which board, which votes, where."""

from __future__ import annotations

import re
from datetime import UTC

from django.conf import settings
from django.urls import reverse
from django.utils.translation import override

from arena.counted import counted
from arena.instants import say_moment
from arena.leaderboards.boards.renamed_models import named_then
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.by_hand import by_hand_since_votes, clause_by_hand
from arena.leaderboards.plans.looks import FINAL, Look, registered_look
from arena.percent import percent


def cite(snapshot: Snapshot) -> str:
    """One line, the same in every language; with the address if PUBLIC_URL says what it is."""
    board = snapshot.leaderboard
    votes = snapshot.counts["votes"]
    by_people = board.source in (Leaderboard.Source.RATERS, Leaderboard.Source.COMBINED)
    said = f"{counted(votes, 'vote')} of {counted(snapshot.counts['raters'], 'rater')}"
    basis = said if by_people else counted(votes, "judgment")
    parts = (
        f"{board.campaign.team.name}",
        board.name,
        f"Snapshot {snapshot.pk}, {basis} up to {say_moment(snapshot.cutoff)}",
        _registered(snapshot),
        f"Models renamed since: {renamed}" if (renamed := named_then(snapshot)) else "",
        method_of(snapshot),
        f"Tiltyard {snapshot.code_version.split(' ')[0]}",
        f"SHA-256 of the votes {snapshot.vote_digest}",
    )
    line = ". ".join(part.rstrip(".") for part in parts if part) + "."
    if not settings.PUBLIC_URL:
        return line
    return f"{line} {settings.PUBLIC_URL}{reverse('snapshot', args=[snapshot.pk])}"


def bibtex(snapshot: Snapshot) -> str:
    """The same reference as an entry of BibTeX; `note` says what the line says."""
    board = snapshot.leaderboard
    fields = {
        "author": f"{{{_tex(board.campaign.team.name)}}}",
        "title": f"{{{_tex(board.name)}}}",
        "year": f"{snapshot.cutoff.astimezone(UTC):%Y}",
        "howpublished": f"Tiltyard, snapshot {snapshot.pk}",
        "note": _tex(cite(snapshot)),
    }
    if settings.PUBLIC_URL:
        fields["url"] = f"{settings.PUBLIC_URL}{reverse('snapshot', args=[snapshot.pk])}"
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{tiltyard-{board.slug}-{snapshot.pk},\n{lines}\n}}"


TEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_"}
    | {"~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\\": "\\textbackslash{}"}
    | {"{": "\\textbraceleft{}", "}": "\\textbraceright{}"}  # BibTeX counts an escaped brace too
)


def _tex(text: str) -> str:
    """What TeX would take for a command stands for itself, and no brace is left open."""
    return text.translate(TEX)


def _registered(snapshot: Snapshot) -> str:
    """Which plan a board was registered under and when that was frozen; that it explores otherwise."""
    plan = snapshot.registered_plan
    if plan is None or plan.frozen_at is None:
        return "Exploratory"
    frozen = say_moment(plan.frozen_at)
    line = f"Registered under analysis plan {plan.version}, frozen {frozen}, SHA-256 {plan.sha256}"
    look = registered_look(snapshot)
    if look is None:
        return line
    by_hand = by_hand_since_votes(snapshot)
    with override("en"):
        said = f", {clause_by_hand(by_hand)}" if by_hand else ""
    return f"{line}. {_which(look)}{said}"


def _which(look: Look) -> str:
    """Final and later looks both have as many votes as planned: the number alone tells neither."""
    at = f"at {counted(look.got, 'vote')}"
    if look.planned is not None:
        at = f"at {look.got:,} of {counted(look.planned, 'planned vote')}"
    if look.is_interim:
        return f"Interim look {at}"
    if look.kind == FINAL:
        return f"Final look {at}{', at a moment that the plan didn’t fix' if look.is_over else ''}"
    return f"Later than the final look (snapshot {look.final}), {at}"


MODELS = {
    "half": "Bradley-Terry model, ties half a win",
    "drop": "Bradley-Terry model, ties left out",
    "davidson": "Davidson’s model of ties",
}


def method_of(snapshot: Snapshot) -> str:
    """How ratings and intervals were computed, in the words of method.md."""
    counts, combined = snapshot.counts, snapshot.counts.get("combined", {"used": False})
    parts = [MODELS[snapshot.options["ties"]]]
    if combined["used"]:
        parts.append("judgments by PPI++")
    if snapshot.leaderboard.style_control:
        parts.append("controlled for style")
    clusters = re.search(r"cluster-robust(?: \(\w+\))? by (?P<names>[a-z ]+)$", counts["interval_method"])
    basis = f"clustered by {clusters['names']}" if clusters else "with votes taken as independent"
    confidence = f"{percent(snapshot.options['confidence'], None)} intervals"
    return ", ".join([*parts, f"{confidence} {basis}"])
