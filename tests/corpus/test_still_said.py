"""Texts whose redaction broke off when nothing noted what was left are found by their hash and taken out."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arena.corpus import redaction, still_said
from arena.corpus.models import Prompt, Response
from arena.corpus.redaction import redact_prompt, redact_response
from arena.corpus.redaction_models import Sweep
from arena.corpus.responses import text_hash
from arena.endpoints.models import CallAttempt, Endpoint
from arena.judging.models import JudgeCall
from tests.corpus.judged_call import judged

pytestmark = pytest.mark.django_db

SAID = "Zanzibar Quillfeather lives at 12 Nowhere Lane\nand asks for a letter — to the “council”."
ASKED = "What does Ulla Underwood of 3 Hollow Street owe the baker?"


@pytest.fixture
def left(small_campaign, cast, monkeypatch):
    """Prompt and response are redacted, a judge's call still says both, and nothing is noted of it."""
    response = small_campaign.responses[0]
    Prompt.objects.filter(pk=response.prompt_id).update(
        messages=[{"role": "user", "content": ASKED}], reference=""
    )
    Response.objects.filter(pk=response.pk).update(
        text=SAID, text_hash=text_hash(SAID), characters=len(SAID), words=len(SAID.split())
    )
    endpoint = Endpoint.objects.create(
        team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m"
    )
    reply = json.dumps({"choices": [{"message": {"content": f"It says: {SAID}"}}]})
    asked = f"BEGIN PROMPT\n{ASKED}\nEND\nBEGIN FIRST\n{SAID}\nEND"
    reason = f"The first has {SAID[:60]} and more."
    judged(small_campaign, response.prompt, endpoint, asked, reply, reason, finished_at=timezone.now())
    monkeypatch.setattr(redaction, "sweep_up", lambda _sweeps: None)
    redact_response(Response.objects.get(pk=response.pk), reason="an address", by="carol")
    redact_prompt(Prompt.objects.get(pk=response.prompt_id), reason="a name", by="carol")
    Sweep.objects.all().delete()
    return Response.objects.get(pk=response.pk)


def kept() -> str:
    rows = [*CallAttempt.objects.values_list("request", "raw_reply", "reply_text")]
    return json.dumps([*rows, *JudgeCall.objects.values_list("reason"), *Sweep.objects.values_list("texts")])


def test_a_text_is_found_where_it_stands_whole_and_named_without_being_said(left, capsys):
    with pytest.raises(CommandError, match="--take-out"):
        call_command("look_for_redacted")
    told = capsys.readouterr().out
    assert f"The response of {left.competitor.name} to {left.prompt.external_id}" in told
    assert "Looked for 2 redacted texts; 2 still said." in told
    assert "Quillfeather" not in told and "Underwood" not in told
    assert "Quillfeather" in kept() and "Underwood" in kept(), "looking changes nothing"


def test_what_is_found_is_taken_out_with_all_that_quotes_it(left, capsys):
    call_command("look_for_redacted", "--take-out")
    assert "Quillfeather" not in kept() and "Underwood" not in kept()
    call_command("look_for_redacted")
    assert "Looked for 2 redacted texts; 0 still said." in capsys.readouterr().out


def test_a_text_that_only_looks_alike_is_left_alone(left):
    alike = {"messages": [{"role": "user", "content": SAID[:-1] + "!"}]}
    CallAttempt.objects.update(request=alike, raw_reply="", reply_text="")
    assert still_said.still_said(left) == ("", 0)


def test_one_that_is_swept_by_itself_is_not_looked_for(left, capsys):
    Sweep.objects.create(prompt=left.prompt, response=left, texts=[SAID])
    Sweep.objects.create(prompt=left.prompt, texts=[ASKED])
    call_command("look_for_redacted")
    assert "Looked for 0 redacted texts" in capsys.readouterr().out


def test_prompts_whose_turns_were_hashed_together_are_counted_apart(left, capsys):
    two = [{"role": role, "content": "[redacted]"} for role in ("user", "assistant")]
    Prompt.objects.filter(pk=left.prompt_id).update(messages=two)
    call_command("look_for_redacted", "--take-out")
    told = capsys.readouterr().out
    assert "Not looked for: 1 redacted prompt of several turns or with a reference" in told
    assert "Looked for 1 redacted text; 1 still said." in told
