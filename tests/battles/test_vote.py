from __future__ import annotations

import hashlib
import json
import re
import threading
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.battles import ballots, desks
from arena.battles.models import Battle, Outcome, Vote
from arena.campaigns.models import Campaign, Guide
from arena.raters.models import Rater

BACK = "/campaigns/small/battle/"
VOTE_AND_NEXT = 10  # beside the locks on the battle and the rater


def is_work(query: dict) -> bool:
    return not re.match(r"(BEGIN|COMMIT|SAVEPOINT|RELEASE)\b", query["sql"])


def locks() -> int:
    return 2 if connection.features.has_select_for_update else 0


@pytest.mark.parametrize("outcome", Outcome.values)
def test_each_outcome_is_recorded_as_it_was_pressed(desk, outcome):
    battle = desk.on_screen()
    assert desk.vote(battle, outcome).status_code == 200
    vote = Vote.objects.get()
    assert (vote.battle, vote.rater, vote.outcome) == (battle, desk.rater, outcome)


def test_a_form_without_scripts_comes_back_to_the_page(desk):
    battle = desk.on_screen()
    answer = desk.vote(battle, Accept="text/html")
    assert (answer.status_code, answer.url) == (303, BACK)
    assert Vote.objects.get().battle == battle
    assert desk.on_screen() != battle


def test_a_script_gets_the_next_battle_and_what_was_recorded(desk):
    first, second = desk.on_screen(), desk.open_battles()[1]
    words = desk.vote(first, "model_b").content.decode()
    assert "Recorded: B." in words
    assert f'data-battle="{second.public_id}"' in words
    assert "<html" not in words
    assert 'data-progress="1 vote"' in words


def test_texts_that_the_script_holds_are_not_sent_again(desk):
    first, second, third = (desk.on_screen(), *desk.open_battles()[1:3])
    held = {"outcome": "tie", "key": "key-12345", "held": f"{second.public_id}"}
    words = desk.act(first, "vote", held).content.decode()
    assert f'data-order="{second.public_id} {third.public_id} "' in words
    assert f'data-battle="{second.public_id}"' not in words
    assert f'data-battle="{third.public_id}"' in words


def test_reloading_the_page_changes_nothing(desk):
    battle = desk.on_screen()
    assert [desk.on_screen() for _ in range(3)] == [battle] * 3
    assert not Vote.objects.exists()


def test_the_same_key_again_gets_the_same_answer(desk):
    battle = desk.on_screen()
    answers = [desk.vote(battle, "model_b", "key-one-1") for _ in range(5)]
    assert Vote.objects.count() == 1
    assert {answer.status_code for answer in answers} == {200}
    # Each answer carries new keys for the votes to come.
    assert len({re.sub(r'data-key="[^"]+"', "", answer.content.decode()) for answer in answers}) == 1


def test_second_post_with_another_key_is_refused(desk):
    battle = desk.on_screen()
    desk.vote(battle, "model_a", "key-one-1")
    second = desk.vote(battle, "model_b", "key-two-2")
    assert second.status_code == 409
    assert "already has your vote" in second.content.decode()
    assert Vote.objects.get().outcome == "model_a"


def test_a_key_of_another_vote_is_refused(desk):
    first = desk.on_screen()
    desk.vote(first, "model_a", "key-one-1")
    answer = desk.vote(desk.on_screen(), "model_b", "key-one-1")
    assert answer.status_code == 409
    assert Vote.objects.get().battle == first


def test_the_battle_of_another_rater_is_not_there(desk, sit_down, small_campaign):
    battle = desk.on_screen()
    other = sit_down(small_campaign)
    for act in ("vote", "undo", "skip", "flag"):
        assert other.act(battle, act, {"outcome": "model_a", "key": "key-12345"}).status_code == 404
    assert Client().post(f"/battles/{battle.public_id}/vote/").status_code == 404
    assert not Vote.objects.exists()


def test_a_battle_that_does_not_exist_looks_the_same_as_another_raters(desk, sit_down, small_campaign):
    battle = desk.on_screen()
    other = sit_down(small_campaign)
    nowhere = Battle(public_id="00000000-0000-4000-8000-000000000000")
    foreign, missing = other.vote(battle), other.vote(nowhere, key="key-12345")
    assert foreign.status_code == missing.status_code == 404


