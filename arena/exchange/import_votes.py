"""Votes cast elsewhere become battles of the kind recorded, each with its vote, and judgments with theirs.

They keep the prompt and the responses that the file brings, or that the campaign's prompt sets hold. A vote
about an empty response counts, as it did there.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.battles.ballots import digest
from arena.battles.models import Battle, Vote
from arena.campaigns.creation import create_campaign
from arena.campaigns.models import Campaign
from arena.campaigns.slugs import SlugRefusedError, check_slug
from arena.corpus.models import Prompt, PromptSet, Response
from arena.corpus.names import name_key
from arena.exchange import import_judgments, import_texts
from arena.exchange.formats.problems import Problem, RefusedError, Report
from arena.exchange.formats.rows import JUDGE, PERSON, VoteRow, content_id
from arena.exchange.import_responses import make_competitors
from arena.exchange.insertions import execute, insertions, number
from arena.exchange.models import Origin
from arena.exchange.plans import (
    Plan,
    competitors_by_key,
    new_names,
    remark_on_known,
    remark_on_new_models,
)
from arena.exchange.shifts import Shift
from arena.raters.models import Rater, Team


def check(
    team: Team, slug: str, rows: tuple[VoteRow, ...], report: Report, file_sha256: str
) -> tuple[VoteRow, ...]:
    campaign = find_campaign(team, slug)
    rows = tuple(_completed(row) for row in rows)
    sets = _sets_for(campaign, team, rows, report)
    stored = {PERSON: _stored(campaign), JUDGE: import_judgments.stored(campaign)}
    now, new, known = timezone.now(), [], 0
    for row in rows:
        there = stored[row.source].get(vote_key(row, file_sha256))
        if row.voted_at and row.voted_at > now:
            report.error(Problem(_("lies in the future"), row.line, "voted_at"))
        elif there is None:
            new.append(row)
        elif there == (name_key(row.model_a), name_key(row.model_b), row.outcome):
            known += 1
        else:
            reason = _("%(vote)s is stored with other contents") % {"vote": row.name}
            report.error(Problem(reason, row.line))
    if campaign is None:
        report.notice(_("new campaign, a draft: “%(slug)s”") % {"slug": slug})
    remark_on_known(known, report)
    remark_on_new_models(new_names(_names(new), competitors_by_key(team)), report)
    prompts = _prompts(sets, new)
    import_texts.check(slug, new, prompts, report)
    _remark_on_gaps(new, prompts, report)
    return tuple(new)


def _completed(row: VoteRow) -> VoteRow:
    """With an id for the prompt that came as a text, and a pseudonym in place of a network address."""
    if row.texts and not row.prompt_id:
        row = replace(row, prompt_id=content_id(row.texts.prompt))
    if row.address:
        key = settings.SECRET_KEY.encode()
        known_as = hmac.new(key, f"address {row.address}".encode(), hashlib.sha256).hexdigest()[:16]
        row = replace(row, rater=f"visitor {known_as}", address="")
    return row


def find_campaign(team: Team, slug: str) -> Campaign | None:
    try:
        check_slug(slug)
    except SlugRefusedError as refusal:
        raise RefusedError(str(refusal)) from refusal
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign and campaign.team_id != team.pk:
        raise RefusedError(_("The address “%(slug)s” is taken; choose another.") % {"slug": slug})
    return campaign


def vote_key(row: VoteRow, file_sha256: str) -> str:
    """What makes a vote the same when its file comes again; without id or time, the file and the line do."""
    if row.vote_id:
        return f"id:{row.vote_id}"
    if row.key is not None:
        return f"at:{hashlib.sha256(repr(row.key).encode()).hexdigest()[:40]}"
    return f"line:{file_sha256[:40]}:{row.line}"


def _stored(campaign: Campaign | None) -> dict[str, tuple[str, str, str]]:
    votes = Vote.objects.filter(battle__campaign=campaign, battle__kind=Battle.Kind.RECORDED)
    columns = (
        "idempotency_key",
        "battle__competitor_a__name_key",
        "battle__competitor_b__name_key",
        "outcome",
    )
    return {key.partition(":")[2]: (a, b, outcome) for key, a, b, outcome in votes.values_list(*columns)}


def _names(rows: Iterable[VoteRow]) -> Iterable[str]:
    return (name for row in rows for name in (row.model_a, row.model_b))


def _sets_for(
    campaign: Campaign | None, team: Team, rows: Iterable[VoteRow], report: Report
) -> list[PromptSet]:
    """The campaign's prompt sets; if it has none, the one set that holds every prompt voted on."""
    if campaign and (sets := list(campaign.prompt_sets.order_by("pk"))):
        return sets
    ids = {row.prompt_id for row in rows if row.prompt_id and not row.texts}
    if not ids:
        return []
    latest: dict[str, PromptSet] = {}
    for prompt_set in PromptSet.objects.filter(team=team).order_by("version"):
        latest[prompt_set.name] = prompt_set
    prompts = Prompt.objects.filter(prompt_set__in=latest.values()).values_list("prompt_set", "external_id")
    held = Counter(prompt_set for prompt_set, external_id in prompts.iterator() if external_id in ids)
    found = [prompt_set for prompt_set in latest.values() if held[prompt_set.pk] == len(ids)]
    if len(found) > 1:
        names = ", ".join(f"“{prompt_set.name}”" for prompt_set in found)
        raise RefusedError(
            _("Several prompt sets hold these prompts (%(names)s); first make the campaign with one of them.")
            % {"names": names}
        )
    if found:
        report.notice(_("the prompts are those of the prompt set “%(name)s”") % {"name": found[0].name})
    return found


