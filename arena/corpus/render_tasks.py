"""After an update that brought a new renderer the consumer renders all texts anew, a turn each minute."""

import time

from huey import crontab
from huey.contrib.djhuey import db_periodic_task

from arena.corpus.render_again import render_again

# A worker goes back to the queue after so long, and the next minute goes on.
TURN_SECONDS = 20.0

# Where the next turn begins; None when all is done: what comes later is rendered by the renderer of today.
_after: int | None = 0


@db_periodic_task(crontab(minute="*"))
def render_again_by_the_minute() -> None:
    global _after
    if _after is not None:
        _after = render_again(_after, until=time.monotonic() + TURN_SECONDS).after