def test_a_suspended_rater_votes_no_more(desk):
    battle = desk.on_screen()
    Rater.objects.update(is_active=False)
    assert desk.vote(battle).status_code == 404
    assert desk.look().status_code == 404


def test_a_vote_needs_the_forgery_token(desk):
    battle = desk.on_screen()
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = desk.client.cookies
    ballot = {"outcome": "model_a", "key": "key-12345"}
    assert strict.post(f"/battles/{battle.public_id}/vote/", ballot).status_code == 403
    assert not Vote.objects.exists()


def test_an_expired_battle_is_replaced_with_words(desk):
    battle = desk.on_screen()
    Battle.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    answer = desk.vote(battle)
    words = answer.content.decode()
    assert answer.status_code == 410
    assert "open for too long" in words
    assert "<article" in words
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    ("language", "sentence", "direction"),
    [
        ("fr", "Ce duel était ouvert depuis trop longtemps", "ltr"),
        ("ar", "ظلّت تلك المواجهة مفتوحة مدة طويلة", "rtl"),
    ],
)
@pytest.mark.parametrize("accept", [{"HX-Request": "true"}, {"Accept": "text/html"}], ids=["script", "form"])
def test_the_sentence_about_an_expired_battle_is_in_the_raters_language(
    desk, language, sentence, direction, accept
):
    battle = desk.on_screen()
    Battle.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    answer = desk.vote(battle, **accept, **{"Accept-Language": language})
    assert answer.status_code == 410
    words = answer.content.decode()
    assert sentence in words and "<article" in words
    assert "too long" not in words
    if "<html" in words:
        assert f'<html lang="{language}"' in words
        assert ('dir="rtl"' in words.split(">", 2)[1]) == (direction == "rtl")


def test_without_scripts_an_expired_battle_is_a_whole_page_with_a_new_one(desk):
    battle = desk.on_screen()
    Battle.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    answer = desk.vote(battle, Accept="text/html")
    words = answer.content.decode()
    assert answer.status_code == 410
    assert "<html" in words and "open for too long" in words and "<article" in words


def test_whoever_skipped_and_went_back_may_vote_after_all(desk):
    battle = desk.on_screen()
    desk.act(battle, "skip")
    assert desk.vote(battle).status_code == 200
    assert Vote.objects.get().battle == battle
    assert desk.on_screen() != battle


@pytest.mark.parametrize("status", [Campaign.Status.PAUSED, Campaign.Status.CLOSED])
def test_a_campaign_that_is_not_open_takes_no_vote(desk, status):
    battle = desk.on_screen()
    Campaign.objects.update(status=status)
    answer = desk.vote(battle)
    assert answer.status_code == 409
    assert "isn't open" in answer.content.decode().replace("&#x27;", "'")
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    "ballot",
    [
        {"outcome": "left", "key": "key-12345"},
        {"outcome": "", "key": "key-12345"},
        {"outcome": "model_a"},
        {"outcome": "model_a", "key": "short"},
        {"outcome": "model_a", "key": "k" * 101},
        {"outcome": "model_a", "key": "key-12345", "dwell_ms": "-1"},
        {"outcome": "model_a", "key": "key-12345", "dwell_ms": "soon"},
        {"outcome": "model_a", "key": "key-12345", "layout": "upside-down"},
        {"outcome": "model_a", "key": "key-12345", "layout": "plain-wide-ltr"},
    ],
)
def test_a_ballot_that_makes_no_sense_becomes_nothing(desk, ballot):
    battle = desk.on_screen()
    answer = desk.act(battle, "vote", ballot)
    assert answer.status_code == 422
    assert "Please vote again" in answer.content.decode()
    assert not Vote.objects.exists()


def test_time_on_the_screen_layout_and_guide_are_kept_with_the_vote(desk, small_campaign):
    old = small_campaign.guide
    new = Guide.objects.create(campaign=small_campaign.campaign, version=2, text="New", sha256="b" * 64)
    battle = desk.on_screen()
    ballot = {"outcome": "tie", "key": "key-12345", "dwell_ms": "4321", "layout": "narrow-rtl"}
    desk.act(battle, "vote", ballot)
    vote = Vote.objects.get()
    assert (vote.dwell_ms, vote.layout, vote.guide) == (4321, "narrow-rtl", new)
    assert vote.guide != old


