"""What the address of a page may ask for.

Of a filter misspelt a page would show everything, as if that had been asked for. So it says what it doesn't
understand. What others hang onto a link to count visits passes in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches
from functools import wraps

from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.utils.translation import gettext as _

from arena.row_numbers import as_id

MOST = 5  # told of one address
LONGEST = 60  # characters of a name or value
_COUNTS_VISITS = re.compile(
    "(utm|mtm|pk|piwik|matomo|hsa|mc)_[a-z_]+|_hs(enc|mi)|_g[al]"
    "|(fb|g|d|tw|tt|y)clid|msclkid|gbraid|wbraid|gad_source|srsltid|igshid|li_fat_id|ref|ref_src",
    re.IGNORECASE,
)

View = Callable[..., HttpResponseBase]


def understands(
    *names: str, several: Collection[str] = (), **values: Collection[str]
) -> Callable[[View], View]:
    """names: with any value · several: those that may come more than once · values: names of a few values."""
    known = [*names, *values]

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: HttpRequest, *args: object, **named: object) -> HttpResponseBase:
            told = _left_out(request.GET, known, several, values)
            request.left_out = [words for words, _place in zip(told, range(MOST), strict=False)]  # type: ignore[attr-defined]
            try:
                return view(request, *args, **named)
            except (Http404, PermissionDenied):
                request.left_out = []  # type: ignore[attr-defined]  # a refusal tells nothing of the page
                raise

        wrapped.understands = tuple(known)  # type: ignore[attr-defined]
        return wrapped

    return decorate


def leave_out(request: HttpRequest, name: str, shown: str = "", known: str = "") -> None:
    """Says that the value asked for is none. shown: what stands there instead · known: what there is."""
    words = _("“%(value)s” is no value of “%(name)s” and was left out.")
    if known:
        words = _("“%(value)s” is no value of “%(name)s” and was left out; there are: %(known)s.")
    elif shown:
        words = _("“%(value)s” is no value of “%(name)s” and was left out. Shown: %(shown)s.")
    value = request.GET.get(name, "")[:LONGEST]
    tell(request, words % {"value": value, "name": name, "known": known, "shown": shown})


def tell(request: HttpRequest, words: str) -> None:
    told: list[str] = request.left_out  # type: ignore[attr-defined]
    if len(told) < MOST:
        told.append(words)


def asked_page(request: HttpRequest, paginator: Paginator) -> Page:
    """?page=…; what is no page of the list is said, and the nearest shown."""
    page = paginator.get_page(request.GET.get("page") or 1)
    say_page(request, page.number, paginator.num_pages)
    return page


def say_page(request: HttpRequest, shown: int, pages: int) -> None:
    if request.GET.get("page") and as_id(request.GET["page"]) != shown:
        leave_out(request, "page", _("page %(n)d of %(all)d") % {"n": shown, "all": pages})


def asks_nothing(request: HttpRequest) -> bool:
    return all(counts_visits(name) for name in request.GET)


def counts_visits(name: str) -> bool:
    return _COUNTS_VISITS.fullmatch(name) is not None


def _left_out(
    asked: QueryDict, known: Collection[str], several: Collection[str], values: dict[str, Collection[str]]
) -> Iterator[str]:
    for name, given in asked.lists():
        if name not in known:
            if not counts_visits(name):
                yield _say_unknown(name, known)
            continue
        if len(set(given)) > 1 and name not in several:
            words = _("“%(name)s” was asked for more than once; the last counts, “%(value)s”.")
            yield words % {"name": name, "value": given[-1][:LONGEST]}
        if name in values and given[-1] and given[-1] not in values[name]:
            words = _("“%(value)s” is no value of “%(name)s” and was left out; there are: %(known)s.")
            value = given[-1][:LONGEST]
            yield words % {"name": name, "value": value, "known": ", ".join(values[name])}


def _say_unknown(name: str, known: Collection[str]) -> str:
    told = {"name": name[:LONGEST], "known": ", ".join(known)}
    meant = get_close_matches(name.casefold(), known, n=1)
    if meant:
        words = _("“%(name)s” is no filter of this page and was left out. Was “%(meant)s” meant?")
        return words % (told | {"meant": meant[0]})
    if known:
        return _("“%(name)s” is no filter of this page and was left out; there are: %(known)s.") % told
    return _("“%(name)s” was left out: this page has no filters.") % told
