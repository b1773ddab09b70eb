"""Judge calls are served like all others; the consumer finds their askers here."""

from arena.endpoints.tasks import enqueue, serve_calls_of
from arena.judging.runner import ASKERS

__all__ = ["enqueue"]

for asker in ASKERS:
    serve_calls_of(asker)
