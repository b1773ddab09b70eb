"""Prompts and responses that come with the votes: stored once, however many votes are about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.corpus.models import Arrival, Competitor, Prompt, PromptSet, Response
from arena.corpus.names import name_key
from arena.corpus.publishing import HASHED, prompt_hash
from arena.corpus.responses import text_hash
from arena.exchange.formats.problems import Problem, Report
from arena.exchange.formats.repeats import digest
from arena.exchange.formats.rows import PromptRow, ResponseRow, Texts, VoteRow
from arena.exchange.import_prompts import as_prompt
from arena.exchange.import_responses import as_response
from arena.exchange.plans import latest_set
from arena.exchange.shifts import Shift
from arena.raters.models import Team

ResponseKey = tuple[str, str, str]  # id of the prompt, key of the model, hash of the text


def check(
    slug: str, rows: Iterable[VoteRow], ids: Collection[str], prompts: dict[str, int], report: Report
) -> None:
    """One id means one prompt, in the file and in what is stored. ids: of prompts that come as texts."""
    if not ids:
        return
    seen: dict[str, tuple[bytes, int]] = {}
    stored = {
        prompt.external_id: prompt
        for prompt in Prompt.objects.filter(pk__in=_wanted(ids, prompts)).only(*HASHED, "tombstone")
    }
    for row in rows:
        if row.texts is None:
            continue
        contents = digest(row.texts.prompt)
        first, line = seen.setdefault(row.prompt_id, (contents, row.line))
        if first != contents:
            reason = _("prompt %(id)r has another text on line %(line)s")
            report.error(Problem(reason % {"id": row.prompt_id, "line": line}, row.line))
        there = stored.get(row.prompt_id)
        if line == row.line and there and not _is_same(there, row.texts):
            reason = _("prompt %(id)r is stored with another text")
            report.error(Problem(reason % {"id": row.prompt_id}, row.line))
    new = len(seen.keys() - stored.keys())
    if new:
        words = ngettext(
            "%(count)s prompt comes with the votes, into the prompt set “%(name)s”",
            "%(count)s prompts come with the votes, into the prompt set “%(name)s”",
            new,
        )
        report.notice(words % {"count": f"{new:,}", "name": set_name(slug)})


def _wanted(ids: Collection[str], prompts: dict[str, int]) -> list[int]:
    found = [pk for external_id, pk in prompts.items() if external_id in ids]
    return found if len(found) < 30_000 else list(prompts.values())[:30_000]


def _is_same(prompt: Prompt, texts: Texts) -> bool:
    """Of a redacted prompt its hash is compared."""
    told = [{"role": turn.role, "content": turn.content} for turn in texts.prompt]
    if prompt.tombstone is None:
        return prompt.messages == told
    rest = {name: getattr(prompt, name) for name in HASHED}
    return prompt_hash(rest | {"messages": told, "tombstone": None}) == prompt.tombstone["sha256"]


def set_name(slug: str) -> str:
    return f"{slug} (imported)"


def _keys(row: VoteRow) -> tuple[ResponseKey, ResponseKey]:
    assert row.texts  # noqa: S101
    return (
        (row.prompt_id, name_key(row.model_a), text_hash(row.texts.response_a)),
        (row.prompt_id, name_key(row.model_b), text_hash(row.texts.response_b)),
    )


@dataclass
class Place:
    """Where texts that come with votes go, and what is there already."""

    team: Team
    slug: str
    sets: list[PromptSet]  # the campaign's
    prompts: dict[str, int]  # by id; those that are new are added
    competitors: dict[str, Competitor]
    own: PromptSet | None = None  # the set for what comes with votes, if something did
    responses: dict[ResponseKey, int] = field(default_factory=dict)

    def responses_of(self, row: VoteRow) -> tuple[int, int]:
        key_a, key_b = _keys(row)
        return self.responses[key_a], self.responses[key_b]


def store(rows: Iterable[VoteRow], place: Place, shift: Shift, arrival: Arrival) -> None:
    """Afterwards every prompt and response of the rows is stored; new ones belong to the arrival.

    `rows` are gone through several times.
    """
    if any(row.texts and row.prompt_id not in place.prompts for row in rows):
        place.own = _open_set(place, arrival)
        shift.store(_new_prompts(rows, place, place.own, arrival))
        stored = Prompt.stored.filter(arrival=arrival).values_list("external_id", "pk")
        place.prompts.update(stored.iterator())
    named: dict[tuple[int, int, str], ResponseKey] = {}
    shift.store(_new_responses(rows, place, shift, named))
    responses = Response.stored.filter(arrival=arrival)
    rows_there = responses.values_list("prompt_id", "competitor_id", "text_hash", "pk")
    for prompt, competitor, text, pk in rows_there.iterator():
        place.responses[named[prompt, competitor, text]] = pk


def _new_prompts(rows: Iterable[VoteRow], place: Place, own: PromptSet, arrival: Arrival) -> Iterator[Prompt]:
    made: set[str] = set()
    for row in rows:
        texts = row.texts
        if texts is None or row.prompt_id in place.prompts or row.prompt_id in made:
            continue
        made.add(row.prompt_id)
        told = PromptRow(
            row.line, row.prompt_id, texts.prompt, language=texts.language, criteria=texts.criteria
        )
        prompt = as_prompt(told)
        prompt.prompt_set, prompt.arrival = own, arrival
        yield prompt


def _new_responses(
    rows: Iterable[VoteRow],
    place: Place,
    shift: Shift,
    named: dict[tuple[int, int, str], ResponseKey],
) -> Iterator[Response]:
    """`named` gets the file's key of each; what is there already goes into `place` at once."""
    there, last = _stored([*place.sets, *([place.own] if place.own else [])])
    for number, row in enumerate(rows, start=1):
        shift.reached = number
        for key, text, tokens in _sides(row) if row.texts else ():
            ids = (place.prompts[key[0]], place.competitors[key[1]].pk, key[2])
            if ids in there:
                place.responses[key] = there[ids]
            if key in place.responses or ids in named:
                continue
            named[ids] = key
            pair = ids[:2]
            last[pair] = last.get(pair, 0) + 1
            response = as_response(
                ResponseRow(row.line, key[0], key[1], text, tokens=tokens, sample=last[pair])
            )
            response.prompt_id, response.competitor_id = pair
            response.arrival = shift.record.arrival
            yield response


