"""A file of votes is gone through again for each step; only the rows that are made at once are held."""

import json
import weakref

import pytest

from arena.battles.models import Battle, Vote
from arena.exchange import import_votes_stored
from arena.exchange.formats.reading import FileRows
from arena.exchange.imports import finish, new_record, plan_import
from arena.exchange.models import Origin
from arena.judging.models import Judgment
from arena.raters.models import Rater, Team

VOTES, AT_ONCE = 120, 10


def row(number: int, **more) -> str:
    told = {"vote_id": f"v{number}", "model_a": f"m{number % 4}", "model_b": "rival", "winner": "model_a"}
    return json.dumps(told | {"rater": f"r{number % 7}"} | more) + "\n"


def plan_of(content: str):
    return plan_import("votes", Team.default(), "old", content.encode(), "votes.jsonl")


@pytest.fixture
def held(cast, monkeypatch):
    """The most rows of a file that were there at a time."""
    alive, most, original = weakref.WeakSet(), [0], FileRows.rows

    def watched(self, report):
        for one in original(self, report):
            alive.add(one)
            most[0] = max(most[0], len(alive))
            yield one

    monkeypatch.setattr(FileRows, "rows", watched)
    monkeypatch.setattr(import_votes_stored, "AT_ONCE", AT_ONCE)
    return most


@pytest.mark.parametrize("more", [{}, {"source": "judge"}, {"prompt_id": "p1"}], ids=str)
def test_rows_are_made_and_let_go(held, more):
    plan = plan_of("".join(row(number, **more) for number in range(VOTES)))
    assert plan.errors == () and plan.count == VOTES
    finish(new_record(plan), plan)
    assert Battle.objects.count() == VOTES
    assert (Judgment if "source" in more else Vote).objects.count() == VOTES
    assert 0 < held[0] <= 2 * AT_ONCE + 2


def test_people_and_judges_of_one_file_come_in_together_whatever_chunk_they_are_in(held):
    lines = [row(number, source="judge" if number % 3 == 0 else "person") for number in range(VOTES)]
    plan = plan_of("".join(lines))
    finish(new_record(plan), plan)
    judged = VOTES // 3
    assert (Vote.objects.count(), Judgment.objects.count(), Origin.objects.count()) == (
        VOTES - judged,
        judged,
        judged,
    )
    assert Judgment.objects.values("run").distinct().count() == 1
    assert Rater.objects.filter(pseudonym__in=[f"r{n}" for n in range(7)]).count() == 7
    assert [battle.rater_id is None for battle in Battle.objects.order_by("pk")] == [
        number % 3 == 0 for number in range(VOTES)
    ]


def test_what_came_in_before_is_known_and_only_the_rest_is_stored(held):
    first = plan_of("".join(row(number) for number in range(50)))
    finish(new_record(first), first)
    again = plan_of("".join(row(number) for number in range(VOTES)))
    assert (again.count, again.skipped) == (VOTES - 50, 50)
    finish(new_record(again), again)
    assert Vote.objects.count() == VOTES
