"""Which function gives the rows of which table of an export."""

from collections.abc import Callable

from arena.exchange import (
    export_battles,
    export_boards,
    export_calibration,
    export_corpus,
    export_judging,
    export_plans,
)
from arena.exchange.export_extract import Extract, Rows

_ROWS: dict[str, Callable[[Extract], Rows]] = {
    "prompt_sets": export_corpus.prompt_sets,
    "prompts": export_corpus.prompts,
    "label_changes": export_corpus.label_changes,
    "spot_checks": export_corpus.spot_checks,
    "models": export_corpus.models,
    "responses": export_corpus.responses,
    "raters": export_battles.raters,
    "guides": export_battles.guides,
    "golds": export_battles.golds,
    "battles": export_battles.battles,
    "votes": export_battles.votes,
    "seals": export_battles.seals,
    "exclusions": export_battles.exclusions,
    "notes": export_battles.notes,
    "judges": export_judging.judges,
    "judge_runs": export_judging.judge_runs,
    "judgments": export_judging.judgments,
    "judge_calls": export_judging.judge_calls,
    "probes": export_calibration.probes,
    "calibrations": export_calibration.calibrations,
    "calibration_labels": export_calibration.calibration_labels,
    "measurements": export_calibration.measurements,
    "analysis_plans": export_plans.analysis_plans,
    "leaderboards": export_plans.leaderboards,
    "snapshots": export_boards.snapshots,
    "standings": export_boards.standings,
    "readings": export_plans.readings,
}


def rows_of(extract: Extract, table: str) -> Rows:
    return _ROWS[table](extract)
