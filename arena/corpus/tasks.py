"""Calls for responses are served like all others; the consumer finds their asker here."""

from arena.corpus import leak_tasks
from arena.corpus.generate import ASKER
from arena.endpoints.tasks import enqueue, serve_calls_of

__all__ = ["enqueue", "leak_tasks"]

serve_calls_of(ASKER)
