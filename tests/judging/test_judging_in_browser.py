"""Registering, starting and watching in a real browser, on the content policy that the product sends."""

from __future__ import annotations

from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe

from arena.judging import probing
from arena.judging.calibration_models import Calibration
from arena.judging.errands import rubric_text
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.judging.planning import plan_run
from tests.endpoints.fake_server import answer
from tests.judging.conftest import work_off

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

COMPLAINTS = """
  document.addEventListener("securitypolicyviolation", (event) =>
    console.error("policy violation: " + event.violatedDirective + " " + event.blockedURI));
"""


@pytest.fixture
def carol(page, live_server, signed_in):
    """Carol's page; at the end it has had nothing to complain about."""
    complaints: list[str] = []
    page.add_init_script(COMPLAINTS)
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    session = signed_in("carol").cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    yield page
    assert complaints == []


def violations(page) -> list[str]:
    return [found["id"] for found in Axe().run(page).response["violations"]]


def test_an_estimate_follows_the_form_and_start_leads_to_the_finished_run(carol, court, server, live_server):
    carol.goto(f"{live_server.url}/judging/new/?campaign={court.campaign.slug}")
    estimate = carol.locator("#estimate")
    estimate.get_by_text("There is no such battle").wait_for()
    carol.get_by_label("all battles, in random order").check()
    estimate.get_by_text("12 calls").wait_for()
    carol.get_by_label("At most").fill("2")
    carol.get_by_label("At most").press("Tab")
    estimate.get_by_text("4 calls").wait_for()
    assert violations(carol) == []
    # The tests' queue works at once, so the run is done when its page comes.
    carol.get_by_role("button", name="Start").click()
    carol.get_by_text("4 of 4 calls").wait_for()
    assert server.calls == 4
    assert violations(carol) == []


def test_the_bar_moves_by_itself_and_the_page_ends_with_what_can_be_done(carol, court, server, live_server):
    run = plan_run(court.campaign, [court.judge], court.pks)
    carol.goto(f"{live_server.url}/judging/runs/{run.pk}/")
    carol.get_by_text("0 of 12 calls").wait_for()
    work_off(court.endpoint, most=4)
    carol.get_by_text("4 of 12 calls").wait_for()
    assert carol.locator("progress").get_attribute("value") == "4"
    carol.get_by_role("button", name="Cancel").click()
    carol.get_by_text("The run is cancelled").wait_for()
    assert JudgeRun.objects.get().status == "cancelled"
    assert not carol.get_by_role("button", name="Cancel").is_visible()


def test_the_page_of_a_run_that_ends_shows_the_retry_without_a_reload_by_hand(
    carol, court, server, live_server
):
    run = plan_run(court.campaign, [court.judge], court.pks[:1])
    carol.goto(f"{live_server.url}/judging/runs/{run.pk}/")
    server.default = answer(None, refusal="No.")
    work_off(court.endpoint)
    carol.get_by_role("button", name="Retry failed calls").wait_for()


@pytest.mark.parametrize("width", [1280, 375])
def test_a_judgment_can_be_read_on_any_screen(carol, court, live_server, width):
    plan_run(court.campaign, [court.judge], court.pks[:1])
    work_off(court.endpoint)
    carol.set_viewport_size({"width": width, "height": 800})
    carol.goto(f"{live_server.url}/judging/judgments/{Judgment.objects.get().pk}/")
    carol.get_by_role("heading", name="A shown first").wait_for()
    assert violations(carol) == []
    assert carol.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_connection_is_tested_without_leaving_the_list(carol, court, server, live_server):
    server.default = answer("ready")
    carol.goto(f"{live_server.url}/endpoints/")
    carol.get_by_role("button", name="Test connection").click()
    carol.get_by_text("answered in").wait_for()
    assert carol.url.endswith("/endpoints/")
    assert server.calls == 1
    assert violations(carol) == []


def test_rubrics_probes_and_calibrations_are_legible_on_a_phone_light_and_dark(
    carol, court, server, live_server
):
    scored = Rubric.publish(
        court.campaign.team, "Scores", replace(rubric_text(court.judge.rubric), mode="pointwise")
    )
    scorer = Judge.objects.create(
        team=court.campaign.team, name="Scorer", endpoint=court.endpoint, rubric=scored
    )
    scores = probing.plan_scores(court.campaign, [scorer], probing.responses_of(court.pks[:1]))
    canaries = probing.plan_canaries(court.campaign, court.judge)
    labels = Calibration.objects.create(
        campaign=court.campaign, name="First", seed=1, held_out_percent=50, least_votes=1, sha256="a" * 64
    )
    paths = (
        "rubrics/new/?starter=code",
        f"judging/runs/{scores.pk}/",
        f"judging/runs/{canaries.pk}/",
        "judging/",
        "judging/calibrations/",
        "judging/calibrations/new/",
        f"judging/calibrations/{labels.pk}/",
        f"judging/runs/{scores.pk}/wordings/",
    )
    work_off(court.endpoint)
    carol.set_viewport_size({"width": 375, "height": 800})
    carol.set_default_navigation_timeout(60_000)
    for number, path in enumerate(paths):
        carol.emulate_media(color_scheme=("light", "dark")[number % 2])
        carol.goto(f"{live_server.url}/{path}")
        assert (path, violations(carol)) == (path, [])
        assert carol.evaluate("document.documentElement.scrollWidth") <= 375, path
