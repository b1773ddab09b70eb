"""A campaign that raters have used, and what its boards say."""

import json

from arena.battles import ballots
from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.leaderboards.defaults import BOARDS, default_leaderboard
from arena.leaderboards.fitting.snapshots import take_snapshot

OUTCOMES = ("model_a", "model_b", "tie", "both_bad", "model_a")


def vote(battle: Battle, outcome: str) -> Vote:
    battle = Battle.objects.with_ballot().get(pk=battle.pk)
    return ballots.cast(battle, battle.rater, outcome, f"key {battle.pk}", dwell_ms=1200)


def table(folder, name: str) -> list[dict]:
    return [json.loads(line) for line in (folder / "jsonl" / f"{name}.jsonl").open(encoding="utf-8")]


def people_say(campaign: Campaign) -> list:
    """Digest, what was left out, and the ratings, of each board."""
    said = []
    for board in BOARDS:
        snapshot = take_snapshot(default_leaderboard(campaign, board, None)).snapshot
        if snapshot is not None:
            rows = list(snapshot.standings.values_list("competitor__name", "rating", "bootstrap_lower"))
            said.append((snapshot.vote_digest, snapshot.counts["left_out"], rows, snapshot.coefficients))
    return said
