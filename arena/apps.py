from django.apps import AppConfig


class ArenaConfig(AppConfig):
    name = "arena"
    verbose_name = "Tiltyard"

    def ready(self) -> None:
        from arena.exchange import (
            export_requests,  # noqa: F401 — with its receiver of redactions
            kept_texts,  # noqa: F401 — connects to redactions
        )
        from arena.leaderboards import append_only  # noqa: F401 — with that of votes, connects to post_migrate
