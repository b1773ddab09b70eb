"""Boards of a part of the votes: by category, language, prompt set and days."""

from datetime import UTC, date, datetime

import pytest
from django.core.management import call_command

from arena.battles.models import Vote
from arena.battles.pair_models import PairWeight
from arena.corpus.models import Prompt, PromptSet
from arena.judging.models import Judgment
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.part import BadPartError, say_part
from arena.leaderboards.plans.registration import board_name
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import is_due, request_snapshots
from arena.leaderboards.tasks import compute_runs
from tests.leaderboards.test_snapshots import exported, fit_exported

pytestmark = pytest.mark.usefixtures("charts_left_undrawn")

State = SnapshotRun.State
PAGE = "/boards/joust/parts/"


@pytest.fixture
def small(voted_campaign):
    """600 votes, half on 1 November and half on the 2nd; every fourth prompt is French."""
    made = voted_campaign(dated=(datetime(2026, 11, 1, 12, tzinfo=UTC), 144))
    french = [prompt.pk for prompt in made.prompts if int(prompt.external_id[1:]) % 4 == 0]
    Prompt.objects.filter(pk__in=french).update(language="fr")
    return made


def board_of(campaign, *, source="raters", **part) -> Leaderboard:
    slug = f"part-{Leaderboard.objects.count()}"
    return Leaderboard.objects.create(campaign=campaign, slug=slug, name=slug, source=source, part=part)


def rows_where(campaign, **wanted) -> list[dict]:
    pks = Vote.objects.filter(battle__campaign=campaign).order_by("pk").values_list("pk", flat=True)
    kept = set(Vote.objects.filter(**wanted).values_list("pk", flat=True))
    return [row for pk, row in zip(pks, exported(campaign), strict=True) if pk in kept]


