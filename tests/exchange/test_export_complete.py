"""Every column of what a campaign is made of is in its export, or is left out for a reason that is told."""

import pytest
from django.apps import apps

from arena.exchange.export_left_out import LEFT_OUT
from arena.exchange.export_schema import TABLES
from arena.exchange.exports import CAMPAIGN_FIELDS, CAMPAIGN_STATE, CAMPAIGN_TIMES, REPORT_FIELDS

ROOMS = ("corpus", "campaigns", "battles", "judging", "leaderboards")
BESIDE = ("Rater", "Origin", "CallAttempt")  # of other rooms
PROMPT, SIDES = ("prompt_set", "set_version", "prompt_id"), ("model_a", "model_b")
CRITERIA = (
    "specificity",
    "domain_knowledge",
    "complexity",
    "problem_solving",
    "creativity",
    "technical_accuracy",
    "real_world",
)


def same(table: str, *names: str) -> dict[str, str]:
    return {name: f"{table}.{name}" for name in names}


# Model -> column -> where in the export it stands: a table's column, or a name in campaign.json.
WHERE = {
    "PromptSet": same("prompt_sets", "name", "version", "description", "licence", "status", "content_hash")
    | {"is_internal": "prompt_sets.internal", "published_at": "prompt_sets.published_at"},
    "Prompt": same("prompts", "messages", "category", "language", "tags", "reference", "tombstone", *CRITERIA)
    | {"prompt_set": "prompts.prompt_set", "external_id": "prompts.id", "is_hard": "prompts.hard"},
    "Competitor": same(
        "models", "name", "family", "licence", "role", "status", "aliases", "system_prompt", "parameters"
    )
    | {"organisation": "models.org"},
    "Rename": dict.fromkeys(("competitor", "was", "became", "at"), "models.renames"),
    "Response": same(
        "responses",
        *("sample", "characters", "words", "tokens", "headings", "list_items", "bold", "code_blocks"),
        *("emoji", "finish_reason", "answering_model", "latency_ms", "cost_usd", "leak", "leak_words"),
        "tombstone",
    )
    | {"prompt": "responses.prompt_id", "competitor": "responses.model", "text": "responses.response"},
    "LabelChange": same("label_changes", "was", "source", "at") | {"prompt": "label_changes.prompt_id"},
    "SpotCheck": same("spot_checks", "criteria", "at") | {"prompt": "spot_checks.prompt_id"},
    "Campaign": {name: name for name in (*CAMPAIGN_FIELDS, *CAMPAIGN_TIMES, *CAMPAIGN_STATE, "name")}
    | {"slug": "campaign", "prompt_sets": "prompt_sets.name", "competitors": "models.name"},
    "Guide": same("guides", "version", "text", "sha256", "created_at"),
    "Rater": same("raters", "admission", "languages")
    | {"public_id": "raters.rater", "pseudonym": "raters.rater", "is_active": "raters.active"},
    "Gold": same("golds", "expected", "kind", "retired_at")
    | {"prompt": "golds.prompt_id", "response_a": "golds.sample_a", "response_b": "golds.sample_b"},
    "Battle": same(
        "battles", "kind", "rater", "propensity", "replaces", "repeat_of", "gold", "drawn_at", "expires_at"
    )
    | {"public_id": "battles.battle_id", "prompt": "battles.prompt_id"}
    | {"competitor_a": "battles.model_a", "competitor_b": "battles.model_b"}
    | {"response_a": "battles.sample_a", "response_b": "battles.sample_b"},
    "Origin": same("battles", "format", "label", "turns") | {"battle": "battles.battle_id"},
    "Vote": same("votes", "rater", "voted_at", "dwell_ms", "layout", "digest")
    | {"battle": "votes.vote_id", "outcome": "votes.winner", "guide": "votes.guide_version"},
    "Retraction": {"vote": "votes.vote_id", "at": "votes.retracted_at"},
    "Seal": same("seals", "first_vote", "last_vote", "votes", "sha256", "at")
    | {"previous": "seals.previous_sha256"},
    "Exclusion": same(
        "exclusions", "rater", "rule", "rule_version", "reason", "since", "revoked_at", "revoked_because"
    )
    | {"vote": "exclusions.vote_id", "actor": "exclusions.decided_by"},
    "BattleNote": same("notes", "rater", "kind", "text", "at") | {"battle": "notes.battle_id"},
    "Rubric": same("judges", "mode", "instructions", "criteria")
    | {"name": "judges.rubric_name", "version": "judges.rubric_version", "sha256": "judges.rubric_sha256"},
    "Judge": same("judges", "name", "rubric", "family", "parameters")
    | {"endpoint": "judges.asked_model", "recorded_model": "judges.model"},
    "JudgeRun": same(
        "judge_runs",
        *("kind", "judges", "seed", "family_policy", "own_family_pairs", "verbosity_rule", "budget_usd"),
        *("max_calls", "status", "status_reason", "created_at", "started_at", "finished_at"),
    ),
    "Judgment": same("judgments", "run", "replicate", "base_outcome", "flip", "leaning")
    | {"judge": "judgments.rater", "battle": "judgments.battle_id"}
    | {"outcome": "judgments.winner", "resolved_at": "judgments.voted_at"},
    "JudgeCall": same("judge_calls", "order", "verdict", "scores", "reason", "failure")
    | {"judgment": "judge_calls.vote_id", "call": "judge_calls.state"},
    "CallAttempt": dict.fromkeys(
        (
            *("number", "raw_reply", "finish_reason", "http_status", "error_kind", "error_text"),
            *("tokens_in", "tokens_out", "cost_usd", "latency_ms", "answering_model"),
            *("system_fingerprint", "started_at"),
        ),
        "judge_calls.attempts",
    ),
    "Probe": same(
        "probes", "run", "judge", "replicate", "canary", "order", "verdict", "scores", "reason", "failure"
    )
    | {"call": "probes.state", "response": "probes.sample"},
    "Calibration": same(
        "calibrations", "seed", "held_out_percent", "least_votes", "left_out", "sha256", "created_at"
    )
    | {"name": "calibrations.calibration"},
    "CalibrationLabel": same(
        "calibration_labels", "calibration", "part", "category", "outcome", "votes", "agreeing"
    )
    | {"battle": "calibration_labels.battle_id"},
    "Measurement": same("measurements", "calibration", "judge", "part", "run", "rubric_sha256", "started_at")
    | {"endpoint": "measurements.asked_model"},
    "AnalysisPlan": same(
        "analysis_plans",
        *(
            "version",
            "question",
            "margin",
            "ties",
            "both_bad",
            "boards",
            "pairs",
            "raters",
            "votes",
            "created_at",
        ),
        *("hard_at_least", "frozen_at", "sha256", "reckoned"),
    ),
    "Leaderboard": same(
        "leaderboards",
        *(
            "name",
            "subset",
            "source",
            "judge",
            "style_control",
            "policies",
            "part",
            "visibility",
            "created_at",
        ),
    )
    | {"slug": "leaderboards.leaderboard"},
    "Snapshot": same(
        "snapshots",
        *("leaderboard", "cutoff", "taken_at", "counts", "options", "coefficients", "warnings"),
        *("vote_digest", "code_version", "seed", "plan"),
    ),
    "Standing": same(
        "standings",
        *("snapshot", "rating", "lower", "upper", "bootstrap_lower", "bootstrap_upper", "standard_error"),
        *("rank_lower", "rank_upper", "tied_first", "component", "battles", "wins", "losses", "ties"),
        *("both_bad", "usable", "flags", "shift", "shift_lower", "shift_upper"),
        *("move", "move_lower", "move_upper"),
    )
    | {"competitor": "standings.model"},
    "ReportText": dict.fromkeys(REPORT_FIELDS, "report"),
    "Reading": same("readings", "reader", "side", "failure", "comment", "at")
    | {"battle": "readings.battle_id"},
}
COLUMNS = {f"{table.name}.{column.name}" for table in TABLES for column in table.columns}
IN_JSON = {*CAMPAIGN_FIELDS, *CAMPAIGN_TIMES, *CAMPAIGN_STATE, "name", "campaign", "report"}


