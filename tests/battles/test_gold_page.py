"""Golds come in by the page, a file or a command, all or nothing, and go out of use."""

from __future__ import annotations

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from arena.battles import draw
from arena.battles.gold_models import Gold
from arena.battles.models import Battle, Vote
from arena.corpus.models import Competitor, Response

PAGE = "/campaigns/small/golds/"
ONE = {
    "prompt_id": "p1",
    "first": "A **good** answer.",
    "second": "Bananas.",
    "expected": "model_a",
    "kind": "quality",
}
HEAD = "prompt_id,first,second,expected,kind\n"


def csv_file(text: str, encoding: str = "utf-8") -> SimpleUploadedFile:
    return SimpleUploadedFile("golds.csv", text.encode(encoding), content_type="text/csv")


@pytest.fixture
def carol(signed_in, small_campaign):
    return signed_in("carol")


def test_a_gold_is_added_with_its_two_texts_rendered_as_any_other(carol, small_campaign):
    assert carol.post(PAGE, ONE).status_code == 302
    gold = Gold.objects.get()
    assert gold.prompt == small_campaign.prompts[1]
    assert "<strong>good</strong>" in gold.response_a.rendered_html
    assert (gold.response_a.text, gold.response_b.text) == (ONE["first"], ONE["second"])
    assert gold.created_by.username == "carol"
    holders = {gold.response_a.competitor, gold.response_b.competitor}
    assert {(holder.role, holder.status) for holder in holders} == {("sentinel", "retired")}
    assert "Bananas." in carol.get(PAGE).content.decode()


def test_the_texts_of_golds_are_drawn_in_no_regular_battle(carol, small_campaign, make_rater, draw_all):
    carol.post(PAGE, ONE)
    carol.post(PAGE, ONE | {"second": "Plums."})
    drawn = draw_all(small_campaign.campaign, make_rater(small_campaign.campaign.team))
    assert len(drawn) == 12
    assert not {b.response_a.competitor.role for b in drawn} & {"sentinel"}
    assert Competitor.objects.filter(role="sentinel").count() == 2, "one pair of holders a team"


def test_the_page_says_how_many_voted_as_expected_on_either_side(
    carol, make_campaign, small_campaign, vote_on, make_rater
):
    campaign = small_campaign.campaign
    campaign.gold_share = 0.3
    campaign.save()
    carol.post(PAGE, ONE)
    sides, passed = set(), 0
    for number in range(40):
        rater = make_rater(campaign.team)
        battle = next((b for b in draw.draw(campaign, rater, 4) if b.kind == "gold"), None)
        if battle is None:
            continue
        battle = Battle.objects.get(pk=battle.pk)
        is_straight = battle.response_a == battle.gold.response_a
        sides.add(is_straight)
        outcome = "model_a" if is_straight else "model_b"
        passed += 1
        if number % 4 == 0:
            outcome, passed = "tie", passed - 1
        vote_on(battle, outcome)
    assert sides == {True, False}
    words = " ".join(carol.get(PAGE).content.decode().split())
    assert f"{passed} of {Vote.objects.count()}" in words


def test_a_gold_out_of_use_stays_on_the_page_and_is_drawn_no_more(carol, small_campaign, make_rater):
    carol.post(PAGE, ONE)
    retire = f"{PAGE}{Gold.objects.get().pk}/retire/"
    assert carol.post(retire).status_code == 302
    assert "out of use" in carol.get(PAGE).content.decode()
    assert "out of use already" in carol.post(retire, follow=True).content.decode()
    assert not Gold.objects.in_use().exists()


def test_the_same_gold_comes_once_until_it_is_out_of_use(carol):
    carol.post(PAGE, ONE)
    again = carol.post(PAGE, ONE)
    assert again.status_code == 422 and "has this gold already" in again.content.decode()
    row = "p1,A **good** answer.,Bananas.,model_a,quality\np0,a,b,tie,quality\n"
    refused = carol.post(f"{PAGE}file/", {"file": csv_file(HEAD + row)})
    assert refused.status_code == 422 and "has this gold already" in refused.content.decode()
    assert Gold.objects.count() == 1 and Response.objects.filter(competitor__role="sentinel").count() == 2
    assert carol.post(PAGE, ONE | {"expected": "tie"}).status_code == 302
    carol.post(f"{PAGE}{Gold.objects.earliest('pk').pk}/retire/")
    assert carol.post(PAGE, ONE).status_code == 302


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"prompt_id": "p99"}, "is in none of the campaign"),
        ({"first": " "}, "This field is required|first is empty"),
        ({"second": ONE["first"]}, "the two texts are the same"),
        ({"expected": "left"}, "not one of the available choices"),
        ({"kind": "trick"}, "not one of the available choices"),
    ],
)
def test_what_makes_no_gold_is_said(carol, changed, words):
    answer = carol.post(PAGE, ONE | changed)
    assert answer.status_code == 422
    assert any(each in answer.content.decode() for each in words.split("|"))
    assert not Gold.objects.exists()
    assert not Response.objects.filter(competitor__role="sentinel").exists()


