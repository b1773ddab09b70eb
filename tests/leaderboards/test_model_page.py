"""One model's page: the numbers of its standings and pairs, its history, and who may see it."""

import pytest

from arena.corpus.models import Response
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, Standing
from tests.conftest import past_triggers
from tests.leaderboards.test_boards import show_to, text_of
from tests.leaderboards.test_compare import close

PAGE = "/boards/joust/model/"


def take(small, number: int) -> None:
    assert snapshots.take_snapshot(ensure_leaderboards(small.campaign)[number]).snapshot


@pytest.fixture
def joust(voted_campaign, cast):
    small = voted_campaign("joust")
    type(small.prompts[0]).objects.update(category="cooking")
    for number in range(3):
        take(small, number)
    return small


def test_its_ratings_opponents_and_categories_are_those_stored(joust, signed_in):
    page = signed_in("ravi").get(PAGE, {"name": "Grove"}).context["page"]
    standings = Standing.objects.filter(competitor__name="Grove").order_by("snapshot_id")
    assert [line.rating for line in page.boards] == [f"{standing.rating:.0f}" for standing in standings]
    overall = Leaderboard.objects.get(slug="joust-overall").snapshots.get()
    assert len(page.opponents) == 4
    by_name = {line.name: line for line in page.opponents}
    later = overall.pairs.get(first__name="Grove", second__name="Inlet")
    assert by_name["Inlet"].record == f"{later.wins} : {later.losses} ({later.ties})"
    earlier = overall.pairs.get(first__name="Ember", second__name="Grove")
    assert by_name["Ember"].record == f"{earlier.losses} : {earlier.wins} ({earlier.ties})"
    score = earlier.details["effect"]["expected_score"][0]
    assert by_name["Ember"].predicted == f"{100 * (1 - score):.0f}\u00a0%"
    met = earlier.wins + earlier.losses + earlier.ties
    assert by_name["Ember"].observed == f"{100 * (earlier.losses + earlier.ties / 2) / met:.0f}\u00a0%"
    rating = overall.category_ratings.get(competitor__name="Grove").rating
    assert [(line.name, line.rating) for line in page.categories] == [("cooking", f"{rating:.0f}")]


def test_history_tells_every_snapshot_the_newest_first(joust, cast, cast_vote, signed_in):
    cast_vote(joust, joust.prompts[0], "Grove", "Ember", "model_a", cast.alice_rater)
    take(joust, 0)
    page = signed_in("ravi").get(PAGE, {"name": "Grove"}).context["page"]
    numbers = [line.snapshot.pk for line in page.history]
    assert len(numbers) == 2
    assert numbers == sorted(numbers, reverse=True)
    assert page.history[0].battles == page.history[1].battles + 1


def test_exposure_counts_its_battles_and_says_that_no_propensity_was_recorded(joust, signed_in):
    page = signed_in("ravi").get(PAGE, {"name": "Grove"}).context["page"]
    mine = joust.campaign.battles.filter(competitor_a__name="Grove").count()
    mine += joust.campaign.battles.filter(competitor_b__name="Grove").count()
    (line,) = page.exposure
    assert (line.kind, line.battles) == ("votes that came in a file", mine)
    assert line.share == f"{100 * mine / 600:.0f}\u00a0%"
    assert line.propensity == "not recorded"


def test_battles_shown_to_raters_and_judgments_from_a_file_are_told_apart(joust, signed_in):
    battles = joust.campaign.battles.filter(competitor_a__name="Grove")
    judged, drawn, *_rest = battles.order_by("pk").values_list("pk", flat=True)
    past_triggers(lambda: battles.filter(pk=judged).update(rater=None))
    past_triggers(lambda: battles.filter(pk=drawn).update(kind="regular", propensity=0.1))
    page = signed_in("ravi").get(PAGE, {"name": "Grove"}).context["page"]
    assert [(line.kind, line.battles, line.propensity) for line in page.exposure][::2] == [
        ("shown to raters here", 1, "0.1000"),
        ("judgments that came in a file", 1, "not recorded"),
    ]


def test_a_model_of_no_snapshot_is_not_found(joust, signed_in):
    assert signed_in("ravi").get(PAGE, {"name": "Nobody"}).status_code == 404


