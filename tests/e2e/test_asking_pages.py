"""Where servers are connected, models answer and judges are measured: with rows, on a phone, by keyboard."""

from __future__ import annotations

import pytest
from django.utils import timezone

from arena.battles.models import Battle, Vote
from arena.corpus import generation_planning
from arena.corpus.generation_models import GenerationRun
from arena.endpoints.models import Endpoint
from arena.judging import calibration
from arena.judging.calibration_models import Calibration, Measurement
from arena.judging.models import Judge, Rubric
from arena.leaderboards.agreement import judge_run_figures
from arena.raters.models import Rater
from tests.corpus import generation_studio
from tests.e2e.test_boards import PHONE, WIDE, findings, overflow, visit
from tests.endpoints.fake_server import FakeServer, Step, answer, status
from tests.judging.conftest import CRITERIA, prefers, work_off

__all__ = ["visit"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def reply(body: dict) -> Step:
    """Answers prompts, judges battles; of one model it wants to know nothing."""
    if body["model"] == "beta":
        return status(400)
    if "BEGIN FIRST RESPONSE" in body["messages"][-1]["content"]:
        return prefers("Reply 0")(body)
    return answer("Ready.")


@pytest.fixture
def server(settings):
    with FakeServer(reply) as running:
        settings.ENDPOINT_ALLOWED_HOSTS = [running.host]
        yield running


@pytest.fixture
def studio(server):
    return generation_studio.build_studio(server)


@pytest.fixture
def judge(studio, cast):
    rubric = Rubric.objects.create(
        team=cast.team, name="General", instructions="Judge.", criteria=CRITERIA, sha256="0" * 64
    )
    return Judge.objects.create(team=cast.team, name="Judy", endpoint=studio.endpoints[0], rubric=rubric)


@pytest.fixture
def voted(make_campaign, cast):
    """One vote on a pair of each of twelve prompts."""
    small = make_campaign("joust", prompts=12)
    rater = Rater.objects.create(team=cast.team, pseudonym="voter", admission=Rater.Admission.RECORDED)
    for prompt in small.prompts:
        a, b, _ = [r for r in small.responses if r.prompt_id == prompt.pk]
        sides = {"competitor_a": a.competitor, "competitor_b": b.competitor, "response_a": a, "response_b": b}
        battle = Battle.objects.create(
            campaign=small.campaign, prompt=prompt, rater=rater, drawn_at=timezone.now(), **sides
        )
        Vote.objects.create(
            battle=battle,
            rater=rater,
            outcome="model_a",
            idempotency_key=str(prompt.pk),
            voted_at=timezone.now(),
            digest="0" * 64,
        )
    return small.campaign


@pytest.fixture
def addresses(studio, judge, voted) -> list[str]:
    """Each page with rows: a run with failures, an endpoint that failed, a judge measured twice."""
    run = generation_planning.plan_run(studio.prompt_set, studio.competitors)
    generation_studio.work_off()
    labels = calibration.fix_labels(voted, "First", seed=1)
    for part in ("dev", "held_out"):
        calibration.measure(labels, judge, part)
    work_off(judge.endpoint)
    assert judge_run_figures.compute_due() == 2
    return [
        "/endpoints/",
        "/endpoints/new/",
        *(f"/endpoints/{endpoint.pk}/" for endpoint in studio.endpoints),
        "/models/asked/new/",
        f"/models/{studio.competitors[0].pk}/asked/",
        f"/prompt-sets/{studio.prompt_set.pk}/generate/",
        "/generation/",
        f"/generation/{run.pk}/",
        "/judging/calibrations/",
        "/judging/calibrations/new/",
        f"/judging/calibrations/{labels.pk}/",
        f"/judging/runs/{labels.measurements.first().run_id}/wordings/",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_sticks_out_on_a_phone(addresses, visit, live_server, scheme):
    page, record = visit("carol", viewport=PHONE, color_scheme=scheme)
    for address in addresses:
        page.goto(live_server.url + address)
        assert (address, findings(page), overflow(page)) == (address, [], 0)
    assert record.complaints == []


# --- by keyboard ------------------------------------------------------------------------------------------

FOCUS = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  const named = (element.labels && element.labels[0]) || element;
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return [(named.innerText || "").trim(), ring || style.boxShadow !== "none"];
}"""


def tab_to(page, name: str) -> None:
    """Tab on until what has the focus is called so; and it can be seen that it has."""
    met = []
    for _ in range(80):
        page.keyboard.press("Tab")
        called, is_visible = page.evaluate(FOCUS)
        if called.removesuffix(" required") == name:
            assert is_visible, f"nothing shows that {name} has the focus"
            return
        met.append(called)
    raise AssertionError(f"Tab never came to {name!r}: {met}")


def write(page, name: str, text: str) -> None:
    tab_to(page, name)
    page.keyboard.type(text)


def test_a_server_is_connected_and_tested_by_keyboard(cast, server, visit, live_server):
    page, record = visit("carol", viewport=WIDE)
    page.goto(f"{live_server.url}/endpoints/")
    tab_to(page, "Connect a server")
    page.keyboard.press("Enter")
    page.wait_for_url("**/endpoints/new/")
    write(page, "Name", "House")
    write(page, "Base URL", server.base_url)
    write(page, "Model", "small-one")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: not url.endswith("/new/"))
    assert Endpoint.objects.get().name == "House"
    page.goto(f"{live_server.url}/endpoints/")
    tab_to(page, "Test connection")
    page.keyboard.press("Enter")
    page.get_by_text("answered in").wait_for()
    assert server.calls == 1
    assert record.complaints == []


def test_responses_are_generated_by_keyboard(studio, server, visit, live_server):
    page, record = visit("carol", viewport=WIDE)
    page.goto(f"{live_server.url}/prompt-sets/{studio.prompt_set.pk}/generate/")
    page.get_by_text("6 responses are missing").wait_for()
    tab_to(page, "Beta")
    page.keyboard.press("Space")
    page.get_by_text("3 responses are missing").wait_for()
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    page.wait_for_url("**/generation/*/")
    assert GenerationRun.objects.get().status == "completed"
    assert server.calls == 3
    assert record.complaints == []


def test_labels_are_fixed_and_a_judge_is_measured_by_keyboard(judge, voted, visit, live_server):
    page, record = visit("carol", viewport=WIDE)
    page.goto(f"{live_server.url}/judging/calibrations/new/?campaign=joust")
    write(page, "Name", "First")
    tab_to(page, "Fix")
    page.keyboard.press("Enter")
    page.get_by_text("The labels are fixed").wait_for()
    tab_to(page, "Judge")
    page.keyboard.press("ArrowDown")
    tab_to(page, "development")
    page.keyboard.press("ArrowDown")
    tab_to(page, "Measure")
    page.keyboard.press("Enter")
    page.wait_for_url("**/judging/runs/*/")
    measurement = Measurement.objects.get()
    assert (measurement.part, measurement.judge, measurement.run.status) == ("held_out", judge, "completed")
    assert Calibration.objects.get().labels.count() == 12
    assert record.complaints == []
