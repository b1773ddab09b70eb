from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import tee

from django.db import transaction
from django.utils.translation import gettext as _

from arena.corpus.models import Arrival, Competitor, PromptSet, Response
from arena.corpus.names import name_key
from arena.corpus.prepared import Prepared
from arena.corpus.responses import new_response, text_hash
from arena.exchange.formats.problems import Problem, Report
from arena.exchange.formats.reading import FileRows
from arena.exchange.formats.repeats import digest
from arena.exchange.formats.rows import ResponseRow
from arena.exchange.plans import (
    Chosen,
    Plan,
    competitors_by_key,
    needed_set,
    new_names,
    remark_on_known,
    remark_on_new_models,
)
from arena.exchange.rendering import prepare_all
from arena.exchange.shifts import Shift
from arena.raters.models import Team


def check(team: Team, name: str, file: FileRows, rows: Iterable[ResponseRow], report: Report) -> Chosen:
    """`rows` are the file's, on their first way through."""
    prompt_set = needed_set(team, name)
    prompts = dict(prompt_set.prompts.values_list("external_id", "pk"))
    competitors = competitors_by_key(team)
    stored = _stored_hashes(prompt_set.pk)
    wanted, known = bytearray(), 0
    names: dict[str, None] = {}
    seen: set[bytes] = set()
    for row in _with_ids(prompt_set, rows, report):
        wanted.append(0)
        if (key := digest(row.key)) in seen:  # once by its id and once by its text
            report.error(Problem(_("%(row)s stands twice in the file") % {"row": row.name}, row.line))
            continue
        seen.add(key)
        if row.prompt_id not in prompts:
            reason = _("“%(set)s” holds no prompt %(id)r") % {"set": prompt_set, "id": row.prompt_id}
            report.error(Problem(reason, row.line, "prompt_id"))
            continue
        competitor = competitors.get(name_key(row.model))
        there = stored.get((prompts[row.prompt_id], competitor.pk if competitor else 0, row.sample))
        if there is None:
            wanted[-1] = 1
            names[row.model] = None
        elif there == text_hash(row.text):
            known += 1
        else:
            reason = _("%(row)s is stored with another text; give it the next number in a column sample")
            report.error(Problem(reason % {"row": row.name}, row.line, "response"))
    remark_on_known(known, report)
    remark_on_new_models(new_names(names, competitors), report)
    return Chosen(lambda: _with_ids(prompt_set, file.rows(Report()), Report()), wanted)


def _with_ids(prompt_set: PromptSet, rows: Iterable[ResponseRow], report: Report) -> Iterator[ResponseRow]:
    """Rows that have a prompt's exact text in place of its id get the id; which one must be certain."""
    ids: dict[str, list[str]] | None = None
    for row in rows:
        if not row.prompt:
            yield row
            continue
        if ids is None:
            ids = _ids_by_text(prompt_set)
        found = ids.get(row.prompt, [])
        if len(found) == 1:
            yield replace(row, prompt_id=found[0], prompt="")
            continue
        reason = (
            _("“%(set)s” holds %(count)s prompts of exactly this text")
            if found
            else _("“%(set)s” holds no prompt of exactly this text")
        )
        report.error(Problem(reason % {"set": prompt_set, "count": len(found)}, row.line, "prompt"))


def _ids_by_text(prompt_set: PromptSet) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for external_id, messages in prompt_set.prompts.values_list("external_id", "messages").iterator():
        if len(messages) == 1:
            found.setdefault(messages[0]["content"], []).append(external_id)
    return found


def _stored_hashes(prompt_set_id: int) -> dict[tuple[int, int, int], str]:
    responses = Response.objects.filter(prompt__prompt_set=prompt_set_id)
    rows = responses.values_list("prompt_id", "competitor_id", "sample", "text_hash")
    return {(prompt, competitor, sample): hashed for prompt, competitor, sample, hashed in rows.iterator()}


def as_response(row: ResponseRow, prepared: Prepared | None = None) -> Response:
    return new_response(row.text, prepared, sample=row.sample, tokens=row.tokens)


def store(plan: Plan, shift: Shift) -> None:
    arrival = shift.expect_rows()
    prompts = dict(needed_set(plan.team, plan.target).prompts.values_list("external_id", "pk"))
    competitors = make_competitors(plan.team, _makers(plan.rows), arrival)

    def made() -> Iterator[Response]:
        rows, ahead = tee(plan.rows)  # those under way are between the two
        texts = prepare_all((row.text for row in ahead), len(plan.rows))
        for number, (row, prepared) in enumerate(zip(rows, texts, strict=True), start=1):
            shift.reached = number
            response = as_response(row, prepared)
            response.prompt_id = prompts[row.prompt_id]
            response.competitor_id = competitors[name_key(row.model)].pk
            response.arrival = arrival
            yield response

    shift.store(made())
    with transaction.atomic():
        shift.land(len(plan.rows))


def _makers(rows: Iterable[ResponseRow]) -> dict[str, str]:
    """Each model by its first spelling, with the first maker that any of its rows names."""
    spelled: dict[str, str] = {}
    makers: dict[str, str] = {}
    for row in rows:
        name = spelled.setdefault(name_key(row.model), row.model)
        makers[name] = makers.get(name) or row.org
    return makers


def make_competitors(team: Team, names: Mapping[str, str], arrival: Arrival) -> dict[str, Competitor]:
    """Every competitor of the team by its key, with those that are new among the names, given with makers."""
    known = competitors_by_key(team)
    with transaction.atomic():
        for key, name in new_names(names, known).items():
            known[key] = Competitor.objects.create(
                team=team, name=name, organisation=names[name], arrival=arrival
            )
    return known
