from __future__ import annotations

import io
from collections import namedtuple
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from huey.contrib.djhuey import HUEY

from arena.battles.models import Battle, Vote
from arena.battles.seal_models import Seal
from arena.corpus.models import PromptSet, Response
from arena.endpoints.models import Endpoint
from arena.operation import doctor, health
from arena.operation.prepare import collect_static_files, ensure_admin
from tests.conftest import drop_triggers


@pytest.fixture
def sound_installation(db, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path / "static"
    settings.DATA_DIR = tmp_path
    collect_static_files(lambda words: None)
    health.beat()
    admin = ensure_admin()
    admin.set_password("lance-and-shield-7")
    admin.save()
    yield settings
    HUEY.get(health.HEARTBEAT)


def problems() -> dict[str, str]:
    return {finding.subject: finding.words for finding in doctor.examine() if not finding.is_sound}


def test_a_sound_installation_has_nothing_to_fix(sound_installation):
    assert problems() == {}


def test_the_command_ends_with_one_when_something_is_wrong(sound_installation):
    out = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("doctor", stdout=out)
    assert end.value.code == 0
    HUEY.get(health.HEARTBEAT)
    with pytest.raises(SystemExit) as end:
        call_command("doctor", stdout=out)
    assert end.value.code == 1
    assert "FIX  queue: no consumer has run yet" in out.getvalue()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"DEBUG": True}, "DEBUG is on"),
        ({"PUBLIC_URL": "http://arena.example.org"}, "add arena.example.org"),
        (
            {"PUBLIC_URL": "https://arena.example.org", "ALLOWED_HOSTS": ["arena.example.org"]},
            "set TILTYARD_HTTPS=1",
        ),
        ({"HTTPS": True, "PROXY_COUNT": 1}, "PUBLIC_URL must begin with https://"),
        (
            {"HTTPS": True, "PUBLIC_URL": "https://arena.example", "ALLOWED_HOSTS": ["arena.example"]},
            "set PROXY_COUNT=1",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_found(sound_installation, changed, words):
    for name, value in changed.items():
        setattr(sound_installation, name, value)
    assert words in problems()["settings"]


def test_a_full_disk_is_found(sound_installation, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: usage(1, 1, 5_000_000))
    assert "0.0 GB free; make room" in problems()["disk"]


def test_a_secret_key_that_others_may_read_is_found(sound_installation, tmp_path):
    (tmp_path / "secret_key").touch(mode=0o644)
    (tmp_path / "secret_key").chmod(0o644)
    assert "chmod 600" in problems()["secret key"]


def test_static_files_out_of_date_are_found(sound_installation, tmp_path):
    (tmp_path / "static" / ".collected").write_text("older")
    assert "./tiltyard run collects them" in problems()["static files"]


def test_a_missing_migration_is_found(sound_installation):
    MigrationRecorder(connection).migration_qs.filter(app="arena").order_by("-pk").first().delete()
    assert "./tiltyard manage migrate" in problems()["migrations"]


def test_votes_that_could_be_changed_are_found(sound_installation):
    with connection.cursor() as cursor:
        for statement in drop_triggers(connection):
            cursor.execute(statement)
    assert "arena_vote_refuses_update" in problems()["votes"]


def test_an_admin_without_password_is_found(sound_installation):
    admin = User.objects.get(is_superuser=True)
    admin.set_unusable_password()
    admin.save()
    assert "nobody can sign in as admin" in problems()["admin"]


def test_an_endpoint_whose_key_is_not_set_is_found(sound_installation, cast, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    Endpoint.objects.create(
        team=cast.team,
        name="Far",
        base_url="https://llm.example.org/v1",
        key_variable="SOME_KEY",
        model_id="m",
    )
    assert "SOME_KEY is not set" in problems()["endpoint “Far”"]
    monkeypatch.setenv("SOME_KEY", "sk-1234567890")
    assert problems() == {}


def test_an_open_campaign_that_can_draw_nothing_is_found(sound_installation, small_campaign):
    assert problems() == {}
    Response.objects.update(is_blank=True)
    assert "raters can't vote" in problems()["campaign “Small”"]
    Response.objects.update(is_blank=False)
    PromptSet.objects.update(status=PromptSet.Status.DRAFT)
    assert "Publish the prompt set" in problems()["campaign “Small”"]


def test_votes_that_nobody_seals_are_noticed_and_sealed_ones_are_not(
    sound_installation, small_campaign, cast
):
    a, b, _ = small_campaign.competitors
    at = timezone.now() - timedelta(minutes=11)
    battle = Battle.objects.create(
        campaign=small_campaign.campaign,
        prompt=small_campaign.prompts[0],
        competitor_a=a,
        competitor_b=b,
        rater=cast.alice_rater,
        drawn_at=at,
    )
    vote = Vote.objects.create(battle=battle, rater=battle.rater, outcome="tie", voted_at=at)
    assert "unsealed: 1 vote" in problems()["seals"]
    covers = {"first_vote": vote.pk, "last_vote": vote.pk, "votes": 1, "sha256": "0" * 64}
    Seal.objects.create(**covers, at=timezone.now())
    assert "seals" not in problems()
