"""What moved between two snapshots of a board, and what is said where the two chosen aren't such a pair."""

import pytest
from django.urls import reverse

from arena.leaderboards import snapshot_views
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Standing
from arena.leaderboards.snapshot_diff import diff_of
from tests.conftest import past_triggers
from tests.leaderboards.test_boards import text_of

TABLE = "Rating before"


@pytest.fixture
def three(voted_campaign, cast_vote, cast):
    """Three snapshots of the overall board, a vote apart, with one of the style board between them."""
    small = voted_campaign("joust")
    overall, _hard, style = ensure_leaderboards(small.campaign)
    taken = []
    for number in range(3):
        taken.append(take_snapshot(overall).snapshot)
        if number == 0:
            take_snapshot(style)
        cast_vote(small, small.prompts[number], "Ember", "Fjord", "model_a", cast.alice_rater)
    return taken


@pytest.fixture
def page_of(signed_in):
    ravi = signed_in("ravi")

    def show(status=200, **asked):
        response = ravi.get(reverse("snapshot-diff", args=["joust", "joust-overall"]), asked)
        assert response.status_code == status
        return text_of(response), response.content.decode()

    return show


def test_without_a_choice_the_newest_is_compared_with_the_one_before_it(three, page_of):
    words, html = page_of()
    assert f'<option value="{three[1].pk}" selected>' in html
    assert f'<option value="{three[2].pk}" selected>' in html
    assert "votes 601 → 602" in words and TABLE in words


def test_every_model_stands_with_its_ranks_ratings_and_change(three, page_of):
    words, _html = page_of(before=three[0].pk, after=three[2].pk)
    assert "votes 600 → 602" in words
    diff = diff_of(three[0], three[2])
    assert abs(sum(moved.change for moved in diff.moved)) < 1e-6
    for moved in diff.moved:
        assert f"{moved.before.rating:.1f} {moved.after.rating:.1f}" in words


def test_a_model_that_came_or_went_says_so_and_moves_nobody_else(three, page_of):
    gone = Standing.objects.filter(snapshot=three[2], competitor__name="Inlet")
    past_triggers(lambda: gone._raw_delete(gone.db))
    words, _html = page_of(before=three[0].pk, after=three[2].pk)
    assert "gone" in words.partition("Inlet")[2]
    changes = [moved.change for moved in diff_of(three[0], three[2]).moved if moved.change is not None]
    assert len(changes) == 4 and abs(sum(changes)) < 1e-6


def test_the_same_snapshot_on_both_sides_is_said_and_nothing_is_shown(three, page_of):
    for snapshot in three:
        words, _html = page_of(before=snapshot.pk, after=snapshot.pk)
        assert f"That is snapshot {snapshot.pk} twice: nothing can have moved. Choose two." in words
        assert TABLE not in words


def test_the_newest_as_the_older_one_alone_is_said_too(three, page_of):
    assert f"That is snapshot {three[2].pk} twice" in page_of(before=three[2].pk)[0]


def test_two_in_reverse_order_are_shown_from_the_older_to_the_newer_and_it_is_said(three, page_of):
    words, html = page_of(before=three[2].pk, after=three[0].pk)
    older, newer = three[0].pk, three[2].pk
    assert f"Snapshot {newer} is the newer one: shown is what moved from {older} to {newer}." in words
    assert "votes 600 → 602" in words
    before, after = html.split('id="after"')
    assert f'<option value="{older}" selected>' in before and f'<option value="{newer}" selected>' in after


def test_one_too_old_for_the_list_is_in_it_when_it_is_chosen(three, page_of, monkeypatch):
    monkeypatch.setattr(snapshot_views, "AT_ONCE", 2)
    _words, html = page_of(before=three[0].pk)
    assert f'<option value="{three[0].pk}" selected>' in html


@pytest.mark.parametrize("wrong", ["999999", "next", "-1", "1e3", "99999999999999999999"])
def test_an_unknown_snapshot_is_named(three, page_of, wrong):
    words, _html = page_of(404, before=wrong, after=three[2].pk)
    assert f"This board has no snapshot {wrong}. Choose two of its own." in words
    assert TABLE not in words


def test_a_snapshot_of_another_board_is_told_in_the_words_for_one_that_is_nowhere(three, page_of):
    boards = three[0].leaderboard.campaign.leaderboards
    other = boards.get(style_control=True, source="raters").snapshots.get()
    words, _html = page_of(404, before=other.pk, after=three[2].pk)
    assert f"This board has no snapshot {other.pk}. Choose two of its own." in words


def test_the_oldest_has_nothing_before_it_and_one_alone_is_no_pair(three, page_of, voted_campaign, signed_in):
    assert f"Nothing is older than snapshot {three[0].pk}." in page_of(after=three[0].pk)[0]
    alone = ensure_leaderboards(voted_campaign("alone", votes=300).campaign)[0]
    take_snapshot(alone)
    response = signed_in("ravi").get(reverse("snapshot-diff", args=["alone", alone.slug]))
    assert "It takes two snapshots to see what moved, and this board has fewer." in text_of(response)


def test_who_may_not_see_the_board_sees_no_diff(three, client):
    assert client.get(reverse("snapshot-diff", args=["joust", "joust-overall"])).status_code == 404
