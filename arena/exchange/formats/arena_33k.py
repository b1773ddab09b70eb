"""chatbot_arena_conversations: 33,000 clean battles with the verdicts of moderation."""

from collections.abc import Mapping
from typing import Any

from arena.exchange.formats import clean_battle

vote = clean_battle.vote


def fits(row: Mapping[str, Any]) -> bool:
    return clean_battle.fits(row) and bool({"openai_moderation", "toxic_chat_tag"} & row.keys())
