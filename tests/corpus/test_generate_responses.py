from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from arena.corpus.generation_models import GenerationRun
from arena.corpus.models import Competitor, PromptSet, Response
from tests.corpus.generation_studio import build_studio, replies_with_its_name
from tests.endpoints.fake_server import FakeServer, error

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings):
    with FakeServer(replies_with_its_name) as running:
        settings.ENDPOINT_ALLOWED_HOSTS = [running.host]
        yield running


@pytest.fixture(autouse=True)
def studio(server):
    return build_studio(server, prompts=2)


def generate(*arguments: str) -> str:
    out = StringIO()
    call_command("generate_responses", "--set", "Questions", *arguments, stdout=out)
    return out.getvalue()


def test_here_it_generates_all_that_is_missing_and_says_how_much():
    said = generate("--here")
    assert "4 responses by 2 models planned" in said
    assert "4 responses, 0 failed" in said
    assert Response.objects.count() == 4


def test_one_model_may_be_named_whatever_the_case_and_samples_asked_for():
    generate("--here", "--model", "ALPHA", "--samples", "2")
    assert set(Response.objects.values_list("competitor__name", "sample")) == {("Alpha", 1), ("Alpha", 2)}


def test_without_here_the_consumer_does_the_work(django_capture_on_commit_callbacks):
    # Tests have an immediate queue: what is sent to it is done at once.
    with django_capture_on_commit_callbacks(execute=True):
        generate()
    assert GenerationRun.objects.get().status == GenerationRun.Status.COMPLETED
    assert Response.objects.count() == 4


def test_a_run_with_failures_ends_with_an_error(server):
    server.script = [error(400, "no")]
    with pytest.raises(CommandError, match="Completed With Failures"):
        generate("--here")
    assert Response.objects.count() == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "Other"], "there are: Questions"),
        (["--model", "Gamma"], "no model Gamma can be asked for this set; there are: Alpha, Beta"),
        (["--budget", "1"], "has no prices"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(arguments, words):
    with pytest.raises(CommandError, match=words):
        generate(*arguments)
    assert not GenerationRun.objects.exists()


def test_the_newest_version_of_a_set_is_meant():
    PromptSet.objects.create(team=Competitor.objects.first().team, name="Questions", version=2)
    with pytest.raises(CommandError, match=r"Questions v2. is a draft"):
        generate()
