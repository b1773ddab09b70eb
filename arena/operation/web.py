"""The application with all its pages imported. gunicorn loads it once, before it forks: workers share the
memory, and none imports anything while its first visitor waits."""

import gc

from django.urls import get_resolver

from arena.wsgi import application

get_resolver().url_patterns  # noqa: B018 — imports every view
gc.collect()
gc.freeze()  # What is loaded stays. Looking through it stopped a worker for 0.15 s now and then.

__all__ = ["application"]
