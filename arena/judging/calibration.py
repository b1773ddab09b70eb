"""Calibration: people's findings fixed first, judges measured against them; the held-out part once."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from django.db import IntegrityError, transaction

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.counted import counted
from arena.endpoints.models import Call
from arena.instants import say_moment
from arena.judging import ending
from arena.judging.beside_people import Pair, majority, pair_of, turned, votes_by_pair
from arena.judging.calibration_models import Calibration, CalibrationLabel, Measurement, Part
from arena.judging.choosing import CannotPlanError
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.judging.planning import plan_run

REASONS = ("few_votes", "split", "identical")


class AlreadyMeasuredError(ValueError):
    """The held-out part was measured with this rubric version and model; `first` says when and how."""

    def __init__(self, first: Measurement) -> None:
        super().__init__(
            f"{first.judge.name} was measured on the held-out part on {say_moment(first.started_at)} "
            f"(run {first.run_id}). It is measured once for each rubric version: publish a new version first"
        )
        self.first = first


@dataclass(frozen=True)
class _Label:
    battle: Battle
    category: str
    outcome: str
    votes: int
    agreeing: int


def fix_labels(
    campaign: Campaign, name: str, *, seed: int, held_out_percent: int = 50, least_votes: int = 1
) -> Calibration:
    """A calibration with a label for every pair on which most people agree, split within each category.

    Raises CannotPlanError where no pair has a label, or one of the two parts would stay empty.
    """
    labels, left_out = _labels(campaign, least_votes)
    parts = split(labels, seed, held_out_percent)
    for part in Part.values:
        if part not in parts.values():
            raise CannotPlanError(
                f"labelled: {counted(len(labels), 'pair')}, which leaves none for the part {part!r}: "
                "let people vote on more pairs, or choose another share"
            )
    with transaction.atomic():
        found = Calibration.objects.create(
            campaign=campaign,
            name=name,
            seed=seed,
            held_out_percent=held_out_percent,
            least_votes=least_votes,
            left_out=left_out,
            sha256=hash_labels(
                (str(label.battle.public_id), parts[label.battle.pk], label.outcome, label.votes)
                for label in labels
            ),
        )
        CalibrationLabel.objects.bulk_create(
            CalibrationLabel(
                calibration=found,
                battle=label.battle,
                part=parts[label.battle.pk],
                category=label.category,
                outcome=label.outcome,
                votes=label.votes,
                agreeing=label.agreeing,
            )
            for label in labels
        )
    return found


def _labels(campaign: Campaign, least_votes: int) -> tuple[list[_Label], dict[str, int]]:
    battles = _first_battles(campaign)
    votes = votes_by_pair(campaign, {prompt for prompt, _, _ in battles})
    left_out = dict.fromkeys(REASONS, 0)
    labels: list[_Label] = []
    for pair, battle in battles.items():
        cast = votes.get(pair, Counter())
        reason, outcome = _reason(battle, cast, least_votes), majority(cast)
        if reason:
            left_out[reason] += 1
        elif cast and outcome and battle.prompt:
            # Both are battles' own responses: pair_of has seen to that.
            told = turned(outcome, battle.response_a_id or 0, battle.response_b_id or 0)
            labels.append(_Label(battle, battle.prompt.category, told, sum(cast.values()), cast[outcome]))
    return labels, {reason: count for reason, count in left_out.items() if count}


def _reason(battle: Battle, cast: Mapping[str, int], least_votes: int) -> str:
    """Why a pair that people voted on has no label; empty where it has one, or nobody voted."""
    if not cast:
        return ""
    if battle.response_a and battle.response_b and battle.response_a.text_hash == battle.response_b.text_hash:
        return "identical"
    if sum(cast.values()) < least_votes:
        return "few_votes"
    return "" if majority(cast) else "split"


def _first_battles(campaign: Campaign) -> dict[Pair, Battle]:
    """A pair is judged by the first of its battles that has texts."""
    rows = Battle.objects.filter(campaign=campaign, response_a__isnull=False, response_b__isnull=False)
    rows = rows.filter(prompt__isnull=False).exclude(kind__in=[Battle.Kind.GOLD, Battle.Kind.REPEAT])
    found: dict[Pair, Battle] = {}
    columns = rows.select_related("prompt", "response_a", "response_b").order_by("pk")
    for battle in columns.iterator(chunk_size=500):
        if battle.prompt_id and battle.response_a_id and battle.response_b_id:
            pair = pair_of(battle.prompt_id, battle.response_a_id, battle.response_b_id)
            found.setdefault(pair, battle)
    return found


def split(labels: Sequence[_Label], seed: int, held_out_percent: int) -> dict[int, str]:
    """Part by battle. In each category as many are held out as the share says, drawn with the seed."""
    by_category: dict[str, list[_Label]] = defaultdict(list)
    for label in labels:
        by_category[label.category].append(label)
    parts: dict[int, str] = {}
    for category, of_category in sorted(by_category.items()):
        drawn = sorted(of_category, key=lambda label: label.battle.pk)
        Random(f"{seed}:{category}").shuffle(drawn)
        held_out = (2 * len(drawn) * held_out_percent + 100) // 200
        for place, label in enumerate(drawn):
            parts[label.battle.pk] = Part.HELD_OUT if place < held_out else Part.DEV
    return parts


def hash_labels(labels: Iterable[tuple[str, str, str, int]]) -> str:
    """Of each its battle's public id, its part, its outcome and how many votes it rests on, in any order."""
    return hashlib.sha256(json.dumps(sorted(labels), separators=(",", ":")).encode()).hexdigest()


