import pytest
from django.core.management import CommandError, call_command

from arena.battles.models import Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt, PromptSet, Response
from arena.exchange.models import Import
from arena.raters.models import Rater

pytestmark = pytest.mark.django_db

FILES = {
    "prompts.csv": "id,prompt\np1,Why?\np2,How?\n",
    "responses.csv": "prompt_id,model,response\np1,Ember,a\np1,Fjord,b\np2,Ember,c\n",
    "votes.csv": "prompt_id,model_a,model_b,winner,rater\np1,Ember,Fjord,model_a,r1\np1,Fjord,Ember,tie,r2\n",
    "bad.csv": "id,prompt\np1,\np2,How?,more\n",
    "prompts.txt": "Why?\n",
}


@pytest.fixture
def path(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return lambda name: str(tmp_path / name)


@pytest.fixture
def run(capsys):
    def call(*arguments: str) -> str:
        call_command(*arguments)
        return capsys.readouterr().out

    return call


def test_the_commands_go_from_files_to_an_open_campaign(run, path):
    assert "2 prompts imported into “Start”" in run("import_prompts", path("prompts.csv"), "--set", "Start")
    assert "2 new models: Ember, Fjord" in run("import_responses", path("responses.csv"), "--set", "Start")
    assert "“Start v1” is published" in run("publish_set", "Start")
    assert "with 2 models" in run("create_campaign", "spring", "--set", "Start", "--name", "Spring")
    out = run("import_votes", path("votes.csv"), "--campaign", "spring", "--format", "auto")
    assert "2 rows imported into “spring”" in out

    prompt_set = PromptSet.objects.get()
    assert prompt_set.status == "published" and len(prompt_set.content_hash) == 64
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.status) == ("Spring", "draft")
    assert campaign.current_guide is not None
    assert Vote.objects.filter(battle__response_a__text="b").count() == 1
    assert Import.objects.filter(state="done", created_by=None).count() == 3


def test_votes_make_their_campaign_and_say_so(run, path):
    out = run("import_votes", path("votes.csv"), "--campaign", "spring")
    assert "new campaign, a draft: “spring”" in out and "2 new models" in out
    assert Campaign.objects.get().competitors.count() == 2


def test_simulated_raters_are_labelled(run, path):
    run("import_votes", path("votes.csv"), "--campaign", "spring", "--simulated")
    assert set(Rater.objects.values_list("admission", flat=True)) == {"simulated"}


def test_a_second_run_adds_nothing_and_says_so(run, path):
    run("import_prompts", path("prompts.csv"), "--set", "Start")
    assert "Nothing new" in run("import_prompts", path("prompts.csv"), "--set", "Start")
    assert Prompt.objects.count() == 2


def test_errors_are_listed_by_line_and_column_and_nothing_is_changed(run, path):
    with pytest.raises(CommandError) as refusal:
        run("import_prompts", path("bad.csv"), "--set", "Start")
    assert str(refusal.value).splitlines() == [
        "bad.csv: line 2, column prompt: is empty",
        "bad.csv: line 3: 3 cells where the header has 2",
        "Nothing was imported: 2 errors in bad.csv.",
    ]
    assert not PromptSet.objects.exists() and not Import.objects.exists()


def test_a_file_that_is_no_table_is_refused(run, path):
    with pytest.raises(CommandError, match="the column prompt or messages is missing; found: Why"):
        run("import_prompts", path("prompts.txt"), "--set", "Start")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("import_prompts", "nowhere.csv", "--set", "x"), "There is no file nowhere.csv"),
        (("publish_set", "x"), "There is no prompt set “x”"),
        (("create_campaign", "x", "--set", "y"), "There is no prompt set “y”"),
    ],
)
def test_what_is_missing_is_named(run, arguments, words):
    with pytest.raises(CommandError, match=words):
        run(*arguments)


def test_responses_before_their_prompts_are_refused(run, path):
    with pytest.raises(CommandError, match="There is no prompt set “Start”; import its prompts first"):
        run("import_responses", path("responses.csv"), "--set", "Start")
    assert not Response.objects.exists()


def test_a_campaign_is_made_once(run, path):
    run("import_prompts", path("prompts.csv"), "--set", "Start")
    run("create_campaign", "spring", "--set", "Start")
    with pytest.raises(CommandError, match="There is a campaign “spring” already"):
        run("create_campaign", "spring", "--set", "Start")


def test_votes_are_stored_in_few_statements(run, path, tmp_path, django_assert_max_num_queries):
    rows = "".join(f"Ember,Fjord,tie,r{number % 7}\n" for number in range(2000))
    (tmp_path / "many.csv").write_text(f"model_a,model_b,winner,rater\n{rows}")
    with django_assert_max_num_queries(110):
        run("import_votes", path("many.csv"), "--campaign", "spring")
    assert Vote.objects.count() == 2000


def test_a_file_of_one_model_finds_its_prompts_by_their_exact_text(run, path, tmp_path):
    (tmp_path / "ember.csv").write_text("prompt,response\nWhy?,Because.\nHow?,\n")
    run("import_prompts", path("prompts.csv"), "--set", "Start")
    out = run("import_responses", str(tmp_path / "ember.csv"), "--set", "Start", "--model", "Ember")
    assert "1 new model: Ember" in out and "1 response empty or blank" in out
    found = Response.objects.order_by("prompt").values_list("prompt__external_id", "competitor__name", "text")
    assert list(found) == [("p1", "Ember", "Because."), ("p2", "Ember", "")]
    assert "Nothing new" in run(
        "import_responses", str(tmp_path / "ember.csv"), "--set", "Start", "--model", "Ember"
    )


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("prompt,response\nWhy? ,x\n", ["--model", "E"], "holds no prompt of exactly this text"),
        ("prompt,response\nTwice,x\n", ["--model", "E"], "holds 2 prompts of exactly this text"),
        ("prompt,response\nWhy?,x\n", [], "the column model is missing"),
        ("prompt_id,model,response\np1,F,x\n", ["--model", "E"], "the file names models itself"),
        ("prompt,response\n,x\n", ["--model", "E"], "column prompt_id: is empty"),
        ("prompt_id,prompt,response\np1,,x\n,Why?,x\n", ["--model", "E"], "stands twice in the file"),
    ],
)
def test_a_prompt_or_model_that_is_not_certain_is_refused(run, path, tmp_path, content, options, words):
    (tmp_path / "more.csv").write_text("id,prompt\np1,Why?\na,Twice\nb,Twice\n")
    (tmp_path / "file.csv").write_text(content)
    run("import_prompts", str(tmp_path / "more.csv"), "--set", "Start")
    with pytest.raises(CommandError, match=words):
        run("import_responses", str(tmp_path / "file.csv"), "--set", "Start", *options)
    assert not Response.objects.exists()


@pytest.mark.django_db
def test_votes_that_a_file_calls_simulated_stay_labelled(tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("model_a,model_b,winner,rater,source\nx,y,tie,one,simulated\nx,y,tie,two,person\n")
    call_command("import_votes", str(votes), "--campaign", "mixed")
    assert dict(Rater.objects.values_list("pseudonym", "admission")) == {
        "one": "simulated",
        "two": "recorded",
    }
