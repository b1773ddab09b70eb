"""Rows as other arenas publish them, with texts of our own."""

import json
from typing import Any

ASKED = "Which knot holds a tarpaulin in the wind?"
REPLY_A = "# Knots\n\n- **Taut-line hitch**\n- Bowline\n"
REPLY_B = "A taut-line hitch, because it can be tightened."


def said(*texts: str, role: str = "user") -> list[dict[str, Any]]:
    """Turns that alternate, beginning with the user's."""
    roles = [role, "assistant"] * len(texts)
    return [{"role": who, "content": text} for who, text in zip(roles, texts, strict=False)]


def in_blocks(*texts: str) -> list[dict[str, Any]]:
    return [
        {"role": turn["role"], "content": [{"type": "text", "text": turn["content"], "image": None}]}
        for turn in said(*texts)
    ]


def style(side: str, headings: int, items: int, bold: int) -> dict[str, Any]:
    return {
        f"header_count_{side}": {"h1": headings, "h2": 0},
        f"list_count_{side}": {"ordered": 0, "unordered": items},
        f"bold_count_{side}": {"**": bold, "__": 0},
    }


LENGTHS = {"sum_assistant_a_tokens": 12, "sum_assistant_b_tokens": 9}
METADATA = style("a", 1, 2, 1) | style("b", 0, 0, 0) | LENGTHS
CRITERIA = {"specificity": True, "domain_knowledge": False, "real_world": True}


def clean(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": "q1",
        "model_a": "tern",
        "model_b": "puffin",
        "winner": "model_a",
        "judge": "arena_user_1",
        "conversation_a": said(ASKED, REPLY_A),
        "conversation_b": said(ASKED, REPLY_B),
        "turn": 1,
        "anony": True,
        "language": "English",
        "tstamp": 1_740_000_000.25,
    } | changes


def arena_100k(**changes: Any) -> dict[str, Any]:
    tags = {"criteria_v0.1": CRITERIA, "math_v0.1": {"math": False}}
    return clean(conv_metadata=METADATA, category_tag=tags, is_code=False) | changes


def arena_33k(**changes: Any) -> dict[str, Any]:
    return clean(openai_moderation={"flagged": False}, toxic_chat_tag={"t5-large": {"score": 0.0}}) | changes


def arena_140k(**changes: Any) -> dict[str, Any]:
    return {
        "id": "6f1d0e7a-1111-4222-8333-944455556666",
        "model_a": "tern",
        "model_b": "puffin",
        "winner": "both_bad",
        "evaluation_session_id": "s-1",
        "evaluation_order": 1,
        "conversation_a": in_blocks(ASKED, REPLY_A),
        "conversation_b": in_blocks(ASKED, REPLY_B),
        "conv_metadata": METADATA,
        "category_tag": {"criteria_v0.1": CRITERIA},
        "language": "en",
        "timestamp": "2025-03-04T05:06:07.5",
    } | changes


def arena_55k(**changes: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "model_a": "tern",
        "model_b": "puffin",
        "prompt": json.dumps([ASKED, "And in the rain?"]),
        "response_a": json.dumps([REPLY_A, None]),
        "response_b": json.dumps([REPLY_B, "The same one."]),
        "winner_model_a": 0,
        "winner_model_b": 1,
        "winner_tie": 0,
    } | changes


def comparia(**changes: Any) -> dict[str, Any]:
    return {
        "id": 3,
        "timestamp": "2025-03-04 05:06:07",
        "model_a_name": "tern",
        "model_b_name": "puffin",
        "chosen_model_name": "puffin",
        "both_equal": False,
        "conversation_a": said(ASKED, REPLY_A),
        "conversation_b": said(ASKED, REPLY_B),
        "system_prompt_a": None,
        "system_prompt_b": None,
        "session_hash": "h1",
        "visitor_id": None,
    } | changes


def mt_bench(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": 90,
        "model_a": "tern",
        "model_b": "puffin",
        "winner": "model_b",
        "judge": "expert_4",
        "conversation_a": said(ASKED, REPLY_A, "Shorter.", "Taut-line."),
        "conversation_b": said(ASKED, REPLY_B, "Shorter.", "A hitch."),
        "turn": 2,
    } | changes


def pair(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": 90,
        "model_1": "tern",
        "model_2": "puffin",
        "g1_winner": "model_1",
        "g2_winner": "model_1",
        "judge": ["weigher", "pair-v1"],
        "g1_judgment": "[[A]]",
        "g2_judgment": "[[B]]",
        "turn": 1,
        "tstamp": 1_740_000_000.0,
    } | changes


def state(model: str, reply: str | None, conv_id: str) -> dict[str, Any]:
    return {
        "template_name": "plain",
        "roles": ["Human", "Bot"],
        "messages": [["Human", "Example?"], ["Bot", "Yes."], ["Human", ASKED], ["Bot", reply]],
        "offset": 2,
        "conv_id": conv_id,
        "model_name": model,
    }


def logged(conv_id: str = "f1", reply_a: str | None = REPLY_A, **changes: Any) -> dict[str, Any]:
    return {
        "tstamp": 1_740_000_000.0,
        "type": "leftvote",
        "models": ["", ""],
        "states": [state("tern", reply_a, conv_id), state("puffin", REPLY_B, conv_id + "b")],
        "ip": "198.51.100.4",
    } | changes


CHAT = {
    "tstamp": 1_739_999_999.0,
    "type": "chat",
    "model": "tern",
    "state": state("tern", REPLY_A, "f1"),
    "ip": "x",
}
ROWS = {
    "arena_140k": arena_140k,
    "arena_100k": arena_100k,
    "arena_55k": arena_55k,
    "arena_33k": arena_33k,
    "clean_battle": clean,
    "comparia": comparia,
    "mt_bench": mt_bench,
    "fastchat_pair": pair,
    "fastchat_log": logged,
}


def lines(*rows: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()
