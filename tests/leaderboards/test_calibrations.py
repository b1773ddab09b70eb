"""What measurements and wordings come to, held to counts by hand; and their pages."""

import pytest
from django.utils import timezone

from arena.battles.models import Battle, Vote
from arena.corpus.models import Prompt
from arena.endpoints.models import Endpoint
from arena.judging import calibration
from arena.judging.calibration_models import Calibration, Measurement
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.leaderboards.agreement import judge_run_figures
from arena.leaderboards.agreement.card_models import RunFigures
from arena.raters.models import Rater

pytestmark = pytest.mark.django_db

CRITERIA = [{"name": name, "description": "?", "low": 1, "high": 5} for name in ("a", "b", "c")]


@pytest.fixture
def endpoint(cast):
    return Endpoint.objects.create(
        team=cast.team, name="LLM", base_url="https://llm.invalid/v1", model_id="m"
    )


@pytest.fixture
def make_wording(cast, endpoint):
    def make(name: str) -> Judge:
        rubric = Rubric.objects.create(
            team=cast.team, name=name, instructions=name, criteria=CRITERIA, sha256=name.ljust(64, "0")
        )
        return Judge.objects.create(team=cast.team, name=name, endpoint=endpoint, rubric=rubric)

    return make


@pytest.fixture
def labelled(make_campaign, cast):
    """Twelve pairs whose first response won, and the calibration that fixes them."""
    small = make_campaign("joust", prompts=12)
    for prompt in small.prompts:
        a, b, _ = [r for r in small.responses if r.prompt_id == prompt.pk]
        rater, _made = Rater.objects.get_or_create(
            team=cast.team, pseudonym="voter", defaults={"admission": Rater.Admission.RECORDED}
        )
        battle = Battle.objects.create(
            campaign=small.campaign,
            prompt=prompt,
            competitor_a=a.competitor,
            competitor_b=b.competitor,
            response_a=a,
            response_b=b,
            rater=rater,
            drawn_at=timezone.now(),
        )
        Vote.objects.create(
            battle=battle,
            rater=rater,
            outcome="model_a",
            idempotency_key=str(prompt.pk),
            voted_at=timezone.now(),
            digest="0" * 64,
        )
    return calibration.fix_labels(small.campaign, "First", seed=1)


def found_by(run: JudgeRun, judge: Judge, battles, outcomes) -> None:
    for battle, outcome in zip(battles, outcomes, strict=True):
        Judgment.objects.update_or_create(
            run=run,
            judge=judge,
            battle_id=battle,
            defaults={"outcome": outcome, "resolved_at": timezone.now()},
        )


def ended(labelled: Calibration, *judges: Judge) -> JudgeRun:
    run = JudgeRun.objects.create(campaign=labelled.campaign, status="completed")
    run.judges.set(judges)
    return run


def measured(labelled: Calibration, judge: Judge, outcomes, part: str = "held_out") -> Measurement:
    run = ended(labelled, judge)
    battles = labelled.labels.filter(part=part).order_by("battle").values_list("battle", flat=True)
    found_by(run, judge, battles, outcomes)
    return Measurement.objects.create(
        calibration=labelled,
        judge=judge,
        part=part,
        run=run,
        endpoint=judge.endpoint,
        rubric_sha256=judge.rubric.sha256,
    )


def figures(measurement: Measurement) -> dict:
    judge_run_figures.compute_due()
    return RunFigures.objects.get(run=measurement.run).figures["labels"]


BEFORE = ["model_a", "model_a", "model_b", "tie_unstable", "model_b", "no_verdict"]
AFTER = ["model_a", "model_a", "model_a", "model_a", "model_b", "model_a"]


def test_a_measurement_is_agreement_with_the_fixed_labels_and_no_verdict_is_out(labelled, make_wording):
    found = figures(measured(labelled, make_wording("one"), BEFORE))
    assert (found["labels"], found["decided"]) == (6, 5)
    every, decisive = found["agreement"]["every"], found["agreement"]["decisive"]
    assert (every["successes"], every["n"], every["clusters"]) == (2, 5, 5)
    assert (decisive["successes"], decisive["n"]) == (2, 4)
    assert every["lower"] < every["estimate"] < every["upper"]
    assert {one["category"] for one in found["categories"]} == {"reasoning", "writing"}
    assert found["gain"] is None, "the first is the one that others are held against"


def test_after_is_held_against_before_on_the_battles_that_both_decided(labelled, make_wording):
    measured(labelled, make_wording("one"), BEFORE)
    found = figures(measured(labelled, make_wording("two"), AFTER))
    assert found["agreement"]["every"]["successes"] == 5
    assert (found["gain"]["estimate"], found["gain"]["n"]) == (pytest.approx(2 / 5), 5)
    assert found["gain"]["lower"] < 2 / 5 < found["gain"]["upper"]


