"""The formats of other arenas, and which of them a file is in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.exchange.formats import (
    arena_33k,
    arena_55k,
    arena_100k,
    arena_140k,
    clean_battle,
    comparia,
    fastchat_log,
    fastchat_pair,
    mt_bench,
)
from arena.exchange.formats.cells import Cells
from arena.exchange.formats.rows import VoteRow

AUTO, CANONICAL = "auto", "canonical"


@dataclass(frozen=True)
class Format:
    name: str
    title: str
    fits: Callable[[Mapping[str, Any]], bool]
    vote: Callable[[int, Cells], VoteRow]
    first_counts: bool = False  # of several votes with one id, where the others are slips


# The narrower ones first: the first that fits is taken.
FORMATS = (
    Format("arena_140k", "LMArena 140k", arena_140k.fits, arena_140k.vote),
    Format("arena_100k", "LMArena 100k", arena_100k.fits, arena_100k.vote),
    Format("arena_55k", "LMArena 55k", arena_55k.fits, arena_55k.vote),
    Format("arena_33k", "chatbot_arena_conversations", arena_33k.fits, arena_33k.vote),
    Format("clean_battle", "FastChat's clean battles", clean_battle.fits, clean_battle.vote),
    Format("comparia", "compar:IA votes", comparia.fits, comparia.vote),
    Format("mt_bench", "MT-bench judgments", mt_bench.fits, mt_bench.vote),
    Format("fastchat_pair", "FastChat's pair judgments", fastchat_pair.fits, fastchat_pair.vote),
    Format("fastchat_log", "FastChat's log", fastchat_log.fits, fastchat_log.vote, first_counts=True),
)
NAMES = (AUTO, CANONICAL, *(known.name for known in FORMATS))


def format_of(row: Mapping[str, Any]) -> Format | None:
    """The format whose columns these are; None for our own, or for none."""
    return next((known for known in FORMATS if known.fits(row)), None)


def format_named(name: str) -> Format | None:
    return next((known for known in FORMATS if known.name == name), None)
