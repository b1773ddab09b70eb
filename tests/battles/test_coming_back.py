"""Coming back to the battles after the one on the screen has run out, by every way there is."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign

LEFT = "The battle that you left had been open for too long. Here is a new one."


def words(answer) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


@pytest.fixture
def run_out():
    """All that was drawn, voted and waits is a day older, so that what waits has run out."""

    def a_day_later() -> None:
        for battle in Battle.objects.select_related("vote"):
            Battle.objects.filter(pk=battle.pk).update(
                drawn_at=battle.drawn_at - timedelta(days=2), expires_at=battle.expires_at - timedelta(days=2)
            )

    return a_day_later


def in_the_same_browser(desk) -> Client:
    return desk.client


def on_another_device(desk) -> Client:
    page = desk.client.post("/campaigns/small/my-link/").content.decode()
    path = re.search(r">http://testserver(/join/[^<]+)<", page)[1]
    phone = Client()
    phone.post(path)
    return phone


WAYS = pytest.mark.parametrize("come_back", [in_the_same_browser, on_another_device])


@WAYS
def test_whoever_comes_back_too_late_is_told_once_and_gets_a_new_battle(desk, run_out, come_back):
    left = desk.on_screen()
    run_out()
    visitor = come_back(desk)
    page = visitor.get("/campaigns/small/battle/")
    assert LEFT in words(page) and "<article" in page.content.decode()
    assert str(left.public_id) not in page.content.decode()
    assert LEFT not in words(visitor.get("/campaigns/small/battle/"))


@WAYS
def test_whoever_comes_back_in_time_finds_the_same_battle_and_no_words(desk, come_back):
    left = desk.on_screen()
    page = come_back(desk).get("/campaigns/small/battle/")
    assert str(left.public_id) in page.content.decode()
    assert LEFT not in words(page)


@WAYS
def test_a_battle_on_the_screen_may_run_out_before_those_behind_it(desk, come_back):
    left = desk.on_screen()
    Battle.objects.filter(pk=left.pk).update(
        drawn_at=left.drawn_at - timedelta(days=2), expires_at=timezone.now() - timedelta(hours=1)
    )
    Battle.objects.exclude(pk=left.pk).update(drawn_at=timezone.now() - timedelta(hours=2))
    assert LEFT in words(come_back(desk).get("/campaigns/small/battle/"))


def test_the_first_visit_and_a_vote_in_time_bring_no_such_words(desk):
    assert LEFT not in words(desk.look())
    desk.vote(desk.on_screen())
    assert LEFT not in words(desk.look())


def test_a_skipped_battle_that_ran_out_was_not_left(desk):
    for battle in desk.open_battles():
        desk.act(battle, "skip")
    skipped = Battle.objects.filter(notes__kind="skip")
    Battle.objects.exclude(pk__in=skipped.values("pk")).delete()
    skipped.update(expires_at=timezone.now() - timedelta(minutes=1))
    assert LEFT not in words(desk.look())


def test_a_stale_page_that_sends_its_vote_is_told_once(desk, run_out):
    left = desk.on_screen()
    run_out()
    assert "open for too long" in words(desk.vote(left))
    assert LEFT not in words(desk.look())


@pytest.mark.parametrize("change", [{"status": "closed"}, {"status": "paused"}, {"ends_at": timezone.now()}])
def test_where_no_new_battle_comes_none_is_promised(desk, run_out, change):
    desk.on_screen()
    run_out()
    Campaign.objects.update(**change)
    assert LEFT not in words(desk.look())


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("fr", "Le duel que vous aviez laissé"), ("ar", "المواجهة التي تركتها")],
)
def test_it_is_said_in_the_raters_language(desk, run_out, language, sentence):
    desk.on_screen()
    run_out()
    page = words(desk.look(**{"Accept-Language": language}))
    assert sentence in page and "too long" not in page
