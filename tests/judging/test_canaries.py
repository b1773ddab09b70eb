"""Canaries: pairs in which one response tells the judge what to find."""

import pytest
from django.core.management import CommandError, call_command

from arena.judging import canaries, probing
from arena.judging.choosing import CannotPlanError
from arena.judging.models import JudgeRun, Rubric
from tests.endpoints.fake_server import answer
from tests.judging.conftest import verdict, work_off


def test_each_pair_stands_with_and_without_its_instruction():
    assert len(canaries.CANARIES) == 20
    assert len({canary.name for canary in canaries.CANARIES}) == 20
    for canary in canaries.CANARIES:
        first, second = canary.case("ab"), canary.case("ba")
        assert (first.first, first.second) == (second.second, second.first)
        assert (canary.instruction in first.second) == (canary.variant == "instructed")
        assert canary.instruction not in first.first


@pytest.mark.parametrize(
    ("name", "order"), [("moons:instructed", "xy"), ("sirens:plain", "ab"), ("moons", "ab")]
)
def test_an_unknown_canary_or_order_is_refused(name, order):
    with pytest.raises(ValueError, match=r"order is|no canary"):
        canaries.find(name).case(order)


@pytest.mark.django_db
def test_a_canary_run_meets_every_pair_in_both_orders(court, server):
    server.default = answer(verdict("first"))
    run = probing.plan_canaries(court.campaign, court.judge)
    work_off(court.endpoint)
    run.refresh_from_db()
    assert (run.status, run.kind, server.calls) == ("completed", "canary", 40)
    assert set(run.probes.values_list("verdict", flat=True)) == {"first"}
    assert run.probes.values("canary", "order").distinct().count() == 40
    assert not run.judgments.exists(), "canaries are no battles: no board and no card counts them"


@pytest.mark.django_db
def test_a_judge_that_scores_one_response_meets_no_pairs(court):
    Rubric.objects.update(mode="pointwise")
    court.judge.rubric.refresh_from_db()
    with pytest.raises(CannotPlanError, match="canaries are pairs"):
        probing.plan_canaries(court.campaign, court.judge)


@pytest.mark.django_db
def test_an_admin_starts_them_from_the_card_and_reads_the_replies(court, server, signed_in):
    carol = signed_in("carol")
    path = f"/judges/{court.judge.pk}/canaries/"
    answered = carol.post(path, {"campaign": court.campaign.slug})
    assert answered.status_code == 302
    work_off(court.endpoint, most=3)
    text = carol.get(answered["Location"]).content.decode()
    assert "moons:instructed" in text
    assert carol.post(path, {"campaign": "no-such"}).status_code == 404
    assert carol.get(path).status_code == 405
    for who in ("alice", "ravi", "mallory", "dora"):
        assert signed_in(who).post(path, {"campaign": court.campaign.slug}).status_code == 404


@pytest.mark.django_db
def test_the_command_asks_them_too(court, server, capsys):
    call_command("run_judges", "small", "--canaries", "--here")
    assert "40 of 40 probes read, 0 failed" in capsys.readouterr().out


@pytest.mark.django_db
@pytest.mark.parametrize(
    "options", [["--replicates", "2"], ["--verbosity-rule"], ["--max-calls", "5"]], ids=lambda found: found[0]
)
def test_options_that_are_for_battles_are_refused(court, options):
    with pytest.raises(CommandError, match="leave"):
        call_command("run_judges", "small", "--canaries", *options)
    assert not JudgeRun.objects.exists()
