"""Names that the database keeps, as people read them."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

register = template.Library()

RULES = {
    "by_hand": gettext_lazy("by hand"),
    "unblinded": gettext_lazy("cast by someone who may see the names"),
}
FAILURES = {
    "refused": gettext_lazy("the model refused"),
    "truncated": gettext_lazy("the reply was cut off"),
    "parse_failed": gettext_lazy("the reply can't be read"),
    "context_overflow": gettext_lazy("the texts are too long for the model"),
    "bad_request": gettext_lazy("the server refused the request"),
    "gave_up": gettext_lazy("no answer after all tries"),
    "budget_stopped": gettext_lazy("the budget was spent"),
    "cancelled": gettext_lazy("cancelled"),
    "redacted": gettext_lazy("the text was redacted"),
    "text_changed": gettext_lazy("a name was masked, or shown, after the other order was asked"),
    "leaking": gettext_lazy("a response says who wrote it, which the campaign leaves out"),
    "taken": gettext_lazy("the response came another way"),
}
DETAILS = {
    "empty": gettext_lazy("it holds no text"),
    "too_long": gettext_lazy("it is too long"),
    "tangled": gettext_lazy("it holds too many unfinished objects"),
    "reasoning_only": gettext_lazy("it holds reasoning and no verdict"),
    "no_json": gettext_lazy("it holds no JSON object"),
    "no_winner": gettext_lazy("it names no winner"),
    "no_scores": gettext_lazy("it holds no scores"),
    "off_menu": gettext_lazy("its winner is none of first, second and tie"),
    "bad_scores": gettext_lazy("its scores are missing or off the scale"),
    "bad_reason": gettext_lazy("its reason is no text"),
    "echoed_form": gettext_lazy("it copied the form instead of filling it in"),
    "duplicate_key": gettext_lazy("a key stands twice in it"),
    "conflict": gettext_lazy("it holds verdicts that contradict each other"),
}


@register.filter
def rule_in_words(rule: str) -> str:
    """Checks have names of their own, which stay."""
    return str(RULES.get(rule, rule))


@register.filter
def failure_in_words(failure: str) -> str:
    """`parse_failed:off_menu`; what has no words yet stays as it is, so that nothing is hidden."""
    kind, _colon, detail = failure.partition(":")
    known = FAILURES.get(kind)
    if known is None:
        return failure
    if not detail:
        return str(known)
    return _("%(what)s: %(why)s") % {"what": known, "why": DETAILS.get(detail, detail)}
