"""Raters, battles, votes and what was decided about them come back."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any
from uuid import UUID

from django.db.models import Model

from arena.battles.ballots import digest
from arena.battles.gold_models import Gold
from arena.battles.models import Battle, BattleNote, Exclusion, Retraction, Vote
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Guide
from arena.exchange.formats.canonical import PARSERS
from arena.exchange.formats.cells import CellError, Cells, shown
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_campaign_return import (
    Fought,
    Return,
    Row,
    any_moment,
    moment,
    prompt_key,
    put,
)
from arena.exchange.models import Origin
from arena.raters.models import Rater


def bring_golds(back: Return) -> None:
    def gold(row: Row) -> list[Model]:
        made = back.numbered(
            Gold(
                campaign=back.campaign,
                prompt_id=back.prompts[prompt_key(row)],
                response_a_id=_needed(back.response_of(row, "a")),
                response_b_id=_needed(back.response_of(row, "b")),
                expected=Gold.Expected(row["expected"]),
                kind=Gold.Kind(row["kind"]),
                retired_at=moment(row["retired_at"]),
            )
        )
        put(back.golds, row["gold"], made.pk)
        return [made]

    back.bring("golds", gold)


def _needed(response: int | None) -> int:
    if response is None:
        raise ValueError("a gold has two responses")
    return response


def bring_raters(back: Return) -> None:
    named = set(Rater.objects.filter(team=back.team).values_list("pseudonym", flat=True))
    simulated = Rater.Admission.SIMULATED

    def rater(row: Row) -> list[Model]:
        if row["rater"] in named:
            raise RefusedError(f"There is a rater “{row['rater']}” already; an export brings its own.")
        made = back.numbered(
            Rater(
                team=back.team,
                pseudonym=row["rater"],
                admission=simulated if row["admission"] == simulated else Rater.Admission.RECORDED,
                languages=row["languages"],
                is_active=row["active"],
            )
        )
        put(back.raters, row["rater"], made)
        return [made]

    back.bring("raters", rater)
    back.bring("guides", lambda row: [_guide(back, row)])


def _guide(back: Return, row: Row) -> Guide:
    sha256 = hashlib.sha256(row["text"].encode()).hexdigest()
    if row["sha256"] != sha256:
        raise CellError("sha256", "isn't that of the guide's text; get the export again")
    made = back.numbered(
        Guide(
            campaign=back.campaign,
            version=row["version"],
            text=row["text"],
            sha256=sha256,
            created_at=moment(row["created_at"]),
        )
    )
    put(back.guides, row["version"], made)
    return made


def bring_battles(back: Return) -> None:
    drawn: Counter[tuple[int, int]] = Counter()

    def battle(row: Row) -> list[Model]:
        made = _battle(back, row)
        if made.kind == Battle.Kind.REGULAR and made.rater_id and not made.replaces_id:
            drawn[made.pair] += 1  # what came back in place of another counts once
        if row["label"] is None:
            return [made]
        told = {name: row[name] for name in ("format", "label", "turns")}
        return [made, back.numbered(Origin(battle=made, **told))]

    def note(row: Row) -> list[Model]:
        fought = back.battles[row["battle_id"]]
        _refuse_another_rater(back, row, fought)
        if row["kind"] == BattleNote.Kind.SKIP:  # and doesn't count as drawn
            drawn[fought.pair] -= 1
        return [_note(back, row)]

    back.bring("battles", battle, _refuse_known)
    _bring_votes(back)
    back.bring("notes", note)
    back.keep(
        *(
            back.numbered(
                PairCount(campaign=back.campaign, low_id=low, high_id=high, battles=max(drawn[low, high], 0))
            )
            for low, high in drawn
        )
    )


def _refuse_known(made: list[list[Any]], line: int) -> None:
    ids = [battle.public_id for battle, *_origin in made]
    known = set(Battle.objects.filter(public_id__in=ids).values_list("public_id", flat=True))
    for number, one in enumerate(ids):
        if one in known:
            reason = f"battles.jsonl: The battle {one} is here already: the same export came in before."
            raise RefusedError(reason, line + number)


def _battle(back: Return, row: Row) -> Battle:
    others = {f"{name}_id": back.battles[row[name]].pk for name in ("replaces", "repeat_of") if row[name]}
    made = back.numbered(
        Battle(
            public_id=UUID(row["battle_id"]),
            campaign=back.campaign,
            kind=Battle.Kind(row["kind"]),
            prompt_id=back.prompts[prompt_key(row)] if row["prompt_id"] is not None else None,
            competitor_a_id=back.models[row["model_a"]].pk,
            competitor_b_id=back.models[row["model_b"]].pk,
            response_a_id=back.response_of(row, "a"),
            response_b_id=back.response_of(row, "b"),
            rater=back.raters[row["rater"]] if row["rater"] else None,
            propensity=row["propensity"],
            gold_id=back.golds[row["gold"]] if row["gold"] else None,
            drawn_at=_needed_moment(row["drawn_at"]),
            expires_at=any_moment(row["expires_at"]),
            **others,
        )
    )
    told = (getattr(made, name) for name in Fought._fields if name != "public_id")
    pk, *rest = told
    put(back.battles, row["battle_id"], Fought(pk, str(made.public_id), *rest))
    return made


def _needed_moment(text: str | None) -> Any:
    found = moment(text)
    if found is None:
        raise ValueError("a time is missing")
    return found


def _bring_votes(back: Return) -> None:
    back.bring("votes", lambda row: [_vote(back, row)])
    back.bring("exclusions", lambda row: _exclusion(back, row))


def _vote(back: Return, row: Row) -> Vote:
    parsed: Any = PARSERS["votes"](0, Cells({name: row[name] for name in ("model_a", "model_b", "winner")}))
    fought = back.battles[row["vote_id"]]
    _refuse_another_rater(back, row, fought)
    back.refuse_another_battle(row, fought)
    if row["vote_id"] in back.voted:
        raise ValueError("the battle has another vote")
    back.voted.add(row["vote_id"])
    if not back.stores:
        back.sealed.add(row["number"], row["digest"])
    made = Vote(
        battle_id=fought.pk,
        rater=back.raters[row["rater"]],
        outcome=parsed.outcome,
        idempotency_key=f"{back.campaign.pk}:id:{row['vote_id']}",
        dwell_ms=row["dwell_ms"],
        layout=row["layout"],
        guide=back.guides[row["guide_version"]] if row["guide_version"] else None,
        voted_at=_needed_moment(row["voted_at"]),
    )
    made.digest = digest(made, fought)
    if row["retracted_at"]:
        back.keep_with_vote(back.numbered(Retraction(at=moment(row["retracted_at"]))), fought.pk)
    return made


def _refuse_another_rater(back: Return, row: Row, fought: Fought) -> None:
    if back.raters[row["rater"]].pk != fought.rater_id:
        raise CellError("rater", f"{shown(row['rater'])} isn't who the battle was drawn for")


def _exclusion(back: Return, row: Row) -> list[Model]:
    """Whoever decided it isn't known here."""
    made = back.numbered(
        Exclusion(
            campaign=back.campaign,
            rater=back.raters[row["rater"]] if row["rater"] else None,
            rule=row["rule"],
            rule_version=row["rule_version"],
            reason=row["reason"],
            since=_needed_moment(row["since"]),
            revoked_at=moment(row["revoked_at"]),
            revoked_because=row["revoked_because"],
        )
    )
    if not row["vote_id"]:
        return [made]
    if row["vote_id"] not in back.voted:
        raise KeyError(row["vote_id"])
    back.keep_with_vote(made, back.battles[row["vote_id"]].pk)
    return []


def _note(back: Return, row: Row) -> BattleNote:
    return back.numbered(
        BattleNote(
            battle_id=back.battles[row["battle_id"]].pk,
            rater=back.raters[row["rater"]],
            kind=BattleNote.Kind(row["kind"]),
            text=row["text"],
            at=moment(row["at"]),
        )
    )
