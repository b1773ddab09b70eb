from __future__ import annotations

from django.db import models

from arena.corpus.models import Prompt, Response


class Sweep(models.Model):
    """What is still to be taken out elsewhere of a text that was redacted.

    The text stays here, to find it by, until that is done; a row without texts waits for the disk to forget.
    """

    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="+")
    response = models.ForeignKey(
        Response, null=True, on_delete=models.CASCADE, related_name="+", help_text="empty if the prompt's own"
    )
    texts = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        of_response = f", response {self.response_id}" if self.response_id else ""
        return f"sweep after prompt {self.prompt_id}{of_response}"