PARTS = {
    "category": ({"category": "writing"}, {"battle__prompt__category": "writing"}),
    "language": ({"language": "fr"}, {"battle__prompt__language": "fr"}),
    "days": (
        {"first_day": "2026-11-02", "last_day": "2026-11-02"},
        {"voted_at__date": date(2026, 11, 2)},
    ),
    "until": ({"last_day": "2026-11-01"}, {"voted_at__date__lte": date(2026, 11, 1)}),
    "both": (
        {"category": "reasoning", "first_day": "2026-11-02"},
        {"battle__prompt__category": "reasoning", "voted_at__date__gte": date(2026, 11, 2)},
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_parts_numbers_are_those_of_ratings_on_its_votes_alone(small, name):
    part, wanted = PARTS[name]
    run = snapshots.take_snapshot(board_of(small.campaign, **part))
    assert run.state == State.PUBLISHED, run.reason
    rows = rows_where(small.campaign, **wanted)
    assert 0 < len(rows) < 600
    assert run.snapshot.counts["votes"] == len(rows)
    assert run.snapshot.counts["left_out"] == {"not_in_part": 600 - len(rows)}
    outside = fit_exported(rows, style=False)
    for standing in run.snapshot.standings.select_related("competitor"):
        other = outside[standing.competitor.name]
        for field in ("rating", "lower", "upper"):
            assert getattr(standing, field) == pytest.approx(getattr(other, field), abs=1e-4), field
        assert (standing.wins, standing.losses, standing.ties) == (other.wins, other.losses, other.ties)


def test_a_prompt_set_is_a_part_of_several(small):
    other = PromptSet.objects.create(team=small.campaign.team, name="other", status="published")
    small.campaign.prompt_sets.add(other)
    Prompt.objects.filter(pk__in=[prompt.pk for prompt in small.prompts[:12]]).update(prompt_set=other)
    run = snapshots.take_snapshot(board_of(small.campaign, prompt_set=other.pk))
    assert run.snapshot.counts["votes"] == Vote.objects.filter(battle__prompt__prompt_set=other).count()


def test_a_judges_part_goes_by_the_days_of_its_judgments(small, make_judge):
    battles = list(small.campaign.battles.order_by("pk")[:300])
    outcomes = ("model_a", "model_b", "tie")
    judge = make_judge(small, "Sage", {battle: outcomes[n % 3] for n, battle in enumerate(battles)})
    Judgment.objects.update(resolved_at=datetime(2026, 11, 3, tzinfo=UTC))
    early = [battle.pk for battle in battles[:200]]
    Judgment.objects.filter(battle__in=early).update(resolved_at=datetime(2026, 11, 2, 23, 59, tzinfo=UTC))
    part = {"last_day": "2026-11-02"}
    board = Leaderboard.objects.create(
        campaign=small.campaign, slug="p", name="p", source="judge", judge=judge, part=part
    )
    assert snapshots.take_snapshot(board).snapshot.counts["votes"] == 200


def test_a_parts_snapshot_replays_to_the_same_bytes(small, capsys):
    for part, _wanted in PARTS.values():
        pk = snapshots.take_snapshot(board_of(small.campaign, **part)).snapshot.pk
        call_command("replay_snapshot", str(pk))
        assert f"snapshot {pk} replays to the same bytes" in capsys.readouterr().out


REFUSED = [
    ({"colour": "red"}, "no colour; there are: category, language, prompt_set, first_day, last_day"),
    ({"category": "cooking"}, "no prompt of joust has the category 'cooking'"),
    ({"category": ""}, "leave it out for all"),
    ({"language": "de"}, "no prompt of joust has the language 'de'"),
    ({"prompt_set": "1"}, "no prompt set '1'"),
    ({"first_day": "2 Nov"}, "first_day is a day like 2026-11-30, not '2 Nov'"),
    ({"last_day": "9999-12-31"}, "last_day is a day up to 9998-12-31"),
    ({"first_day": "2026-11-02", "last_day": "2026-11-01"}, "lies before the first"),
    (["category"], "is an object with keys among"),
]


def test_what_is_no_part_of_the_campaign_is_refused(small):
    for part, words in REFUSED:
        with pytest.raises(BadPartError, match=words):
            Leaderboard.objects.create(campaign=small.campaign, slug="p", name="p", part=part)
    assert not Leaderboard.objects.exists()


def test_a_prompt_set_of_another_campaign_is_refused(small, make_campaign):
    foreign = make_campaign("other").campaign.prompt_sets.get()
    with pytest.raises(BadPartError, match=f"joust has no prompt set {foreign.pk}"):
        board_of(small.campaign, prompt_set=foreign.pk)


def test_panels_and_combined_boards_have_no_parts(small):
    for source in ("panel", "combined"):
        with pytest.raises(BadPartError, match="of people or of one judge"):
            board_of(small.campaign, source=source, category="writing")


def test_the_three_boards_know_nothing_of_a_part(small):
    # Older than they are: whoever takes the first board for the overall one takes this.
    part = board_of(small.campaign, category="writing")
    whole = ensure_leaderboards(small.campaign)
    assert part not in whole
    assert [board.part for board in whole] == [{}] * 3
    runs = request_snapshots(small.campaign)
    assert [run.leaderboard for run in runs] == whole
    compute_runs.call_local([run.pk for run in runs])
    overall = whole[0].snapshots.get()
    weights = PairWeight.objects.filter(campaign=small.campaign)
    assert set(weights.values_list("snapshot_id", flat=True)) == {overall.pk}
    mine = snapshots.take_snapshot(part).snapshot
    assert set(weights.values_list("snapshot_id", flat=True)) == {overall.pk}
    assert mine.counts["votes"] < overall.counts["votes"] == 600
    assert (board_name(whole[0]), board_name(part), mine.plan) == ("overall", "", None)


def test_a_new_snapshot_of_a_part_puts_off_no_other(small, settings):
    settings.SNAPSHOT_MINUTES = 60
    part = board_of(small.campaign, category="writing")
    snapshots.take_snapshot(part)
    assert is_due(small.campaign)


def test_the_board_page_shows_the_three_beside_a_part(small, signed_in):
    snapshots.take_snapshot(board_of(small.campaign, category="writing"))
    for board in ensure_leaderboards(small.campaign):
        snapshots.take_snapshot(board)
    page = signed_in("ravi").get("/boards/joust/").content.decode()
    assert "<strong>600</strong> votes" in page
    assert f'href="{PAGE}"' in page


def test_a_part_reads_as_words(small):
    prompt_set = small.campaign.prompt_sets.get()
    part = {"category": "coding", "language": "en", "first_day": "2026-11-01", "last_day": "2026-11-07"}
    said = "Coding prompts in English, votes from 2026-11-01 to 2026-11-07"
    assert say_part(part, small.campaign) == said
    assert say_part({"prompt_set": prompt_set.pk}, small.campaign) == "Prompts of “joust prompts v1”"
    since = {"first_day": "2026-11-01"}
    assert say_part(since, small.campaign, True) == "All prompts, judgments since 2026-11-01"
    one_day = {"language": "Klingon", "first_day": "2026-11-01", "last_day": "2026-11-01"}
    assert say_part(one_day, small.campaign) == "Prompts in Klingon, votes of 2026-11-01"


ASKED = {"category": "writing", "first_day": "2026-11-01", "source": "raters"}


def test_a_researcher_makes_a_part_once_and_reads_it(small, signed_in, django_capture_on_commit_callbacks):
    ravi = signed_in("ravi")
    with django_capture_on_commit_callbacks() as asked:
        assert ravi.post(PAGE, ASKED).status_code == 302
    assert len(asked) == 1
    board = Leaderboard.objects.get()
    assert board.part == {"category": "writing", "first_day": "2026-11-01"}
    assert board.visibility == Leaderboard.Visibility.PRIVATE
    assert 'hx-get="/boards/joust/parts/"' in ravi.get(PAGE).content.decode()
    assert "HX-Refresh" not in ravi.get(PAGE, headers={"HX-Request": "true"})
    compute_runs.call_local([board.runs.get().pk])
    assert ravi.get(PAGE, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    page = ravi.get(PAGE).content.decode()
    snapshot = board.snapshots.get()
    assert "Writing prompts, votes since 2026-11-01" in page
    assert f'href="/snapshots/{snapshot.pk}/"' in page
    assert f"{snapshot.counts['votes']} votes" in page
    assert "exploratory</span>" in page
    shown = ravi.get(f"/snapshots/{snapshot.pk}/").content.decode()
    assert "Joust: Writing prompts, votes since 2026-11-01, people" in shown
    assert ravi.get(f"/boards/joust/{board.slug}/snapshots/").status_code == 200
    ravi.post(PAGE, ASKED)
    assert board.runs.count() == 2
    ravi.post(PAGE, ASKED | {"style_control": "on"})
    assert Leaderboard.objects.count() == 2


def test_too_few_votes_are_said_in_words(small, signed_in):
    ravi = signed_in("ravi")
    ravi.post(PAGE, {"first_day": "2026-12-24", "source": "raters"})
    compute_runs.call_local([Leaderboard.objects.get().runs.get().pk])
    page = ravi.get(PAGE).content.decode()
    words = "not enough data: Nothing that counts belongs to this part yet. 600 votes are outside this part."
    assert words in page


NO_CHOICE = "Select a valid choice. {} is not one of the available choices."
CHANGES = [
    ({"category": "cooking"}, NO_CHOICE.format("cooking")),
    ({"prompt_set": "999999"}, NO_CHOICE.format("999999")),
    ({"source": "panel"}, NO_CHOICE.format("panel")),
    ({"last_day": "9999-12-31"}, "Ensure this value is less than or equal to 9998-12-31."),
    ({"last_day": "2026-10-31"}, "This day lies before the first one."),
    ({"category": "", "first_day": ""}, "Choose a part: all votes together have their boards already."),
]


def test_a_part_that_cannot_be_is_refused_with_words(small, signed_in):
    for change, words in CHANGES:
        answer = signed_in("ravi").post(PAGE, ASKED | change)
        assert answer.status_code == 422
        assert words in answer.content.decode()
    assert not Leaderboard.objects.exists()


def test_parts_stay_private_when_the_boards_beside_them_are_shown(small, signed_in):
    part = board_of(small.campaign, category="writing")
    ensure_leaderboards(small.campaign)
    signed_in("carol").post("/boards/joust/visibility/", {"source": "raters", "visibility": "public"})
    part.refresh_from_db()
    assert part.visibility == Leaderboard.Visibility.PRIVATE
    assert signed_in("alice").get(PAGE).status_code == 404