def test_the_digest_covers_the_vote_and_what_it_was_about(desk):
    battle = desk.on_screen()
    desk.act(battle, "vote", {"outcome": "tie", "key": "key-é".encode().hex(), "dwell_ms": "10"})
    vote = Vote.objects.select_related("battle", "rater", "guide").get()
    core = {
        "battle": str(battle.public_id),
        "competitors": [battle.competitor_a_id, battle.competitor_b_id],
        "dwell_ms": 10,
        "guide": vote.guide_id,
        "key": vote.idempotency_key,
        "layout": "",
        "outcome": "tie",
        "prompt": battle.prompt_id,
        "rater": str(desk.rater.public_id),
        "responses": [battle.response_a_id, battle.response_b_id],
        "voted_at": vote.voted_at.isoformat(timespec="microseconds"),
    }
    canonical = json.dumps(core, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert vote.digest == hashlib.sha256(canonical.encode()).hexdigest()
    assert ballots.digest(vote) == vote.digest
    vote.outcome = "model_a"
    assert ballots.digest(vote) != vote.digest


def test_vote_and_next_asks_the_database_little(desk):
    """What a rater waits for between two battles; opening and closing transactions comes on top."""
    desk.vote(desk.on_screen())
    battle = desk.open_battles()[0]
    with CaptureQueriesContext(connection) as queries:
        assert desk.vote(battle).status_code == 200
    work = [query["sql"] for query in queries if is_work(query)]
    assert len(work) <= VOTE_AND_NEXT + locks(), "\n".join(work)


def test_signing_in_costs_vote_and_next_nothing(make_campaign, signed_in):
    small = make_campaign(admission=Campaign.Admission.LOGIN)
    alice = signed_in("alice")
    alice.post(f"/campaigns/{small.campaign.slug}/begin/")
    alice.get(BACK)
    first, second = Battle.objects.order_by("pk")[:2]
    alice.post(
        f"/battles/{first.public_id}/vote/",
        {"outcome": "tie", "key": "key-one-1"},
        headers={"HX-Request": "true"},
    )
    with CaptureQueriesContext(connection) as queries:
        alice.post(
            f"/battles/{second.public_id}/vote/",
            {"outcome": "tie", "key": "key-two-2"},
            headers={"HX-Request": "true"},
        )
    assert Vote.objects.count() == 2
    assert len([query for query in queries if is_work(query)]) <= VOTE_AND_NEXT + locks()


@pytest.mark.django_db(transaction=True)
def test_twenty_posts_at_once_on_each_of_twenty_battles_make_twenty_votes(make_campaign, sit_down):
    """Every post with a key of its own, as from twenty tabs: one vote each, the others are told."""
    desk = sit_down(make_campaign(prompts=20, names=("Ember", "Fjord")))
    session = desk.client.cookies["sessionid"].value
    statuses: list[int] = []

    def post(battle, number: int, start: threading.Barrier) -> None:
        client = Client(raise_request_exception=False)
        client.cookies["sessionid"] = session
        start.wait(timeout=30)
        answer = client.post(
            f"/battles/{battle.public_id}/vote/",
            {"outcome": Outcome.values[number % 4], "key": f"twenty-keys-{number}"},
            headers={"HX-Request": "true"},
        )
        statuses.append(answer.status_code)
        connections.close_all()

    for _ in range(20):
        battle, start = desk.on_screen(), threading.Barrier(20)
        threads = [threading.Thread(target=post, args=(battle, number, start)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
    assert Vote.objects.count() == Vote.objects.values("battle").distinct().count() == 20
    assert sorted(statuses) == [200] * 20 + [409] * 380


def test_whatever_is_drawn_next_it_takes_ten_statements_at_most(make_campaign, sit_down, monkeypatch):
    """With repeats as they come by default; with the first of a pair, which has no count yet.

    Of 60 prompts four at random always hold a pair that is new to the rater: no draw looks a second time.
    """
    monkeypatch.setattr(desks, "SPANS_HOLD", float("inf"))
    desk, most = sit_down(make_campaign(prompts=60, repeat_share=0.1)), 0
    battle = desk.on_screen()
    for _ in range(30):
        with CaptureQueriesContext(connection) as queries:
            answer = desk.vote(battle)
        most = max(most, sum(map(is_work, queries)))
        battle = Battle.objects.get(public_id=re.search(r'data-order="([^ "]+)', answer.content.decode())[1])
    assert 7 <= most - locks() <= VOTE_AND_NEXT
