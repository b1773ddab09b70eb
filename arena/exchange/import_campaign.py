"""An export comes back: every table in the order it left, so that an empty instance gives the same boards."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import transaction

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.names import name_key
from arena.corpus.redaction import REDACTED
from arena.corpus.render import render
from arena.counted import counted
from arena.exchange.export_corpus import STYLE_COUNTS
from arena.exchange.exports import CAMPAIGN_FIELDS, CAMPAIGN_TIMES, LAYOUT, SUMS
from arena.exchange.formats.canonical import PARSERS
from arena.exchange.formats.cells import Cells
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_campaign_battles import store_battles, store_golds, store_raters, store_votes
from arena.exchange.import_campaign_judging import store_judgments
from arena.exchange.import_campaign_plans import (
    store_calibrations,
    store_label_changes,
    store_plans,
    store_report_text,
)
from arena.exchange.import_campaign_return import Return, Row, SetKey, moment, prompt_key
from arena.exchange.import_prompts import as_prompt
from arena.exchange.import_responses import as_response
from arena.exchange.import_votes import find_campaign
from arena.exchange.plans import BATCH
from arena.raters.models import Team


def bring_back(source: Path, team: Team, slug: str = "") -> Campaign:
    """All of an export or nothing of it; RefusedError says what is in the way."""
    with _opened(source) as folder:
        check_sums(folder)
        about = json.loads((folder / "campaign.json").read_text())
        if about["layout"] != LAYOUT:
            raise RefusedError(f"the export has the layout {about['layout']}; this version reads {LAYOUT}")
        slug = slug or about["campaign"]
        if find_campaign(team, slug):
            raise RefusedError(f"There is a campaign “{slug}” already; name another address with --campaign.")
        back = Return(team, folder)
        prompts = list(back.each("prompts", _prompt))
        responses = list(back.each("responses", _response))
        with transaction.atomic():
            back.campaign = _new_campaign(team, slug, about)
            _store_corpus(back, prompts, responses)
            store_golds(back)
            store_raters(back)
            store_battles(back)
            store_votes(back)
            store_judgments(back)
            store_label_changes(back)
            store_plans(back)
            store_calibrations(back)
            store_report_text(back, about["report"])
    return back.campaign


def _new_campaign(team: Team, slug: str, about: Row) -> Campaign:
    since: Row = {"plain_text": False}  # of exports made before there was the choice
    settings = {name: (since | about)[name] for name in CAMPAIGN_FIELDS}
    settings |= {name: moment(about[name]) for name in CAMPAIGN_TIMES}
    campaign = Campaign(team=team, slug=slug, name=about["name"], **settings)
    try:
        campaign.full_clean()
    except ValidationError as error:
        raise RefusedError(f"campaign.json: {error.message_dict}") from error
    campaign.save()
    return campaign


@contextmanager
def _opened(source: Path) -> Iterator[Path]:
    if source.is_dir():
        yield source
        return
    if not zipfile.is_zipfile(source):
        raise RefusedError(f"{source} is neither the folder nor the .zip of an export")
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(source) as archive:
        archive.extractall(place)
        found = list(Path(place).glob(f"*/{SUMS}"))
        if len(found) != 1:
            raise RefusedError(f"{source.name} holds {counted(len(found), 'export')}; one is needed")
        yield found[0].parent


def check_sums(folder: Path) -> None:
    """Every file that the sums name is there and is as it was exported."""
    if not (folder / SUMS).is_file():
        raise RefusedError(f"{folder.name} is no export: it has no {SUMS}")
    for line in (folder / SUMS).read_text().splitlines():
        wanted, _gap, name = line.partition("  ")
        path = folder / name
        if not path.is_file():
            raise RefusedError(f"{name} is missing from the export")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != wanted:
                raise RefusedError(f"{name} isn't as it was exported; get the export again")


def _prompt(row: Row) -> tuple[SetKey, Prompt]:
    parsed = PARSERS["prompts"](0, Cells(row))
    prompt = as_prompt(parsed)  # type: ignore[arg-type]
    prompt.tombstone = row["tombstone"]
    return (row["prompt_set"], row["set_version"]), prompt


def _response(row: Row) -> tuple[Row, Response]:
    response = as_response(PARSERS["responses"](0, Cells(row)))  # type: ignore[arg-type]
    # Counts of a version that counted otherwise stay what its boards saw.
    for name in (*STYLE_COUNTS, "finish_reason", "answering_model", "latency_ms", "cost_usd", "tombstone"):
        setattr(response, name, row[name])
    if response.tombstone:
        response.text_hash, response.is_blank = response.tombstone["sha256"], not response.words
        response.rendered_html = render(REDACTED)
    if row["leak"] == Response.Leak.DISMISSED:  # what was only found is looked for again
        response.leak, response.leak_words = Response.Leak.DISMISSED, row["leak_words"]
    del row["response"]
    return row, response


def _store_corpus(
    back: Return, prompts: list[tuple[SetKey, Prompt]], responses: list[tuple[Row, Response]]
) -> None:
    known = {competitor.name_key: competitor for competitor in Competitor.objects.filter(team=back.team)}
    for row in back.each("models", dict):
        competitor = known.get(name_key(row["name"])) or Competitor.objects.create(
            team=back.team,
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
        back.models[row["name"]] = competitor
    back.campaign.competitors.add(*back.models.values())
    for row in back.each("prompt_sets", dict):
        back.sets[row["name"], row["version"]] = _new_set(back, row)
    back.campaign.prompt_sets.add(*back.sets.values())
    for key, prompt in prompts:
        prompt.prompt_set = back.sets[key]
        back.prompts[*key, prompt.external_id] = prompt
    Prompt.objects.bulk_create(back.prompts.values(), batch_size=BATCH)
    for row, response in responses:
        response.prompt_id = back.prompts[prompt_key(row)].pk
        response.competitor_id = back.models[row["model"]].pk
    Response.objects.bulk_create((response for _row, response in responses), batch_size=BATCH)
    back.responses = {(r.prompt_id, r.competitor_id, r.sample): r.pk for _row, r in responses}


def _new_set(back: Return, row: Row) -> PromptSet:
    prompt_set, is_new = PromptSet.objects.get_or_create(
        team=back.team,
        name=row["name"],
        version=row["version"],
        defaults={
            "description": row["description"],
            "licence": row["licence"],
            "is_internal": row["internal"],
            "status": row["status"],
            "content_hash": row["content_hash"],
            "published_at": moment(row["published_at"]),
        },
    )
    if not is_new:
        raise RefusedError(f"There is a prompt set “{prompt_set}” already; an export brings its own.")
    return prompt_set
