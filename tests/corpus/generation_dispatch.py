"""Makes an installation with prompts, two models and a planned generation run.

    python -m tests.corpus.generation_dispatch BASE_URL PROMPTS CONCURRENCY SECONDS MOST_TOKENS

For tests that need a consumer of flesh and blood over a database of its own.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import django


def main(base_url: str, prompts: int, concurrency: int, seconds: int, most_tokens: int) -> None:
    django.setup()
    from django.core.management import call_command

    from arena.corpus.generation_planning import plan_run
    from arena.corpus.tasks import enqueue
    from tests.corpus.generation_studio import build_studio

    call_command("migrate", verbosity=0)
    studio = build_studio(
        SimpleNamespace(base_url=base_url),
        prompts,
        concurrency=concurrency,
        timeout_seconds=seconds,
        max_tokens=most_tokens,
    )
    enqueue(plan_run(studio.prompt_set, studio.competitors))


if __name__ == "__main__":
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
