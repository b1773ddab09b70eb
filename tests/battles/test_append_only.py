from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from arena.battles.append_only import missing_triggers, trigger_names
from arena.battles.models import Retraction, Vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def vote(desk):
    battle = desk.on_screen()
    desk.vote(battle)
    desk.act(battle, "undo")
    return Vote.objects.get()


def test_the_triggers_exist_after_every_migration():
    assert len(trigger_names(connection)) >= 4
    assert missing_triggers() == set()


@pytest.mark.parametrize("rows", [Vote.objects, Retraction.objects])
@pytest.mark.parametrize("act", ["update", "delete"])
def test_the_database_refuses_changes(vote, rows, act):
    table = rows.model._meta.db_table
    statement = {"update": f"UPDATE {table} SET id = id + 1", "delete": f"DELETE FROM {table}"}[act]
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        connection.cursor().execute(statement)
    assert rows.count() == 1


def test_the_database_refuses_what_gets_past_update_and_delete(vote):
    cursor = connection.cursor()
    if connection.vendor == "postgresql":
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        statement = "TRUNCATE arena_vote CASCADE"
    else:
        statement = "REPLACE INTO arena_vote SELECT * FROM arena_vote"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_a_lost_trigger_is_named_and_the_next_migrate_brings_it_back():
    where = " ON arena_vote" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER arena_vote_refuses_update{where}")
    assert missing_triggers() == {"arena_vote_refuses_update"}
    call_command("migrate", verbosity=0)
    assert missing_triggers() == set()


@pytest.mark.django_db(transaction=True)
def test_after_a_transactional_test_the_triggers_are_there():
    """The flush that followed the test before has to get past the triggers and bring them back."""
    assert missing_triggers() == set()
    assert not Vote.objects.exists()
