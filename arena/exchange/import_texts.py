"""Prompts and responses that come with the votes: stored once, however many votes are about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.names import name_key
from arena.exchange.formats.problems import Problem, Report
from arena.exchange.formats.rows import PromptRow, ResponseRow, Texts, VoteRow
from arena.exchange.import_prompts import as_prompt
from arena.exchange.import_responses import as_response, text_hash
from arena.exchange.plans import BATCH, latest_set

ResponseKey = tuple[str, str, str]  # id of the prompt, key of the model, hash of the text


@dataclass
class Made:
    """Prompts by their id and responses by theirs, rendered and counted, before they are stored."""

    prompts: dict[str, Prompt] = field(default_factory=dict)
    responses: dict[ResponseKey, Response] = field(default_factory=dict)

    def of(self, row: VoteRow) -> tuple[int, int]:
        key_a, key_b = _keys(row)
        return self.responses[key_a].pk, self.responses[key_b].pk


def check(slug: str, rows: Iterable[VoteRow], prompts: dict[str, int], report: Report) -> None:
    """One id means one prompt, in the file and in what is stored."""
    seen: dict[str, tuple[Texts, int]] = {}
    stored = {
        prompt.external_id: prompt
        for prompt in Prompt.objects.filter(pk__in=_wanted(rows, prompts)).only("external_id", "messages")
    }
    for row in rows:
        if row.texts is None:
            continue
        first, line = seen.setdefault(row.prompt_id, (row.texts, row.line))
        if first.prompt != row.texts.prompt:
            reason = _("prompt %(id)r has another text on line %(line)s")
            report.error(Problem(reason % {"id": row.prompt_id, "line": line}, row.line))
        there = stored.get(row.prompt_id)
        if line == row.line and there and there.messages != _messages(row.texts):
            reason = _("prompt %(id)r is stored with another text")
            report.error(Problem(reason % {"id": row.prompt_id}, row.line))
    new = len(seen.keys() - stored.keys())
    if new:
        report.notice(
            _("%(count)s prompts come with the votes, into the prompt set “%(name)s”")
            % {"count": f"{new:,}", "name": set_name(slug)}
        )


def _wanted(rows: Iterable[VoteRow], prompts: dict[str, int]) -> list[int]:
    ids = {row.prompt_id for row in rows if row.texts}
    found = [pk for external_id, pk in prompts.items() if external_id in ids]
    return found if len(found) < 30_000 else list(prompts.values())[:30_000]


def _messages(texts: Texts) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in texts.prompt]


def set_name(slug: str) -> str:
    return f"{slug} (imported)"


def _keys(row: VoteRow) -> tuple[ResponseKey, ResponseKey]:
    assert row.texts  # noqa: S101
    return (
        (row.prompt_id, name_key(row.model_a), text_hash(row.texts.response_a)),
        (row.prompt_id, name_key(row.model_b), text_hash(row.texts.response_b)),
    )


def make(rows: Iterable[VoteRow]) -> Made:
    made = Made()
    for row in rows:
        texts = row.texts
        if texts is None:
            continue
        if row.prompt_id not in made.prompts:
            made.prompts[row.prompt_id] = as_prompt(
                PromptRow(
                    row.line, row.prompt_id, texts.prompt, language=texts.language, criteria=texts.criteria
                )
            )
        sides = ((texts.response_a, texts.tokens_a), (texts.response_b, texts.tokens_b))
        for key, (text, tokens) in zip(_keys(row), sides, strict=True):
            if key not in made.responses:
                made.responses[key] = as_response(ResponseRow(row.line, key[0], key[1], text, tokens=tokens))
    return made


def store(
    campaign: Campaign, made: Made, prompts: dict[str, int], competitors: dict[str, Competitor]
) -> Made:
    """Adds to `prompts` those that are new. Every response of `made` has its row afterwards."""
    if not made.prompts:
        return made
    new = [prompt for external_id, prompt in made.prompts.items() if external_id not in prompts]
    if new:
        prompt_set = _open_set(campaign)
        for prompt in new:
            prompt.prompt_set = prompt_set
        for prompt in Prompt.objects.bulk_create(new, batch_size=BATCH):
            prompts[prompt.external_id] = prompt.pk
    there, last = _stored(campaign)
    fresh = []
    for key, response in made.responses.items():
        prompt_id, competitor = prompts[key[0]], competitors[key[1]].pk
        known = there.get((prompt_id, competitor, key[2]))
        if known is not None:
            made.responses[key] = known
            continue
        last[prompt_id, competitor] = last.get((prompt_id, competitor), 0) + 1
        response.prompt_id, response.competitor_id = prompt_id, competitor
        response.sample = last[prompt_id, competitor]
        fresh.append(response)
    Response.objects.bulk_create(fresh, batch_size=BATCH)
    return made


def _open_set(campaign: Campaign) -> PromptSet:
    """The campaign's own set for what comes with votes; its next version once it is published."""
    name = set_name(campaign.slug)
    latest = latest_set(campaign.team, name)
    if latest is None or latest.status != PromptSet.Status.DRAFT:
        version = latest.version + 1 if latest else 1
        latest = PromptSet.objects.create(team=campaign.team, name=name, version=version)
    campaign.prompt_sets.add(latest)
    return latest


def _stored(
    campaign: Campaign,
) -> tuple[dict[tuple[int, int, str], Response], dict[tuple[int, int], int]]:
    """Responses by their text, and the last sample of each model for each prompt."""
    there: dict[tuple[int, int, str], Response] = {}
    last: dict[tuple[int, int], int] = {}
    rows = Response.objects.filter(prompt__prompt_set__in=campaign.prompt_sets.all())
    for response in rows.only("prompt_id", "competitor_id", "sample", "text_hash").iterator():
        pair = (response.prompt_id, response.competitor_id)
        there[(*pair, response.text_hash)] = response
        last[pair] = max(last.get(pair, 0), response.sample)
    return there, last
