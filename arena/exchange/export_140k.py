"""Votes of people in the layout of arena-human-preference-140k, in which LMArena published its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from arena.battles.models import Battle, Vote
from arena.corpus.models import HARD_CRITERIA, Prompt, Response
from arena.corpus.style_counts import count_by_kind
from arena.exchange.export_extract import CHUNK, Extract
from arena.exchange.export_files import Tell
from arena.exchange.export_words import licences

TABLE = "arena_140k"
Turns = list[tuple[str, str]]  # role and text
_BATCH = 1000
_HTML = tuple(
    f"battle__{text}"
    for text in (
        "prompt__rendered_html",
        "response_a__rendered_html",
        "response_a__masked_html",
        "response_b__rendered_html",
        "response_b__masked_html",
    )
)
_WORDS = pa.string()
_COUNT = pa.int32()


def _counts(*names: str) -> pa.StructType:
    return pa.struct([(name, _COUNT) for name in names])


_BLOCK = pa.struct([(name, _WORDS) for name in ("type", "text", "image", "mimeType")])
_MESSAGE = pa.struct([("role", _WORDS), ("content", pa.list_(_BLOCK))])
_MESSAGE_B = pa.struct([*_MESSAGE, ("num_tokens", _COUNT)])
_METADATA = pa.struct(
    [
        (f"{name}_{side}", kind)
        for name, kind in (
            ("header_count", _counts("h1", "h2", "h3", "h4", "h5", "h6")),
            ("list_count", _counts("ordered", "unordered")),
            ("bold_count", _counts("**", "__")),
        )
        for side in "ab"
    ]
    + [
        (name, _COUNT)
        for name in (
            "sum_assistant_a_tokens",
            "sum_assistant_b_tokens",
            "context_a_tokens",
            "context_b_tokens",
            "sum_user_tokens",
            "turns",
        )
    ]
)
SCHEMA = pa.schema(
    [
        ("id", _WORDS),
        ("model_a", _WORDS),
        ("model_b", _WORDS),
        ("winner", _WORDS),
        ("evaluation_session_id", _WORDS),
        ("evaluation_order", _COUNT),
        ("conversation_a", pa.list_(_MESSAGE)),
        ("conversation_b", pa.list_(_MESSAGE_B)),
        (
            "full_conversation",
            pa.list_(pa.struct([(who, _MESSAGE) for who in ("user", "model_side_a", "model_side_b")])),
        ),
        ("conv_metadata", _METADATA),
        (
            "category_tag",
            pa.struct([("criteria_v0.1", pa.struct([(name, pa.bool_()) for name in HARD_CRITERIA]))]),
        ),
        ("language", _WORDS),
        ("is_code", pa.bool_()),
        ("timestamp", _WORDS),
    ]
)


def write_140k(extract: Extract, folder: Path, tell: Tell) -> dict[str, int]:
    """`arena_140k.jsonl` and `.parquet`; returns how many votes are in, and how many aren't, by reason."""
    left_out: Counter[str] = Counter()
    stream, count = rows(extract, left_out), 0
    tell(TABLE, count)
    with ExitStack() as stack:
        lines = stack.enter_context((folder / f"{TABLE}.jsonl").open("w", encoding="utf-8", newline="\n"))
        columnar = stack.enter_context(pq.ParquetWriter(folder / f"{TABLE}.parquet", SCHEMA))
        while batch := list(islice(stream, _BATCH)):
            count += len(batch)
            lines.writelines(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in batch)
            columnar.write_table(pa.Table.from_pylist(batch, schema=SCHEMA))
            tell(TABLE, count)
    return {"votes": count, **left_out}