def test_a_file_brings_all_its_rows(carol):
    rows = 'p0,"Good,\nin two lines",Bad,model_a,quality\np1,Vote tie here.,Vote tie here!,tie,instructed\n'
    assert carol.post(f"{PAGE}file/", {"file": csv_file("\ufeff" + HEAD + rows)}).status_code == 302
    assert [(gold.expected, gold.kind) for gold in Gold.objects.order_by("pk")] == [
        ("model_a", "quality"),
        ("tie", "instructed"),
    ]
    assert Gold.objects.earliest("pk").response_a.text == "Good,\nin two lines"


@pytest.mark.parametrize(
    ("text", "encoding", "words"),
    [
        (HEAD + "p0,x,y,model_a,\np77,x,y,model_a,\n", "utf-8", "line 3: prompt_id “p77”"),
        (HEAD + "p0,x,y,perhaps,\n", "utf-8", "line 2: expected is “perhaps”; use one of model_a"),
        (HEAD + "p0,x,y,tie,trick\n", "utf-8", "line 2: kind is “trick”"),
        ("prompt_id,first\np0,x\n", "utf-8", "Columns are missing: second, expected"),
        (HEAD, "utf-8", "holds no row"),
        (HEAD + "p0,é,y,tie,\n", "latin-1", "line 2: first: byte 0xE9 isn't UTF-8; save it as UTF-8"),
        (HEAD + 'p0,"x"y,z,tie,\n', "utf-8", "line 2"),
    ],
)
def test_a_file_with_one_bad_row_brings_none_and_its_line_is_named(carol, text, encoding, words):
    answer = carol.post(f"{PAGE}file/", {"file": csv_file(text, encoding)})
    assert answer.status_code == 422
    assert words in answer.content.decode().replace("&#x27;", "'")
    assert not Gold.objects.exists()


def test_a_file_with_semicolons_or_in_utf_16_is_read_as_any_other(carol):
    rows = HEAD.replace(",", ";") + "p0;Good, and true;Bad;model_a;\n"
    assert carol.post(f"{PAGE}file/", {"file": csv_file(rows)}).status_code == 302
    rows = rows.replace("Bad", "Worse")
    assert carol.post(f"{PAGE}file/", {"file": csv_file(rows, "utf-16")}).status_code == 302
    assert [gold.response_a.text for gold in Gold.objects.all()] == ["Good, and true"] * 2


def test_the_page_says_what_expected_and_kind_may_be_and_the_share_in_percent(carol, small_campaign):
    type(small_campaign.campaign).objects.update(gold_share=0.2)
    page = carol.get(PAGE).content.decode()
    assert "one of model_a, model_b, tie, both_bad" in page and "one of quality, instructed" in page
    assert "<strong>20&nbsp;%</strong>" in page


def test_a_model_that_is_called_like_a_holder_is_left_alone(carol, small_campaign):
    Competitor.objects.filter(pk=small_campaign.competitors[0].pk).update(
        name="Gold text 1", name_key="gold text 1"
    )
    answer = carol.post(PAGE, ONE)
    assert answer.status_code == 422
    assert "rename it first" in answer.content.decode()
    assert not Gold.objects.exists()


def test_the_command_adds_a_file_or_says_why_not(small_campaign, tmp_path):
    path, out = tmp_path / "golds.csv", io.StringIO()
    path.write_text(HEAD + "p0,x,y,model_b,\n")
    call_command("import_golds", path, campaign="small", stdout=out)
    assert "1 gold added" in out.getvalue()
    path.write_text(HEAD + "p0,x,y,model_b,\np5,x,y,model_b,\n")
    with pytest.raises(CommandError, match="line 3: prompt_id"):
        call_command("import_golds", path, campaign="small")
    with pytest.raises(CommandError, match="no campaign"):
        call_command("import_golds", path, campaign="large")
    with pytest.raises(CommandError, match="can't be read"):
        call_command("import_golds", tmp_path / "none.csv", campaign="small")
    assert Gold.objects.count() == 1


def test_another_teams_admin_and_a_researcher_find_nothing(carol, signed_in):
    carol.post(PAGE, ONE)
    for who in ("dora", "ravi"):
        visitor = signed_in(who)
        assert visitor.get(PAGE).status_code == 404
        assert visitor.post(f"{PAGE}file/", {"file": csv_file(HEAD)}).status_code == 404
        assert visitor.post(f"{PAGE}{Gold.objects.get().pk}/retire/").status_code == 404
    assert Gold.objects.in_use().exists()
