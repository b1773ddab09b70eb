"""Checked votes are stored: first what they name, then all of them at once.

The file is gone through again for each step and its votes wait on the disk, so that a file of any length
takes no more memory than what it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from arena.battles.ballots import digest
from arena.battles.models import Battle, Vote
from arena.campaigns.creation import create_campaign
from arena.campaigns.models import Campaign
from arena.corpus.models import PromptSet, Response
from arena.corpus.names import name_key
from arena.exchange import import_texts
from arena.exchange.formats.problems import Report
from arena.exchange.formats.rows import JUDGE, PERSON, VoteRow
from arena.exchange.import_judgments import Findings
from arena.exchange.import_responses import make_competitors
from arena.exchange.import_votes import Met, find_campaign, prompts_of, sets_for, vote_key
from arena.exchange.insertions import Spool, number
from arena.exchange.models import Origin
from arena.exchange.plans import Plan
from arena.exchange.shifts import Shift
from arena.raters.models import Rater

AT_ONCE = 2_000  # rows that are made and held


def store(plan: Plan, shift: Shift) -> None:
    """The texts come first, hidden; then everything appears together with the votes, in one transaction.

    Votes are numbered as they become visible: what a snapshot has read up to a number stays as it was. Only a
    new campaign, an empty draft, is there a little before.
    """
    arrival = shift.expect_rows()
    met = Met()
    for row in plan.rows:
        met.see(row)
    campaign = find_campaign(plan.team, plan.target)
    sets = sets_for(campaign, plan.team, met.prompts, Report())
    competitors = make_competitors(plan.team, dict.fromkeys(met.models, ""), arrival)
    place = import_texts.Place(plan.team, plan.target, sets, prompts_of(sets, met), competitors)
    responses = _responses(sets)
    if met.with_texts:
        import_texts.store(plan.rows, place, shift, arrival)
    is_new = campaign is None
    campaign = campaign or create_campaign(plan.team, plan.target, sets)
    try:
        _store_votes(_Making(plan, campaign, met, place, responses), shift)
    except BaseException:
        if is_new:
            _take_back(campaign)
        raise


def _store_votes(making: _Making, shift: Shift) -> None:
    campaign, place, waiting = making.campaign, making.place, Spool()
    fought: set[int] = set()
    try:
        for done, battles in making.rows(waiting):
            fought.update(pk for battle in battles for pk in (battle.competitor_a_id, battle.competitor_b_id))
            shift.note(done)
        with transaction.atomic():
            shift.note(shift.record.total_rows)  # nobody takes it over while what is written can't be seen
            campaign.prompt_sets.add(*place.sets, *([place.own] if place.own else []))
            campaign.competitors.add(*fought)
            waiting.store()
            shift.land(len(making.plan.rows))
    finally:
        waiting.close()


def _take_back(made: Campaign) -> None:
    """What nobody has used in the meantime."""
    with suppress(ProtectedError):
        made.delete()


@dataclass
class _Making:
    """Rows of the file become rows of ours, so many at a time."""

    plan: Plan
    campaign: Campaign
    met: Met
    place: import_texts.Place
    known: dict[tuple[int, int], int | None]  # responses by prompt and competitor

    def rows(self, waiting: Spool) -> Iterator[tuple[int, list[Battle]]]:
        """What is done so far, and the battles that came to it."""
        raters, new_raters = _raters(self.campaign, self.met.people, self.plan.admission)
        number(new_raters)
        waiting.add(new_raters)
        findings = Findings.of(self.campaign, self.met.judges, waiting) if self.met.judges else None
        now, rows, done = timezone.now(), iter(self.plan.rows), 0
        while chunk := list(islice(rows, AT_ONCE)):
            battles = [self._battle(row, now) for row in chunk]
            number(battles)
            for row, battle in zip(chunk, battles, strict=True):
                battle.rater = raters[row.rater] if row.source == PERSON else None
            keys = [f"{self.campaign.pk}:{vote_key(row, self.plan.file_sha256)}" for row in chunk]
            told = list(zip(chunk, battles, keys, strict=True))
            votes = [_vote(row, battle, key) for row, battle, key in told if row.source == PERSON]
            judged = [(row, battle) for row, battle, _key in told if row.source == JUDGE]
            judgments = findings.of_rows(judged) if findings else []
            for part in (battles, votes, list(_origins(told)), judgments):
                waiting.add(part)
            done += len(chunk)
            yield done, battles

    def _battle(self, row: VoteRow, now: datetime) -> Battle:
        place = self.place
        a, b = place.competitors[name_key(row.model_a)], place.competitors[name_key(row.model_b)]
        prompt = place.prompts.get(row.prompt_id)
        response_a: int | None
        response_b: int | None
        if row.texts:
            response_a, response_b = place.responses_of(row)
        else:
            response_a = self.known.get((prompt, a.pk)) if prompt else None
            response_b = self.known.get((prompt, b.pk)) if prompt else None
        return Battle(
            campaign=self.campaign,
            kind=Battle.Kind.RECORDED,
            prompt_id=prompt,
            competitor_a=a,
            competitor_b=b,
            response_a_id=response_a,
            response_b_id=response_b,
            drawn_at=row.voted_at or now,
        )


def _origins(told: Iterable[tuple[VoteRow, Battle, str]]) -> Iterator[Origin]:
    for row, battle, key in told:
        turns = None
        if row.texts and len(row.texts.replies_a) + len(row.texts.replies_b) > 2:
            turns = {"a": row.texts.replies_a, "b": row.texts.replies_b}
        judged = key if row.source == JUDGE else ""
        if row.format or judged or row.label != row.outcome:
            yield Origin(battle=battle, format=row.format, label=row.label, turns=turns, key=judged)


def _raters(
    campaign: Campaign, people: dict[str, bool], admission: str
) -> tuple[dict[str, Rater], list[Rater]]:
    """By the file's name, and those that are new. A name that a rater of our own bears isn't theirs."""
    known = {rater.pseudonym: rater for rater in Rater.objects.filter(team=campaign.team)}
    found: dict[str, Rater] = {}
    new: list[Rater] = []
    for name, is_simulated in people.items():
        pseudonym = name or f"unnamed in {campaign.slug}"
        told = Rater.Admission.SIMULATED if is_simulated else admission
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
