"""Files through the pages: upload, look, confirm."""

import json

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.battles.ballots import digest
from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import HARD_CRITERIA, Competitor, Prompt, PromptSet, Response
from arena.exchange import intake, uploads
from arena.exchange.imports import plan_import
from arena.exchange.models import Import
from arena.raters.models import Rater, Team

from .arena_rows import ASKED, arena_140k, lines

pytestmark = pytest.mark.django_db

PROMPTS = "id,prompt,category,hard\np1,Why do **cats** purr?,nature,0\np2,Prove it.,maths,1\n"
RESPONSES = """prompt_id,model,response,org
p1,Ember,Because.,Acme
p1,Fjord,They *like* it,Bmce
p2,Ember,,Acme
"""
VOTES = "prompt_id,model_a,model_b,winner,rater\np1,Ember,Fjord,Fjord,w1\np2,Fjord,Ember,both_bad,w2\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(django_settings, "DATA_DIR", tmp_path)


@pytest.fixture
def carol(signed_in) -> Client:
    return signed_in("carol")


def upload(visitor: Client, kind: str, target: str, content: str | bytes, name: str = "file.csv"):
    file = SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())
    return visitor.post(f"/imports/new/?kind={kind}", {"target": target, "file": file})


def checked(visitor: Client, *arguments) -> str:
    """The page that an upload leads to, with quotes as typed."""
    answer = visitor.get(upload(visitor, *arguments)["Location"])
    assert answer.status_code == 200
    return answer.content.decode().replace("&#" + "x27;", "'")


