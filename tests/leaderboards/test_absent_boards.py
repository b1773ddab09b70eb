"""A board of the three that isn't there: said once, by the choice of boards, and never shown."""

import re
from html import unescape

import pytest
from django.core.management import call_command

from arena.corpus.models import Prompt, Response
from arena.leaderboards.charts import drawing
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.run_models import SnapshotRun
from tests.leaderboards.test_boards import text_of

PAGE, CHARTS = "/boards/joust/", "/boards/joust/charts/"
REASON = "Nothing here is about a prompt known to be hard."


@pytest.fixture(autouse=True)
def few_resamples(settings):
    settings.BOOTSTRAP_RESAMPLES = 0


@pytest.fixture
def alone(make_campaign, cast, cast_vote):
    """Votes without texts, on prompts that nobody has called hard: an overall board and no other."""
    small = make_campaign("joust", names=("Ember", "Fjord", "Grove"), prompts=4)
    Response.objects.all().delete()
    Prompt.objects.update(is_hard=None)
    for prompt in small.prompts:
        for a, b in (("Ember", "Fjord"), ("Fjord", "Grove"), ("Grove", "Ember"), ("Fjord", "Ember")):
            cast_vote(small, prompt, a, b, "model_a", cast.alice_rater)
    call_command("take_snapshots")
    return small


def test_why_a_board_is_missing_is_said_once_below_the_choice_of_boards(alone, signed_in):
    page = signed_in("ravi").get(PAGE, {"source": "raters"})
    words, html = text_of(page), page.content.decode()
    for reason in (REASON, "Style control compares two texts"):
        assert words.count(reason) == 1
        assert words.index("Ranked by:") < words.index(reason) < words.index("Find a model")
    assert "board=hard" not in html and "board=style" not in html
    assert not re.search(r'class="[^"]*(hard|style)', html)
    assert 'value="hard' not in html and 'value="style' not in html
    assert "Ratings of 3 models (overall), with" in words


@pytest.mark.parametrize(("asked", "title"), [("hard", "hard prompts"), ("style", "style-controlled")])
@pytest.mark.parametrize("page", [PAGE, CHARTS])
def test_whoever_asks_for_a_board_that_is_missing_hears_so_and_sees_another(
    alone, signed_in, page, asked, title
):
    answer = signed_in("ravi").get(page, {"source": "raters", "board": asked})
    words = text_of(answer)
    assert answer.status_code == 200
    assert words.count(f"There is no board “{title}”, so that “overall” is shown. ") == 1
    assert f"No board “{title}” yet" not in words
    assert words.count(REASON) == 1
    assert ">Overall</a>" in answer.content.decode()


@pytest.mark.parametrize("page", [PAGE, CHARTS])
def test_a_board_of_no_name_at_all_is_told_too(alone, signed_in, page):
    words = text_of(signed_in("ravi").get(page, {"source": "raters", "board": "best"}))
    assert words.count("There is no board of the name asked for. Shown is “overall”.") == 1
    assert "asked for" not in text_of(signed_in("ravi").get(page, {"source": "raters", "board": "overall"}))


def test_without_an_overall_board_the_first_there_is_ranks(alone, signed_in):
    Prompt.objects.filter(pk__in=[prompt.pk for prompt in alone.prompts[:3]]).update(is_hard=True)
    snapshots.take_snapshot(ensure_leaderboards(alone.campaign)[1])
    overall = Leaderboard.objects.get(slug="joust-overall")
    overall.runs.all().delete()
    overall.visibility = "private"
    Leaderboard.objects.filter(pk=overall.pk).update(part={"category": "writing"})
    SnapshotRun.objects.filter(leaderboard__slug="joust-style").delete()
    page = signed_in("ravi").get(PAGE, {"source": "raters", "board": "overall"})
    words = text_of(page)
    assert "There is no board “overall”, so that “hard prompts” is shown." in words
    assert "No board “style-controlled” yet. No snapshot of it has been taken." in words
    assert "board-table show-hard" in page.content.decode()


def test_a_fit_that_failed_and_left_no_board_says_so_there(alone, signed_in):
    style = Leaderboard.objects.get(slug="joust-style")
    SnapshotRun.objects.create(leaderboard=style, state=SnapshotRun.State.FAILED, reason="The sky fell.")
    page = signed_in("ravi").get(PAGE, {"source": "raters"})
    told = "No board “style-controlled” yet. The last attempt failed: The sky fell."
    assert text_of(page).count("The sky fell.") == 1
    assert f'<p class="notice error">{told}' in unescape(page.content.decode())


def test_combined_boards_have_no_style_control_and_say_so_only_when_asked(
    voted_campaign, make_judge, signed_in
):
    small = voted_campaign("joust", votes=200)
    make_judge(small, "Sage", dict.fromkeys(small.campaign.battles.order_by("pk")[:80], "model_b"))
    call_command("take_snapshots")
    combined = Leaderboard.objects.filter(source="combined").first()
    key = f"combined:{combined.judge_id}"
    ravi, told = signed_in("ravi"), "Boards of people combined with judges have no style control."
    assert told not in text_of(ravi.get(PAGE, {"source": key}))
    assert f"so that “overall” is shown. {told}" in text_of(ravi.get(PAGE, {"source": key, "board": "style"}))


def test_the_charts_name_the_boards_that_the_slopes_lack(alone, signed_in):
    drawing.draw(Leaderboard.objects.get(slug="joust-overall").snapshots.first())
    words = text_of(signed_in("ravi").get(CHARTS))
    assert "three boards" not in words
    assert "Not here: Hard prompts and Style-controlled. Why is said above." in words
    assert words.count(REASON) == 1


def test_pictures_of_charts_keep_their_place_free_before_they_are_loaded(alone, signed_in):
    drawing.draw(Leaderboard.objects.get(slug="joust-overall").snapshots.first())
    ravi = signed_in("ravi")
    pictures = re.findall(r"<img ([^>]*)>", unescape(ravi.get(CHARTS).content.decode()))
    assert len(pictures) >= 4
    for picture in pictures:
        told = dict(re.findall(r'(\w+)="([^"]*)"', picture))
        drawn = ravi.get(told["src"]).content.decode()
        width, height = re.search(r'width="([0-9.]+)" height="([0-9.]+)"', drawn).groups()
        assert abs(float(width) - int(told["width"])) < 1 and abs(float(height) - int(told["height"])) < 1