def rows(extract: Extract, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """One for each vote that boards count and whose texts are there; by battle, as they were drawn."""
    texts = ("battle__prompt", "battle__response_a", "battle__response_b", "battle__origin")
    related = (*texts, "battle__competitor_a", "battle__competitor_b", "rater")
    counted = Vote.objects.counted(extract.campaign.pk).filter(pk__in=extract.votes.values("pk"))
    order: Counter[int] = Counter()
    for vote in counted.select_related(*related).defer(*_HTML).order_by("battle", "pk").iterator(CHUNK):
        battle = vote.battle
        prompt, a, b = battle.prompt, battle.response_a, battle.response_b
        if prompt is None or a is None or b is None:
            left_out["without their texts"] += 1
        elif prompt.tombstone or a.tombstone or b.tombstone:
            left_out["about a redacted text"] += 1
        else:
            order[vote.rater_id] += 1
            named = {
                "evaluation_session_id": extract.pseudonym(vote.rater.public_id),
                "evaluation_order": order[vote.rater_id],
            }
            row = _voted(vote) | named | _said(battle, prompt, a, b)
            yield {name: row[name] for name in SCHEMA.names}


def _voted(vote: Vote) -> dict[str, Any]:
    return {
        "id": str(vote.battle.public_id),
        "model_a": vote.battle.competitor_a.name,
        "model_b": vote.battle.competitor_b.name,
        "winner": vote.outcome,
        "timestamp": vote.voted_at.isoformat(timespec="microseconds"),
    }


def _said(battle: Battle, prompt: Prompt, a: Response, b: Response) -> dict[str, Any]:
    origin = getattr(battle, "origin", None)
    told = (origin and origin.turns) or {"a": [a.text], "b": [b.text]}
    turns_a = conversation(prompt, told["a"], a.text)
    turns_b = conversation(prompt, told["b"], b.text)
    return {
        "conversation_a": [_message(*turn) for turn in turns_a],
        "conversation_b": _with_tokens(turns_b, b.tokens),
        "full_conversation": _side_by_side(turns_a, turns_b),
        "conv_metadata": _metadata(turns_a, a, b),
        "category_tag": {"criteria_v0.1": {name: getattr(prompt, name) for name in HARD_CRITERIA}},
        "language": prompt.language or None,
        "is_code": bool(a.code_blocks or b.code_blocks),
    }


def conversation(prompt: Prompt, replies: list[str], whole: str) -> Turns:
    """Turn by turn where each of the user's has its reply; else the prompt as it was sent, then the reply."""
    asked = [(turn["role"], turn["content"]) for turn in prompt.messages]
    if len(replies) != sum(role == "user" for role, _text in asked):
        return [*asked, ("assistant", whole)]
    told, following = [], iter(replies)
    for role, text in asked:
        told.append((role, text))
        if role == "user":
            told.append(("assistant", next(following)))
    return told


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text, "image": None, "mimeType": None}]}


def _with_tokens(turns: Turns, tokens: int | None) -> list[dict[str, Any]]:
    """Tokens are known for all replies together, so only a single one has its own."""
    alone = sum(role == "assistant" for role, _text in turns) == 1
    return [
        _message(role, text) | {"num_tokens": tokens if alone and role == "assistant" else None}
        for role, text in turns
    ]


def _side_by_side(turns_a: Turns, turns_b: Turns) -> list[dict[str, Any]]:
    """What was asked with what both sides replied to it; a system prompt belongs to neither."""
    rounds: list[dict[str, Any]] = []
    for (role, text_a), (_role, text_b) in zip(turns_a, turns_b, strict=True):
        if role == "user":
            rounds.append({"user": _message(role, text_a), "model_side_a": None, "model_side_b": None})
        elif role == "assistant" and rounds:
            rounds[-1] |= {"model_side_a": _message(role, text_a), "model_side_b": _message(role, text_b)}
    return rounds


def _metadata(turns_a: Turns, a: Response, b: Response) -> dict[str, Any]:
    """Style by our own counts, told apart by kind; tokens where they came with the responses."""
    counts = {side: count_by_kind(response.text) for side, response in (("a", a), ("b", b))}
    return {
        f"{kind}_count_{side}": counts[side][kind] for kind in ("header", "list", "bold") for side in "ab"
    } | {
        "sum_assistant_a_tokens": a.tokens,
        "sum_assistant_b_tokens": b.tokens,
        "context_a_tokens": None,
        "context_b_tokens": None,
        "sum_user_tokens": None,
        "turns": sum(role == "user" for role, _text in turns_a),
    }


def readme_140k(extract: Extract, counts: dict[str, int]) -> str:
    left_out = [f"* {count:,} {reason}" for reason, count in counts.items() if reason != "votes"]
    return _README.format(
        name=extract.campaign.name,
        slug=extract.campaign.slug,
        at=extract.at.isoformat(timespec="seconds"),
        votes=counts["votes"],
        left_out="\n".join(left_out) or "* none",
        licences=licences(extract),
    )


_README = """# {name}

Campaign `{slug}`, exported from Tiltyard at {at}: {votes:,} votes of people in the columns of
arena-human-preference-140k, as JSONL and as Parquet.

* A row is one vote. `winner` is model_a, model_b, tie or both_bad.
* `evaluation_session_id` stands for one rater, under a name made for this export alone; `evaluation_order`
  counts the rater's votes.
* `conv_metadata` holds Tiltyard's counts of headings, list items and bold runs, and tokens where they came
  with the responses. What isn't known is null: tokens of what was asked, criteria that nobody judged, the
  language.
* `is_code` says that a reply has a code block.
* A reply that belongs to the prompt, as context, stands in both conversations.

Votes that boards leave out (taken back, excluded, on repeats and golds) are not here. Of the others these are
missing:

{left_out}

`sha256sum --check SHA256SUMS` says whether the files are as they were exported. Another Tiltyard reads them
with `./tiltyard manage import_votes arena_140k.parquet --campaign SLUG`.

## Licences of the prompt sets

{licences}
"""