def confirm(visitor: Client) -> str:
    record = Import.objects.latest("pk")
    answer = visitor.post(reverse("import-confirm", args=[record.public_id]), follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def bring_in(visitor: Client, kind: str, target: str, content: str | bytes, name: str = "file.csv") -> Import:
    assert upload(visitor, kind, target, content, name).status_code == 302
    confirm(visitor)
    return Import.objects.latest("pk")


def stored() -> dict[str, int]:
    models = (PromptSet, Prompt, Competitor, Response, Campaign, Battle, Vote, Rater)
    return {model.__name__: model.objects.count() for model in models}


def test_three_files_become_a_campaign_with_battles(carol):
    bring_in(carol, "prompts", "Start", PROMPTS)
    bring_in(carol, "responses", "Start", RESPONSES)
    record = bring_in(carol, "votes", "autumn", VOTES)
    assert (record.state, record.added) == ("done", 2)

    first, second = Prompt.objects.order_by("pk")
    assert (first.text, first.category, first.is_hard) == ("Why do **cats** purr?", "nature", False)
    assert first.rendered_html == '<p dir="auto">Why do <strong>cats</strong> purr?</p>\n'
    response = Response.objects.get(competitor__name="Fjord")
    assert (response.text, response.characters, response.words) == ("They *like* it", 14, 3)
    assert "<em>like</em>" in response.rendered_html
    assert Competitor.objects.get(name="Ember").organisation == "Acme"
    assert Response.objects.get(prompt=second).is_blank

    campaign = Campaign.objects.get(slug="autumn")
    assert list(campaign.prompt_sets.all()) == [PromptSet.objects.get()]
    assert campaign.competitors.count() == 2
    battles = Battle.objects.order_by("pk").select_related("vote", "rater", "response_a", "response_b")
    assert [battle.kind for battle in battles] == ["recorded"] * 2
    assert [battle.vote.outcome for battle in battles] == ["model_b", "both_bad"]
    assert [battle.rater.pseudonym for battle in battles] == ["w1", "w2"]
    assert battles[0].response_b == response
    assert battles[1].response_a is None and battles[1].response_b.is_blank
    assert all(len(battle.vote.digest) == 64 for battle in battles)


def test_an_upload_stores_nothing_until_it_is_confirmed(carol):
    before = stored()
    page = upload(carol, "prompts", "Start", PROMPTS)
    shown = carol.get(page["Location"]).content.decode()
    assert "<strong>cats</strong>" in shown and "Import 2 rows" in shown
    assert stored() == before
    assert len(list(uploads.folder().iterdir())) == 1
    assert "Imported." in confirm(carol)
    assert list(uploads.folder().iterdir()) == []


def test_a_preview_shows_responses_with_their_prompt_and_votes_with_their_outcome(carol):
    bring_in(carol, "prompts", "Start", PROMPTS)
    shown = checked(carol, "responses", "Start", RESPONSES)
    assert "<em>like</em>" in shown and "<strong>cats</strong>" in shown and "blank" in shown
    shown = checked(carol, "votes", "autumn", VOTES)
    assert "both_bad" in shown and "new campaign, a draft: “autumn”" in shown


@pytest.mark.parametrize(("kind", "content"), [("prompts", PROMPTS), ("responses", RESPONSES)])
def test_the_same_file_twice_adds_nothing_and_says_so(carol, kind, content):
    bring_in(carol, "prompts", "Start", PROMPTS)
    bring_in(carol, kind, "Start", content)
    before = stored()
    page = checked(carol, kind, "Start", content)
    assert "Nothing new: all its rows are there already." in page
    confirm(carol)
    assert stored() == before


@pytest.mark.parametrize("column", ["", "vote_id", "voted_at"])
def test_the_same_votes_twice_are_counted_once(carol, column):
    values = {"": ["", ""], "vote_id": ["v1", "v2"], "voted_at": ["2024-05-01", "2024-05-02"]}[column]
    lines = VOTES.splitlines()
    rows = [f"{line},{value}" for line, value in zip(lines[1:], values, strict=True)]
    content = "\n".join([f"{lines[0]},{column or 'unused'}", *rows])
    bring_in(carol, "votes", "autumn", content)
    before = stored()
    assert bring_in(carol, "votes", "autumn", content).added == 0
    if column:  # known by id or by rater and time, whatever file they come in
        longer = f"{content}\np1,Ember,Fjord,tie,w3,{'v3' if column == 'vote_id' else '2024-05-03'}"
        assert bring_in(carol, "votes", "autumn", longer).added == 1
    else:
        assert stored() == before


def test_a_vote_that_comes_again_with_another_winner_is_refused(carol):
    bring_in(carol, "votes", "autumn", "vote_id,model_a,model_b,winner\nv1,x,y,tie\n")
    page = checked(carol, "votes", "autumn", "vote_id,model_a,model_b,winner\nv1,x,y,model_a\n")
    assert "vote 'v1' is stored with other contents" in page
    assert Vote.objects.get().outcome == "tie"


@pytest.mark.parametrize(
    ("kind", "content", "words"),
    [
        ("prompts", "", "the file is empty"),
        ("prompts", "id,category\np9,x\n", "the column prompt or messages is missing"),
        (
            "prompts",
            PROMPTS.replace("Prove it.", "Prove it!"),
            "prompt 'p2' is stored with other contents",
        ),
        ("prompts", b"PK\x03\x04xl/workbook.xml", "Excel workbook"),
        (
            "responses",
            "prompt_id,model,response\np404,Ember,x\np1,Fjord,y\n",
            "holds no prompt 'p404'",
        ),
        ("responses", "prompt_id,model,response\np1,EMBER,Another\n", "is stored with another text"),
        ("votes", "model_a,model_b,winner\nx,y,z\n", "'z' is unknown"),
        ("votes", "model_a,model_b,winner,tstamp\nx,y,tie,2999-01-01\n", "lies in the future"),
    ],
)
def test_a_file_with_an_error_changes_nothing_and_says_where(carol, kind, content, words):
    bring_in(carol, "prompts", "Start", PROMPTS)
    bring_in(carol, "responses", "Start", RESPONSES)
    before = stored()
    page = checked(carol, kind, "start" if kind == "votes" else "Start", content)
    assert words in page
    assert "Nothing was changed" in page
    assert Import.objects.latest("pk").state == "refused"
    confirm(carol)
    assert stored() == before
    # The file waits: it may have to be read otherwise.
    carol.post(reverse("import-discard", args=[Import.objects.latest("pk").public_id]))
    assert list(uploads.folder().iterdir()) == []


def test_what_changed_since_the_preview_is_checked_again(carol):
    upload(carol, "prompts", "Start", PROMPTS)
    waiting = Import.objects.latest("pk")
    bring_in(carol, "prompts", "Start", PROMPTS.replace("Prove it.", "Prove it!"))
    answer = carol.post(reverse("import-confirm", args=[waiting.public_id]), follow=True)
    assert "is stored with other contents" in answer.content.decode()
    assert Prompt.objects.count() == 2


def test_a_huge_text_is_cut_in_the_preview_and_kept_whole(carol):
    text = "word " * 100_000 + "end"
    page = checked(carol, "prompts", "Start", f"id,prompt\np1,{text}\n")
    assert "only its beginning is shown" in page and len(page) < 40_000
    confirm(carol)
    assert Prompt.objects.get().text == text


def test_a_recorded_vote_has_the_digest_that_its_stored_row_gives(carol):
    bring_in(
        carol, "votes", "autumn", "model_a,model_b,winner,voted_at\nx,y,tie,2024-05-01T10:00:00.123456Z\n"
    )
    bring_in(carol, "votes", "autumn", VOTES)
    votes = list(Vote.objects.select_related("battle", "rater"))
    assert [vote.digest for vote in votes] == [digest(vote) for vote in votes]
    assert len({vote.digest for vote in votes}) == 3


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: f"{text}\n{PROMPTS}".encode("utf-8", "ignore")),
    st.sampled_from(Import.Kind.values),
    st.text(max_size=70),
)
def test_no_file_makes_checking_fail_or_write(content, kind, target):
    before = stored()
    plan = plan_import(kind, Team.default(), target, content, "file")
    assert plan.error_count or plan.rows or plan.skipped
    assert stored() == before


