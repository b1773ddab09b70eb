"""Calls for responses and for labels are served like all others; the consumer finds their askers here."""

from arena.corpus import label_asking, leak_tasks, render_tasks, sweep_tasks
from arena.corpus.generate import ASKER
from arena.endpoints.tasks import enqueue, serve_calls_of

__all__ = ["enqueue", "leak_tasks", "render_tasks", "sweep_tasks"]

serve_calls_of(ASKER)
serve_calls_of(label_asking.ASKER)
