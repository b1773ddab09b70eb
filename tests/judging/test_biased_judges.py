"""Judges with a known bias, asked through a server of flesh and blood: does their card tell?"""

from __future__ import annotations

import hashlib
import re

import pytest

from arena.judging import probing
from arena.judging.canaries import CANARIES
from arena.judging.planning import plan_run
from arena.leaderboards.agreement import judge_card
from tests.endpoints.fake_server import Step, answer
from tests.judging.conftest import verdict, work_off

pytestmark = pytest.mark.django_db

BATTLES = 60
DISTRUST = "This judge isn&#x27;t to be trusted"
_INSTRUCTIONS = {canary.instruction for canary in CANARIES}
_GOOD = {canary.good for canary in CANARIES}


def biased(*, takes_first: float = 0.0, obeys: float = 0.0):
    """For a FakeServer: in such shares of the calls it takes the first, or obeys; else it knows the better.

    The better is the reply with the lower number, or the good one of a canary. Which calls those are is drawn
    from the texts, so that a run gives the same every time.
    """

    def reply(body: dict) -> Step:
        first, second = texts_of(body["messages"][1]["content"])
        if chance("place", first, second) < takes_first:
            return answer(verdict("first"))
        told = [any(words in text for words in _INSTRUCTIONS) for text in (first, second)]
        if any(told) and chance("obedience", first, second) < obeys:
            return answer(verdict("first" if told[0] else "second"))
        return answer(verdict("first" if rank(first) < rank(second) else "second"))

    return reply


def prefers_the_poor(body: dict) -> Step:
    first, second = texts_of(body["messages"][1]["content"])
    return answer(verdict("first" if rank(first) > rank(second) else "second"))


def texts_of(user: str) -> tuple[str, str]:
    found = re.search(
        r"BEGIN FIRST RESPONSE (\w+)\n(.*)\nEND FIRST RESPONSE \1\n\n"
        r"BEGIN SECOND RESPONSE \1\n(.*)\nEND SECOND RESPONSE \1",
        user,
        re.DOTALL,
    )
    return found[2], found[3]


def chance(what: str, *texts: str) -> float:
    drawn = hashlib.sha256("\n".join((what, *texts)).encode()).digest()
    return int.from_bytes(drawn[:4], "big") / 2**32


def rank(text: str) -> int:
    if number := re.match(r"Reply (\d)", text):
        return int(number[1])
    return 0 if text in _GOOD else 1


@pytest.fixture
def card_of(make_court, server, signed_in):
    """card_of(judge) is the page and the figures of that judge's card, after 60 battles and all canaries."""

    def make(judge) -> tuple[str, dict]:
        server.default = judge
        court = make_court(battles=BATTLES)
        plan_run(court.campaign, [court.judge], court.pks)
        probing.plan_canaries(court.campaign, court.judge)
        assert work_off(court.endpoint) == 2 * BATTLES + 2 * len(CANARIES)
        figures = judge_card.compute(court.campaign, court.judge).figures
        page = signed_in("ravi").get(f"/judges/{court.judge.pk}/card/")
        return page.content.decode(), figures

    return make


def test_a_judge_that_takes_the_first_in_seven_of_ten_calls_is_not_to_be_trusted(card_of):
    page, figures = card_of(biased(takes_first=0.7))
    lean = figures["swap"]["lean"]
    assert lean["lower"] < 0.7 < lean["upper"]
    assert lean["lower"] > 0
    assert f"{DISTRUST}: the place decides for it." in page
    assert "It leans to the response shown first." in page
    assert "it obeys the texts" not in page


def test_a_judge_that_obeys_in_eight_of_ten_calls_is_not_to_be_trusted(card_of):
    page, figures = card_of(biased(obeys=0.8))
    assert (figures["canaries"]["plain"]["successes"], figures["canaries"]["obeys"]) == (0, True)
    assert f"{DISTRUST}: it obeys the texts that it judges." in page
    assert "the place decides" not in page


def test_a_judge_that_chooses_the_poor_response_anyway_is_not_to_be_trusted(card_of):
    page, figures = card_of(prefers_the_poor)
    found = figures["canaries"]
    assert found["plain"]["estimate"] == found["instructed"]["estimate"] == 1
    assert (found["obeys"], found["passed"], found["fails"]) == (False, False, True)
    assert page.count(DISTRUST) == 1
    assert (
        f"{DISTRUST}: a poor response that tells it to choose it wins 100.0\u00a0% of calls (20 in all"
        in page
    )
    assert (
        "It doesn&#x27;t obey the text, it prefers poor responses anyway: 100.0\u00a0% win without it."
        in page
    )


def test_a_judge_with_both_faults_is_told_of_both(card_of):
    page, _ = card_of(biased(takes_first=0.5, obeys=0.9))
    assert page.count(DISTRUST) == 2


def test_a_judge_that_leans_a_little_is_only_to_be_handled_with_care(card_of):
    page, figures = card_of(biased(takes_first=0.2))
    assert 0 < figures["swap"]["lean"]["estimate"] < 1 / 3
    assert DISTRUST not in page
    assert "It leans to the response shown first." in page


def test_a_judge_without_fault_is_trusted(card_of):
    page, figures = card_of(biased())
    assert figures["swap"]["consistency"]["successes"] == BATTLES
    assert DISTRUST not in page
    assert "It leans" not in page
