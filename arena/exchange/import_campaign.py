"""An export comes back: every table in the order it left, so that an empty instance gives the same boards.

Replies of judges stay in the export: a call belongs to an endpoint, and an export names none.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from django.db import transaction
from django.utils.dateparse import parse_datetime

from arena.battles.ballots import digest
from arena.battles.models import Battle, BattleNote, Retraction, Vote
from arena.campaigns.models import Campaign, Guide
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.names import name_key
from arena.exchange.exports import LAYOUT, SUMS
from arena.exchange.formats.canonical import PARSERS
from arena.exchange.formats.cells import CellError, Cells
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_prompts import as_prompt
from arena.exchange.import_prompts import content as prompt_content
from arena.exchange.import_responses import as_response
from arena.exchange.import_votes import find_campaign
from arena.exchange.models import Origin
from arena.exchange.plans import BATCH
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.raters.models import Rater, Team

T = TypeVar("T")
Row = dict[str, Any]
SetKey = tuple[str, int]


@dataclass
class Return:
    """What is being brought back, by the names it has in the export."""

    team: Team
    folder: Path
    campaign: Campaign = field(default_factory=Campaign)
    sets: dict[SetKey, PromptSet] = field(default_factory=dict)
    prompts: dict[tuple[Any, ...], Prompt] = field(default_factory=dict)
    models: dict[str, Competitor] = field(default_factory=dict)
    responses: dict[tuple[int, int, int], int] = field(default_factory=dict)
    raters: dict[str, Rater] = field(default_factory=dict)
    guides: dict[int, Guide] = field(default_factory=dict)
    battles: dict[str, Battle] = field(default_factory=dict)

    def each(self, table: str, make: Callable[[Row], T]) -> Iterator[T]:
        path = self.folder / "jsonl" / f"{table}.jsonl"
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield make(json.loads(line))
                except CellError as error:
                    raise RefusedError(f"{path.name}: {error.reason}", number, error.column) from error
                except (KeyError, TypeError, ValueError) as error:
                    raise RefusedError(f"{path.name}: {type(error).__name__}: {error}", number) from error


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
            back.campaign = Campaign.objects.create(
                team=team,
                slug=slug,
                name=about["name"],
                description=about["description"],
                reveal=about["reveal"],
            )
            _store_corpus(back, prompts, responses)
            _store_battles(back)
            _store_votes(back)
            _store_judgments(back)
    return back.campaign


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
            raise RefusedError(f"{source.name} holds {len(found)} exports; one is needed")
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


def _prompt(row: Row) -> tuple[SetKey, Prompt, dict[str, Any]]:
    parsed = PARSERS["prompts"](0, Cells(row))
    content = prompt_content(parsed)  # type: ignore[arg-type]
    return (row["prompt_set"], row["set_version"]), as_prompt(parsed), content  # type: ignore[arg-type]


def _response(row: Row) -> tuple[Row, Response]:
    response = as_response(PARSERS["responses"](0, Cells(row)))  # type: ignore[arg-type]
    for name in ("finish_reason", "latency_ms", "cost_usd"):
        setattr(response, name, row[name])
    del row["response"]
    return row, response


def _prompt_key(row: Row) -> tuple[Any, ...]:
    return row["prompt_set"], row["set_version"], row["prompt_id"]


def _store_corpus(
    back: Return, prompts: list[tuple[SetKey, Prompt, dict[str, Any]]], responses: list[tuple[Row, Response]]
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
        )
        back.models[row["name"]] = competitor
    back.campaign.competitors.add(*back.models.values())
    for row in back.each("prompt_sets", dict):
        back.sets[row["name"], row["version"]] = _new_set(back, row)
    back.campaign.prompt_sets.add(*back.sets.values())
    for key, prompt, _content in prompts:
        prompt.prompt_set = back.sets[key]
        back.prompts[*key, prompt.external_id] = prompt
    Prompt.objects.bulk_create(back.prompts.values(), batch_size=BATCH)
    for row, response in responses:
        response.prompt_id = back.prompts[_prompt_key(row)].pk
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
        },
    )
    if not is_new:
        raise RefusedError(f"There is a prompt set “{prompt_set}” already; an export brings its own.")
    return prompt_set


def _store_battles(back: Return) -> None:
    simulated = Rater.Admission.SIMULATED
    for row in back.each("raters", dict):
        admission = simulated if row["admission"] == simulated else Rater.Admission.RECORDED
        back.raters[row["rater"]] = Rater(
            team=back.team, pseudonym=row["rater"], admission=admission, languages=row["languages"]
        )
    Rater.objects.bulk_create(back.raters.values(), batch_size=BATCH)
    for row in back.each("guides", dict):
        back.guides[row["version"]] = Guide.publish(back.campaign, row["text"])
    waiting: list[Battle] = []
    origins: list[Origin] = []
    for battle, row in back.each("battles", lambda row: (_battle(back, row), row)):
        if row["replaces"]:  # that one must have its number first
            _flush(waiting)
            battle.replaces = back.battles[row["replaces"]]
        waiting.append(battle)
        back.battles[row["battle_id"]] = battle
        if row["label"] is not None:
            told = {name: row[name] for name in ("format", "label", "turns")}
            origins.append(Origin(battle=battle, **told))
        if len(waiting) >= BATCH:
            _flush(waiting)
    _flush(waiting)
    Origin.objects.bulk_create(origins, batch_size=BATCH)


def _flush(waiting: list[Battle]) -> None:
    Battle.objects.bulk_create(waiting, batch_size=BATCH)
    waiting.clear()


def _battle(back: Return, row: Row) -> Battle:
    a, b = back.models[row["model_a"]], back.models[row["model_b"]]
    prompt = back.prompts[_prompt_key(row)] if row["prompt_id"] is not None else None
    samples = [
        (prompt.pk, side.pk, row[sample]) if prompt else None
        for side, sample in ((a, "sample_a"), (b, "sample_b"))
    ]
    seen = [back.responses[key] if key and key[2] is not None else None for key in samples]
    return Battle(
        public_id=row["battle_id"],
        campaign=back.campaign,
        kind=row["kind"],
        prompt=prompt,
        competitor_a=a,
        competitor_b=b,
        response_a_id=seen[0],
        response_b_id=seen[1],
        rater=back.raters[row["rater"]] if row["rater"] else None,
        propensity=row["propensity"],
        drawn_at=_moment(row["drawn_at"]),
        expires_at=_moment(row["expires_at"]),
    )


def _moment(text: str | None) -> Any:
    if text is None:
        return None
    moment = parse_datetime(text)
    if moment is None:
        raise ValueError(f"{text!r} is no time")
    return moment


def _store_votes(back: Return) -> None:
    retracted: list[tuple[Vote, str]] = []
    votes = []
    for vote, row in back.each("votes", lambda row: (_vote(back, row), row)):
        votes.append(vote)
        if row["retracted_at"]:
            retracted.append((vote, row["retracted_at"]))
    Vote.objects.bulk_create(votes, batch_size=BATCH)
    # The time of a retraction is the database's own, and the rows can't be changed afterwards.
    Retraction.objects.bulk_create((Retraction(vote=vote) for vote, _at in retracted), batch_size=BATCH)
    notes = [
        BattleNote(
            battle=back.battles[row["battle_id"]],
            rater=back.raters[row["rater"]],
            kind=row["kind"],
            text=row["text"],
        )
        for row in back.each("notes", dict)
    ]
    BattleNote.objects.bulk_create(notes, batch_size=BATCH)
    for note, row in zip(notes, back.each("notes", dict), strict=True):
        note.at = _moment(row["at"])
    BattleNote.objects.bulk_update(notes, ["at"], batch_size=BATCH)


def _vote(back: Return, row: Row) -> Vote:
    parsed: Any = PARSERS["votes"](0, Cells({name: row[name] for name in ("model_a", "model_b", "winner")}))
    vote = Vote(
        battle=back.battles[row["vote_id"]],
        rater=back.raters[row["rater"]],
        outcome=parsed.outcome,
        idempotency_key=f"{back.campaign.pk}:id:{row['vote_id']}",
        dwell_ms=row["dwell_ms"],
        layout=row["layout"],
        guide=back.guides[row["guide_version"]] if row["guide_version"] else None,
        voted_at=_moment(row["voted_at"]),
    )
    vote.digest = digest(vote)
    return vote


def _store_judgments(back: Return) -> None:
    judges = {row["name"]: _judge(back.team, row) for row in back.each("judges", dict)}
    runs: dict[int, JudgeRun] = {}
    judgments = []
    for row in back.each("judgments", dict):
        moment, judge = _moment(row["voted_at"]), judges[row["rater"]]
        if row["run"] not in runs:
            runs[row["run"]] = JudgeRun.objects.create(
                campaign=back.campaign,
                kind=JudgeRun.Kind.RECORDED,
                family_policy=JudgeRun.FamilyPolicy.ALLOW,
                status=JudgeRun.Status.COMPLETED,
                started_at=moment,
                finished_at=moment,
            )
        runs[row["run"]].judges.add(judge)
        judgments.append(
            Judgment(
                run=runs[row["run"]],
                judge=judge,
                battle=back.battles[row["battle_id"]],
                replicate=row["replicate"],
                outcome=Judgment.Outcome(row["winner"]),
                base_outcome=row["base_outcome"],
                flip=row["flip"],
                resolved_at=moment,
            )
        )
    Judgment.objects.bulk_create(judgments, batch_size=BATCH)


def _judge(team: Team, row: Row) -> Judge:
    """A judge that can be asked is another one, though it has the name."""
    own = Judge.objects.filter(team=team, name=row["name"], endpoint__isnull=False).exists()
    name = f"{row['name'][:100]} (recorded)" if own else row["name"]
    return Judge.objects.get_or_create(team=team, name=name, defaults={"family": row["family"]})[0]