def test_prompts_of_one_text_are_one_cluster_of_a_measurement(labelled, make_wording):
    one_text = [{"role": "user", "content": "Say hello."}]
    Prompt.objects.filter(category="writing").update(messages=one_text)
    measured(labelled, make_wording("one"), BEFORE)
    found = figures(measured(labelled, make_wording("two"), AFTER))
    held_out = labelled.labels.filter(part="held_out")
    texts = held_out.exclude(category="writing").count() + 1
    every, gain = found["agreement"]["every"], found["gain"]
    assert every["n"] == 6 > texts == every["clusters"]
    assert gain["clusters"] <= texts


def test_parts_are_never_pooled(labelled, make_wording):
    one = make_wording("one")
    measured(labelled, one, BEFORE)
    found = figures(measured(labelled, one, ["model_b"] * 6, "dev"))
    assert (found["agreement"]["every"]["successes"], found["agreement"]["every"]["n"]) == (0, 6)
    assert found["agreement"]["kappa"] is None or found["agreement"]["kappa"]["estimate"] <= 0
    assert found["gain"] is None


def test_figures_are_computed_once_and_again_when_a_failed_call_was_retried(labelled, make_wording):
    measurement = measured(labelled, make_wording("one"), BEFORE)
    assert [judge_run_figures.compute_due(), judge_run_figures.compute_due()] == [1, 0]
    battle = measurement.run.judgments.get(outcome="no_verdict").battle_id
    found_by(measurement.run, measurement.judge, [battle], ["model_a"])
    assert [judge_run_figures.compute_due(), judge_run_figures.compute_due()] == [1, 0]
    assert RunFigures.objects.get().figures["labels"]["decided"] == 6


def test_an_open_run_has_no_figures_yet(labelled, make_wording):
    measurement = measured(labelled, make_wording("one"), BEFORE)
    JudgeRun.objects.update(status="running")
    assert judge_run_figures.compute_due() == 0
    assert not RunFigures.objects.filter(run=measurement.run).exists()


def test_wordings_agree_by_kappa_and_flip_where_they_differ(labelled, make_wording):
    judges = [make_wording(name) for name in ("one", "two", "three")]
    run = ended(labelled, *judges)
    battles = list(labelled.labels.order_by("battle").values_list("battle", flat=True))[:5]
    found_by(run, judges[0], battles, ["model_a", "model_a", "model_b", "tie", "model_a"])
    found_by(run, judges[1], battles, ["model_a", "model_b", "model_b", "tie_unstable", "no_verdict"])
    found_by(run, judges[2], battles, ["model_a", "model_b", "model_b", "tie", "model_b"])
    judge_run_figures.compute_due()
    found = RunFigures.objects.get(run=run).figures["wordings"]
    assert (found["flips"]["successes"], found["flips"]["n"], found["battles"]) == (1, 4, 4)
    # Counts by battle: 3 0 0 | 1 2 0 | 0 3 0 | 0 0 3. P = (1 + 1/3 + 1 + 1)/4, Pe = (4.5² + 4.5² + 3²)/144.
    agreed, chance = (3 + 1 / 3) / 4, 49.5 / 144
    assert found["kappa"]["estimate"] == pytest.approx((agreed - chance) / (1 - chance))
    same = {tuple(pair["names"]): pair["same"]["successes"] for pair in found["pairs"]}
    assert same == {("one", "two"): 3, ("one", "three"): 3, ("two", "three"): 4}


# --- pages ------------------------------------------------------------------------------------------------


def test_labels_are_fixed_in_the_browser_and_a_name_is_taken_once(labelled, signed_in):
    carol = signed_in("carol")
    fields = {
        "campaign": labelled.campaign_id,
        "name": "Second",
        "held_out_percent": 25,
        "least_votes": 1,
        "seed": 3,
    }
    answered = carol.post("/judging/calibrations/new/", fields)
    found = Calibration.objects.get(name="Second")
    assert answered["Location"] == f"/judging/calibrations/{found.pk}/"
    assert found.labels.filter(part="held_out").count() == 4
    assert carol.post("/judging/calibrations/new/", fields).status_code == 422
    none = carol.post("/judging/calibrations/new/", fields | {"name": "Third", "least_votes": 9})
    assert "let people vote on more pairs" in none.content.decode()
    assert "Second" in carol.get("/judging/calibrations/").content.decode()


def test_the_page_shows_before_and_after_and_refuses_a_second_look(labelled, make_wording, signed_in):
    one = make_wording("one")
    measured(labelled, one, BEFORE)
    measured(labelled, make_wording("two"), AFTER)
    judge_run_figures.compute_due()
    carol, path = signed_in("carol"), f"/judging/calibrations/{labelled.pk}/"
    page = carol.get(path).content.decode()
    assert "40.0\u00a0%" in page
    assert "83.3\u00a0%" in page
    assert page.count('<span class="tag">before</span>') == 1
    refused = carol.post(f"{path}measure/", {"judge": one.pk, "part": "held_out"})
    assert refused.status_code == 422
    assert "It is measured once for each rubric version" in refused.content.decode()
    started = carol.post(f"{path}measure/", {"judge": one.pk, "part": "dev"})
    assert started["Location"].startswith("/judging/runs/")


