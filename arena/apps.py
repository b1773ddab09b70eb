from django.apps import AppConfig


class ArenaConfig(AppConfig):
    name = "arena"
    verbose_name = "Tiltyard"

    def ready(self) -> None:
        from arena.battles import append_only  # noqa: F401 — connects to post_migrate
