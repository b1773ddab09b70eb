"""Labels are fixed first; a judge is measured on them freely, and on the held-out part once."""

import pytest
from django.utils import timezone

from arena.battles.models import Battle, Retraction, Vote
from arena.corpus.models import Prompt
from arena.judging import calibration, ending
from arena.judging.calibration_models import Calibration, Measurement
from arena.judging.choosing import CannotPlanError
from arena.judging.models import Judge, JudgeRun, Rubric
from arena.raters.models import Rater
from tests.judging.conftest import CRITERIA, work_off

pytestmark = pytest.mark.django_db


def vote(battle: Battle, outcome: str, rater: int = 0) -> Vote:
    who, _made = Rater.objects.get_or_create(
        team=battle.campaign.team, pseudonym=f"rater {rater}", defaults={"admission": "recorded"}
    )
    names = ("campaign", "prompt", "competitor_a", "competitor_b", "response_a", "response_b")
    again = Battle.objects.create(
        drawn_at=timezone.now(), rater=who, **{name: getattr(battle, name) for name in names}
    )
    key = str(Vote.objects.count())
    return Vote.objects.create(
        battle=again,
        rater=who,
        outcome=outcome,
        idempotency_key=key,
        voted_at=timezone.now(),
        digest="0" * 64,
    )


@pytest.fixture
def voted(make_court):
    """Twelve pairs on four prompts of two categories, one vote on each."""
    court = make_court(12)
    for number, battle in enumerate(court.battles):
        vote(battle, ("model_a", "model_b", "tie")[number % 3])
    return court


def fix(court, name="First", **options) -> Calibration:
    return calibration.fix_labels(court.campaign, name, **({"seed": 7} | options))


# --- labels -----------------------------------------------------------------------------------------------


def test_each_category_is_split_by_the_share_and_the_seed_decides_how(voted):
    first, again, other = fix(voted), fix(voted, "Again"), fix(voted, "Other", seed=8)

    def parts(found):
        return {(label.battle_id, label.part) for label in found.labels.all()}

    assert parts(first) == parts(again) != parts(other)
    assert first.sha256 == again.sha256 != other.sha256
    for category in ("reasoning", "writing"):
        labels = first.labels.filter(category=category)
        assert [labels.filter(part=part).count() for part in ("dev", "held_out")] == [3, 3]


def test_the_label_is_what_most_people_say_in_the_sides_of_the_battle_that_is_judged(voted):
    turned = voted.battles[0]
    names = {"response_a": turned.response_b, "response_b": turned.response_a}
    sides = {"competitor_a": turned.competitor_b, "competitor_b": turned.competitor_a}
    other = Battle(campaign=turned.campaign, prompt=turned.prompt, **names, **sides)
    vote(other, "model_b", 1)
    found = fix(voted).labels.get(battle=turned)
    assert (found.outcome, found.votes, found.agreeing) == ("model_a", 2, 2)


def test_pairs_on_which_people_disagree_or_say_little_have_no_label(voted):
    vote(voted.battles[0], "model_b", 1)
    Retraction.objects.create(vote=vote(voted.battles[1], "model_a", 1))
    found = fix(voted)
    assert found.left_out == {"split": 1}
    assert found.labels.count() == 11
    for battle in voted.battles[3:]:
        vote(battle, ("model_a", "model_b", "tie")[voted.battles.index(battle) % 3], 2)
    assert fix(voted, "Two each", least_votes=2).left_out == {"split": 1, "few_votes": 2}


def test_later_votes_change_no_label(voted):
    found = fix(voted)
    before = list(found.labels.order_by("pk").values())
    for rater in (3, 4):
        vote(voted.battles[0], "model_b", rater)
    assert list(found.labels.order_by("pk").values()) == before


@pytest.mark.parametrize(("votes", "share"), [(0, 50), (1, 50), (12, 1)])
def test_labels_that_leave_a_part_empty_are_refused(make_court, votes, share):
    court = make_court(12)
    for battle in court.battles[:votes]:
        vote(battle, "tie")
    with pytest.raises(CannotPlanError, match="leaves none for the part"):
        fix(court, held_out_percent=share)
    assert not Calibration.objects.exists()


# --- measuring --------------------------------------------------------------------------------------------


