"""A judge and its own family; winners much longer than losers."""

import pytest
from django.core.management import call_command

from arena.corpus.models import Competitor, Response
from arena.endpoints.models import Call, Endpoint
from arena.judging.choosing import CannotPlanError
from arena.judging.families import find_own_family
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.judging.planning import estimate, plan_run
from tests.judging.conftest import work_off

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def ember(court):
    """The judge is of the family of Ember, who is in four of the six battles."""
    Judge.objects.update(family=" Ember ")
    court.judge.refresh_from_db()
    return court


def fields(court, **changes):
    form = {
        "campaign": court.campaign.pk,
        "judges": [court.judge.pk],
        "which": "all",
        "limit": 100,
        "seed": 7,
    }
    return form | changes


def page(answered) -> str:
    return answered.content.decode().replace("&#x27;", "'")


@pytest.mark.parametrize(
    ("policy", "judgments", "counted"), [("exclude", 2, 4), ("warn", 6, 4), ("allow", 6, 0)]
)
def test_the_policy_decides_and_the_pairs_are_counted(ember, policy, judgments, counted):
    told = estimate([ember.judge], ember.pks, policy)
    assert (told.judgments, told.calls, told.own_family) == (judgments, 2 * judgments, counted)
    run = plan_run(ember.campaign, [ember.judge], ember.pks, family_policy=policy)
    assert (run.judgments.count(), run.own_family_pairs, run.family_policy) == (judgments, counted, policy)
    assert Call.objects.count() == 2 * judgments


def test_only_the_judge_of_the_family_is_left_out(ember):
    other = Judge.objects.create(
        team=ember.judge.team, name="Otto", endpoint=ember.endpoint, rubric=Rubric.objects.get()
    )
    run = plan_run(ember.campaign, [ember.judge, other], ember.pks)
    assert (run.judgments.filter(judge=ember.judge).count(), run.judgments.filter(judge=other).count()) == (
        2,
        6,
    )
    own = find_own_family([ember.judge, other], ember.pks, "exclude")
    assert own.left_to_nobody([ember.judge, other], ember.pks) == 0
    assert own.left_to_nobody([ember.judge], ember.pks) == 4


def test_a_family_that_only_the_endpoint_names_counts_too(court):
    Endpoint.objects.update(family="EMBER")
    court.judge.refresh_from_db()
    assert find_own_family([court.judge], court.pks, "exclude").pairs == 4


def test_nobody_without_a_family_is_of_one(court):
    Competitor.objects.update(family="")
    assert find_own_family([court.judge], court.pks, "exclude").pairs == 0


def test_a_run_that_leaves_nothing_is_not_planned(ember):
    Competitor.objects.update(family="ember")
    with pytest.raises(CannotPlanError, match="own family"):
        plan_run(ember.campaign, [ember.judge], ember.pks)
    assert not JudgeRun.objects.exists()


def test_an_unknown_policy_is_refused(court):
    with pytest.raises(ValueError, match="exclude, warn, allow"):
        find_own_family([court.judge], court.pks, "maybe")


def test_the_pages_tell_what_was_left_out(ember, signed_in):
    carol = signed_in("carol")
    part = page(carol.get("/judging/new/", fields(ember), headers=HTMX))
    assert "4 judgments are left out: a response is of the judge's own family" in part
    assert "4 battles are left without a judge" in part
    part = page(carol.get("/judging/new/", fields(ember, family_policy="warn"), headers=HTMX))
    assert "4 judgments are about the judge's own family" in part
    carol.post("/judging/new/", fields(ember, verbosity_rule="on"))
    run = JudgeRun.objects.get()
    text = page(carol.get(f"/judging/runs/{run.pk}/"))
    assert "4 judgments were left out" in text
    assert "1.5 times as long" in text


def test_a_much_longer_winner_is_a_tie_only_where_the_run_says_so(court):
    """The server likes Reply 0, Ember's."""
    Response.objects.filter(competitor__name="Ember").update(characters=1_000)
    for rule in (False, True):
        plan_run(court.campaign, [court.judge], court.pks, verbosity_rule=rule)
        work_off(court.endpoint)
    plain, ruled = JudgeRun.objects.order_by("pk")
    assert set(plain.judgments.values_list("outcome", flat=True)) == {"model_a", "model_b", "tie"}
    assert set(ruled.judgments.values_list("outcome", flat=True)) == {"tie_verbose", "tie"}
    base = [
        list(run.judgments.order_by("battle").values_list("base_outcome", flat=True))
        for run in (plain, ruled)
    ]
    assert base[0] == base[1], "what the judge found is kept"


def test_the_command_knows_both_rules(ember):
    Response.objects.filter(competitor__name="Ember").update(characters=1_000)
    call_command("run_judges", "small", "--battles", "all", "--family", "allow", "--verbosity-rule", "--here")
    assert JudgeRun.objects.get().verbosity_rule
    assert Judgment.objects.filter(outcome="tie_verbose").count() == 4


def test_without_a_judge_that_can_be_asked_the_form_leads_to_what_is_missing(court, signed_in):
    Judge.objects.update(endpoint=None)
    text = page(signed_in("carol").get("/judging/new/"))
    assert "No judge can be asked yet" in text
    for path in ("/judges/new/", "/rubrics/new/", "/endpoints/new/"):
        assert f'href="{path}"' in text
    assert "<form id=" not in text
