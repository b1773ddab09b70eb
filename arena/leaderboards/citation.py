"""A snapshot as a reference: who, which board, which votes, where."""

from __future__ import annotations

from datetime import UTC

from django.conf import settings
from django.urls import reverse

from arena.counted import counted
from arena.leaderboards.models import Leaderboard, Snapshot


def cite(snapshot: Snapshot) -> str:
    """One line, the same in every language; with the address if PUBLIC_URL says what it is."""
    board = snapshot.leaderboard
    votes = snapshot.counts["votes"]
    by_people = board.source in (Leaderboard.Source.RATERS, Leaderboard.Source.COMBINED)
    cast = f"{counted(votes, 'vote')} of {counted(snapshot.counts['raters'], 'rater')}"
    basis = cast if by_people else counted(votes, "judgment")
    cutoff = snapshot.cutoff.astimezone(UTC)
    parts = (
        f"{board.campaign.team.name}",
        board.name,
        f"Snapshot {snapshot.pk}, {basis} up to {cutoff:%Y-%m-%d %H:%M} UTC",
        _registered(snapshot),
        f"SHA-256 of the votes {snapshot.vote_digest}",
    )
    line = ". ".join(part.rstrip(".") for part in parts if part) + "."
    if not settings.PUBLIC_URL:
        return line
    return f"{line} {settings.PUBLIC_URL}{reverse('snapshot', args=[snapshot.pk])}"


def _registered(snapshot: Snapshot) -> str:
    """Which plan a board was registered under and when that was frozen; that it explores otherwise."""
    plan = snapshot.plan
    if plan is None or plan.frozen_at is None:
        return "Exploratory"
    frozen = f"{plan.frozen_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"Registered under analysis plan {plan.version}, frozen {frozen}, SHA-256 {plan.sha256}"
