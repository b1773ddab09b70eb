"""A rater at the desk: a browser that has opened the invite link and pressed "Begin"."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from django.test import Client
from django.utils import timezone

from arena.battles import ballots, draw
from arena.battles.models import Battle
from arena.raters.models import Rater

HTMX = {"HX-Request": "true"}


@dataclass
class Desk:
    """A rater, their browser, and the ways to vote with it."""

    client: Client
    rater: Rater
    campaign: object

    def look(self, **headers):
        return self.client.get(f"/campaigns/{self.campaign.slug}/battle/", headers=headers)

    def act(self, battle, act: str, data: dict | None = None, **headers):
        return self.client.post(f"/battles/{battle.public_id}/{act}/", data or {}, headers=headers or HTMX)

    def vote(self, battle, outcome: str = "model_a", key: str = "", **headers):
        ballot = {"outcome": outcome, "key": key or f"key-{battle.public_id}"}
        return self.act(battle, "vote", ballot, **headers)

    def open_battles(self) -> list[Battle]:
        return list(Battle.objects.waiting(self.rater.pk, self.campaign.pk, timezone.now()))

    def on_screen(self) -> Battle:
        """The battle on the page that the browser gets now."""
        shown = re.search(r'data-battle="([^"]+)"', self.look().content.decode())
        assert shown, "the page shows no battle"
        return Battle.objects.get(public_id=shown[1])


@pytest.fixture
def sit_down(db):
    """sit_down(small) is a new rater's browser at that campaign."""

    def sit(small) -> Desk:
        client = Client()
        begun = client.post(f"/join/{small.token}/")
        assert begun.status_code == 302
        return Desk(client, Rater.objects.latest("pk"), small.campaign)

    return sit


@pytest.fixture
def desk(sit_down, small_campaign) -> Desk:
    return sit_down(small_campaign)


@pytest.fixture
def make_rater(db):
    def make(team, name: str = "", **fields) -> Rater:
        name = name or f"rater {Rater.objects.count()}"
        return Rater.objects.create(team=team, pseudonym=name, admission=Rater.Admission.LINK, **fields)

    return make


@pytest.fixture
def vote_on():
    """Casts a vote on a drawn battle as the page does."""

    def vote(battle: Battle, outcome: str = "model_a", key: str = "", **fields):
        ballot = Battle.objects.with_ballot().get(pk=battle.pk)
        return ballots.cast(ballot, ballot.rater, outcome, key or f"key-{battle.public_id}", **fields)

    return vote


@pytest.fixture
def draw_all():
    """Every battle there is for a rater, in the order drawn."""

    def draw_them(campaign, rater) -> list[Battle]:
        drawn = []
        while more := draw.draw(campaign, rater):
            drawn += more
        return drawn

    return draw_them
