"""The rows of a new run: every judge, every battle, both orders; and what a run would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.corpus.leak_checks import Shown
from arena.endpoints import ledger, limits
from arena.endpoints.client import build_payload
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Call
from arena.judging.call_keys import key_of_battle
from arena.judging.choosing import CannotPlanError, Entry, NewPair, create_missing, unsaved_battles
from arena.judging.errands import case_of, rubric_text, single_case, takes_one_response
from arena.judging.families import OwnFamily, find_own_family
from arena.judging.models import Judge, JudgeCall, JudgeRun, Judgment
from arena.judging.prompting import Case, build_messages, reply_schema
from arena.judging.swap import ORDERS

_CHUNK = 200
# For the size of a call, which a masked name hardly changes.
_AS_WRITTEN = Shown("flag")
# What a verdict takes, for the estimate of dollars before a run; a judge's own replies tell later.
_USUAL_TOKENS_OUT = 250


@dataclass(frozen=True)
class Estimate:
    """`usd` and `seconds` are None where no price, or no call so far, says how much.

    `judgments`, or scores of single responses. `own_family` pairs of judge and battle are left out or warned
    of; `unjudged` battles no judge may judge.
    """

    judgments: int
    calls: int
    usd: Decimal | None
    seconds: int | None
    own_family: int = 0
    unjudged: int = 0


@dataclass(frozen=True)
class _Share:
    """One judge's part of a run."""

    judgments: int
    calls: int
    usd: Decimal | None
    seconds: float | None


