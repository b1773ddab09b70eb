"""Rows that wait on the disk are stored as they are, all in one transaction, and leave nothing behind."""

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, connection, transaction

from arena.battles.models import Battle
from arena.exchange import insertions, uploads
from arena.exchange.insertions import Spool
from arena.exchange.models import Origin
from arena.raters.models import Rater

LONG_AGO = datetime(2024, 2, 29, 12, 30, 1, 250_000, tzinfo=UTC)


@pytest.fixture
def made(small_campaign):
    """Three raters, and for each a battle with its origin: texts, lists, times, nulls and fractions."""
    small, given = small_campaign, []
    sides = {f"competitor_{side}": model for side, model in zip("ab", small.competitors, strict=False)}
    for number in range(3):
        rater = Rater(
            team=small.campaign.team,
            pseudonym=f"O'Neil, “{number}” % ?",
            admission="recorded",
            languages=["fr"],
        )
        battle = Battle(
            campaign=small.campaign,
            kind="recorded",
            rater=rater,
            drawn_at=LONG_AGO,
            propensity=number / 3,
            **sides,
        )
        given.append((rater, battle, Origin(battle=battle, label="1e3", turns={"a": ["é"], "b": []})))
    for rows in zip(*given, strict=True):
        insertions.number(rows)
    for _rater, battle, origin in given:
        battle.rater, origin.battle = battle.rater, battle  # which have numbers now
    return [list(rows) for rows in zip(*given, strict=True)]


def left() -> list[str]:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA database_list")
            attached = [name for _number, name, _path in cursor.fetchall() if name not in ("main", "temp")]
            return [*attached, *(path.name for path in uploads.folder().iterdir())]
    return [path.name for path in uploads.folder().iterdir()]


def stored(rows) -> list[dict]:
    found = type(rows[0]).objects.filter(pk__in=[row.pk for row in rows]).order_by("pk")
    return list(found.values())


def values_of(rows) -> list[dict]:
    return [
        {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields} for row in rows
    ]


def wait(parts) -> Spool:
    waiting = Spool()
    for rows in parts:
        waiting.add(rows[:1], as_given=True)
        waiting.add(rows[1:], as_given=True)
        waiting.add([])
    return waiting


@pytest.mark.django_db(transaction=True)
def test_they_are_stored_as_they_are_and_nothing_else_is_left(made):
    for rater in made[0]:
        rater.created_at = LONG_AGO
    before = left()
    waiting = wait(made)
    assert not any(map(stored, made))
    with transaction.atomic():
        waiting.store()
    waiting.close()
    assert [stored(rows) for rows in made] == [values_of(rows) for rows in made]
    assert left() == before


@pytest.mark.django_db(transaction=True)
def test_where_one_of_them_is_there_already_none_is_stored(made):
    before = left()
    waiting = wait([*made, made[0][:1]])
    with pytest.raises(IntegrityError), transaction.atomic():
        waiting.store()
    waiting.close()
    assert not any(map(stored, made)) and left() == before


def test_within_another_transaction_they_are_stored_as_often_as_one_likes(made):
    before = left()
    for number in range(12):  # SQLite takes ten other files at once
        waiting = Spool()
        waiting.add([Rater(team=made[0][0].team, pseudonym=f"again {number}", admission="recorded")])
        with transaction.atomic():
            waiting.store()
        waiting.close()
    assert Rater.objects.filter(pseudonym__startswith="again").count() == 12 and left() == before
    for rater in made[0]:
        rater.created_at = LONG_AGO
    waiting = wait(made)
    with transaction.atomic():
        waiting.store()
    waiting.close()
    assert [stored(rows) for rows in made] == [values_of(rows) for rows in made]
