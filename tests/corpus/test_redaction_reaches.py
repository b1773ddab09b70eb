"""A redacted text stands nowhere any more: no column of any model, no file that was made of it."""

from __future__ import annotations

import json

import pytest
from django.apps import apps
from django.db import models
from django.utils import timezone

from arena.battles.draw import draw
from arena.battles.gold_models import Gold
from arena.battles.models import Battle, BattleNote
from arena.corpus.generation_models import GenerationRun
from arena.corpus.label_models import LabelRun
from arena.corpus.models import Prompt, Response
from arena.corpus.quotations import PLACES, REDACTED
from arena.corpus.redaction import redact_prompt, redact_response
from arena.corpus.responses import text_hash
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.exchange import export_requests
from arena.exchange.export_models import Export
from arena.exchange.models import Import, Origin
from arena.judging.models import Judge, JudgeCall, JudgeRun, Judgment, Probe
from arena.leaderboards.reading.reading_models import Reading

pytestmark = pytest.mark.django_db
MARK = "Zanzibar Quillfeather"
TEXT = f"My name is {MARK}, I was born on the first of May and I live at 12 Nowhere Lane."
# What people write of their own accord, or what no text of a prompt or response comes into.
HELD = {
    "Prompt.messages Prompt.reference Prompt.rendered_html Prompt.tombstone",
    "Response.text Response.rendered_html Response.masked_html Response.leak_words Response.tombstone",
    "Sweep.texts",
}
OTHERS = {
    # names, descriptions and settings that the team writes
    "Team.name Rater.pseudonym Rater.languages Endpoint.name Endpoint.base_url Endpoint.parameters",
    "Endpoint.model_id Endpoint.refused_parameters PromptSet.name PromptSet.description PromptSet.licence",
    "Prompt.external_id Prompt.tags Prompt.category Competitor.name Competitor.name_key Competitor.aliases",
    "Competitor.organisation Competitor.licence Competitor.system_prompt Competitor.parameters",
    "GenerationRecipe.system_prompt GenerationRecipe.parameters GenerationRecipe.model_id Campaign.name",
    "Campaign.description Guide.text Invite.label Judge.name Judge.parameters",
    "Rubric.name Leaderboard.slug Endpoint.key_variable Endpoint.key_file",
    "Rubric.instructions Rubric.criteria Calibration.name Exclusion.reason",
    "Exclusion.revoked_because CalibrationLabel.category CategoryRating.category Endpoint.answering_model",
    "Choice.added Choice.taken_out AnalysisPlan.pairs Rename.was Rename.became Rename.by",
    "AnalysisPlan.question AnalysisPlan.boards ReportText.capability ReportText.sourcing",
    "ReportText.contamination ReportText.baselines ReportText.protocol Leaderboard.name",
    # numbers, codes and names of models
    "LabelCall.criteria LabelChange.was LabelChange.by SpotCheck.criteria JudgeCall.scores Probe.scores",
    "AnalysisPlan.reckoned",
    "Calibration.left_out CallAttempt.answering_model CallAttempt.system_fingerprint",
    "Response.answering_model",
    "CampaignAgreement.figures CampaignAgreement.seen JudgeCard.figures JudgeCard.seen RunFigures.figures",
    "Leaderboard.policies Leaderboard.part Snapshot.counts Snapshot.options",
    "Snapshot.coefficients Snapshot.warnings",
    "Standing.flags PairResult.details SnapshotChart.spec SnapshotChart.light SnapshotChart.dark",
    "SnapshotChart.failure SnapshotRun.reason Export.failure Vote.idempotency_key Origin.label Origin.key",
    # of a file: its name, how it is read, where personal data stands
    "Import.file_name Import.target Import.options Import.description Import.personal",
    "Import.contents",
}


def named(lines: set[str]) -> set[str]:
    return {name for line in lines for name in line.split()}


def free_texts() -> dict[str, type[models.Model]]:
    """Columns in which a sentence has room."""
    return {
        f"{model.__name__}.{field.name}": model
        for model in apps.get_app_config("arena").get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.TextField | models.JSONField)
        or (isinstance(field, models.CharField) and (field.max_length or 999) >= 100 and not field.choices)
    }


def where_it_stands(mark: str) -> set[str]:
    return {
        name
        for name, model in free_texts().items()
        for value in model._base_manager.values_list(name.partition(".")[2], flat=True)
        if mark in json.dumps(value, ensure_ascii=False)
    }


def test_every_column_with_room_for_a_sentence_is_walked_or_known_to_hold_no_text_of_a_prompt():
    walked = {f"{place.model}.{column}" for place in PLACES for column in place.columns}
    assert walked <= set(free_texts())
    assert set(free_texts()) - walked - named(HELD) - named(OTHERS) == set()
    assert (named(HELD) | named(OTHERS)) - set(free_texts()) == set()


