"""What can be done with a person on the roster, and with a link that is shown once."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from arena.campaigns.models import Invite
from arena.raters.models import Rater

pytestmark = pytest.mark.django_db

LINKS = "/campaigns/small/invites/"


@pytest.fixture
def ada(signed_in, small_campaign) -> Invite:
    signed_in("carol").post(f"{LINKS}personal/", {"names": "Ada\nGrace"})
    return Invite.objects.get(label="Ada")


def said(visitor: Client, path: str, **data) -> str:
    answer = visitor.post(path, data, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_making_links_shows_the_new_roster_and_offers_the_links_as_a_file(signed_in, small_campaign):
    page = said(signed_in("carol"), f"{LINKS}personal/", names="Ada")
    assert 'download="links-small.csv"' in page and 'href="data:text/csv' in page
    assert "Nobody yet" not in page and 'aria-label="Ada"' in page


def test_a_name_with_a_typing_error_is_mended_and_the_link_stays(signed_in, ada):
    before = ada.token_hash
    assert "Renamed." in said(signed_in("carol"), f"{LINKS}{ada.pk}/name/", name="  Ada Lovelace ")
    ada.refresh_from_db()
    assert (ada.label, ada.token_hash) == ("Ada Lovelace", before)


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "A name is needed"), ("Grace", "stands on the roster already"), ("x" * 121, "at most 120")],
)
def test_nobody_gets_no_name_or_anothers(signed_in, ada, name, words):
    assert words in said(signed_in("carol"), f"{LINKS}{ada.pk}/name/", name=name)
    ada.refresh_from_db()
    assert ada.label == "Ada"


def test_whoever_never_came_can_be_taken_off_and_the_name_is_free_again(signed_in, ada):
    carol = signed_in("carol")
    assert "is off the roster" in said(carol, f"{LINKS}{ada.pk}/remove/")
    assert not Invite.objects.filter(label="Ada").exists()
    assert not Rater.objects.filter(pk=ada.rater_id).exists()
    assert "data:text/csv" in said(carol, f"{LINKS}personal/", names="Ada")


def test_whoever_has_begun_stays_on_the_roster(signed_in, ada):
    page = said(signed_in("carol"), f"{LINKS}{ada.pk}/anew/")
    visitor = Client()
    visitor.post(f"/join/{page.split('/join/')[1].split('/')[0]}/")
    assert "has begun" in said(signed_in("carol"), f"{LINKS}{ada.pk}/remove/")
    assert Invite.objects.filter(pk=ada.pk).exists()


def test_a_new_link_says_that_the_old_one_stops_working(signed_in, ada):
    assert "The link sent before stops working" in signed_in("carol").get(LINKS).content.decode()


def test_a_group_link_has_no_name_and_stays(signed_in, small_campaign):
    group = small_campaign.invite
    said(signed_in("carol"), f"{LINKS}{group.pk}/name/", name="x")
    said(signed_in("carol"), f"{LINKS}{group.pk}/remove/")
    group.refresh_from_db()
    assert group.label == "everyone"


@pytest.mark.parametrize("act", ["name", "remove"])
def test_a_stranger_changes_no_roster(signed_in, ada, client, act):
    path = f"{LINKS}{ada.pk}/{act}/"
    assert signed_in("dora").post(path, {"name": "x"}).status_code == 404
    assert signed_in("ravi").post(path, {"name": "x"}).status_code in (403, 404)
    assert signed_in("carol").post(f"{LINKS}0/{act}/", {"name": "x"}).status_code == 404
    assert client.post(path, {"name": "x"}).status_code == 302
    assert signed_in("carol").get(path).status_code == 405
    ada.refresh_from_db()
    assert ada.label == "Ada"


def test_an_excel_workbook_is_no_list_of_names_and_is_called_what_it_is(signed_in, small_campaign):
    file = SimpleUploadedFile("names.xlsx", b"PK\x03\x04\xff\xfe[Content_Types].xml xl/")
    answer = signed_in("carol").post(f"{LINKS}personal/", {"names": "", "file": file})
    assert answer.status_code == 422 and "This is an Excel workbook" in answer.content.decode()


def test_a_list_of_names_in_utf_16_with_its_mark_is_read(signed_in, small_campaign):
    file = SimpleUploadedFile("names.txt", "Émile\nZoë\n".encode("utf-16"))
    said(signed_in("carol"), f"{LINKS}personal/", names="", file=file)
    assert set(Invite.objects.exclude(label="everyone").values_list("label", flat=True)) == {"Émile", "Zoë"}


@pytest.mark.parametrize("act", ["personal", "new", "{pk}/anew"])
def test_the_address_of_the_answer_with_links_opened_anew_leads_to_the_roster(signed_in, ada, act):
    answer = signed_in("carol").get(f"{LINKS}{act.format(pk=ada.pk)}/")
    assert (answer.status_code, answer["Location"]) == (302, LINKS)
    before = ada.token_hash
    ada.refresh_from_db()
    assert ada.token_hash == before and Invite.objects.count() == 3
    assert signed_in("mallory").get(f"{LINKS}{act.format(pk=ada.pk)}/").status_code == 404
