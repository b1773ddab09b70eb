"""Which responses give away who wrote them: looked at once each, and again when a name changes.

A response that wasn't looked at yet isn't drawn where leaks are left out or masked, so it needs no check on
its way in.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from django.db.models import QuerySet

from arena.broken_off import done_again
from arena.corpus.leaks import Leak, Names, find_leaks, mask
from arena.corpus.models import Competitor, Response
from arena.corpus.render import render
from arena.giving_way import short_transaction

_BATCH = 100
_AGAIN = 500  # rows of one transaction
_CLEAN = {"leak": Response.Leak.CLEAN, "leak_words": [], "masked_html": ""}
_MOST_WORDS = 20


def check_unchecked(responses: QuerySet[Response] | None = None, *, until: float | None = None) -> int:
    """Looks at what nobody has looked at, until `until` on the monotonic clock; how many there were."""
    waiting = (Response.objects.all() if responses is None else responses).filter(
        leak=Response.Leak.UNCHECKED
    )
    names: dict[int, Names] = {}
    done = 0
    while until is None or time.monotonic() < until:
        batch = list(waiting.order_by("pk").only("text", "competitor_id", "leak_words", "tombstone")[:_BATCH])
        if not batch:
            break
        _know(names, batch)
        for response in batch:
            _check(response, names[response.competitor_id])
        _store(batch)
        done += len(batch)
    return done


def _know(names: dict[int, Names], batch: Iterable[Response]) -> None:
    new = {response.competitor_id for response in batch} - names.keys()
    for competitor in Competitor.objects.filter(pk__in=new):
        names[competitor.pk] = names_of(competitor)


def names_of(competitor: Competitor) -> Names:
    """Its own names, and those of all that the team compares, which it may claim to be."""
    others = Competitor.objects.filter(team=competitor.team_id).exclude(pk=competitor.pk).order_by("pk")
    models: list[str] = []
    makers = [competitor.organisation]
    for name, aliases, organisation in others.values_list("name", "aliases", "organisation"):
        models += [name, *aliases]
        makers.append(organisation)
    return Names(
        own=(competitor.name, *competitor.aliases),
        models=tuple(dict.fromkeys(models)),
        makers=tuple(dict.fromkeys(maker for maker in makers if maker)),
    )


class Shown:
    """Texts as raters see them under a campaign's leak policy, for others who shall judge the same."""

    def __init__(self, leak_policy: str) -> None:
        self.leak_policy = leak_policy
        self._names: dict[int, Names] = {}

    def text(self, response: Response) -> str:
        """Masked on the way too where nobody has looked yet: raters aren't shown it before somebody has."""
        if self.leak_policy != "mask" or response.leak in (Response.Leak.CLEAN, Response.Leak.DISMISSED):
            return response.text
        return mask(response.text, self._leaks(response))

    def leaves_out(self, response: Response) -> bool:
        """Whether it is shown to nobody. Looked at on the way too where nobody has looked yet."""
        if self.leak_policy != "exclude" or response.leak in (Response.Leak.CLEAN, Response.Leak.DISMISSED):
            return False
        if response.leak == Response.Leak.FOUND:
            return True
        words = _words(self._leaks(response))
        return bool(words) and not _are_dismissed(words, response)

    def _leaks(self, response: Response) -> list[Leak]:
        _know(self._names, [response])
        return find_leaks(response.text, self._names[response.competitor_id])


def _check(response: Response, names: Names) -> None:
    leaks = find_leaks(response.text, names)
    words = _words(leaks)
    known = bool(words) and _are_dismissed(words, response)
    response.masked_html = _masked(response.text, leaks) if leaks else ""
    response.leak_words = words
    if not words:
        response.leak = Response.Leak.CLEAN
    else:
        response.leak = Response.Leak.DISMISSED if known else Response.Leak.FOUND


def _words(leaks: Iterable[Leak]) -> list[str]:
    return list(dict.fromkeys(leak.words for leak in leaks))[:_MOST_WORDS]


def _are_dismissed(words: list[str], response: Response) -> bool:
    """What an admin has called no leak stays none, unless there is more now."""
    return set(words) <= set(response.leak_words)


def _masked(text: str, leaks: list[Leak]) -> str:
    return render(mask(text, leaks))


def masked_again(response: Response) -> str:
    """Its masked text as the renderer makes it now."""
    leaks = find_leaks(response.text, names_of(response.competitor))
    return _masked(response.text, leaks) if leaks else ""


@done_again
def _store(batch: list[Response]) -> None:
    """A response that was redacted or looked at meanwhile is left as it is."""
    unchecked = Response.stored.filter(leak=Response.Leak.UNCHECKED)
    still = unchecked.filter(tombstone__isnull=True)
    clean = [response.pk for response in batch if response.leak == Response.Leak.CLEAN]
    with short_transaction():
        still.filter(pk__in=clean).update(**_CLEAN)
        for response in batch:
            if response.leak != Response.Leak.CLEAN:
                found = {name: getattr(response, name) for name in _CLEAN}
                still.filter(pk=response.pk).update(**found)
        redacted = unchecked.exclude(tombstone__isnull=True)
        redacted.filter(pk__in=[response.pk for response in batch]).update(**_CLEAN)


def look_again(responses: QuerySet[Response]) -> int:
    """Have them looked at anew; words that an admin has dismissed stay dismissed. How many there are."""
    checked = responses.exclude(leak=Response.Leak.UNCHECKED).order_by("pk").values_list("pk", flat=True)
    after, done = 0, 0
    while pks := list(checked.filter(pk__gt=after)[:_AGAIN]):
        done += _forget_looks(pks)
        after = pks[-1]
    return done


@done_again
def _forget_looks(pks: list[int]) -> int:
    with short_transaction():
        rows = Response.stored.filter(pk__in=pks)
        rows.filter(leak=Response.Leak.FOUND).update(leak_words=[])
        return rows.update(leak=Response.Leak.UNCHECKED)


def dismiss(response: Response) -> bool:
    """An admin says that this is no leak."""
    found = Response.objects.filter(pk=response.pk, leak=Response.Leak.FOUND)
    return bool(found.update(leak=Response.Leak.DISMISSED))


def take_back(response: Response) -> bool:
    dismissed = Response.objects.filter(pk=response.pk, leak=Response.Leak.DISMISSED)
    return bool(dismissed.update(leak=Response.Leak.FOUND))
