"""A connection that comes and goes: nothing is lost or doubled, and the page says how things stand."""

from __future__ import annotations

import pytest

from arena.battles.models import Vote

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rater(page, at_work, make_campaign):
    rater = at_work(page)
    rater.begin(make_campaign(prompts=8).token)
    return rater


def wait_until_sent(page) -> None:
    page.wait_for_function(
        "() => !localStorage.getItem('tiltyard.queue:' + location.pathname).includes('url')"
    )


def test_a_vote_without_a_connection_is_kept_told_and_sent_later(page, rater):
    first = rater.battle()
    page.context.set_offline(True)
    page.keyboard.press("b")
    page.wait_for_selector("#word.bad")
    assert "kept here" in page.locator("#word").inner_text()
    assert rater.battle() != first, "the next battle was at hand and should be on the screen"
    assert not Vote.objects.exists()
    page.context.set_offline(False)
    wait_until_sent(page)
    assert str(Vote.objects.get().battle.public_id) == first
    page.wait_for_selector("#word:not(.bad):has-text('everything is sent')")


def test_a_vote_whose_answer_was_lost_is_not_doubled(page, rater):
    """The server records the vote, but its answer never arrives; the same vote goes out again."""
    sent = []

    def lose_the_first_answer(route):
        sent.append(route.request.post_data)
        if len(sent) == 1:
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/vote/", lose_the_first_answer)
    rater.press("a")
    assert len(sent) == 2
    assert Vote.objects.count() == 1
    assert "Recorded: A." in rater.recorded()
    assert rater.progress() == "1 vote"


def test_a_server_error_is_tried_again(page, rater):
    answers = iter([503, 500])

    def fail_twice(route):
        status = next(answers, None)
        route.fulfill(status=status, body="no") if status else route.continue_()

    page.route("**/vote/", fail_twice)
    rater.press("t")
    assert Vote.objects.count() == 1


def test_closing_the_page_keeps_the_vote_for_the_next_visit(page, rater):
    first = rater.battle()
    page.context.set_offline(True)
    page.keyboard.press("x")
    page.wait_for_selector("#word.bad")
    page.goto("about:blank")
    page.context.set_offline(False)
    page.goto(f"{rater.url}/campaigns/small/battle/")
    wait_until_sent(page)
    assert str(Vote.objects.get().battle.public_id) == first
    assert rater.battle() != first


def test_an_undo_asked_for_while_offline_undoes_the_vote_that_waits(page, rater):
    first = rater.battle()
    page.context.set_offline(True)
    page.keyboard.press("a")
    page.wait_for_selector("#word.bad")
    page.wait_for_timeout(400)
    page.keyboard.press("z")
    page.context.set_offline(False)
    wait_until_sent(page)
    page.wait_for_function("() => document.querySelector('#word').textContent.includes('undone')")
    vote = Vote.objects.get()
    assert str(vote.battle.public_id) == first
    assert vote.retraction
    assert str(vote.battle.replaced_by.public_id) == rater.battle()


def test_a_vote_from_another_tab_is_told_and_the_next_battle_comes(page, rater, at_work):
    second_tab = page.context.new_page()
    other = at_work(second_tab)
    second_tab.goto(f"{rater.url}/campaigns/small/battle/")
    other.settle()
    assert other.battle() == rater.battle()
    rater.press("a")
    other.press("b")
    assert "already has your vote" in second_tab.locator("#word").inner_text()
    assert Vote.objects.get().outcome == "model_a"
    assert other.battle() == rater.battle()
