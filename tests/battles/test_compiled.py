"""Statements made once give what the queryset gives, whatever the values."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.battles.models import Battle
from arena.compiled import Compiled, CompiledInsert, CompiledUpdate
from arena.corpus.models import Prompt

pytestmark = pytest.mark.django_db


def build(newest_first: bool, campaign, prompts, before):
    found = Battle.objects.filter(campaign=campaign, prompt__in=prompts, drawn_at__lt=before)
    return found.select_related("campaign").order_by("-pk" if newest_first else "pk")


@pytest.fixture
def battles(small_campaign, make_rater, draw_all) -> list[Battle]:
    return draw_all(small_campaign.campaign, make_rater(small_campaign.campaign.team))


@pytest.mark.parametrize("newest_first", [True, False])
def test_rows_and_their_relations_are_those_of_the_queryset(battles, small_campaign, newest_first):
    compiled = Compiled(build)
    one, two, three, _ = (prompt.pk for prompt in small_campaign.prompts)
    soon = timezone.now() + timedelta(minutes=1)
    for prompts, before in (((one, two), soon), ((two, three), soon), ((one, two), battles[3].drawn_at)):
        values = {"campaign": small_campaign.campaign.pk, "prompts": prompts, "before": before}
        with CaptureQueriesContext(connection) as queries:
            found = compiled(newest_first, **values)
            assert all(battle.campaign.slug == "small" for battle in found)
        assert found == list(build(newest_first, **values))
        assert len(queries) == 1


def test_another_shape_is_another_statement(battles, small_campaign):
    compiled = Compiled(build)
    here = {"campaign": small_campaign.campaign.pk, "before": timezone.now() + timedelta(minutes=1)}
    prompts = tuple(prompt.pk for prompt in small_campaign.prompts)
    assert len(compiled(True, prompts=prompts, **here)) == 12
    assert len(compiled(True, prompts=prompts[:1], **here)) == 3
    assert compiled(False, prompts=prompts, **here) == compiled(True, prompts=prompts, **here)[::-1]


def test_uuids_and_plain_values_are_read_as_the_queryset_reads_them(battles):
    compiled = Compiled(
        lambda public_id: Battle.objects.filter(public_id=public_id).values_list(
            "public_id", "drawn_at", "kind"
        )
    )
    for battle in battles:
        assert compiled(public_id=battle.public_id) == [(battle.public_id, battle.drawn_at, "regular")]
    assert compiled(public_id=uuid.uuid4()) == []


def test_a_value_that_the_statement_does_not_hold_is_an_error():
    compiled = Compiled(lambda pk, other: Battle.objects.filter(pk=pk))
    with pytest.raises(ValueError, match="has no place"):
        compiled(pk=1, other=2)


def test_what_can_not_stand_in_is_refused():
    with pytest.raises(TypeError, match="whole numbers, texts, UUIDs or times"):
        Compiled(lambda share: Battle.objects.filter(propensity=share))(share=0.5)
    with pytest.raises(TypeError, match="use objects or values_list"):
        Compiled(lambda pk: Battle.objects.filter(pk=pk).values())(pk=1)


def test_texts_and_single_columns_are_read_as_the_queryset_reads_them(battles):
    compiled = Compiled(
        lambda kind: Battle.objects.filter(kind=kind).order_by("pk").values_list("pk", flat=True)
    )
    assert compiled(kind="regular") == sorted(battle.pk for battle in battles)
    assert compiled(kind="gold") == []


def test_no_row_is_fetched_while_a_statement_is_made(battles):
    compiled = Compiled(lambda at: Battle.objects.filter(drawn_at__gt=at))
    with CaptureQueriesContext(connection) as queries:
        compiled(at=datetime(2020, 1, 1, tzinfo=UTC))
    assert len(queries) == 1


def test_an_update_writes_what_the_fields_take_and_counts_its_rows(battles):
    update = CompiledUpdate(lambda battle, kind: Battle.objects.filter(pk=battle, kind=kind))
    at, battle = timezone.now(), battles[0]
    for columns in (
        {"drawn_at": at, "propensity": None},
        {"drawn_at": at, "propensity": 0.25},
        {"kind": Battle.Kind.GOLD},
    ):
        assert update(columns, battle=battle.pk, kind="regular") == 1
    battle.refresh_from_db()
    assert (battle.drawn_at, battle.propensity, battle.kind) == (at, 0.25, "gold")
    assert update({"kind": "regular"}, battle=battle.pk, kind="regular") == 0
    assert Battle.objects.filter(kind="gold").count() == 1


def test_an_update_writes_json_and_percent_signs_as_they_are(small_campaign):
    prompt = small_campaign.prompts[0]
    update = CompiledUpdate(lambda prompt: Prompt.objects.filter(pk=prompt))
    turns = [{"role": "user", "content": "ÿ %s"}]
    assert update({"messages": turns, "reference": "100 %"}, prompt=prompt.pk) == 1
    prompt.refresh_from_db()
    assert (prompt.messages, prompt.reference) == (turns, "100 %")


def test_a_value_that_an_update_does_not_hold_is_an_error():
    update = CompiledUpdate(lambda pk, other: Battle.objects.filter(pk=pk))
    with pytest.raises(ValueError, match="has no place"):
        update({"kind": "gold"}, pk=1, other=2)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_is_inserted_is_what_bulk_create_would_have_stored(battles, small_campaign, count):
    columns = [
        field.attname for field in Battle._meta.concrete_fields if field.name not in ("id", "public_id")
    ]
    copies = [Battle(**{name: getattr(battle, name) for name in columns}) for battle in battles[:count]]
    for copy in copies:
        copy.kind = Battle.Kind.RECORDED
    with CaptureQueriesContext(connection) as queries:
        CompiledInsert(Battle)(copies)
    assert len(queries) == 1
    for copy, battle in zip(copies, battles, strict=False):
        stored = Battle.objects.get(public_id=copy.public_id)
        assert stored == copy and not copy._state.adding
        differing = [name for name in columns if getattr(stored, name) != getattr(battle, name)]
        assert differing == ["kind"]


def test_a_refused_insert_is_an_integrity_error(battles):
    again = Battle(
        public_id=battles[0].public_id, campaign_id=battles[0].campaign_id, drawn_at=timezone.now()
    )
    again.competitor_a_id, again.competitor_b_id = battles[0].competitor_a_id, battles[0].competitor_b_id
    with pytest.raises(IntegrityError), transaction.atomic():
        CompiledInsert(Battle)([again])