def _sides(row: VoteRow) -> Iterator[tuple[ResponseKey, str, int | None]]:
    assert row.texts  # noqa: S101
    key_a, key_b = _keys(row)
    yield key_a, row.texts.response_a, row.texts.tokens_a
    yield key_b, row.texts.response_b, row.texts.tokens_b


def _open_set(place: Place, arrival: Arrival) -> PromptSet:
    """The campaign's own set for what comes with votes; its next version once it is published."""
    name = set_name(place.slug)
    latest = latest_set(place.team, name)
    if latest is None or latest.status != PromptSet.Status.DRAFT:
        version = latest.version + 1 if latest else 1
        latest = PromptSet.objects.create(team=place.team, name=name, version=version, arrival=arrival)
    return latest


def _stored(sets: list[PromptSet]) -> tuple[dict[tuple[int, int, str], int], dict[tuple[int, int], int]]:
    """Responses by their text, and the last sample of each model for each prompt."""
    there: dict[tuple[int, int, str], int] = {}
    last: dict[tuple[int, int], int] = {}
    rows = Response.objects.filter(prompt__prompt_set__in=sets)
    columns = ("pk", "prompt_id", "competitor_id", "text_hash", "sample")
    for pk, prompt, competitor, text, sample in rows.values_list(*columns).iterator():
        there[prompt, competitor, text] = pk
        last[prompt, competitor] = max(last.get((prompt, competitor), 0), sample)
    return there, last
