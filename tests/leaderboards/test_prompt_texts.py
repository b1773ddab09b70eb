"""Prompts of one text are one cluster on every board, in an export and after a redaction."""

import csv
import io

import numpy as np
import pytest

from arena.corpus.models import Prompt
from arena.corpus.redaction import redact_prompt
from arena.corpus.same_text import text_key
from arena.exchange.export_battles import votes
from arena.exchange.export_extract import Extract
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.fitting.lookups import UNKNOWN
from arena.leaderboards.fitting.prompt_texts import prompt_clusters
from arena.leaderboards.fitting.snapshots import take_snapshot
from ratings.frames import comparisons_from_frame

pd = pytest.importorskip("pandas")


def say(prompts, *texts):
    for prompt, text in zip(prompts, texts, strict=True):
        Prompt.objects.filter(pk=prompt.pk).update(messages=[{"role": "user", "content": text}])


@pytest.fixture
def repeated(voted_campaign):
    """24 prompts, six of which say the same in two spellings."""
    small = voted_campaign("joust", votes=300)
    say(small.prompts[:6], *[" Say  HELLO\n", "say hello"] * 3)
    return small


def test_turns_of_other_roles_are_other_texts():
    turns = [[{"role": role, "content": "Hello"}] for role in ("user", "system", "user")]
    assert text_key(turns[0]) == text_key(turns[2]) != text_key(turns[1])


def test_prompts_of_one_text_are_one_cluster_and_votes_without_a_prompt_one_each(repeated):
    pks = [prompt.pk for prompt in repeated.prompts]
    ids = np.array([pks[7], pks[1], UNKNOWN, pks[0], UNKNOWN, pks[5]])
    assert prompt_clusters(ids).tolist() == [0, 1, 2, 1, 3, 1]
    assert prompt_clusters(np.array([UNKNOWN, UNKNOWN])) is None


def test_texts_that_differ_give_other_intervals_and_the_same_ratings(repeated):
    board = ensure_leaderboards(repeated.campaign)[0]
    alike = take_snapshot(board).snapshot
    say(repeated.prompts[:6], *(f"question {n}" for n in range(6)))
    apart = take_snapshot(board).snapshot
    assert alike.vote_digest != apart.vote_digest
    assert alike.counts["distinct_texts"] == 19
    assert alike.counts["effective_prompts"] < apart.counts["effective_prompts"]

    def column(snapshot, name):
        return [getattr(row, name) for row in snapshot.standings.order_by("competitor")]

    assert column(alike, "rating") == pytest.approx(column(apart, "rating"), abs=1e-9)
    assert column(alike, "lower") != column(apart, "lower")


def test_a_redaction_leaves_the_clusters_and_every_byte_of_a_replay(repeated):
    snapshot = take_snapshot(ensure_leaderboards(repeated.campaign)[0]).snapshot
    redact_prompt(repeated.prompts[1], reason="names a person", by="carol")
    stored, again = snapshots.replay(snapshot)
    assert stored.canonical() == again.canonical()
    assert again.counts["distinct_texts"] == 19


def test_a_prompt_redacted_before_keys_were_kept_is_a_text_of_its_own(repeated):
    for number, prompt in enumerate(repeated.prompts[:3]):
        Prompt.objects.filter(pk=prompt.pk).update(tombstone={"sha256": f"{number:064}"})
    ids = np.array(sorted(prompt.pk for prompt in repeated.prompts[:6]))
    assert prompt_clusters(ids).tolist() == [0, 1, 2, 3, 3, 3]


def test_an_export_names_the_clusters_so_that_a_file_gives_the_same_intervals(repeated):
    snapshot = take_snapshot(ensure_leaderboards(repeated.campaign)[0]).snapshot
    out = io.StringIO()
    rows = list(votes(Extract(repeated.campaign)))
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    frame = pd.read_csv(io.StringIO(out.getvalue()), dtype=str, keep_default_na=False)
    comparisons = comparisons_from_frame(frame).comparisons
    assert len(np.unique(comparisons.prompt)) == snapshot.counts["distinct_texts"] == 19