def test_confirming_twice_imports_once(carol):
    upload(carol, "prompts", "Start", PROMPTS)
    confirm(carol)
    assert "Imported." in confirm(carol)
    assert (Prompt.objects.count(), Import.objects.get().added) == (2, 2)


def test_a_dropped_file_leaves_no_trace(carol):
    upload(carol, "prompts", "Start", PROMPTS)
    carol.post(reverse("import-discard", args=[Import.objects.get().public_id]))
    assert not Import.objects.exists()
    assert list(uploads.folder().iterdir()) == []


def test_a_preview_that_nobody_confirms_is_gone_after_a_day(carol):
    from datetime import timedelta

    from django.utils import timezone

    upload(carol, "prompts", "Old", PROMPTS)
    Import.objects.update(created_at=timezone.now() - timedelta(hours=25))
    upload(carol, "prompts", "New", PROMPTS)
    assert [record.target for record in Import.objects.all()] == ["New"]
    assert len(list(uploads.folder().iterdir())) == 1


def test_a_published_set_takes_no_more_prompts_but_more_responses(carol):
    bring_in(carol, "prompts", "Start", PROMPTS)
    PromptSet.objects.update(status="published")
    page = checked(carol, "prompts", "Start", "id,prompt\np3,x\n")
    assert "takes no more prompts" in page
    assert bring_in(carol, "prompts", "Start", PROMPTS).added == 0
    assert bring_in(carol, "responses", "Start", RESPONSES).added == 3


def test_responses_need_a_set_that_exists(carol):
    bring_in(carol, "prompts", "Start", PROMPTS)
    page = checked(carol, "responses", "Sart", RESPONSES)
    assert "There is no prompt set “Sart”" in page and "Known: Start" in page


def test_models_that_look_alike_are_one(carol):
    bring_in(carol, "prompts", "Start", PROMPTS)
    bring_in(carol, "responses", "Start", RESPONSES)
    bring_in(carol, "responses", "Start", "prompt_id,model,response\np2,ｆｊｏｒｄ,Done.\n")
    assert list(Competitor.objects.order_by("name").values_list("name", flat=True)) == ["Ember", "Fjord"]


def test_a_hard_prompt_follows_from_its_criteria(carol):
    names = HARD_CRITERIA[:6]
    rows = [
        {"id": "six", "prompt": "x", **dict.fromkeys(names, 1)},
        {"id": "five", "prompt": "x", **dict.fromkeys(names[:5], 1)},
        {"id": "two-failed", "prompt": "x", **dict.fromkeys(names[:2], 0)},
        {"id": "said", "prompt": "x", "hard": 0, **dict.fromkeys(names, 1)},
    ]
    bring_in(carol, "prompts", "Start", "\n".join(map(json.dumps, rows)), "p.jsonl")
    assert dict(Prompt.objects.values_list("external_id", "is_hard")) == {
        "six": True,
        "five": None,
        "two-failed": False,
        "said": False,
    }


