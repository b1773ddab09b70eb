"""Changing a draft. A published set's prompts never change, so each act makes sure that it is one still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from arena.corpus.hardness import Flag
from arena.corpus.label_models import LabelChange
from arena.corpus.labels import changed, labels_of, set_labels
from arena.corpus.models import Competitor, Prompt, PromptSet
from arena.corpus.render import RENDERER_VERSION, render_turns
from arena.row_form import RowForm


class NotEditableError(Exception):
    """args[0] says why."""


def save_prompt(
    form: RowForm, messages: Sequence[Mapping[str, str]], labels: Mapping[str, Flag], by: str
) -> Prompt:
    """Store a draft's prompt, new or changed, with its turns rendered and its labels."""
    prompt: Prompt = form.instance
    with transaction.atomic():
        _lock_draft(prompt.prompt_set_id)
        prompt.messages = [dict(turn) for turn in messages]
        prompt.rendered_html, prompt.renderer_version = render_turns(prompt.messages), RENDERER_VERSION
        is_new = prompt.pk is None
        if is_new:
            for name, value in changed(labels_of(prompt), labels).items():
                setattr(prompt, name, value)
        saved: Prompt = form.save()
        PromptSet.objects.filter(pk=saved.prompt_set_id).update(edits=F("edits") + 1)
        if not is_new:
            set_labels({saved.pk: labels}, source=LabelChange.Source.HAND, by=by)
    return saved


def remove_prompt(prompt: Prompt) -> None:
    """Take a prompt out of a draft, with the responses to it; refused where somebody met them."""
    with transaction.atomic():
        _lock_draft(prompt.prompt_set_id)
        if prompt.battles.exists():
            raise NotEditableError(
                _("Prompt %(id)s was fought about: redact it instead.") % {"id": prompt.external_id}
            )
        if prompt.responses.exists() or prompt.generation_calls.exists():
            raise NotEditableError(
                _("Prompt %(id)s has responses: make a new version without it instead.")
                % {"id": prompt.external_id}
            )
        prompt.delete()


def next_id(prompt_set: PromptSet) -> str:
    """An id that no prompt of the set has yet."""
    number = prompt_set.prompts.count() + 1
    while Prompt.stored.filter(prompt_set=prompt_set, external_id=f"p{number}").exists():
        number += 1
    return f"p{number}"


def _lock_draft(prompt_set_id: int) -> None:
    status = PromptSet.objects.select_for_update().values_list("status", flat=True).get(pk=prompt_set_id)
    if status != PromptSet.Status.DRAFT:
        raise NotEditableError(_("The set is no draft any more: make a new version of it to change prompts."))


def remove_competitor(competitor: Competitor) -> None:
    """Only one that nothing speaks of yet; what has fought is withdrawn instead."""
    with transaction.atomic():
        fresh = Competitor.objects.select_for_update().filter(pk=competitor.pk).first()
        if fresh is None:
            raise NotEditableError(_("%(name)s has been removed already.") % {"name": competitor.name})
        if fresh.is_spoken_of:
            raise NotEditableError(
                _("%(name)s has responses or battles: withdraw it instead.") % {"name": fresh.name}
            )
        fresh.delete()