def models() -> dict[str, set[str]]:
    found = {}
    for model in apps.get_app_config("arena").get_models():
        if model.__module__.split(".")[1] in ROOMS or model.__name__ in BESIDE:
            fields = (*model._meta.concrete_fields, *model._meta.many_to_many)
            found[model.__name__] = {field.name for field in fields} - {"id"}
    return found


def test_every_column_is_exported_or_left_out_for_a_reason():
    missing = []
    for model, fields in models().items():
        if model not in LEFT_OUT:
            told = WHERE.get(model, {}).keys() | {
                name.partition(".")[2] for name in LEFT_OUT if name.startswith(f"{model}.")
            }
            missing += [f"{model}.{name}" for name in sorted(fields - told)]
    assert not missing, "export these, or say in export_left_out.py why they aren't"


def test_no_list_names_what_is_not_there():
    known = models()
    columns = {f"{model}.{name}" for model, fields in known.items() for name in fields}
    assert set(LEFT_OUT) <= known.keys() | columns
    told = {f"{model}.{name}" for model, fields in WHERE.items() for name in fields}
    assert told <= columns
    assert not told & set(LEFT_OUT)


@pytest.mark.parametrize("model", WHERE)
def test_where_it_stands_is_in_the_export(model):
    assert set(WHERE[model].values()) <= COLUMNS | IN_JSON
