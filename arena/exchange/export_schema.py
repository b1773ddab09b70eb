"""What an export holds: tables, their columns, and what each column means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "count", "number", "flag", "time", "texts", "turns", "json"]


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True)
class TableSchema:
    name: str
    meaning: str
    columns: tuple[Column, ...]


def _table(name: str, meaning: str, *columns: tuple[str, Kind, str]) -> TableSchema:
    return TableSchema(name, meaning, tuple(Column(*column) for column in columns))


_PROMPT: tuple[tuple[str, Kind, str], ...] = (
    ("prompt_set", "text", "name of its prompt set"),
    ("set_version", "count", "version of the prompt set"),
    ("prompt_id", "text", "id within the prompt set"),
)
_SIDES: tuple[tuple[str, Kind, str], ...] = (
    ("model_a", "text", "shown first"),
    ("model_b", "text", "shown second"),
)
_CRITERIA: tuple[tuple[str, Kind, str], ...] = tuple(
    (name, "flag", "one of the seven criteria of a hard prompt; empty is unknown")
    for name in (
        "specificity",
        "domain_knowledge",
        "complexity",
        "problem_solving",
        "creativity",
        "technical_accuracy",
        "real_world",
    )
)
_COUNTS: tuple[tuple[str, Kind, str], ...] = tuple(
    (name, "count", "as Tiltyard counts them")
    for name in ("characters", "words", "headings", "list_items", "bold", "code_blocks", "emoji")
)

_TOMBSTONE: tuple[str, Kind, str] = (
    "tombstone",
    "json",
    "of a redacted text: its hash, why, who and when; its counts stay as they were",
)

TABLES: tuple[TableSchema, ...] = (
    _table(
        "prompt_sets",
        "the versions of prompt sets in use",
        ("name", "text", ""),
        ("version", "count", ""),
        ("description", "text", ""),
        ("licence", "text", "under which the prompts may be used"),
        ("internal", "flag", "never to be sent to an endpoint that isn't internal"),
        ("status", "text", "draft, published or retired"),
        ("content_hash", "text", "sha256 over the prompts of a published set"),
    ),
    _table(
        "prompts",
        "what was asked",
        *_PROMPT[:2],
        ("id", "text", "id within the prompt set"),
        ("messages", "turns", "one or more turns: role and content"),
        ("category", "text", ""),
        ("language", "text", ""),
        ("tags", "texts", ""),
        ("reference", "text", "a good answer, if one was given"),
        ("hard", "flag", "whether the prompt is hard; empty is unknown"),
        *_CRITERIA,
        _TOMBSTONE,
    ),
    _table(
        "models",
        "who was compared",
        ("name", "text", ""),
        ("org", "text", "its maker"),
        ("family", "text", "models of one family judge each other kindly"),
        ("licence", "text", ""),
        ("role", "text", "contender, or sentinel that was put in as a check"),
        ("status", "text", "active, retired or withdrawn"),
        ("aliases", "texts", ""),
        ("system_prompt", "text", "sent before every prompt when its responses are generated"),
        ("parameters", "json", "of generation"),
    ),
    _table(
        "responses",
        "what the models replied",
        *_PROMPT,
        ("model", "text", ""),
        ("sample", "count", "number among the model's responses to this prompt"),
        ("response", "text", ""),
        ("tokens", "count", "if known"),
        *_COUNTS,
        ("finish_reason", "text", ""),
        ("answering_model", "text", "what the model that answered calls itself"),
        ("latency_ms", "count", ""),
        ("cost_usd", "text", "decimal"),
        ("org", "text", "the model's maker"),
        (
            "leak",
            "text",
            "whether the text says who wrote it: unchecked, clean, found, or dismissed by an admin",
        ),
        ("leak_words", "json", "what was found"),
        _TOMBSTONE,
    ),
    _table(
        "raters",
        "people, under names made for this export alone",
        ("rater", "text", "pseudonym"),
        ("admission", "text", "link, login, open, recorded elsewhere, or simulated"),
        ("languages", "texts", "empty means all"),
    ),
    _table(
        "guides",
        "what raters were asked",
        ("version", "count", ""),
        ("text", "text", ""),
        ("sha256", "text", ""),
    ),
    _table(
        "golds",
        "battles whose outcome is known beforehand, never rated",
        ("gold", "count", "number within the instance it comes from"),
        *_PROMPT,
        ("model_a", "text", "whose response is the first text"),
        ("sample_a", "count", ""),
        ("model_b", "text", "whose response is the second text"),
        ("sample_b", "count", ""),
        ("expected", "text", "model_a, model_b, tie or both_bad; raters saw the sides in either order"),
        ("kind", "text", "quality: one text is plainly better; instructed: the text says how to vote"),
        ("retired_at", "time", "since when it isn't drawn any more"),
    ),
    _table(
        "battles",
        "every pair drawn, voted on or not, in the order of drawing",
        ("battle_id", "text", ""),
        ("kind", "text", "regular, recorded elsewhere, or repeat and gold, which boards don't count"),
        *_PROMPT,
        *_SIDES,
        ("sample_a", "count", "which response of model_a; empty: not known"),
        ("sample_b", "count", "which response of model_b; empty: not known"),
        ("rater", "text", "empty: drawn for a judge"),
        ("propensity", "number", "probability of this pair when it was drawn"),
        ("replaces", "text", "battle_id of the undone or expired one that it stands in for"),
        (
            "repeat_of",
            "text",
            "battle_id of the battle that its rater gets a second time here, sides swapped",
        ),
        ("gold", "count", "which gold it shows"),
        ("drawn_at", "time", ""),
        ("expires_at", "time", ""),
        ("format", "text", "of the file that a recorded battle came in; empty: our own"),
        ("label", "text", "the winner in that file's own words, where it says more"),
        ("turns", "json", "the replies one by one, where there were several"),
    ),
    _table(
        "votes",
        "one a battle; those taken back stay, with the time",
        ("vote_id", "text", "the battle's id"),
        ("kind", "text", "the battle's kind"),
        *_PROMPT,
        *_SIDES,
        ("winner", "text", "model_a, model_b, tie or both_bad"),
        ("rater", "text", "pseudonym"),
        ("voted_at", "time", ""),
        ("dwell_ms", "count", "from showing the battle to the vote"),
        ("layout", "text", ""),
        ("guide_version", "count", ""),
        ("retracted_at", "time", "when the rater took the vote back"),
        ("excluded", "text", "rules by which boards leave it out, with spaces between; empty: it counts"),
        ("digest", "text", "sha256 over the vote as it was cast"),
    ),
    _table(
        "exclusions",
        "votes that boards leave out, and why; those taken in again stay listed",
        ("vote_id", "text", "empty: all votes of the rater"),
        ("rater", "text", "pseudonym; empty: the one vote"),
        ("rule", "text", "by_hand, unblinded (whoever voted might see the names), or the name of a check"),
        ("rule_version", "count", ""),
        ("reason", "text", ""),
        ("decided_by", "text", "person, or rule"),
        ("since", "time", ""),
        ("revoked_at", "time", "since when it counts again"),
        ("revoked_because", "text", ""),
    ),
    _table(
        "notes",
        "what raters said besides",
        ("battle_id", "text", ""),
        ("rater", "text", "pseudonym"),
        ("kind", "text", "skip, flag, comment or reason"),
        ("text", "text", ""),
        ("at", "time", ""),
    ),
    _table(
        "judges",
        "LLM judges and what they were asked",
        ("name", "text", ""),
        ("family", "text", ""),
        ("asked_model", "text", "id at its endpoint; empty: recorded elsewhere"),
        ("parameters", "json", ""),
        ("rubric", "text", "name and version"),
        ("rubric_sha256", "text", ""),
        ("mode", "text", "pairwise, reference or pointwise"),
        ("instructions", "text", ""),
        ("criteria", "json", ""),
    ),
    _table(
        "judgments",
        "a judge's finding on a battle from both orders",
        ("vote_id", "text", "of the judgment"),
        ("battle_id", "text", ""),
        *_PROMPT,
        *_SIDES,
        ("winner", "text", "model_a, model_b, tie, tie_unstable, tie_verbose or no_verdict"),
        ("base_outcome", "text", "before the verbosity rule"),
        ("flip", "text", "whether the two orders disagreed: none, soft, hard"),
        ("leaning", "text", "of a soft flip: the side that won in one order and tied in the other"),
        ("source", "text", "judge"),
        ("rater", "text", "the judge's name"),
        ("run", "count", "number of the run within this export"),
        ("replicate", "count", ""),
        ("voted_at", "time", "when both orders were in"),
    ),
    _table(
        "judge_calls",
        "each order asked, and every reply as it came",
        ("vote_id", "text", "of the judgment"),
        ("order", "text", "ab or ba"),
        ("state", "text", ""),
        ("verdict", "text", "in positions: first, second or tie"),
        ("scores", "json", ""),
        ("reason", "text", ""),
        ("failure", "text", ""),
        ("attempts", "json", "number, raw reply, status, error, tokens, cost, latency, model that replied"),
    ),
    _table(
        "snapshots",
        "dated fits of the campaign's boards",
        ("snapshot", "count", "number within the instance it was taken in"),
        ("leaderboard", "text", ""),
        ("name", "text", ""),
        ("subset", "text", ""),
        ("source", "text", "raters or judge"),
        ("judge", "text", ""),
        ("style_control", "flag", ""),
        ("cutoff", "time", "later votes are not in"),
        ("taken_at", "time", ""),
        ("counts", "json", ""),
        ("options", "json", ""),
        ("coefficients", "json", ""),
        ("warnings", "json", ""),
        ("vote_digest", "text", ""),
        ("code_version", "text", ""),
        ("seed", "count", ""),
    ),
    _table(
        "standings",
        "one model in one snapshot",
        ("snapshot", "count", ""),
        ("model", "text", ""),
        ("rating", "number", "points; mean 1000, 400 a decade of odds"),
        ("lower", "number", ""),
        ("upper", "number", ""),
        ("bootstrap_lower", "number", ""),
        ("bootstrap_upper", "number", ""),
        ("standard_error", "number", ""),
        ("rank_lower", "count", ""),
        ("rank_upper", "count", ""),
        ("tied_first", "flag", ""),
        ("component", "count", "models of different components can't be compared"),
        ("battles", "count", ""),
        ("wins", "count", ""),
        ("losses", "count", ""),
        ("ties", "count", "of both kinds"),
        ("flags", "texts", ""),
        ("shift", "number", "points by which style control moves it"),
        ("shift_lower", "number", ""),
        ("shift_upper", "number", ""),
    ),
)
