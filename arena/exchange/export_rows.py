"""Which function gives the rows of which table of an export."""

from collections.abc import Callable

from arena.exchange import export_battles, export_boards, export_corpus, export_judging
from arena.exchange.export_extract import Extract, Rows

_ROWS: dict[str, Callable[[Extract], Rows]] = {
    "prompt_sets": export_corpus.prompt_sets,
    "prompts": export_corpus.prompts,
    "models": export_corpus.models,
    "responses": export_corpus.responses,
    "raters": export_battles.raters,
    "guides": export_battles.guides,
    "golds": export_battles.golds,
    "battles": export_battles.battles,
    "votes": export_battles.votes,
    "exclusions": export_battles.exclusions,
    "notes": export_battles.notes,
    "judges": export_judging.judges,
    "judgments": export_judging.judgments,
    "judge_calls": export_judging.judge_calls,
    "snapshots": export_boards.snapshots,
    "standings": export_boards.standings,
}


def rows_of(extract: Extract, table: str) -> Rows:
    return _ROWS[table](extract)