def test_a_prompt_of_several_turns_is_shown_in_turns(carol):
    turns = [
        {"role": role, "content": words}
        for role, words in (("user", "Hi"), ("assistant", "Yes?"), ("user", "Why?"))
    ]
    bring_in(carol, "prompts", "Start", json.dumps({"id": "p", "messages": turns}), "p.jsonl")
    prompt = Prompt.objects.get()
    assert prompt.messages == turns
    assert prompt.rendered_html.count('class="turn"') == 3


def test_text_is_stored_as_it_was_written(carol):
    texts = ["  blanks  ", "=1+1", "\t=1+1", "'=x", "a\r\nb", "cafe\u0301 café", "zero\u200bwidth"]
    texts += ["\u202egnp.exe\u202c", "\U0010ffff 👩🏽‍🔬"]
    rows = "\n".join(json.dumps({"id": f"p{number}", "prompt": text}) for number, text in enumerate(texts))
    bring_in(carol, "prompts", "Start", rows, "p.jsonl")
    assert [prompt.text for prompt in Prompt.objects.order_by("pk")] == texts


def test_votes_without_rater_time_or_known_prompt_are_kept_and_said(carol):
    record = bring_in(carol, "votes", "autumn", "prompt_id,model_a,model_b,winner" + "\np404,x,y,tie" * 2)
    assert Vote.objects.count() == 2
    words = "\n".join(record.notices)
    assert "2 votes name prompts that no prompt set here holds (p404)" in words
    assert "2 votes name no rater" in words and "2 votes carry no time" in words
    assert Battle.objects.filter(prompt=None, response_a=None).count() == 2


def test_a_recorded_rater_is_not_a_rater_of_ours_with_the_same_name(carol, cast):
    bring_in(carol, "votes", "autumn", "model_a,model_b,winner,rater\nx,y,tie,alice\n")
    rater = Vote.objects.get().rater
    assert (rater.pseudonym, rater.admission) == ("alice (recorded)", "recorded")
    assert not cast.alice_rater.votes.exists()


def test_a_vote_keeps_its_time_and_dwell(carol):
    bring_in(carol, "votes", "autumn", "model_a,model_b,winner,tstamp,dwell_ms\nx,y,tie,1700000000,1500\n")
    vote = Vote.objects.get()
    assert (vote.voted_at.isoformat(), vote.dwell_ms) == ("2023-11-14T22:13:20+00:00", 1500)


def test_which_of_two_sets_is_meant_is_asked(carol):
    for name in ("One", "Two"):
        bring_in(carol, "prompts", name, PROMPTS)
    page = checked(carol, "votes", "autumn", VOTES)
    assert "Several prompt sets hold these prompts (“One”, “Two”)" in page


def test_the_response_of_several_samples_stays_open(carol):
    header = "prompt_id,model,response,sample"
    bring_in(carol, "prompts", "Start", PROMPTS)
    bring_in(
        carol,
        "responses",
        "Start",
        f"{header}\np1,Ember,a,1\np1,Ember,b,2\np1,Fjord,c,1\n",
    )
    bring_in(carol, "votes", "autumn", "prompt_id,model_a,model_b,winner\np1,Ember,Fjord,tie\n")
    battle = Battle.objects.get()
    assert battle.response_a is None and battle.response_b.text == "c"


def test_a_campaign_of_another_team_is_not_touched(carol, make_campaign, cast):
    make_campaign("theirs", team=cast.other_team)
    before = stored()
    page = checked(carol, "votes", "theirs", VOTES)
    assert "is taken; choose another" in page
    assert stored() == before


def test_a_prompt_set_of_another_team_is_another_set(carol, cast):
    PromptSet.objects.create(team=cast.other_team, name="Start")
    bring_in(carol, "prompts", "Start", PROMPTS)
    assert PromptSet.objects.get(team=Team.default()).prompts.count() == 2


