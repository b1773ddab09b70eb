"""arena-human-preference-100k: clean battles with counts and categories."""

from collections.abc import Mapping
from typing import Any

from arena.exchange.formats import clean_battle

vote = clean_battle.vote


def fits(row: Mapping[str, Any]) -> bool:
    return clean_battle.fits(row) and bool({"conv_metadata", "category_tag", "judge_hash"} & row.keys())