def test_without_a_name_it_is_the_best_models_page(joust, signed_in):
    best = Standing.objects.filter(snapshot__leaderboard__slug="joust-overall").order_by("-rating").first()
    assert signed_in("ravi").get(PAGE).context["page"].competitor == best.competitor


def test_it_is_shown_to_those_who_may_see_the_boards(joust, client, signed_in):
    close(joust.campaign)
    assert client.get(PAGE, {"name": "Grove"}).status_code == 404
    assert signed_in("dora").get(PAGE, {"name": "Grove"}).status_code == 404
    show_to(joust.campaign, "public")
    response = client.get(PAGE, {"name": "Grove"})
    assert response.status_code == 200
    assert "All 600 votes here are simulated." in text_of(response)


def test_the_board_links_to_it(joust, signed_in):
    assert (
        '<a href="/boards/joust/model/?name=Grove">'
        in signed_in("ravi").get("/boards/joust/").content.decode()
    )


def test_its_style_stands_beside_that_of_the_others_and_leaks_are_counted(joust, signed_in):
    fjord = next(one for one in joust.competitors if one.name == "Fjord")
    mine = [one for one in joust.responses if one.competitor_id == fjord.pk]
    others = [one for one in joust.responses if one.competitor_id != fjord.pk]
    Response.objects.update(leak="clean")
    Response.objects.filter(pk__in=[one.pk for one in mine[:3]]).update(leak="found")
    Response.objects.filter(pk=mine[3].pk).update(leak="dismissed")
    Response.objects.filter(pk=others[0].pk).update(leak="found")
    answer = signed_in("ravi").get(PAGE, {"name": "Fjord"})
    texts = answer.context["page"].texts
    mean, of_others = (sum(one.characters for one in many) / len(many) for many in (mine, others))
    (line,) = [line for line in texts.style if line.name == "characters"]
    assert (line.mean, line.others) == (f"{mean:,.1f}", f"{of_others:,.1f}")
    assert float(line.ratio) == pytest.approx(mean / of_others, abs=0.01)
    assert (texts.responses, texts.found, texts.dismissed, texts.unchecked) == (len(mine), 3, 1, 0)
    assert f"{len(mine)} responses: 3 say who wrote them, 1 were cleared" in text_of(answer)


def test_a_model_without_texts_has_no_style(joust, signed_in):
    Response.objects.update(is_blank=True)
    answer = signed_in("ravi").get(PAGE, {"name": "Fjord"})
    assert answer.context["page"].texts is None
    assert "How it writes" not in text_of(answer)


def test_a_rating_in_a_category_by_few_of_its_battles_is_called_provisional(joust, signed_in):
    overall = Leaderboard.objects.get(slug="joust-overall").snapshots.get()
    least = overall.options["min_votes"]
    overall.category_ratings.filter(competitor__name="Grove").update(battles=least - 1)
    ravi = signed_in("ravi")
    for name, few in (("Grove", True), ("Fjord", False)):
        answer = ravi.get(PAGE, {"name": name})
        assert [line.few for line in answer.context["page"].categories] == [few]
        assert ('<span class="tag">provisional</span>' in answer.content.decode()) is few
        told = ravi.get("/api/v1/campaigns/joust/tables/model-categories.json", {"name": name}).json()
        assert [row["provisional"] for row in told] == [few]
        words = text_of(answer)
        assert "a category in which all models together have fewer than 30 votes has no such board" in words
        assert f"Counted are the battles of this model alone: a rating from fewer than {least}" in words


def test_a_style_ratio_of_nothing_to_something_is_0_and_where_there_is_none_it_says_why(joust, signed_in):
    fjord = next(one for one in joust.competitors if one.name == "Fjord")
    Response.objects.update(headings=1, emoji=0)
    Response.objects.filter(competitor=fjord).update(headings=0)
    texts = signed_in("ravi").get(PAGE, {"name": "Fjord"}).context["page"].texts
    told = {line.name: (line.mean, line.others, line.ratio) for line in texts.style}
    assert told["headings"] == ("0.0", "1.0", "0.00")
    assert told["emoji"] == ("0.0", "0.0", "others have none")