def test_wordings_have_a_page_of_their_own(labelled, make_wording, signed_in):
    judges = [make_wording(name) for name in ("one", "two", "three")]
    run = ended(labelled, *judges)
    carol, path = signed_in("carol"), f"/judging/runs/{run.pk}/wordings/"
    assert "No figures yet" in carol.get(path).content.decode()
    battles = list(labelled.labels.values_list("battle", flat=True))
    for judge in judges:
        found_by(run, judge, battles, ["model_a"] * 6 + ["model_b"] * 6)
    judge_run_figures.compute_due()
    text = carol.get(path).content.decode()
    assert "1.00" in text
    assert "0 / 12" in text
    assert path in carol.get(f"/judging/runs/{run.pk}/").content.decode()
    run.judges.remove(judges[0])
    assert "are no wordings" in carol.get(path).content.decode()


def test_researchers_read_calibrations_and_only_admins_fix_and_measure(labelled, signed_in):
    path = f"/judging/calibrations/{labelled.pk}/"
    ravi = signed_in("ravi")
    assert ravi.get(path).status_code == 200
    assert "Measure a judge" not in ravi.get(path).content.decode()
    assert ravi.post(f"{path}measure/", {}).status_code == 404
    assert ravi.get("/judging/calibrations/new/").status_code == 404
    for who in ("alice", "mallory", "dora"):
        assert signed_in(who).get(path).status_code == 404
        assert signed_in(who).post(f"{path}measure/", {}).status_code == 404
    assert Calibration.objects.count() == 1


# --- for programs -----------------------------------------------------------------------------------------


def calibrations(visitor, query: str = "") -> list[dict]:
    return visitor.get(f"/api/v1/calibrations/{query}").json()["results"]


def test_the_api_gives_what_is_fixed_and_every_measurement(labelled, make_wording, signed_in):
    first, second = (measured(labelled, make_wording(name), said) for name, said in NAMED.items())
    judge_run_figures.compute_due()
    RunFigures.objects.filter(run=second.run).delete()
    (found,) = calibrations(signed_in("ravi"), "?campaign=joust")
    assert found == signed_in("ravi").get(f"/api/v1/calibrations/{labelled.pk}/").json()
    fixed = {name: found[name] for name in ("campaign", "seed", "dev", "held_out", "left_out", "sha256")}
    assert fixed == {
        "campaign": "joust",
        "seed": 1,
        "dev": 6,
        "held_out": 6,
        "left_out": {},
        "sha256": labelled.sha256,
    }
    told = [(m["judge_name"], m["part"], m["run"], m["run_status"]) for m in found["measurements"]]
    assert told == [
        ("one", "held_out", first.run_id, "completed"),
        ("two", "held_out", second.run_id, "completed"),
    ]
    assert found["measurements"][0]["figures"] == RunFigures.objects.get(run=first.run).figures["labels"]
    assert found["measurements"][1]["figures"] is None


NAMED = {"one": BEFORE, "two": AFTER}


def test_the_api_picks_the_calibrations_of_a_campaign_and_of_a_judge(labelled, make_wording, signed_in):
    other = calibration.fix_labels(labelled.campaign, "Second", seed=2)
    tried, untried = make_wording("one"), make_wording("two")
    for part in ("dev", "held_out"):
        measured(other, tried, BEFORE, part)
    ravi = signed_in("ravi")
    assert [one["name"] for one in calibrations(ravi)] == ["Second", "First"]
    (found,) = calibrations(ravi, f"?judge={tried.pk}")
    assert (found["name"], found["dev"], found["held_out"]) == ("Second", 6, 6)
    assert calibrations(ravi, f"?judge={untried.pk}") == calibrations(ravi, "?campaign=melee") == []


@pytest.mark.parametrize("who", ["alice", "mallory", "dora"])
def test_the_api_shows_calibrations_to_the_teams_researchers_alone(labelled, signed_in, who):
    visitor = signed_in(who)
    assert calibrations(visitor) == []
    assert visitor.get(f"/api/v1/calibrations/{labelled.pk}/").status_code == 404


def test_the_api_changes_no_calibration(labelled, signed_in):
    for method in ("post", "put", "patch", "delete"):
        assert getattr(signed_in("carol"), method)(f"/api/v1/calibrations/{labelled.pk}/").status_code == 405


def test_a_list_of_calibrations_takes_no_statement_for_each(
    labelled, make_wording, signed_in, django_assert_max_num_queries
):
    for number in range(5):
        measured(labelled, make_wording(f"wording {number}"), BEFORE)
    ravi = signed_in("ravi")
    with django_assert_max_num_queries(12):
        assert len(calibrations(ravi)[0]["measurements"]) == 5
