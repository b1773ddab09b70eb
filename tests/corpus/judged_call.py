from django.utils import timezone

from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.judging.models import Judge, JudgeCall, JudgeRun, Judgment


def judged(small, prompt, endpoint: Endpoint, asked: str, reply: str, reason: str = "", **attempt):
    """The attempt by which a judge was asked `asked` about the first two responses, in one order."""
    a, b = small.responses[:2]
    battle = small.campaign.battles.create(
        prompt=prompt,
        competitor_a=a.competitor,
        competitor_b=b.competitor,
        response_a=a,
        response_b=b,
        drawn_at=timezone.now(),
    )
    judgment = Judgment.objects.create(
        run=JudgeRun.objects.create(campaign=small.campaign),
        judge=Judge.objects.create(team=endpoint.team, name="Judge", endpoint=endpoint),
        battle=battle,
    )
    call = Call.objects.create(key="k", endpoint=endpoint, state=Call.State.PARSED)
    JudgeCall.objects.create(judgment=judgment, order="ab", call=call, reason=reason)
    request = {"model": "m", "messages": [{"role": "user", "content": asked}]}
    told = {"raw_reply": reply, "reply_text": reply, "started_at": timezone.now()}
    return CallAttempt.objects.create(call=call, number=1, request=request, **told, **attempt)