def _prompts(sets: list[PromptSet], rows: Iterable[VoteRow]) -> dict[str, int]:
    ids = {row.prompt_id for row in rows}
    found: dict[str, int] = {}
    for external_id, pk in Prompt.objects.filter(prompt_set__in=sets).values_list("external_id", "pk"):
        if external_id in ids and found.setdefault(external_id, pk) != pk:
            raise RefusedError(
                _("Two of the campaign's prompt sets hold a prompt %(id)r, and the votes don't say which.")
                % {"id": external_id}
            )
    return found


def _remark_on_gaps(rows: list[VoteRow], prompts: dict[str, int], report: Report) -> None:
    strange = [row.prompt_id for row in rows if row.prompt_id not in prompts and not row.texts]
    strange = [prompt_id for prompt_id in strange if prompt_id]
    if strange:
        listed = ", ".join(list(dict.fromkeys(strange))[:5])
        words = ngettext(
            "%(count)s vote names a prompt that no prompt set here holds (%(ids)s): kept without a prompt",
            "%(count)s votes name prompts that no prompt set here holds (%(ids)s): kept without a prompt",
            len(strange),
        )
        report.notice(words % {"count": f"{len(strange):,}", "ids": listed})
    nameless = sum(not row.rater for row in rows if row.source == PERSON)
    if nameless:
        words = ngettext(
            "%(count)s vote names no rater: kept under one; intervals can't allow for who voted how often",
            "%(count)s votes name no rater: kept under one; intervals can't allow for who voted how often",
            nameless,
        )
        report.notice(words % {"count": f"{nameless:,}"})
    timeless = sum(row.voted_at is None for row in rows)
    if timeless:
        words = ngettext(
            "%(count)s vote carries no time: dated at the import",
            "%(count)s votes carry no time: dated at the import",
            timeless,
        )
        report.notice(words % {"count": f"{timeless:,}"})


def store(plan: Plan, shift: Shift) -> None:
    """The texts come first, hidden; then everything appears together with the votes, in one transaction.

    Votes are numbered as they become visible: what a snapshot has read up to a number stays as it was. Only a
    new campaign, an empty draft, is there a little before.
    """
    rows: tuple[VoteRow, ...] = tuple(plan.rows)
    arrival = shift.expect_rows()
    campaign = find_campaign(plan.team, plan.target)
    sets = _sets_for(campaign, plan.team, rows, Report())
    competitors = make_competitors(plan.team, dict.fromkeys(_names(rows), ""), arrival)
    place = import_texts.Place(plan.team, plan.target, sets, _prompts(sets, rows), competitors)
    responses = _responses(sets)
    import_texts.store(rows, place, shift, arrival)
    now = timezone.now()
    battles = [_battle(row, place, responses, now) for row in rows]
    is_new = campaign is None
    campaign = campaign or create_campaign(plan.team, plan.target, sets)
    try:
        _store_votes(plan, campaign, battles, [*sets, *([place.own] if place.own else [])], shift)
    except BaseException:
        if is_new:
            _take_back(campaign)
        raise


