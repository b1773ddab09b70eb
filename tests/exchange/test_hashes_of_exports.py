"""What becomes of every hash in an export when it comes back: checked, made anew, or left there."""

import json
import re

from django.db import transaction

from arena.battles.ballots import digest
from arena.battles.models import Vote
from arena.exchange.export_schema import TABLES
from arena.exchange.exports import SUMS, sums
from tests.exchange.test_damaged_exports import CHANGED
from tests.exchange.used_campaign import table

CHECKED = {  # and refused by test_damaged_exports, where the row they are of is changed or they are
    ("prompt_sets", "content_hash"),
    ("guides", "sha256"),
    ("judges", "rubric_sha256"),
    ("analysis_plans", "sha256"),
    ("calibrations", "sha256"),
    ("votes", "prompt_text"),
    ("judgments", "prompt_text"),
    ("seals", "sha256"),  # where all of its votes are in the export
    ("seals", "previous_sha256"),
}
MADE_ANEW = {("votes", "digest")}
KEPT_AS_TOLD = {("prompts", "tombstone"), ("responses", "tombstone")}  # the text is gone for good
LEFT_THERE = {
    ("measurements", "rubric_sha256"),
    ("snapshots", "vote_digest"),
}
HASH = re.compile(r"sha256|hash|digest|same for prompts of one text")


def test_every_hash_has_its_fate():
    told = {
        (schema.name, column.name)
        for schema in TABLES
        for column in schema.columns
        if HASH.search(column.name) or (HASH.search(column.meaning) and column.name != "first_vote")
    }
    assert told == CHECKED | MADE_ANEW | KEPT_AS_TOLD | LEFT_THERE


def test_each_that_is_checked_was_tried_forged():
    forged = {(name, column) for name, column, value, _words in CHANGED.values() if set(str(value)) == {"0"}}
    assert forged >= CHECKED


def test_votes_get_digests_of_their_own_and_what_stays_there_changes_nothing(used, there_and_back, tmp_path):
    from django.core.management import call_command

    with transaction.atomic():
        there_and_back(used, lambda _campaign: None)
        transaction.set_rollback(True)
    out = tmp_path / "out"
    rows = table(out, "votes")
    for row in rows:
        row["digest"] = "0" * 64
    (out / "jsonl/votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (out / SUMS).write_text(sums(out))
    call_command("import_campaign", str(out))
    votes = list(Vote.objects.select_related("battle", "rater"))
    assert len(votes) == len(rows) > 0
    assert all(vote.digest == digest(vote) != "0" * 64 for vote in votes)
