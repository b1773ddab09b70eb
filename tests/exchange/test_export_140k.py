"""The votes of people leave in LMArena's 140k layout, and our own reader of it takes them back."""

import json

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from arena.battles import exclusions
from arena.battles.models import Battle, Retraction, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt, Response
from arena.corpus.redaction import redact_response
from arena.corpus.style_counts import count_by_kind, count_style
from arena.exchange.export_140k import SCHEMA
from arena.leaderboards.defaults import BOARDS, default_leaderboard
from arena.leaderboards.fitting.snapshots import take_snapshot

from .arena_rows import arena_55k, arena_140k, lines

NASTY = '=1+1\t"quoted"\r\n\u2028\'@ كيف 🙂\n\n# Heading\n## Second\n1. one\n- **two**\n'
OUTCOMES = ("model_a", "model_b", "tie", "both_bad")


@pytest.fixture
def spring(db, tmp_path):
    """spring() has votes on single replies, a blank one among them, and on a conversation of two turns."""

    def make() -> Campaign:
        models = ("tern", "puffin", "gull")
        prompts = [
            {"id": f"p{n}", "prompt": f"{NASTY}{n}", "language": "en", "specificity": n % 2} for n in range(4)
        ]
        responses = [
            {"prompt_id": f"p{n}", "model": model, "response": text, "tokens": 7 + n}
            for n in range(4)
            for model, text in (
                ("tern", NASTY * n),
                ("puffin", f"plain {n}"),
                ("gull", f"```\ncode {n}\n```"),
            )
        ]
        votes = [
            {
                "vote_id": n,
                "prompt_id": f"p{n % 4}",
                "model_a": models[n % 3],
                "model_b": models[(n + 1) % 3],
                "winner": OUTCOMES[n * 7 // 3 % 4],
                "rater": f"person {n % 5}",
                "voted_at": f"2026-01-02T03:04:{n:02}Z",
            }
            for n in range(40)
        ]
        imports = {
            "prompts": ["--set", "Birds"],
            "responses": ["--set", "Birds"],
            "votes": ["--campaign", "spring"],
        }
        for kind, rows in (("prompts", prompts), ("responses", responses), ("votes", votes)):
            (tmp_path / f"{kind}.jsonl").write_bytes(lines(*rows))
            call_command(f"import_{kind}", str(tmp_path / f"{kind}.jsonl"), *imports[kind])
        (tmp_path / "55k.jsonl").write_bytes(lines(arena_55k()))
        call_command("import_votes", str(tmp_path / "55k.jsonl"), "--campaign", "spring")
        return Campaign.objects.get()

    return make


def export(tmp_path, name: str = "out"):
    out = tmp_path / name
    call_command("export_campaign", "spring", "--layout", "arena_140k", "--out", str(out))
    return out


def rows_in(out) -> list[dict]:
    return [json.loads(line) for line in (out / "arena_140k.jsonl").open(encoding="utf-8", newline="\n")]


def voted() -> list[tuple]:
    """What every vote says, and about which texts."""
    related = ("battle__competitor_a", "battle__competitor_b", "battle__prompt", "battle__response_a")
    return [
        (
            vote.battle.competitor_a.name,
            vote.battle.competitor_b.name,
            vote.outcome,
            vote.voted_at,
            vote.battle.prompt.messages,
            vote.battle.response_a.text,
            vote.battle.response_a.tokens,
            vote.battle.response_b.text,
            vote.battle.prompt.specificity,
        )
        for vote in Vote.objects.select_related(*related, "battle__response_b").order_by("battle")
    ]


def ratings(campaign: Campaign) -> dict[str, tuple]:
    said = {}
    for board in BOARDS:
        snapshot = take_snapshot(default_leaderboard(campaign, board, None)).snapshot
        for row in snapshot.standings.select_related("competitor") if snapshot else ():
            said[board.name, row.competitor.name] = (row.rating, row.lower, row.upper)
    return said


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_our_own_reader_takes_it_back_with_the_same_boards(spring, tmp_path, kind):
    with transaction.atomic():
        campaign = spring()
        before, boards = voted(), ratings(campaign)
        out = export(tmp_path)
        transaction.set_rollback(True)
    assert not Prompt.objects.exists()
    call_command("import_votes", str(out / f"arena_140k.{kind}"), "--campaign", "again")
    assert voted() == before and len(before) == 41
    after = ratings(Campaign.objects.get())
    assert after.keys() == boards.keys() and len(after) == 6
    for key, numbers in boards.items():
        assert after[key] == pytest.approx(numbers, abs=1e-6), key
    conversation = Battle.objects.exclude(origin__turns=None).get().origin.turns
    assert [len(conversation[side]) for side in "ab"] == [2, 2]


def test_columns_and_types_are_those_of_the_layout(spring, tmp_path):
    spring()
    out = export(tmp_path)
    assert pq.read_schema(out / "arena_140k.parquet").equals(SCHEMA)
    first = rows_in(out)[0]
    assert list(first) == SCHEMA.names
    # The same columns and the same metadata that our rows of that arena have.
    assert arena_140k().keys() <= first.keys()
    assert arena_140k()["conv_metadata"].keys() <= first["conv_metadata"].keys()
    assert pq.read_table(out / "arena_140k.parquet").to_pylist() == rows_in(out)


def test_a_row_says_who_what_and_in_which_order(spring, tmp_path):
    spring()
    rows = rows_in(export(tmp_path))
    of_one = [row for row in rows if row["evaluation_session_id"] == rows[0]["evaluation_session_id"]]
    assert [row["evaluation_order"] for row in of_one] == list(range(1, len(of_one) + 1)) and len(of_one) == 8
    assert not any("person" in json.dumps(row) for row in rows)
    second = rows[1]
    assert second["conversation_b"][1]["content"][0]["text"] == "```\ncode 1\n```" and second["is_code"]
    assert second["conversation_b"][1]["num_tokens"] == 8 == second["conv_metadata"]["sum_assistant_b_tokens"]
    third = next(
        row for row in rows if row["model_a"] == "tern" and row["conv_metadata"]["header_count_a"]["h1"]
    )
    assert third["conv_metadata"]["header_count_a"]["h2"] == third["conv_metadata"]["header_count_a"]["h1"]
    assert second["category_tag"]["criteria_v0.1"]["specificity"] is True
    assert second["category_tag"]["criteria_v0.1"]["real_world"] is None
    two_turns = rows[-1]["full_conversation"]
    assert [part["user"]["role"] for part in two_turns] == ["user", "user"]
    assert rows[-1]["conv_metadata"]["turns"] == 2 and rows[-1]["language"] is None
    assert two_turns[1]["model_side_b"]["content"][0]["text"] == "The same one."


def test_what_boards_leave_out_and_what_has_no_text_is_not_in(spring, tmp_path, cast):
    campaign = spring()
    votes = list(Vote.objects.order_by("pk")[:4])
    exclusions.exclude_vote(campaign, votes[0].battle.public_id, cast.carol, "asleep")
    Retraction.objects.create(vote=votes[1])
    Battle.objects.filter(pk=votes[2].battle_id).update(kind=Battle.Kind.REPEAT)
    Battle.objects.filter(pk=votes[3].battle_id).update(response_a=None)
    redacted = Response.objects.get(competitor__name="puffin", prompt__external_id="p0")
    redact_response(redacted, reason="a name", by="carol")
    about = Vote.objects.filter(battle__response_a=redacted) | Vote.objects.filter(
        battle__response_b=redacted
    )
    gone = {vote.battle_id for vote in [*votes, *about]}
    out = export(tmp_path)
    assert {row["id"] for row in rows_in(out)} == {
        str(battle.public_id) for battle in Battle.objects.exclude(pk__in=gone)
    }
    readme = (out / "README.md").read_text()
    assert "* 1 without their texts" in readme
    assert f"* {about.exclude(pk__in=[vote.pk for vote in votes]).count()} about a redacted text" in readme


@given(st.text(alphabet="#*_-+1. \n`~a", max_size=60))
def test_kinds_add_up_to_what_is_counted(text):
    kinds, counts = count_by_kind(text), count_style(text)
    sums = [sum(kinds[kind].values()) for kind in ("header", "list", "bold")]
    assert sums == [counts.headings, counts.list_items, counts.bold]


def test_kinds_are_told_apart():
    text = "# a\n### b\n- c\n* d\n1. e\n**f** __g__ __h__"
    assert count_by_kind(text) == {
        "header": {"h1": 1, "h2": 0, "h3": 1, "h4": 0, "h5": 0, "h6": 0},
        "list": {"ordered": 1, "unordered": 2},
        "bold": {"**": 1, "__": 2},
    }
