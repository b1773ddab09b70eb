"""An export comes back: every table in the order it left, so that an empty instance gives the same boards.

Texts are stored first, in short transactions and hidden; then everything appears at once with the campaign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import tee
from math import inf
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DataError, IntegrityError, connection, transaction

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.names import name_key
from arena.corpus.publishing import HASHED, hash_over, prompt_hash
from arena.corpus.redaction import REDACTED
from arena.corpus.render import render
from arena.corpus.same_text import key_of
from arena.counted import counted
from arena.exchange.archive import about_of, named_in, opened
from arena.exchange.export_corpus import STYLE_COUNTS
from arena.exchange.export_extract import TEXT_KEY
from arena.exchange.formats.canonical import PARSERS
from arena.exchange.formats.cells import Cells
from arena.exchange.formats.problems import RefusedError, Report
from arena.exchange.formats.rows import PromptRow, ResponseRow
from arena.exchange.import_campaign_about import as_campaign
from arena.exchange.import_campaign_battles import bring_battles, bring_golds, bring_raters
from arena.exchange.import_campaign_judging import bring_judgments
from arena.exchange.import_campaign_plans import (
    bring_calibrations,
    bring_label_changes,
    bring_plans,
    bring_report_text,
)
from arena.exchange.import_campaign_return import Return, Row, moment, prompt_key, put
from arena.exchange.import_prompts import as_prompt, content
from arena.exchange.import_responses import as_response
from arena.exchange.import_votes import find_campaign
from arena.exchange.personal import Personal
from arena.exchange.plans import Plan
from arena.exchange.rendering import prepare_all
from arena.exchange.shifts import Shift
from arena.raters.models import Team

# Of an upload: what an archive may hold unpacked, for each byte that may be uploaded.
UNPACKED_TIMES = 20
# Of the operator's own archive, unless the command is told otherwise.
MOST_UNPACKED = 10 * 1024**3
# Of an upload, where the database has one writer: rows stored in one transaction, for which votes wait.
MOST_AT_ONCE = 150_000


def plan(
    team: Team,
    target: str,
    source: Path | bytes,
    file_name: str,
    file_sha256: str,
    each: Callable[[int], object] | None = None,
    place: Path | None = None,
    most_unpacked: int | None = None,
) -> Plan:
    """Every row is read, made and looked at, and nothing stored. `place`: of an upload, where it is kept."""
    most = _most_unpacked(place, most_unpacked)
    report, personal = Report(), Personal()
    contents: dict[str, Any] = {}
    try:
        with opened(source, most, place, Path(file_name).name) as folder:
            about = about_of(folder)
            target = target or named_in(about)
            back = Return(team, folder, target, each_row=each, personal=personal)
            back.most_kept = _most_at_once() if place else inf
            _bring(back, about)
        contents = _contents(back, about)
        _remark(back, about, report)
    except RefusedError as refused:
        report.error(refused.problem)
    return Plan(
        kind="campaign",
        team=team,
        target=target,
        file_name=Path(file_name).name,
        file_sha256=file_sha256,
        description="",
        rows=(),
        errors=tuple(report.errors),
        error_count=report.error_count,
        notices=tuple(report.notices),
        skipped=0,
        personal=personal.as_json(),
        archive=source,
        place=place,
        most_unpacked=most,
        contents=contents,
    )


def _most_at_once() -> float:
    return inf if connection.features.has_select_for_update else MOST_AT_ONCE


def store(plan: Plan, shift: Shift) -> None:
    assert plan.archive is not None  # noqa: S101
    with opened(plan.archive, plan.most_unpacked, plan.place, plan.file_name) as folder:
        back = Return(plan.team, folder, plan.target, shift=shift)
        try:
            back.arrival = shift.expect_rows()
            _bring(back, about_of(folder))
            _land(back, shift, plan.count)
        finally:
            back.waiting.close()


def _land(back: Return, shift: Shift, count: int) -> None:
    try:
        with transaction.atomic():
            shift.note(back.read)  # nobody takes it over while what is written can't be seen
            back.store_kept()
            shift.land(count)
    except (IntegrityError, DataError) as error:
        raise RefusedError(
            f"Some of these rows are here already, or aren't as they were ({error})."
        ) from error


def _contents(back: Return, about: Row) -> dict[str, Any]:
    """What the page shows of it before anything is stored."""
    tables = [(name, count, back.known.get(name, 0)) for name, count in back.counts.items() if count]
    return {
        "name": back.campaign.name,
        "exported_at": str(about.get("exported_at", ""))[:16].replace("T", " "),
        "rows": sum(count - known for _name, count, known in tables),
        "reads": back.read,
        "tables": [list(table) for table in tables],
    }


def _remark(back: Return, about: Row, report: Report) -> None:
    if back.slug != (before := str(about.get("campaign"))):
        report.notice(f"where it comes from its address was “{before}”")
    known = [name for name, one in back.models.items() if not one._state.adding]
    if known:
        listed = ", ".join(known[:10]) + (", …" if len(known) > 10 else "")
        report.notice(
            f"{counted(len(known), 'model')} of these names are here already and stay as they are: {listed}"
        )


def _most_unpacked(place: Path | None, told: int | None) -> int:
    if place:
        return UNPACKED_TIMES * settings.MAX_UPLOAD_MB * 1024 * 1024
    return MOST_UNPACKED if told is None else told


def _bring(back: Return, about: Row) -> None:
    back.campaign = _new_campaign(back, about)
    _bring_corpus(back)
    bring_golds(back)
    bring_raters(back)
    bring_battles(back)
    bring_judgments(back)
    bring_label_changes(back)
    bring_plans(back)
    bring_calibrations(back)
    bring_report_text(back, about.get("report"))
    back.look_at_whole(about)


def _new_campaign(back: Return, about: Row) -> Campaign:
    if find_campaign(back.team, back.slug):
        raise RefusedError(f"There is a campaign “{back.slug}” already; name another address for this one.")
    campaign = as_campaign(back.team, back.slug, about)
    back.keep(back.numbered(campaign))
    return campaign


def _bring_corpus(back: Return) -> None:
    known = {competitor.name_key: competitor for competitor in Competitor.objects.filter(team=back.team)}
    names: dict[str, str] = {}
    back.known["models"] = 0

    def model(row: Row) -> Competitor:
        put(names, name_key(row["name"]), row["name"])
        found = known.get(name_key(row["name"]))
        back.known["models"] += found is not None
        made = found or back.stage_one(_competitor(back.team, row))
        put(back.models, row["name"], made)
        return made

    models = dict.fromkeys(one.pk for one in back.each("models", model))
    of_model, of_set = Campaign.competitors.through, Campaign.prompt_sets.through
    back.keep(*(back.numbered(of_model(campaign_id=back.campaign.pk, competitor_id=pk)) for pk in models))
    for prompt_set in back.each("prompt_sets", lambda row: _prompt_set(back, row)):
        back.keep(back.numbered(of_set(campaign_id=back.campaign.pk, promptset_id=prompt_set.pk)))
    back.stage(back.each("prompts", lambda row: _prompt(back, row)))
    _compare_hashes(back)
    back.stage(_responses(back))


def _competitor(team: Team, row: Row) -> Competitor:
    return Competitor(
        team=team,
        name=row["name"],
        organisation=row["org"],
        family=row["family"],
        licence=row["licence"],
        role=row["role"],
        status=row["status"],
        aliases=row["aliases"],
        system_prompt=row["system_prompt"],
        parameters=row["parameters"],
    )


def _prompt_set(back: Return, row: Row) -> PromptSet:
    there = PromptSet.objects.filter(team=back.team, name=row["name"], version=row["version"]).first()
    if there:
        raise RefusedError(f"There is a prompt set “{there}” already; an export brings its own.")
    made = back.stage_one(
        PromptSet(
            team=back.team,
            name=row["name"],
            version=row["version"],
            description=row["description"],
            licence=row["licence"],
            is_internal=row["internal"],
            status=PromptSet.Status(row["status"]),
            content_hash=row["content_hash"],
            published_at=moment(row["published_at"]),
        )
    )
    key = (row["name"], row["version"])
    put(back.sets, key, made.pk)
    back.hashes[key], back.told_hashes[key] = [], (back.line, row["content_hash"])
    return made


def _prompt(back: Return, row: Row) -> Prompt:
    parsed = PARSERS["prompts"](back.line, Cells(row))
    assert isinstance(parsed, PromptRow)  # noqa: S101
    back.look(parsed)
    # What is only looked at needn't be rendered.
    prompt = as_prompt(parsed) if back.stores else Prompt(external_id=parsed.id, **content(parsed))
    prompt.tombstone = row["tombstone"]
    if not back.stores:
        hashed = prompt_hash(
            {name: row[name] for name in (*HASHED[1:], "tombstone")} | {"external_id": row["id"]}
        )
        back.hashes[row["prompt_set"], row["set_version"]].append((prompt.external_id, hashed))
    prompt.prompt_set_id = back.sets[row["prompt_set"], row["set_version"]]
    key = (row["prompt_set"], row["set_version"], parsed.id)
    put(back.prompts, key, back.numbered(prompt).pk)
    if not back.stores:
        back.texts[key] = key_of(prompt.messages, prompt.tombstone)[:TEXT_KEY]
    return prompt


def _compare_hashes(back: Return) -> None:
    """A published set is what its hash says, or says nothing."""
    for key, (line, told) in back.told_hashes.items():
        if not back.stores and told and told != hash_over(back.hashes[key]):
            raise RefusedError(
                "prompt_sets.jsonl: isn't that of the set's prompts; get the export again",
                line,
                "content_hash",
            )
    back.hashes.clear()


def _responses(back: Return) -> Iterator[Response]:
    def read(row: Row) -> tuple[Row, ResponseRow, Response]:
        parsed = PARSERS["responses"](back.line, Cells(row))
        assert isinstance(parsed, ResponseRow)  # noqa: S101
        back.look(parsed)
        response = Response(sample=parsed.sample, tokens=parsed.tokens)
        response.prompt_id = back.prompts[prompt_key(row)]
        response.competitor_id = back.models[row["model"]].pk
        _as_exported(response, row)
        key = (response.prompt_id, response.competitor_id, response.sample)
        put(back.responses, key, back.numbered(response).pk)
        return row, parsed, response

    rows = back.each("responses", read)
    if not back.stores:
        yield from (response for _row, _parsed, response in rows)
        return
    rows, ahead = tee(rows)  # those under way are between the two
    texts = prepare_all((parsed.text for _row, parsed, _response in ahead), back.total("responses"))
    for (row, parsed, looked_at), prepared in zip(rows, texts, strict=True):
        response = as_response(parsed, prepared)
        for name in ("pk", "prompt_id", "competitor_id"):
            setattr(response, name, getattr(looked_at, name))
        yield _as_exported(response, row)


def _as_exported(response: Response, row: Row) -> Response:
    """Counts of a version that counted otherwise stay what its boards saw."""
    for name in (*STYLE_COUNTS, "finish_reason", "answering_model", "latency_ms", "cost_usd", "tombstone"):
        setattr(response, name, row[name])
    if response.tombstone:
        response.text_hash, response.is_blank = response.tombstone["sha256"], not response.words
        response.rendered_html = render(REDACTED)
    if row["leak"] == Response.Leak.DISMISSED:  # what was only found is looked for again
        response.leak, response.leak_words = Response.Leak.DISMISSED, row["leak_words"]
    return response
