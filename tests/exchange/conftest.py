import pytest
from django.core.management import call_command
from django.db import transaction

from arena.battles import ballots, draw
from arena.battles.models import Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.raters.models import Rater

from .used_campaign import OUTCOMES, vote


@pytest.fixture
def used(make_campaign, cast):
    """used() makes a campaign with six raters who voted, skipped and undid."""

    def make(**fields):
        small = make_campaign(**fields)
        for number in range(6):
            name = f"rater {5 - number}"
            rater = Rater.objects.create(team=small.campaign.team, pseudonym=name, admission="link")
            for place in range(5):
                (battle,) = draw.draw(small.campaign, rater)
                if place == 3:
                    ballots.skip(battle, rater)
                    continue
                vote(battle, OUTCOMES[(number + place) % 5])
                if place == 4 and number % 2:
                    vote(ballots.undo(battle, rater), "tie")
        return small

    return make


@pytest.fixture
def there_and_back(db, tmp_path):
    """there_and_back(make, say) is what `say` tells of the campaign before and after, in an emptied database.

    The export stays in tmp_path / "out".
    """

    def go(make, say) -> tuple:
        with transaction.atomic():
            campaign = make().campaign
            before = say(campaign)
            call_command("export_campaign", campaign.slug, "--out", str(tmp_path / "out"))
            transaction.set_rollback(True)
        assert not Vote.objects.exists() and not Competitor.objects.exists()
        call_command("import_campaign", str(tmp_path / "out"))
        return before, say(Campaign.objects.get())

    return go
