"""Votes cast elsewhere become battles of the kind recorded, each with its vote, and judgments with theirs.

They keep the prompt and the responses that the file brings, or that the campaign's prompt sets hold. A vote
about an empty response counts, as it did there.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.campaigns.slugs import SlugRefusedError, check_slug
from arena.corpus.models import Prompt, PromptSet
from arena.corpus.names import name_key
from arena.exchange import import_judgments, import_texts, whose_votes
from arena.exchange.formats.problems import Problem, RefusedError, Report
from arena.exchange.formats.reading import FileRows
from arena.exchange.formats.rows import JUDGE, PERSON, VoteRow, content_id
from arena.exchange.plans import (
    Chosen,
    competitors_by_key,
    new_names,
    remark_on_known,
    remark_on_new_models,
)
from arena.raters.models import Team


def check(
    team: Team, slug: str, file: FileRows, rows: Iterable[VoteRow], report: Report, file_sha256: str
) -> Chosen:
    """`rows` are the file's, on their first way through."""
    campaign = find_campaign(team, slug)
    stored = {PERSON: _stored(campaign), JUDGE: import_judgments.stored(campaign)}
    now, wanted, known, all_named, met = timezone.now(), bytearray(), 0, Met(), Met()
    for row in map(completed, rows):
        all_named.see(row)
        there = stored[row.source].get(vote_key(row, file_sha256))
        is_to_come = row.voted_at is not None and row.voted_at > now
        wanted.append(there is None and not is_to_come)
        if is_to_come:
            report.error(Problem(_("lies in the future"), row.line, "voted_at"))
        elif there is None:
            met.see(row)
        elif there == (name_key(row.model_a), name_key(row.model_b), row.outcome):
            known += 1
        else:
            reason = _("%(vote)s is stored with other contents") % {"vote": row.name}
            report.error(Problem(reason, row.line))
    sets = sets_for(campaign, team, all_named.prompts, report)
    if campaign is None:
        report.promise(_("new campaign, a draft: “%(slug)s”") % {"slug": slug})
    remark_on_known(known, report)
    remark_on_new_models(new_names(met.models, competitors_by_key(team)), report)
    prompts = prompts_of(sets, met)
    chosen = Chosen(lambda: map(completed, file.rows(Report())), wanted)
    import_texts.check(slug, chosen, met.with_texts, prompts, report)
    _remark_on_gaps(met, prompts, report)
    whose_votes.warn_of_plan(campaign, bool(met.people), bool(met.judges), report)
    if met.untold and not file.how.people:
        report.contents |= whose_votes.doubt(team, file.header_of("rater"), met.untold, all_named.models)
    return chosen


@dataclass
class Met:
    """What votes name, however many they are."""

    models: dict[str, None] = field(default_factory=dict)
    prompts: Counter[str] = field(default_factory=Counter)  # of votes without texts
    with_texts: set[str] = field(default_factory=set)  # ids of prompts that came as texts
    people: dict[str, bool] = field(default_factory=dict)  # whether a program drew any of their votes
    judges: dict[str, None] = field(default_factory=dict)
    untold: dict[str, None] = field(
        default_factory=dict
    )  # of whom the file doesn't say whether they are people
    nameless: int = 0
    timeless: int = 0

    def see(self, row: VoteRow) -> None:
        self.models.setdefault(row.model_a)
        self.models.setdefault(row.model_b)
        if row.texts:
            self.with_texts.add(row.prompt_id)
        elif row.prompt_id:
            self.prompts[row.prompt_id] += 1
        if row.source == PERSON:
            self.people[row.rater] = self.people.get(row.rater, False) or row.is_simulated
            self.nameless += not row.rater
            if not row.is_source_told:
                self.untold.setdefault(row.rater)
        else:
            self.judges.setdefault(row.rater)
        self.timeless += row.voted_at is None


def completed(row: VoteRow) -> VoteRow:
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


def sets_for(campaign: Campaign | None, team: Team, ids: Collection[str], report: Report) -> list[PromptSet]:
    """The campaign's prompt sets; if it has none, the one set that holds every prompt voted on."""
    if campaign and (sets := list(campaign.prompt_sets.order_by("pk"))):
        return sets
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
        report.promise(_("the prompts are those of the prompt set “%(name)s”") % {"name": found[0].name})
    return found


def prompts_of(sets: list[PromptSet], met: Met) -> dict[str, int]:
    ids = met.prompts.keys() | met.with_texts
    found: dict[str, int] = {}
    for external_id, pk in Prompt.objects.filter(prompt_set__in=sets).values_list("external_id", "pk"):
        if external_id in ids and found.setdefault(external_id, pk) != pk:
            raise RefusedError(
                _("Two of the campaign's prompt sets hold a prompt %(id)r, and the votes don't say which.")
                % {"id": external_id}
            )
    return found


def _remark_on_gaps(met: Met, prompts: dict[str, int], report: Report) -> None:
    strange = {prompt_id: n for prompt_id, n in met.prompts.items() if prompt_id not in prompts}
    if strange:
        listed, count = ", ".join(list(strange)[:5]), sum(strange.values())
        words = ngettext(
            "%(count)s vote names a prompt that no prompt set here holds (%(ids)s): kept without a prompt",
            "%(count)s votes name prompts that no prompt set here holds (%(ids)s): kept without a prompt",
            count,
        )
        report.notice(words % {"count": f"{count:,}", "ids": listed})
    nameless, timeless = met.nameless, met.timeless
    if nameless:
        words = ngettext(
            "%(count)s vote names no rater: kept under one; intervals can't allow for who voted how often",
            "%(count)s votes name no rater: kept under one; intervals can't allow for who voted how often",
            nameless,
        )
        report.notice(words % {"count": f"{nameless:,}"})
    if timeless:
        words = ngettext(
            "%(count)s vote carries no time: dated at the import",
            "%(count)s votes carry no time: dated at the import",
            timeless,
        )
        report.notice(words % {"count": f"{timeless:,}"})
