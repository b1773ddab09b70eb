"""Votes of other arenas in the database: battles with texts, judgments apart from votes."""

import pytest
from django.core.management import call_command

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt, PromptSet, Response
from arena.exchange.formats.known import NAMES
from arena.exchange.models import Origin
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.raters.models import Rater, Team

from .arena_rows import (
    ASKED,
    CHAT,
    REPLY_A,
    REPLY_B,
    ROWS,
    arena_55k,
    arena_100k,
    arena_140k,
    clean,
    lines,
    logged,
    mt_bench,
    pair,
    said,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def bring(tmp_path, capsys):
    def call(*rows: dict, campaign: str = "old", name: str = "votes.jsonl", options=()) -> str:
        (tmp_path / name).write_bytes(lines(*rows))
        call_command("import_votes", str(tmp_path / name), "--campaign", campaign, *options)
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize("name", ROWS)
def test_every_format_comes_in_and_the_same_file_again_adds_nothing(bring, name):
    assert "1 row imported into" in bring(ROWS[name]())
    assert "Nothing new" in bring(ROWS[name]())
    assert Battle.objects.count() == 1 == Vote.objects.count() + Judgment.objects.count()
    assert Origin.objects.get().format == name and name in NAMES


def test_battles_bring_their_prompt_and_their_responses(bring):
    bring(arena_100k())
    battle = Battle.objects.select_related("prompt", "response_a", "response_b").get()
    assert battle.prompt.messages == [{"role": "user", "content": ASKED}]
    assert battle.prompt.external_id.startswith("c-") and battle.prompt.specificity is True
    assert (battle.response_a.text, battle.response_b.text) == (REPLY_A, REPLY_B)
    assert (battle.response_a.tokens, battle.response_a.list_items) == (12, 2)
    assert Campaign.objects.get().prompt_sets.get() == PromptSet.objects.get(name="old (imported)")


def test_one_prompt_has_one_row_however_many_votes_are_about_it(bring):
    other = said(ASKED, "Use a rock.")
    bring(clean(), clean(question_id="q2", judge="u2"), clean(question_id="q3", conversation_a=other))
    assert Prompt.objects.count() == 1
    samples = Response.objects.filter(competitor__name="tern").order_by("sample")
    assert [(row.sample, row.text) for row in samples] == [(1, REPLY_A), (2, "Use a rock.")]
    assert Response.objects.filter(competitor__name="puffin").count() == 1
    bring(clean(question_id="q4", conversation_a=other), name="more.jsonl")
    assert Prompt.objects.count() == 1 and Response.objects.count() == 3


def test_a_published_set_takes_no_more_and_a_next_version_is_made(bring):
    bring(clean())
    PromptSet.objects.update(status=PromptSet.Status.PUBLISHED)
    bring(clean(question_id="q2", **{f"conversation_{s}": said("Else?", s) for s in "ab"}), name="2.jsonl")
    assert [row.version for row in Campaign.objects.get().prompt_sets.order_by("version")] == [1, 2]


def test_several_turns_and_the_label_are_kept_beside_the_battle(bring):
    bring(arena_55k())
    origin = Origin.objects.get()
    assert origin.label == "winner_model_b"
    assert origin.turns == {"a": [REPLY_A, ""], "b": [REPLY_B, "The same one."]}
    assert len(Prompt.objects.get().messages) == 2


def test_our_own_files_leave_an_origin_only_where_the_label_says_more(bring):
    row = {"model_a": "x", "model_b": "y", "rater": "r"}
    bring(row | {"winner": "tie"}, row | {"winner": "tie (bothbad)"})
    assert [origin.label for origin in Origin.objects.all()] == ["tie (bothbad)"]


def test_a_log_yields_one_vote_by_a_pseudonym_and_no_address_is_kept(bring):
    out = bring(CHAT, logged(), logged(tstamp=1_740_000_009.0), logged("f2", "I was trained by Seabird."))
    assert "1 row skipped in which a reply says which model it is" in out
    vote = Vote.objects.select_related("rater").get()
    assert vote.rater.pseudonym.startswith("visitor ") and "198.51" not in vote.rater.pseudonym
    bring(logged("f9"), name="next.jsonl")
    assert Rater.objects.count() == 1


def test_a_judge_file_becomes_a_recorded_run_and_no_votes(bring):
    bring(pair(), pair(question_id=91, g2_winner="model_2"), pair(question_id=92, g1_winner="error"))
    assert not Vote.objects.exists() and not Rater.objects.exists()
    run = JudgeRun.objects.get()
    assert (run.kind, run.status) == ("recorded", "completed")
    judge = run.judges.get()
    assert (judge.name, judge.endpoint, judge.rubric) == ("weigher pair-v1", None, None)
    found = Judgment.objects.order_by("pk").values_list("outcome", "flip")
    assert list(found) == [("model_a", "none"), ("tie_unstable", "hard"), ("no_verdict", "none")]
    assert all(battle.rater is None for battle in Battle.objects.all())


def test_people_and_judges_of_one_file_part(bring):
    bring(mt_bench(), mt_bench(judge="gpt4_pair", winner="tie (inconsistent)"))
    assert Vote.objects.get().rater.pseudonym == "expert_4"
    assert Judgment.objects.get().outcome == "tie_unstable"
    assert Prompt.objects.get().external_id == "90, turn 2"


def test_the_raters_of_our_own_columns_may_be_judges(bring):
    rows = [
        {"model_a": "x", "model_b": "y", "winner": "x", "judge": f"j{n % 2}", "vote_id": n} for n in range(4)
    ]
    bring(*rows, options=["--judges"])
    assert "Nothing new" in bring(*rows, options=["--judges"])
    assert Judgment.objects.count() == 4 and Judge.objects.count() == 2
    boards = ensure_leaderboards(Campaign.objects.get())
    run = take_snapshot(next(board for board in boards if board.judge and board.subset == "all"))
    assert run.state == "published", run.reason


def test_a_judge_that_can_be_asked_is_another_one(bring, django_user_model):
    from arena.endpoints.models import Endpoint

    endpoint = Endpoint.objects.create(
        team=Team.default(), name="E", base_url="https://llm.invalid/v1", model_id="m"
    )
    Judge.objects.create(team=Team.default(), name="weigher pair-v1", endpoint=endpoint)
    bring(pair())
    assert Judgment.objects.get().judge.name == "weigher pair-v1 (recorded)"


def test_one_id_with_two_texts_changes_nothing(bring):
    other = mt_bench(judge="expert_5", **{f"conversation_{s}": said("A?", s, "B?", s) for s in "ab"})
    with pytest.raises(Exception, match="prompt '90, turn 2' has another text on line 1"):
        bring(mt_bench(), other)
    bring(mt_bench())
    with pytest.raises(Exception, match="prompt '90, turn 2' is stored with another text"):
        bring(other, name="other.jsonl")
    assert Battle.objects.count() == 1


def test_a_named_format_is_believed(bring):
    with pytest.raises(Exception, match="column model_a_name: is empty"):
        bring(arena_140k(), options=["--format", "comparia"])