def _store_votes(
    plan: Plan, campaign: Campaign, battles: list[Battle], sets: list[PromptSet], shift: Shift
) -> None:
    rows: tuple[VoteRow, ...] = tuple(plan.rows)
    people = tuple(row for row in rows if row.source == PERSON)
    raters, new_raters = _raters(campaign, people, plan.admission)
    number(new_raters)
    number(battles)
    for row, battle in zip(rows, battles, strict=True):
        battle.campaign = campaign
        battle.rater = raters[row.rater] if row.source == PERSON else None
    keys = [f"{campaign.pk}:{vote_key(row, plan.file_sha256)}" for row in rows]
    told = list(zip(rows, battles, keys, strict=True))
    votes = [_vote(row, battle, key) for row, battle, key in told if row.source == PERSON]
    rows_to_insert = (new_raters, battles, votes, list(_origins(told)))
    statements = [statement for part in rows_to_insert for statement in insertions(part)]
    fought = {battle.competitor_a_id for battle in battles} | {battle.competitor_b_id for battle in battles}
    with transaction.atomic():
        campaign.prompt_sets.add(*sets)
        campaign.competitors.add(*fought)
        execute(statements)
        import_judgments.store(campaign, [entry for entry in told if entry[0].source == JUDGE])
        shift.land(len(rows))


def _take_back(made: Campaign) -> None:
    """What nobody has used in the meantime."""
    with suppress(ProtectedError):
        made.delete()


def _origins(told: Iterable[tuple[VoteRow, Battle, str]]) -> Iterable[Origin]:
    for row, battle, key in told:
        turns = None
        if row.texts and len(row.texts.replies_a) + len(row.texts.replies_b) > 2:
            turns = {"a": row.texts.replies_a, "b": row.texts.replies_b}
        judged = key if row.source == JUDGE else ""
        if row.format or judged or row.label != row.outcome:
            yield Origin(battle=battle, format=row.format, label=row.label, turns=turns, key=judged)


def _raters(
    campaign: Campaign, rows: tuple[VoteRow, ...], admission: str
) -> tuple[dict[str, Rater], list[Rater]]:
    """By the file's name, and those that are new. A name that a rater of our own bears isn't theirs."""
    known = {rater.pseudonym: rater for rater in Rater.objects.filter(team=campaign.team)}
    found: dict[str, Rater] = {}
    new: list[Rater] = []
    simulated = {row.rater for row in rows if row.is_simulated}
    for name in dict.fromkeys(row.rater for row in rows):
        pseudonym = name or f"unnamed in {campaign.slug}"
        told = Rater.Admission.SIMULATED if name in simulated else admission
        if pseudonym in known and known[pseudonym].admission != told:
            pseudonym = f"{pseudonym[:100]} ({told})"
        rater = known.get(pseudonym)
        if rater is None:
            rater = Rater(team=campaign.team, pseudonym=pseudonym, admission=told)
            known[pseudonym] = rater
            new.append(rater)
        found[name] = rater
    return found, new


def _responses(sets: list[PromptSet]) -> dict[tuple[int, int], int | None]:
    """By prompt and competitor; None where several samples leave open which was seen."""
    found: dict[tuple[int, int], int | None] = {}
    rows = Response.objects.filter(prompt__prompt_set__in=sets).values_list(
        "prompt_id", "competitor_id", "pk"
    )
    for prompt, competitor, pk in rows.iterator():
        found[prompt, competitor] = None if (prompt, competitor) in found else pk
    return found


def _battle(
    row: VoteRow, place: import_texts.Place, known: dict[tuple[int, int], int | None], now: datetime
) -> Battle:
    a, b = place.competitors[name_key(row.model_a)], place.competitors[name_key(row.model_b)]
    prompt = place.prompts.get(row.prompt_id)
    response_a: int | None
    response_b: int | None
    if row.texts:
        response_a, response_b = place.responses_of(row)
    else:
        response_a = known.get((prompt, a.pk)) if prompt else None
        response_b = known.get((prompt, b.pk)) if prompt else None
    return Battle(
        kind=Battle.Kind.RECORDED,
        prompt_id=prompt,
        competitor_a=a,
        competitor_b=b,
        response_a_id=response_a,
        response_b_id=response_b,
        drawn_at=row.voted_at or now,
    )


def _vote(row: VoteRow, battle: Battle, key: str) -> Vote:
    vote = Vote(
        battle=battle,
        rater=battle.rater,
        outcome=row.outcome,
        idempotency_key=key,
        dwell_ms=row.dwell_ms,
        voted_at=battle.drawn_at,
    )
    vote.digest = digest(vote)
    return vote
