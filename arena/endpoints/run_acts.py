"""Cancel, pause, resume, retry: what an admin does to a run of calls, whatever the calls ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from arena.endpoints.runs import Run
from arena.raters import access

R = TypeVar("R", bound=Run)


@dataclass(frozen=True)
class RunActs(Generic[R]):
    """page: the name of the run's URL; those of the acts begin with it."""

    page: str
    own: Callable[[HttpRequest, int], R]
    stop: Callable[[R], bool]
    ask_again: Callable[[R], int]
    enqueue: Callable[[R], object]

    def urls(self, at: str) -> list[URLPattern]:
        acts = {"cancel": self.cancel, "pause": self.pause, "resume": self.resume, "retry": self.retry}
        return [
            path(f"{at}/<int:pk>/{name}/", self._view(act), name=f"{self.page}-{name}")
            for name, act in acts.items()
        ]

    def _view(self, act: Callable[[HttpRequest, R], None]) -> Callable[..., HttpResponseBase]:
        @require_POST
        @access.admin_required
        def view(request: HttpRequest, pk: int) -> HttpResponseBase:
            act(request, self.own(request, pk))
            return redirect(self.page, pk)

        return view

    def cancel(self, request: HttpRequest, run: R) -> None:
        if self.stop(run):
            messages.success(request, _("The run is cancelled. What was on its way is still read."))

    def pause(self, request: HttpRequest, run: R) -> None:
        run.pause(_("by an admin"))

    def resume(self, request: HttpRequest, run: R) -> None:
        if run.status_reason == Run.BEING_PLANNED:
            messages.error(
                request, _("This run is still being planned, or its planning broke off. Start a new one.")
            )
        elif run.resume():
            self.enqueue(run)

    def retry(self, request: HttpRequest, run: R) -> None:
        count = self.ask_again(run)
        if count:
            self.enqueue(run)
            words = ngettext(
                "%(count)d failed call is asked again.", "%(count)d failed calls are asked again.", count
            )
            messages.success(request, words % {"count": count})
