"""Raters, battles, votes and what was decided about them come back."""

from __future__ import annotations

from collections import Counter
from typing import Any

from arena.battles.ballots import digest
from arena.battles.gold_models import Gold
from arena.battles.models import Battle, BattleNote, Exclusion, Retraction, Vote
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Guide
from arena.compiled import CompiledUpdate
from arena.exchange.formats.canonical import PARSERS
from arena.exchange.formats.cells import Cells
from arena.exchange.import_campaign_return import Return, Row, moment, prompt_key
from arena.exchange.models import Origin
from arena.exchange.plans import BATCH
from arena.raters.models import Rater


def store_golds(back: Return) -> None:
    def gold(row: Row) -> tuple[int, Gold]:
        return row["gold"], Gold(
            campaign=back.campaign,
            prompt=back.prompts[prompt_key(row)],
            response_a_id=back.response_of(row, "a"),
            response_b_id=back.response_of(row, "b"),
            expected=Gold.Expected(row["expected"]),
            kind=Gold.Kind(row["kind"]),
            retired_at=moment(row["retired_at"]),
        )

    back.golds = dict(back.each("golds", gold))
    Gold.objects.bulk_create(back.golds.values(), batch_size=BATCH)


def store_raters(back: Return) -> None:
    simulated = Rater.Admission.SIMULATED
    for row in back.each("raters", dict):
        admission = simulated if row["admission"] == simulated else Rater.Admission.RECORDED
        back.raters[row["rater"]] = Rater(
            team=back.team,
            pseudonym=row["rater"],
            admission=admission,
            languages=row["languages"],
            is_active=row["active"],
        )
    Rater.objects.bulk_create(back.raters.values(), batch_size=BATCH)
    for row in back.each("guides", dict):
        guide = Guide.publish(back.campaign, row["text"])
        Guide.objects.filter(pk=guide.pk).update(created_at=moment(row["created_at"]))
        back.guides[row["version"]] = guide


def store_battles(back: Return) -> None:
    waiting: list[Battle] = []
    origins: list[Origin] = []
    for battle, row in back.each("battles", lambda row: (_battle(back, row), row)):
        for name in ("replaces", "repeat_of"):
            if row[name]:
                setattr(battle, name, _stored(back.battles[row[name]], waiting))
        waiting.append(battle)
        back.battles[row["battle_id"]] = battle
        if row["label"] is not None:
            told = {name: row[name] for name in ("format", "label", "turns")}
            origins.append(Origin(battle=battle, **told))
        if len(waiting) >= BATCH:
            _flush(waiting)
    _flush(waiting)
    Origin.objects.bulk_create(origins, batch_size=BATCH)


def _stored(battle: Battle, waiting: list[Battle]) -> Battle:
    if battle.pk is None:
        _flush(waiting)
    return battle


def _flush(waiting: list[Battle]) -> None:
    Battle.objects.bulk_create(waiting, batch_size=BATCH)
    waiting.clear()


def _battle(back: Return, row: Row) -> Battle:
    return Battle(
        public_id=row["battle_id"],
        campaign=back.campaign,
        kind=Battle.Kind(row["kind"]),
        prompt=back.prompts[prompt_key(row)] if row["prompt_id"] is not None else None,
        competitor_a=back.models[row["model_a"]],
        competitor_b=back.models[row["model_b"]],
        response_a_id=back.response_of(row, "a"),
        response_b_id=back.response_of(row, "b"),
        rater=back.raters[row["rater"]] if row["rater"] else None,
        propensity=row["propensity"],
        gold=back.golds[row["gold"]] if row["gold"] else None,
        drawn_at=moment(row["drawn_at"]),
        expires_at=moment(row["expires_at"]),
    )


def store_votes(back: Return) -> None:
    retracted: list[Vote] = []
    for vote, row in back.each("votes", lambda row: (_vote(back, row), row)):
        back.votes[row["vote_id"]] = vote
        if row["retracted_at"]:
            retracted.append(vote)
    Vote.objects.bulk_create(back.votes.values(), batch_size=BATCH)
    # The time of a retraction is the database's own, and the rows can't be changed afterwards.
    Retraction.objects.bulk_create((Retraction(vote=vote) for vote in retracted), batch_size=BATCH)
    exclusions = list(back.each("exclusions", lambda row: _exclusion(back, row)))
    Exclusion.objects.bulk_create(exclusions, batch_size=BATCH)
    _store_notes(back)
    _count_pairs(back)


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
        voted_at=moment(row["voted_at"]),
    )
    vote.digest = digest(vote)
    return vote


def _exclusion(back: Return, row: Row) -> Exclusion:
    """Whoever decided it isn't known here."""
    return Exclusion(
        campaign=back.campaign,
        vote=back.votes[row["vote_id"]] if row["vote_id"] else None,
        rater=back.raters[row["rater"]] if row["rater"] else None,
        rule=row["rule"],
        rule_version=row["rule_version"],
        reason=row["reason"],
        since=moment(row["since"]),
        revoked_at=moment(row["revoked_at"]),
        revoked_because=row["revoked_because"],
    )


def _store_notes(back: Return) -> None:
    notes = [
        BattleNote(
            battle=back.battles[row["battle_id"]],
            rater=back.raters[row["rater"]],
            kind=BattleNote.Kind(row["kind"]),
            text=row["text"],
        )
        for row in back.each("notes", dict)
    ]
    BattleNote.objects.bulk_create(notes, batch_size=BATCH)
    write = CompiledUpdate(lambda pk: BattleNote.objects.filter(pk=pk))
    for note, row in zip(notes, back.each("notes", dict), strict=True):
        note.at = moment(row["at"]) or note.at
        write({"at": note.at}, pk=note.pk)


def _count_pairs(back: Return) -> None:
    """As drawing counted them: what came back in place of another counts once, a skip not at all."""
    skips = [row["battle_id"] for row in back.each("notes", dict) if row["kind"] == BattleNote.Kind.SKIP]
    regular = [battle for battle in back.battles.values() if battle.kind == Battle.Kind.REGULAR]
    drawn = Counter(battle.pair for battle in regular if battle.rater_id and not battle.replaces_id)
    drawn.subtract(back.battles[battle_id].pair for battle_id in skips)
    PairCount.objects.bulk_create(
        (
            PairCount(campaign=back.campaign, low_id=low, high_id=high, battles=max(count, 0))
            for (low, high), count in drawn.items()
        ),
        batch_size=BATCH,
    )
