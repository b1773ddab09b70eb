from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from arena.corpus import leak_checks
from arena.corpus.label_models import LabelRun
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.endpoints.models import Endpoint
from arena.raters.models import Team
from tests.endpoints.fake_server import FakeServer, answer

pytestmark = pytest.mark.django_db
SIX = '{"criteria": [1, 2, 3, 4, 5, 6]}'
NO_SET = "no prompt set 'Sart'; there are: Start"


def said(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def server(settings):
    with FakeServer(answer(SIX)) as running:
        settings.ENDPOINT_ALLOWED_HOSTS = [running.host]
        yield running


@pytest.fixture(autouse=True)
def prompts(server) -> list[Prompt]:
    team = Team.default()
    fields = {"base_url": server.base_url, "model_id": "m", "timeout_seconds": 5}
    Endpoint.objects.create(team=team, name="Labeller", **fields)
    made = PromptSet.objects.create(team=team, name="Start", status="published")
    return [
        Prompt.objects.create(
            prompt_set=made, external_id=f"p{number}", messages=[{"role": "user", "content": f"Q{number}?"}]
        )
        for number in range(2)
    ]


LABEL = ("label_prompts", "--set", "Start", "--endpoint", "Labeller")


def test_here_it_labels_what_is_unknown_and_says_how_much():
    words = said(*LABEL, "--here")
    assert "2 prompts to label by Labeller" in words and "2 labelled, 0 failed." in words
    assert set(Prompt.objects.values_list("is_hard", "real_world")) == {(True, False)}


def test_without_here_the_consumer_labels(django_capture_on_commit_callbacks):
    # Tests have an immediate queue: what is sent to it is done at once.
    with django_capture_on_commit_callbacks(execute=True):
        said(*LABEL)
    assert LabelRun.objects.get().status == LabelRun.Status.COMPLETED
    assert not Prompt.objects.filter(is_hard=None).exists()


def test_nothing_to_label_is_told():
    said(*LABEL, "--here")
    with pytest.raises(CommandError, match="nothing is missing"):
        said(*LABEL)
    assert LabelRun.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("label_prompts", "--set", "Sart", "--endpoint", "Labeller"),
            "no prompt set 'Sart'; there are: Start",
        ),
        (("label_prompts", "--set", "Start", "--endpoint", "Other"), "no endpoint 'Other' .*: Labeller"),
        ((*LABEL, "--budget", "1"), "has no prices"),
        (("check_leaks", "--set", "Sart"), NO_SET),
    ],
)
def test_what_is_not_there_is_named(arguments, words):
    with pytest.raises(CommandError, match=words):
        said(*arguments)
    assert not LabelRun.objects.exists()


def test_prompts_of_an_internal_set_have_no_endpoint_outside():
    PromptSet.objects.update(is_internal=True)
    with pytest.raises(CommandError, match="there are: none yet"):
        said(*LABEL)


@pytest.fixture
def leaky(prompts, make_response) -> Response:
    ember = Competitor.objects.create(team=Team.default(), name="Ember")
    make_response(prompts[1], ember, "A plain reply.")
    found = make_response(prompts[0], ember, "I am Ember, and I say yes.")
    Response.objects.update(leak=Response.Leak.UNCHECKED)
    return found


def test_leaks_are_looked_for_where_nobody_has(leaky):
    assert "2 responses looked at; of 2 in all 1 say who wrote them" in said("check_leaks")
    assert "0 responses looked at; of 2 in all 1" in said("check_leaks", "--set", "Start")


def test_all_are_looked_at_anew_when_asked_and_what_was_dismissed_stays_so(leaky):
    said("check_leaks")
    assert leak_checks.dismiss(Response.objects.get(pk=leaky.pk))
    assert "2 responses looked at; of 2 in all 0 say who wrote them (1 more dismissed" in said(
        "check_leaks", "--again"
    )
    Competitor.objects.update(aliases=["plain reply"])
    assert "of 2 in all 1 say who wrote them (1 more" in said("check_leaks", "--again", "--set", "Start")
