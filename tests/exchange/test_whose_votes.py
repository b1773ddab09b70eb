"""Verdicts of models never come in as people's votes unasked, and what a file does to a plan is said."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from knox.models import AuthToken
from rest_framework.test import APIClient

from arena.battles.models import Vote
from arena.corpus.models import Competitor
from arena.exchange.models import Import
from arena.judging.models import Judgment
from tests.exchange.import_pages import confirm, page_of
from tests.leaderboards.plans_by_hand import write_and_freeze

pytestmark = pytest.mark.django_db

QUESTION = "Are the raters of this file people or LLM judges?"
JUDGED = "vote_id,model_a,model_b,winner,judge\n1,x,y,model_a,gpt-4-2023-03\n2,y,x,tie,gpt-4-2023-03\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, settings):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def carol(signed_in):
    return signed_in("carol")


def upload(visitor, content: str, campaign="old") -> Import:
    file = SimpleUploadedFile("votes.csv", content.encode())
    assert visitor.post("/imports/new/?kind=votes", {"target": campaign, "file": file}).status_code == 302
    return Import.objects.latest("pk")


def votes_by(*raters: str, column="rater") -> str:
    rows = [f"{n},x,y,model_a,{rater}" for n, rater in enumerate(raters)]
    return "\n".join([f"vote_id,model_a,model_b,winner,{column}", *rows]) + "\n"


def test_a_file_with_a_column_called_judge_isnt_imported_before_it_is_said_whose_votes_they_are(carol):
    record = upload(carol, JUDGED)
    page = page_of(carol, record)
    assert QUESTION in page and "“judge”: gpt-4-2023-03" in page and "Import 2 rows" not in page
    carol.post(reverse("import-confirm", args=[record.public_id]))
    assert Import.objects.get().state == "previewed" and not Vote.objects.exists()
    carol.post(reverse("import-reread", args=[record.public_id]), {"whose": "judges"})
    record.refresh_from_db()
    page = page_of(carol, record)
    assert QUESTION not in page and "raters: LLM judges" in page
    confirm(carol, record)
    assert (Vote.objects.count(), Judgment.objects.count()) == (0, 2)


def test_people_that_a_file_calls_judges_are_people_once_that_is_said(carol):
    record = upload(carol, votes_by("ada", "ben", column="llm_judge"))
    assert QUESTION in page_of(carol, record)
    carol.post(reverse("import-reread", args=[record.public_id]), {"whose": "people"})
    record.refresh_from_db()
    assert "raters: people" in page_of(carol, record)
    assert confirm(carol, record).added == Vote.objects.count() == 2
    again = upload(carol, votes_by("ada", "ben", column="llm_judge"))
    assert QUESTION not in page_of(carol, again)


@pytest.mark.parametrize(
    "rater",
    [
        "gpt-4o",
        "GPT4",
        "claude-3-opus",
        "meta/llama3-8b",
        "Qwen2.5-7B",
        "x",
        "Own Model",
        "our-llm",
        "o3-mini",
    ],
)
def test_raters_called_like_models_are_asked_about(carol, cast, rater):
    Competitor.objects.create(team=cast.team, name="Own model")
    page = page_of(carol, upload(carol, votes_by("ada", rater)))
    assert QUESTION in page and f"called like models: {rater}" in page


@pytest.mark.parametrize("rater", ["claudette", "w1", "annotator 3", "philip", "yi", "alice"])
def test_raters_called_like_people_are_not(carol, rater):
    assert QUESTION not in page_of(carol, upload(carol, votes_by(rater, "bob")))


def test_a_file_that_says_whose_votes_they_are_isnt_asked_about(carol):
    content = "vote_id,model_a,model_b,winner,judge,source\n1,x,y,tie,gpt-4,judge\n2,x,y,tie,ada,person\n"
    assert QUESTION not in page_of(carol, upload(carol, content))


def test_a_program_says_it_with_the_file(cast):
    client = APIClient(headers={"Authorization": f"Token {AuthToken.objects.create(user=cast.carol)[1]}"})

    def send(**said) -> dict:
        file = SimpleUploadedFile("votes.csv", JUDGED.encode())
        sent = {"kind": "votes", "target": "old", "file": file, "confirm": "true"} | said
        return client.post("/api/v1/imports/", sent).json()

    told = send()
    assert told["state"] == "previewed"
    assert told["contents"] == {"asks_whose": {"column": "judge", "raters": ["gpt-4-2023-03"]}}
    assert client.post(f"/api/v1/imports/{told['id']}/confirm/").status_code == 409
    assert send(judges="true")["state"] == "done"
    assert send(judges="false")["state"] == "done"
    assert (Vote.objects.count(), Judgment.objects.count()) == (2, 2)


def test_the_command_asks_too(tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text(JUDGED)
    with pytest.raises(
        CommandError,
        match=r"people or LLM judges .*gpt-4.*--people or --judges",
    ):
        call_command("import_votes", str(file), "--campaign", "old")
    assert not Vote.objects.exists()
    call_command("import_votes", str(file), "--campaign", "old", "--people")
    assert Vote.objects.count() == 2


@pytest.mark.parametrize(
    ("whose", "told"),
    [("people", "all its boards are exploratory"), ("judges", "the boards of judges are exploratory")],
)
def test_what_a_file_does_to_a_frozen_plan_is_said_before_it_comes_in(small_campaign, carol, whose, told):
    assert "frozen analysis plan" not in page_of(carol, upload(carol, JUDGED, "small"))
    write_and_freeze(carol, "small")
    record = upload(carol, JUDGED, "small")
    assert "“small” has a frozen analysis plan" in page_of(carol, record)
    carol.post(reverse("import-reread", args=[record.public_id]), {"whose": whose})
    assert told in page_of(carol, record)