@pytest.mark.parametrize("slug", ["two words", "é", "x" * 61, "a/b"])
def test_an_address_that_will_not_do_is_refused(carol, slug):
    page = checked(carol, "votes", slug, VOTES)
    assert "is no address for a campaign" in page
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    "name", ["../../x.csv", "C:\\x.csv", "%2e%2e.csv", "a" * 250 + ".csv", "x.html", "<b>.csv", "a\x01b.csv"]
)
def test_an_odd_file_name_is_text_and_nothing_else(carol, name, tmp_path):
    page = checked(carol, "prompts", "Start", PROMPTS, name)
    assert "<b>.csv" not in page
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {uploads.folder()}


def test_a_form_without_file_or_target_says_what_is_missing(carol):
    answer = carol.post("/imports/new/?kind=prompts", {})
    assert answer.status_code == 422
    assert answer.content.decode().count("This field is required") == 2


def test_a_file_beyond_the_limit_is_refused(carol, settings):
    settings.MAX_UPLOAD_MB = 0
    answer = upload(carol, "prompts", "Start", PROMPTS)
    assert answer.status_code == 413 and "0 MB" in answer.content.decode()
    assert not Import.objects.exists()


def test_a_body_beyond_the_limit_is_not_even_read(carol, settings):
    settings.MAX_UPLOAD_MB = 0
    session = "django.contrib.sessions.middleware.SessionMiddleware"
    settings.MIDDLEWARE = [session, "arena.exchange.limits.UploadLimit", *settings.MIDDLEWARE]
    answer = upload(carol, "prompts", "Start", PROMPTS)
    assert answer.status_code == 413 and "too large" in answer.content.decode()


@pytest.mark.parametrize("kind", ["prompts", "responses", "votes", "nonsense"])
def test_the_upload_page_lists_the_columns(carol, kind):
    page = carol.get(f"/imports/new/?kind={kind}").content.decode()
    assert "<code>" in page and 'type="file"' in page


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_others_find_no_import(carol, signed_in, who):
    upload(carol, "prompts", "Start", PROMPTS)
    record = Import.objects.get()
    visitor = signed_in(who)
    assert visitor.get(reverse("import", args=[record.public_id])).status_code == 404
    assert visitor.post(reverse("import-confirm", args=[record.public_id])).status_code == 404
    assert visitor.post(reverse("import-discard", args=[record.public_id])).status_code == 404
    assert Import.objects.get().state == "previewed"


def test_a_stranger_is_sent_to_sign_in(client):
    assert client.get("/imports/new/")["Location"].endswith("login/?next=/imports/new/")


def test_the_list_shows_what_came_in(carol):
    bring_in(carol, "prompts", "Start", PROMPTS, "first.csv")
    assert "first.csv" in carol.get("/imports/").content.decode()


def test_the_page_tells_the_format_of_another_arena(carol):
    shown = checked(carol, "votes", "autumn", lines(arena_140k()), "votes.jsonl")
    assert "read as LMArena 140k" in shown and "1 prompt comes with the votes" in shown
    assert "Imported." in confirm(carol)
    assert Battle.objects.get().prompt.messages[0]["content"] == ASKED


def test_a_file_confirmed_in_the_moment_it_is_discarded_is_imported_whole(carol, monkeypatch):
    upload(carol, "prompts", "Start", PROMPTS)
    record, discard = Import.objects.get(), intake.discard

    def confirm_first(record):
        carol.post(reverse("import-confirm", args=[record.public_id]))
        return discard(record)

    monkeypatch.setattr("arena.exchange.views.intake.discard", confirm_first)
    answer = carol.post(reverse("import-discard", args=[record.public_id]))
    assert answer.status_code == 302 and str(record.public_id) in answer["Location"]
    record.refresh_from_db()
    assert record.state == Import.State.DONE and Prompt.objects.count() == record.added > 0


def test_a_file_discarded_in_the_moment_it_is_confirmed_is_gone_with_words(carol, monkeypatch):
    upload(carol, "prompts", "Start", PROMPTS)
    record, confirm = Import.objects.get(), intake.confirm

    def discard_first(record):
        assert intake.discard(Import.objects.get())
        return confirm(record)

    monkeypatch.setattr("arena.exchange.views.intake.confirm", discard_first)
    answer = carol.post(reverse("import-confirm", args=[record.public_id]))
    assert answer.status_code == 302
    assert not Import.objects.exists() and not Prompt.objects.exists()
    assert list(uploads.folder().iterdir()) == []
