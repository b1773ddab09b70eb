"""Seals over votes, and what verify_ballots says of rows that somebody got past the triggers."""

from __future__ import annotations

import hashlib
import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from arena.battles import append_only, seals, tasks
from arena.battles.ballots import digest
from arena.battles.models import Vote
from arena.battles.seal_models import Seal
from tests.conftest import drop_triggers

# PostgreSQL can tell what has settled only outside a transaction.
pytestmark = pytest.mark.django_db(transaction=True)


def verify(**options) -> str:
    out = io.StringIO()
    call_command("verify_ballots", stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def sealed_twice(desk) -> list[Vote]:
    """Five votes: three under the first seal, two under the second."""
    for number in range(5):
        desk.vote(desk.on_screen())
        if number in (2, 4):
            seals.seal_votes()
    assert Seal.objects.count() == 2
    return list(Vote.objects.order_by("pk"))


def tamper(statement: str, *parameters) -> None:
    """As somebody with the database's file would: without triggers, which are back afterwards."""
    with connection.cursor() as cursor:
        for drop in drop_triggers(connection):
            cursor.execute(drop)
        cursor.execute(statement, parameters)
    append_only.create_triggers(app_config=type("App", (), {"name": "arena"}), using="default")
    assert append_only.missing_triggers() == set()


def test_a_seal_hashes_the_seal_before_and_the_digests_since(sealed_twice):
    first, second = Seal.objects.order_by("pk")
    digests = [vote.digest for vote in sealed_twice]
    assert first.sha256 == hashlib.sha256("".join(digests[:3]).encode()).hexdigest()
    assert second.sha256 == hashlib.sha256("".join([first.sha256, *digests[3:]]).encode()).hexdigest()
    assert (first.previous, second.previous) == (None, first)
    assert (second.first_vote, second.last_vote, second.votes) == (sealed_twice[3].pk, sealed_twice[4].pk, 2)


def test_the_worker_seals_and_without_new_votes_makes_no_seal(desk):
    tasks.seal()
    assert not Seal.objects.exists()
    desk.vote(desk.on_screen())
    tasks.seal()
    tasks.seal()
    assert Seal.objects.get().votes == 1


def test_sound_ballots_are_called_sound_and_the_newest_seal_is_printed(sealed_twice, desk):
    desk.vote(desk.on_screen())
    said = verify()
    newest = Seal.objects.latest("pk").sha256
    assert "As they were cast: 6 votes, under 2 seals" in said
    assert "1 wait for the next seal" in said
    assert newest in said
    assert "6 votes" in verify(expect=newest)


def test_a_changed_vote_is_named(sealed_twice):
    other = "model_b" if sealed_twice[1].outcome == "model_a" else "model_a"
    tamper("UPDATE arena_vote SET outcome = %s WHERE id = %s", other, sealed_twice[1].pk)
    with pytest.raises(CommandError, match=f"^vote {sealed_twice[1].pk}: its digest"):
        verify()


def test_a_vote_changed_together_with_its_digest_breaks_its_seal(sealed_twice):
    vote = Vote.objects.select_related("battle", "rater").get(pk=sealed_twice[4].pk)
    vote.outcome = "tie"
    tamper("UPDATE arena_vote SET outcome = 'tie', digest = %s WHERE id = %s", digest(vote), vote.pk)
    with pytest.raises(CommandError, match=f"^seal {Seal.objects.latest('pk').pk}: it doesn't match"):
        verify()


@pytest.mark.parametrize("place", [0, 1, 2, 4])
def test_a_missing_vote_is_named(sealed_twice, place):
    gone = sealed_twice[place].pk
    tamper("DELETE FROM arena_vote WHERE id = %s", gone)
    with pytest.raises(CommandError, match=f"^vote {gone}: missing"):
        verify()


def test_a_vote_slipped_in_below_a_seal_is_found(sealed_twice, desk):
    desk.vote(desk.on_screen())
    late = Vote.objects.latest("pk")
    # Number 0 lies below every seal.
    tamper("UPDATE arena_vote SET id = 0 WHERE id = %s", late.pk)
    with pytest.raises(CommandError, match="slipped in"):
        verify()


def test_a_removed_seal_breaks_the_chain(sealed_twice):
    first, second = Seal.objects.order_by("pk")
    tamper("UPDATE arena_seal SET previous_id = NULL WHERE id = %s", second.pk)
    with pytest.raises(CommandError, match=f"^seal {second.pk}: the chain is broken"):
        verify()
    tamper("DELETE FROM arena_seal WHERE id = %s", first.pk)
    with pytest.raises(CommandError, match=f"^seal {second.pk}: "):
        verify()


def test_a_chain_made_anew_lacks_the_seal_that_was_noted_down(sealed_twice):
    noted = Seal.objects.latest("pk").sha256
    tamper("DELETE FROM arena_vote WHERE id = %s", sealed_twice[4].pk)
    tamper("DELETE FROM arena_seal WHERE previous_id IS NOT NULL")
    tamper("DELETE FROM arena_seal")
    seals.seal_votes()
    assert "As they were cast: 4 votes" in verify()
    with pytest.raises(CommandError, match=f"the seal {noted} isn't in the chain"):
        verify(expect=noted)


def test_a_missing_trigger_is_named(sealed_twice):
    where = " ON arena_vote" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER arena_vote_refuses_update{where}")
    with pytest.raises(CommandError, match="arena_vote_refuses_update is missing"):
        verify()


def test_two_workers_sealing_at_once_make_one_seal(desk, monkeypatch):
    desk.vote(desk.on_screen())
    settled = seals._settled

    def another_is_faster():
        monkeypatch.setattr(seals, "_settled", settled)
        assert seals.seal_votes() is not None
        return settled()

    monkeypatch.setattr(seals, "_settled", another_is_faster)
    assert seals.seal_votes() is None
    assert Seal.objects.count() == 1
    assert "1 vote" in verify()