@pytest.fixture
def everywhere(small_campaign, cast):
    """The prompt says TEXT, so does its first response, and everybody quotes them wherever there is room."""
    prompt, (a, b) = small_campaign.prompts[0], small_campaign.responses[:2]
    Prompt.objects.filter(pk=prompt.pk).update(
        messages=[{"role": "user", "content": TEXT}], reference=TEXT, rendered_html=TEXT
    )
    Response.objects.filter(pk=a.pk).update(text=TEXT, rendered_html=TEXT, text_hash=text_hash(TEXT))
    endpoint = Endpoint.objects.create(
        team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m", rest_reason=TEXT[:60]
    )
    campaign = small_campaign.campaign
    run = JudgeRun.objects.create(campaign=campaign, status_reason=TEXT[:60])
    LabelRun.objects.create(prompt_set=small_campaign.prompt_set, endpoint=endpoint, status_reason=TEXT)
    GenerationRun.objects.create(prompt_set=small_campaign.prompt_set, status_reason=f"failed: {TEXT}")
    battle = Battle.objects.create(
        campaign=campaign,
        prompt=prompt,
        competitor_a=a.competitor,
        competitor_b=b.competitor,
        response_a=a,
        response_b=b,
        rater=cast.alice_rater,
        drawn_at=timezone.now(),
    )
    judge = Judge.objects.create(team=cast.team, name="J", endpoint=endpoint)
    judgment = Judgment.objects.create(run=run, judge=judge, battle=battle)
    JudgeCall.objects.create(
        judgment=judgment, order="ab", call=called(endpoint, "one"), reason=f"It says {TEXT}"
    )
    Probe.objects.create(run=run, judge=judge, response=a, call=called(endpoint, "two"), reason=TEXT[5:60])
    BattleNote.objects.create(
        battle=battle, rater=cast.alice_rater, kind="comment", text=f"“{TEXT}”, really?"
    )
    Reading.objects.create(
        battle=battle, reader=cast.ravi, side="a", failure="wrong", comment=f"starts with {TEXT[:60]}"
    )
    Origin.objects.create(battle=battle, label="a", turns={"a": ["Short.", TEXT], "b": ["Other.", "Reply."]})
    Import.objects.create(
        team=cast.team,
        kind="prompts",
        target="Start",
        file_name="p.csv",
        state="refused",
        errors=[{"line": 1, "column": "prompt", "reason": f"{TEXT!r} isn't a list"}],
        notices=[f"read {TEXT}"],
    )
    return prompt


def called(endpoint: Endpoint, key: str) -> Call:
    call = Call.objects.create(key=key, endpoint=endpoint, state=Call.State.PARSED)
    reply = json.dumps({"choices": [{"message": {"content": json.dumps({"reason": TEXT})}}]})
    CallAttempt.objects.create(
        call=call,
        number=1,
        request={"model": "m", "messages": [{"role": "user", "content": f"BEGIN {TEXT} END"}]},
        raw_reply=reply,
        reply_text=json.dumps({"reason": TEXT}),
        error_text=f"the server answered 400: bad prompt '{TEXT[:70]}…'",
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )
    return call


def test_the_text_stands_in_no_column_after_prompt_and_response_are_redacted(everywhere):
    planted = where_it_stands(MARK)
    assert {f"{place.model}.{column}" for place in PLACES for column in place.columns} <= planted
    redact_prompt(everywhere, reason=f"it says {TEXT}", by="carol")
    left = where_it_stands(MARK)
    assert left == {"Response.text", "Response.rendered_html"}
    redact_response(everywhere.responses.get(text=TEXT), reason=f"it says {TEXT}", by="carol")
    assert where_it_stands(MARK) == set()
    assert Prompt.objects.get(pk=everywhere.pk).tombstone["reason"] == f"it says {REDACTED}"


def test_earlier_turns_of_a_redacted_response_go_with_it_and_the_other_sides_stay(everywhere):
    redact_response(everywhere.responses.get(text=TEXT), reason="x", by="carol")
    assert Origin.objects.get().turns == {"a": [REDACTED, REDACTED], "b": ["Other.", "Reply."]}


def test_a_recorded_reply_stays_json_with_its_verdict(everywhere):
    redact_prompt(everywhere, reason="x", by="carol")
    for attempt in CallAttempt.objects.all():
        read = json.loads(json.loads(attempt.raw_reply)["choices"][0]["message"]["content"])
        assert read == {"reason": REDACTED} == json.loads(attempt.reply_text)


def test_exports_made_before_are_deleted_with_their_files_and_others_stay(
    everywhere, small_campaign, make_campaign, settings, tmp_path
):
    settings.DATA_DIR = tmp_path
    other = make_campaign("other", names=("One", "Two"))
    kept = {}
    for name, campaign in (("old", small_campaign.campaign), ("other", other.campaign)):
        kept[name] = export_requests.request_export(campaign, "whole", None)
        export_requests.do_export(kept[name])
    queued = Export.objects.create(campaign=small_campaign.campaign, layout="arena_140k")
    assert export_requests.path_of(kept["old"]).is_file()
    redact_prompt(everywhere, reason="x", by="carol")
    assert set(Export.objects.values_list("pk", flat=True)) == {kept["other"].pk, queued.pk}
    assert not export_requests.path_of(kept["old"]).exists()
    assert export_requests.path_of(kept["other"]).is_file()


def test_a_gold_of_a_redacted_response_is_not_drawn(small_campaign, cast):
    prompt, (a, b) = small_campaign.prompts[0], small_campaign.responses[:2]
    campaign = small_campaign.campaign
    campaign.gold_share = 0.3
    campaign.save()
    gold = Gold.objects.create(
        campaign=campaign, prompt=prompt, response_a=a, response_b=b, expected="model_a", kind="attention"
    )
    redact_response(a, reason="x", by="carol")
    drawn = [battle for _ in range(10) for battle in draw(campaign, cast.alice_rater, 2)]
    assert drawn and all(battle.gold_id != gold.pk for battle in drawn)
