"""The language of a page. Raters' pages come in theirs; what only the team sees is English."""

from __future__ import annotations

from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

RATERS_PAGES = frozenset(
    (
        *("home", "login", "set-language", "join", "begin", "guide", "my-votes", "my-link"),
        *("my-votes-board", "my-votes-file"),
        *("battle", "battle-more", "battle-text", "battle-preview"),
        *("battle-vote", "battle-undo", "battle-skip", "battle-flag", "battle-reasons"),
    )
)


class RatersLanguage(LocaleMiddleware):
    """Chosen on the page (a cookie), else the browser's. An address that names no page answers in it too."""

    def process_view(self, request: HttpRequest, _view: object, _args: object, _kwargs: object) -> None:
        match = request.resolver_match
        if match is not None and match.url_name in RATERS_PAGES:
            request.offers_languages = True  # type: ignore[attr-defined]
            return
        translation.activate("en")
        request.LANGUAGE_CODE = "en"
