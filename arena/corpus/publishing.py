"""A published prompt set never changes again: its hash says what it held.

What is hashed is what models are asked and how it is filed. Labels of hardness aren't in it: they are
findings about a prompt and may come after publishing. A redacted prompt is hashed as it was.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.corpus.models import PromptSet

HASHED = ("external_id", "messages", "category", "language", "tags", "reference")


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
    """sha256 over the prompts' hashes, one a line, in the order of the prompts' ids by code points."""
    prompts = prompt_set.prompts.values(*HASHED, "tombstone").iterator()
    # Sorted here: databases order text by rules of their own.
    return hash_over((prompt["external_id"], prompt_hash(prompt)) for prompt in prompts)


def hash_over(hashes: Iterable[tuple[str, str]]) -> str:
    """Of the prompts' ids and hashes."""
    return hashlib.sha256("".join(f"{line}\n" for _id, line in sorted(hashes)).encode()).hexdigest()


def prompt_hash(prompt: Mapping[str, Any]) -> str:
    """sha256 over a prompt as canonical JSON; of a redacted one as it was before."""
    if prompt["tombstone"]:
        return str(prompt["tombstone"]["sha256"])
    content = {name: prompt[name] for name in HASHED}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def retire(prompt_set: PromptSet) -> bool:
    """Not offered to new campaigns any more; where it is used nothing changes."""
    published = PromptSet.objects.filter(pk=prompt_set.pk, status=PromptSet.Status.PUBLISHED)
    return bool(published.update(status=PromptSet.Status.RETIRED))


def reinstate(prompt_set: PromptSet) -> bool:
    retired = PromptSet.objects.filter(pk=prompt_set.pk, status=PromptSet.Status.RETIRED)
    return bool(retired.update(status=PromptSet.Status.PUBLISHED))