def measure(
    calibration: Calibration, judge: Judge, part: str, *, budget_usd: Decimal | None = None
) -> Measurement:
    """A run of the judge over one part. Raises AlreadyMeasuredError for a second look at the held-out one."""
    if part not in Part.values:
        raise ValueError(f"a part is one of {', '.join(Part.values)}, not {part!r}")
    if judge.endpoint is None or judge.rubric is None:
        raise CannotPlanError(f"{judge.name} was recorded elsewhere: it has no endpoint to ask")
    if part == Part.HELD_OUT:
        _refuse_second(calibration, judge)
    battles = calibration.labels.filter(part=part).order_by("battle").values_list("battle", flat=True)
    run = plan_run(calibration.campaign, [judge], list(battles), seed=calibration.seed, budget_usd=budget_usd)
    try:
        with transaction.atomic():
            return Measurement.objects.create(
                calibration=calibration,
                judge=judge,
                part=part,
                run=run,
                endpoint=judge.endpoint,
                rubric_sha256=judge.rubric.sha256,
            )
    except IntegrityError:
        # Two at once: the one that came second is taken back before it has bought anything.
        ending.cancel(run)
        _refuse_second(calibration, judge)
        raise


def _refuse_second(calibration: Calibration, judge: Judge) -> None:
    """A run that ended without a single reply read has shown nothing, and doesn't count."""
    assert judge.rubric  # noqa: S101
    held_out = calibration.measurements.filter(
        part=Part.HELD_OUT, endpoint=judge.endpoint, rubric_sha256=judge.rubric.sha256
    )
    first = held_out.select_related("judge", "run").first()
    if first is None:
        return
    decided = first.run.judgments.exclude(outcome__in=["", Judgment.Outcome.NO_VERDICT])
    read = first.run.calls().filter(state=Call.State.PARSED)
    if first.run.is_open or decided.exists() or read.exists():
        raise AlreadyMeasuredError(first)
    first.delete()


def wordings_of(run: JudgeRun) -> list[Judge]:
    """The run's judges where they are three or more wordings of one rubric on one model; else none."""
    judges = list(run.judges.select_related("rubric").order_by("pk"))
    shapes = {
        (
            judge.voice,
            judge.rubric.mode,
            json.dumps([[c["name"], c["low"], c["high"]] for c in judge.rubric.criteria]),
        )
        for judge in judges
        if judge.rubric
    }
    texts = {judge.rubric.sha256 for judge in judges if judge.rubric}
    if len(judges) < LEAST_WORDINGS or len(shapes) != 1 or len(texts) != len(judges):
        return []
    return judges if all(judge.rubric for judge in judges) else []


LEAST_WORDINGS = 3
