"""The application with all its pages imported. gunicorn loads it once, before it forks: workers share the
memory, and none imports anything while its first visitor waits."""

from django.urls import get_resolver

from arena.wsgi import application

get_resolver().url_patterns  # noqa: B018 — imports every view

__all__ = ["application"]
