"""Why a rater voted so: reasons from a list and a comment, as notes that may change and be erased."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from arena.battles.ballots import RefusedError, hold_open
from arena.battles.models import Battle, BattleNote, Vote
from arena.raters.models import Rater

KINDS = (BattleNote.Kind.REASON, BattleNote.Kind.COMMENT)


class Reason(models.TextChoices):
    """What decided the vote, whichever way it went: the outcome says which side it speaks for."""

    FACTS = "facts", _("Facts")
    PROMPT = "prompt", _("Keeps to the prompt")
    COMPLETE = "complete", _("Completeness")
    CLEAR = "clear", _("Clarity")
    LENGTH = "length", _("Length")
    TONE = "tone", _("Tone")
    SAFETY = "safety", _("Safety")


class NoVoteError(RefusedError):
    words = _("Reasons belong to a vote that stands, and that battle has none of yours.")


@dataclass(frozen=True)
class Why:
    reasons: tuple[Reason, ...] = ()
    comment: str = ""

    @property
    def labels(self) -> list[str]:
        return [str(reason.label) for reason in self.reasons]


def why(battle: Battle) -> Why:
    return why_of(battle.notes.filter(kind__in=KINDS).values_list("kind", "text"))


def why_of(notes: Iterable[tuple[str, str]]) -> Why:
    """From pairs of kind and text."""
    notes = list(notes)
    given = {text for kind, text in notes if kind == BattleNote.Kind.REASON}
    comment = next((text for kind, text in notes if kind == BattleNote.Kind.COMMENT), "")
    return Why(tuple(reason for reason in Reason if reason.value in given), comment)


def explain(battle: Battle, rater: Rater, reasons: Collection[str], comment: str) -> None:
    """These reasons and this comment instead of what was said before; saying it twice changes nothing."""
    said = {(BattleNote.Kind.REASON, Reason(reason).value) for reason in reasons}
    if comment:
        said.add((BattleNote.Kind.COMMENT, comment))
    with transaction.atomic():
        hold_open(battle)  # what was undone meanwhile shows now
        if not Vote.objects.standing().filter(battle=battle).exists():
            raise NoVoteError
        notes = {(note.kind, note.text): note.pk for note in battle.notes.filter(kind__in=KINDS)}
        gone = [pk for note, pk in notes.items() if note not in said]
        battle.notes.filter(pk__in=gone).delete()
        new = [
            BattleNote(battle=battle, rater=rater, kind=kind, text=text)
            for kind, text in sorted(said - notes.keys())
        ]
        BattleNote.objects.bulk_create(new)
