"""A published prompt set never changes again: its hash says what it held."""

import hashlib
import json

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.corpus.models import HARD_CRITERIA, PromptSet

_HASHED = ("external_id", "messages", "category", "language", "tags", "reference", "is_hard", *HARD_CRITERIA)


class NotPublishableError(Exception):
    """args[0] says why."""


def publish(prompt_set: PromptSet) -> None:
    with transaction.atomic():
        fresh = PromptSet.objects.select_for_update().get(pk=prompt_set.pk)
        if fresh.status != PromptSet.Status.DRAFT:
            raise NotPublishableError(
                _("“%(name)s” is %(status)s already.") % {"name": fresh, "status": fresh.status}
            )
        if not fresh.prompts.exists():
            raise NotPublishableError(_("“%(name)s” holds no prompts; import some first.") % {"name": fresh})
        fresh.content_hash = content_hash(fresh)
        fresh.status = PromptSet.Status.PUBLISHED
        fresh.published_at = timezone.now()
        fresh.save(update_fields=["content_hash", "status", "published_at"])


def content_hash(prompt_set: PromptSet) -> str:
    """sha256 over the prompts as canonical JSON lines, in the order of their ids."""
    digest = hashlib.sha256()
    for prompt in prompt_set.prompts.order_by("external_id").values(*_HASHED).iterator():
        digest.update(json.dumps(prompt, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()