def estimate(
    judges: Sequence[Judge],
    battles: Sequence[Entry],
    family_policy: str = JudgeRun.FamilyPolicy.EXCLUDE,
    responses: int = 0,
) -> Estimate:
    """From a sample of the texts, the endpoints' prices, and how long their latest calls took.

    `responses`: how many there are for judges that score them one by one.
    """
    own = find_own_family(judges, battles, family_policy)
    sample = _sample(list(battles)[:: max(1, len(battles) // 20)])
    shares = [
        _share(judge, sample, responses, 1)
        if takes_one_response(judge)
        else _share(judge, sample, len(own.left_to(judge, battles)), 2)
        for judge in judges
    ]
    dollars, seconds = [s.usd for s in shares], [s.seconds for s in shares]
    return Estimate(
        sum(s.judgments for s in shares),
        sum(s.calls for s in shares),
        None if None in dollars else sum((usd for usd in dollars if usd), Decimal(0)),
        None if None in seconds else round(max((s for s in seconds if s), default=0)),
        0 if responses else own.pairs,
        0 if responses else own.left_to_nobody(judges, battles),
    )


def _share(judge: Judge, sample: list[Battle], count: int, calls_each: int) -> _Share:
    usd, latency = _per_call(judge, sample)
    calls = calls_each * count
    concurrency = judge.endpoint.concurrency if judge.endpoint else 1
    return _Share(
        count,
        calls,
        None if usd is None else usd * calls,
        None if latency is None else latency * calls / concurrency,
    )


def _sample(entries: Sequence[Entry]) -> list[Battle]:
    known = [entry for entry in entries if isinstance(entry, int)]
    return [*_with_texts(known), *unsaved_battles(e for e in entries if isinstance(e, NewPair))]


def _per_call(judge: Judge, sample: list[Battle]) -> tuple[Decimal | None, float | None]:
    endpoint, rubric = judge.endpoint, judge.rubric
    if endpoint is None or rubric is None or not sample:
        return None, None
    usd = None
    if limits.has_prices(endpoint):
        sizes = [len(str(build_messages(rubric_text(rubric), _case(judge, battle)))) for battle in sample]
        # Four characters to a token: an estimate, where a reservation takes the worst case.
        usd = limits.cost(endpoint, sum(sizes) // len(sizes) // 4, _USUAL_TOKENS_OUT)
    attempts = endpoint.calls.filter(attempts__error_kind="", attempts__latency_ms__isnull=False)
    latest = list(attempts.order_by("-attempts__pk").values_list("attempts__latency_ms", flat=True)[:50])
    return usd, sum(latency or 0 for latency in latest) / len(latest) / 1000 if latest else None


def _case(judge: Judge, battle: Battle) -> Case:
    if takes_one_response(judge) and battle.response_a:
        return single_case(battle.response_a, _AS_WRITTEN)
    return case_of(battle, "ab", _AS_WRITTEN)


def plan_run(
    campaign: Campaign,
    judges: Sequence[Judge],
    entries: Sequence[Entry],
    *,
    budget_usd: Decimal | None = None,
    max_calls: int | None = None,
    seed: int = 0,
    replicates: int = 1,
    family_policy: str = JudgeRun.FamilyPolicy.EXCLUDE,
    verbosity_rule: bool = False,
) -> JudgeRun:
    """A queued run with all its rows, battles for new pairs included.

    Until they are all there it is paused, so that none is taken early.
    """
    _check(judges, entries, budget_usd)
    if not any(find_own_family(judges, entries, family_policy).left_to(judge, entries) for judge in judges):
        raise CannotPlanError(
            "every battle has a response of the judges' own family: choose another judge, or allow its family"
        )
    battles = create_missing(campaign, entries)
    own = find_own_family(judges, battles, family_policy)
    run = JudgeRun.objects.create(
        campaign=campaign,
        budget_usd=budget_usd,
        max_calls=max_calls,
        seed=seed,
        family_policy=family_policy,
        own_family_pairs=own.pairs,
        verbosity_rule=verbosity_rule,
        status=JudgeRun.Status.PAUSED,
        status_reason=JudgeRun.BEING_PLANNED,
    )
    run.judges.set(judges)
    _plan_battles(run, judges, battles, own, replicates)
    run.resume()
    run.refresh_from_db()
    return run


def _plan_battles(
    run: JudgeRun, judges: Sequence[Judge], battles: Sequence[int], own: OwnFamily, replicates: int
) -> None:
    """Some battles at a time, whose texts are held as long as their calls' keys are made."""
    shown = Shown(run.campaign.leak_policy)
    for start in range(0, len(battles), _CHUNK):
        rows = list(_with_texts(battles[start : start + _CHUNK]))
        for judge in judges:
            left = set(own.left_to(judge, [battle.pk for battle in rows]))
            for replicate in range(1, replicates + 1):
                _plan_judgments(run, judge, [b for b in rows if b.pk in left], replicate, shown)


def _check(judges: Sequence[Judge], battles: Sequence[Entry], budget_usd: Decimal | None) -> None:
    check_judges(judges, budget_usd)
    if not battles:
        raise CannotPlanError("there is no battle to judge: choose others, or let people vote first")
    single = [judge.name for judge in judges if takes_one_response(judge)]
    if single:
        raise CannotPlanError(f"{', '.join(single)} scores one response by itself and can't judge a battle")


def check_judges(judges: Sequence[Judge], budget_usd: Decimal | None) -> None:
    """Raises CannotPlanError for judges that nothing can be asked of."""
    if not judges:
        raise CannotPlanError("no judge was chosen")
    for judge in judges:
        if judge.endpoint is None or judge.rubric is None:
            raise CannotPlanError(f"{judge.name} was recorded elsewhere: it has no endpoint to ask")
        if budget_usd is not None and not limits.has_prices(judge.endpoint):
            raise CannotPlanError(
                f"{judge.endpoint.name} has no prices, so no budget in dollars can hold: add them first"
            )
        _check_parameters(judge)


def _check_parameters(judge: Judge) -> None:
    """A run that would fail on every call isn't planned."""
    assert judge.endpoint and judge.rubric  # noqa: S101
    try:
        config = ledger.endpoint_config(judge.endpoint, judge.parameters)
        build_payload(config, [], reply_schema(rubric_text(judge.rubric)))
    except (KeyMissingError, ValueError) as error:
        raise CannotPlanError(f"{judge.name} can't be asked: {error}") from error


def _with_texts(battles: Sequence[int]) -> QuerySet[Battle]:
    wanted = Battle.objects.filter(pk__in=battles).order_by("pk")
    return wanted.select_related("prompt", "response_a", "response_b", "prompt__prompt_set")


def _plan_judgments(run: JudgeRun, judge: Judge, battles: list[Battle], replicate: int, shown: Shown) -> None:
    keyed = [
        (battle, order, _key(run, judge, battle, order, replicate, shown))
        for battle in battles
        for order in ORDERS
    ]
    with transaction.atomic():
        judgments = Judgment.objects.bulk_create(
            Judgment(run=run, judge=judge, battle=battle, replicate=replicate) for battle in battles
        )
        calls = Call.objects.bulk_create(
            Call(key=key, endpoint_id=judge.endpoint_id, created_at=timezone.now()) for *_, key in keyed
        )
        of_battle = {judgment.battle_id: judgment for judgment in judgments}
        JudgeCall.objects.bulk_create(
            JudgeCall(judgment=of_battle[battle.pk], order=order, call=call)
            for (battle, order, _), call in zip(keyed, calls, strict=True)
        )


def _key(run: JudgeRun, judge: Judge, battle: Battle, order: str, replicate: int, shown: Shown) -> str:
    assert judge.endpoint  # noqa: S101
    case = case_of(battle, order, shown)
    return key_of_battle(judge, judge.endpoint, run.pk, battle.pk, replicate, order, case)
