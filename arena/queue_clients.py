"""The queue's library imports Redis's client wherever it is installed, which takes 6 MB of each process."""

import sys

REDIS = "redis"


def import_queue(huey_class: str) -> None:
    """Without that client where the queue is no Redis. Whoever else wants it can import it later."""
    is_kept_out = huey_class != "huey.RedisHuey" and REDIS not in sys.modules
    if is_kept_out:
        sys.modules[REDIS] = None  # type: ignore[assignment]  # as if it weren't installed
    try:
        import huey  # noqa: F401
    finally:
        if is_kept_out:
            del sys.modules[REDIS]
