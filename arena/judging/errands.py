"""What a call is about: one order of a battle, a response to score, or a canary. From rows, at any time."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from arena.battles.models import Battle
from arena.compiled import Compiled
from arena.corpus.leak_checks import Shown
from arena.corpus.models import Prompt, Response
from arena.judging import canaries
from arena.judging.models import Judge, JudgeCall, JudgeRun, Probe, Rubric
from arena.judging.prompting import POINTWISE, Case, Criterion, RubricText, Turn


def rubric_text(rubric: Rubric) -> RubricText:
    criteria = tuple(Criterion(**criterion) for criterion in rubric.criteria)
    return RubricText(rubric.instructions, criteria, rubric.mode)


def case_of(battle: Battle, order: str, shown: Shown) -> Case:
    """The battle as this order shows it; raises ValueError for a battle that has no texts."""
    if battle.prompt is None or battle.response_a is None or battle.response_b is None:
        raise ValueError(f"battle {battle.public_id} was recorded without its texts and can't be judged")
    texts = (shown.text(battle.response_a), shown.text(battle.response_b))
    first, second = texts if order == JudgeCall.Order.AB else reversed(texts)
    return Case(turns_of(battle.prompt), first, second, battle.prompt.reference or None)


def single_case(response: Response, shown: Shown) -> Case:
    """The response by itself, for a pointwise rubric."""
    prompt = response.prompt
    return Case(turns_of(prompt), shown.text(response), None, prompt.reference or None)


def turns_of(prompt: Prompt) -> tuple[Turn, ...]:
    return tuple(Turn(turn["role"], turn["content"]) for turn in prompt.messages)


@dataclass(frozen=True)
class Errand:
    row: JudgeCall | Probe

    @property
    def run(self) -> JudgeRun:
        return self.row.run if isinstance(self.row, Probe) else self.row.judgment.run

    @property
    def judge(self) -> Judge:
        return self.row.judge if isinstance(self.row, Probe) else self.row.judgment.judge

    @property
    def rubric(self) -> RubricText:
        if self.judge.rubric is None:
            raise ValueError(f"judge {self.judge.name} was asked and has no rubric; give it back")
        return rubric_text(self.judge.rubric)

    @property
    def is_redacted(self) -> bool:
        """Whether a text is gone: of what is left nobody could judge."""
        if isinstance(self.row, JudgeCall):
            battle = self.row.judgment.battle
            texts: list[Prompt | Response | None] = [battle.prompt, battle.response_a, battle.response_b]
        else:
            response = self.row.response
            texts = [response, response.prompt if response else None]
        return any(text is not None and text.tombstone is not None for text in texts)

    @property
    def is_left_out(self) -> bool:
        """Whether a response says who wrote it, perhaps found since, and the campaign leaves such out."""
        if isinstance(self.row, JudgeCall):
            battle = self.row.judgment.battle
            responses = [battle.response_a, battle.response_b]
        else:
            responses = [self.row.response]
        shown = Shown(self.run.campaign.leak_policy)
        return any(response is not None and shown.leaves_out(response) for response in responses)

    @property
    def is_internal(self) -> bool:
        """Whether the texts may not leave the house."""
        if isinstance(self.row, JudgeCall):
            prompt = self.row.judgment.battle.prompt
        else:
            prompt = self.row.response.prompt if self.row.response else None
        return prompt is not None and prompt.prompt_set.is_internal

    def case(self) -> Case:
        """Raises ValueError where there are no texts to judge."""
        shown = Shown(self.run.campaign.leak_policy)
        if isinstance(self.row, JudgeCall):
            return case_of(self.row.judgment.battle, self.row.order, shown)
        if self.row.response:
            return single_case(self.row.response, shown)
        return canaries.find(self.row.canary).case(self.row.order)


@Compiled
def _judge_call(call: int) -> QuerySet[JudgeCall]:
    return JudgeCall.objects.with_all().filter(call=call)


@Compiled
def _judge_call_and_run(call: int) -> QuerySet[JudgeCall]:
    return JudgeCall.objects.with_all().filter(call=call).select_for_update(of=("judgment__run",))


def errand_of(call_id: int) -> Errand:
    found: list[JudgeCall] = _judge_call(call=call_id)
    return Errand(found[0] if found else Probe.objects.with_all().get(call=call_id))


def errand_with_run_held_back(call_id: int) -> Errand:
    """Within a transaction: until its end nobody else cancels the run or spends of its budget."""
    found: list[JudgeCall] = _judge_call_and_run(call=call_id)
    probes = Probe.objects.with_all().select_for_update(of=("run",))
    return Errand(found[0] if found else probes.get(call=call_id))


def takes_one_response(judge: Judge) -> bool:
    return judge.rubric is not None and judge.rubric.mode == POINTWISE