def test_the_dev_part_is_measured_freely_and_the_held_out_part_once(voted, server):
    found = fix(voted)
    for part, calls in (("dev", 12), ("dev", 24), ("held_out", 36)):
        measured = calibration.measure(found, voted.judge, part)
        battles = set(measured.run.judgments.values_list("battle", flat=True))
        assert battles == set(found.labels.filter(part=part).values_list("battle", flat=True))
        work_off(voted.endpoint)
        assert server.calls == calls
    with pytest.raises(calibration.AlreadyMeasuredError, match=f"run {measured.run_id}") as refused:
        calibration.measure(found, voted.judge, "held_out")
    assert refused.value.first == measured
    assert f"{measured.started_at:%Y-%m-%d %H:%M}" in str(refused.value)
    assert JudgeRun.objects.count() == 3, "the refused attempt has planned nothing"


def test_another_name_for_the_same_rubric_and_model_is_no_second_chance(voted):
    found = fix(voted)
    calibration.measure(found, voted.judge, "held_out")
    twin = Judge.objects.create(
        team=voted.campaign.team, name="Twin", endpoint=voted.endpoint, rubric=voted.judge.rubric
    )
    with pytest.raises(calibration.AlreadyMeasuredError):
        calibration.measure(found, twin, "held_out")
    twin.rubric = Rubric.objects.create(
        team=voted.campaign.team,
        name="General",
        version=2,
        instructions="New.",
        criteria=CRITERIA,
        sha256="2" * 64,
    )
    assert calibration.measure(found, twin, "held_out").pk, "a new version is measured"


def test_two_at_once_leave_one_measurement_and_one_run_that_goes_on(voted, monkeypatch):
    found = fix(voted)
    first = calibration.measure(found, voted.judge, "held_out")
    looked = []

    def look_too_early(*arguments):
        looked.append(arguments)
        if len(looked) > 1:
            raise calibration.AlreadyMeasuredError(first)

    monkeypatch.setattr(calibration, "_refuse_second", look_too_early)
    with pytest.raises(calibration.AlreadyMeasuredError):
        calibration.measure(found, voted.judge, "held_out")
    assert Measurement.objects.get() == first
    assert sorted(JudgeRun.objects.values_list("status", flat=True)) == ["cancelled", "queued"]


def test_a_run_that_showed_nothing_does_not_count(voted, server):
    found = fix(voted)
    first = calibration.measure(found, voted.judge, "held_out")
    ending.cancel(first.run)
    second = calibration.measure(found, voted.judge, "held_out")
    work_off(voted.endpoint, most=1)
    ending.cancel(second.run)
    with pytest.raises(calibration.AlreadyMeasuredError):
        calibration.measure(found, voted.judge, "held_out")
    assert list(Measurement.objects.all()) == [second]


def test_a_judge_recorded_elsewhere_or_an_unknown_part_is_refused(voted):
    found = fix(voted)
    with pytest.raises(ValueError, match="a part is one of dev, held_out"):
        calibration.measure(found, voted.judge, "train")
    with pytest.raises(CannotPlanError, match="recorded elsewhere"):
        calibration.measure(found, Judge(team=voted.campaign.team, name="Sage"), "dev")


# --- wordings ---------------------------------------------------------------------------------------------


def wording(court, text: str, **changes) -> Judge:
    fields = {"instructions": text, "criteria": CRITERIA, "sha256": text.ljust(64, "0")} | changes
    rubric = Rubric.objects.create(team=court.campaign.team, name=text, **fields)
    return Judge.objects.create(team=court.campaign.team, name=text, endpoint=court.endpoint, rubric=rubric)


@pytest.mark.parametrize(
    "change",
    [
        {"criteria": [{**criterion, "high": 10} for criterion in CRITERIA]},
        {"criteria": [{**criterion, "name": f"x_{criterion['name']}"} for criterion in CRITERIA]},
        {"mode": "reference"},
        {"sha256": "one".ljust(64, "0")},
        None,
    ],
)
def test_wordings_differ_in_words_alone(court, server, change):
    Prompt.objects.update(reference="Thus.")
    judges = [wording(court, "one"), wording(court, "two")]
    run = calibration.plan_run(court.campaign, judges, court.pks)
    assert calibration.wordings_of(run) == [], "two are too few"
    judges.append(wording(court, "three", **(change or {})))
    run = calibration.plan_run(court.campaign, judges, court.pks)
    assert calibration.wordings_of(run) == ([] if change else judges)
