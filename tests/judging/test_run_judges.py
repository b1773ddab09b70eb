import pytest
from django.core.management import CommandError, call_command

from arena.endpoints.models import Call, Endpoint
from arena.judging.models import JudgeRun
from tests.endpoints.fake_server import answer, status
from tests.judging.conftest import verdict

pytestmark = pytest.mark.django_db


def run_judges(*arguments: str) -> None:
    call_command("run_judges", "small", "--battles", "all", *arguments)


def test_a_run_is_worked_off_in_this_process(court, server, capsys):
    run_judges("--here")
    told = capsys.readouterr().out
    assert "6 judgments by 1 judge planned" in told
    assert (
        "6 judgments (2 model_a, 2 model_b, 2 tie); 0.0\u00a0% of those with a verdict are unstable" in told
    )
    assert server.calls == 12


def test_without_here_the_run_waits_for_the_consumer(court, server):
    run_judges("--limit", "2", "--seed", "3")
    run = JudgeRun.objects.get()
    assert (run.status, run.seed, server.calls) == ("queued", 3, 0)
    assert Call.objects.count() == 4


def test_a_limit_takes_the_part_that_the_seed_draws(court):
    for seed in (1, 1, 2):
        run_judges("--limit", "3", "--seed", str(seed))
    chosen = [set(run.judgments.values_list("battle", flat=True)) for run in JudgeRun.objects.order_by("pk")]
    assert chosen[0] == chosen[1] != chosen[2]


def test_replicates_are_judgments_of_their_own(court, server, capsys):
    run_judges("--limit", "2", "--replicates", "3", "--here")
    assert "6 judgments by" in capsys.readouterr().out
    assert set(JudgeRun.objects.get().judgments.values_list("replicate", flat=True)) == {1, 2, 3}
    assert server.calls == 12


def test_a_run_with_failures_is_an_error_with_its_counts(court, server, capsys):
    server.default = answer(None, refusal="No.")
    with pytest.raises(CommandError, match="the run is Completed With Failures"):
        run_judges("--here")
    assert "6 judgments (6 no_verdict)" in capsys.readouterr().out


def test_a_wrong_key_ends_the_command_with_its_reason(court, server):
    server.default = status(401)
    with pytest.raises(CommandError, match=r"the run is Paused .*Is the key right"):
        run_judges("--here")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "no campaign 'nowhere'; there are: small"),
        (["small", "--judge", "Rhadamanthus"], "no judge Rhadamanthus; there are: Judy"),
        (["small", "--battles", "voted"], "let people vote first"),
        (["small", "--battles", "all", "--budget", "1"], "has no prices"),
        (["small", "--limit", "0"], "--limit: '0' is no whole number from 1 to"),
        (["small", "--max-calls", "-1"], "--max-calls: '-1' is no whole number from 1 to"),
        (["small", "--replicates", "0"], "--replicates: '0' is no whole number from 1 to 1000"),
        (["small", "--seed", "-1"], "--seed: '-1' is no whole number from 0 to"),
        (["small", "--seed", "9" * 5000], "is no whole number"),
        (["small", "--limit", "²"], "is no whole number"),
        (["small", "--budget", "much"], "--budget: 'much' is no amount in dollars"),
        (["small", "--budget", "-1"], "--budget: '-1' is no amount in dollars"),
        (["small", "--budget", "NaN"], "--budget: 'NaN' is no amount in dollars"),
    ],
)
def test_what_cannot_run_gets_words(court, arguments, words):
    with pytest.raises(CommandError, match=words):
        call_command("run_judges", *arguments)
    assert not JudgeRun.objects.exists()


def test_battles_judged_least_come_first(court, server):
    server.default = answer(verdict("tie"))
    run_judges("--limit", "4", "--here")
    call_command("run_judges", "small", "--battles", "fewest", "--limit", "2", "--here")
    first, second = JudgeRun.objects.order_by("pk")
    judged = set(first.judgments.values_list("battle", flat=True))
    assert not judged & set(second.judgments.values_list("battle", flat=True))


def test_internal_battles_are_left_to_internal_judges(court, server):
    court.battles[0].prompt.prompt_set.__class__.objects.update(is_internal=True)
    with pytest.raises(CommandError, match="no battle to judge"):
        run_judges("--here")
    Endpoint.objects.update(is_internal=True)
    run_judges("--here")
    assert server.calls == 12
