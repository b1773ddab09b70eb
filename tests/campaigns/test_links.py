import csv
import io
from datetime import timedelta
from urllib.parse import unquote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from arena.battles import own_page
from arena.battles.models import Battle
from arena.campaigns import invites, join_views
from arena.campaigns.models import Campaign, Invite, hash_token
from arena.campaigns.names_file import NamesRefusedError, read_names
from arena.campaigns.roster import links_as_csv, roster
from arena.raters.models import Rater

LINKS = "/campaigns/small/invites/"


def make_links(visitor, names: str, **fields) -> list[dict[str, str]]:
    """Made on the page, and read from the file that it offers."""
    answer = visitor.post(f"{LINKS}personal/", {"names": names} | fields)
    assert answer.status_code == 200, answer.content.decode()
    _before, _mark, rest = answer.content.decode().partition("data:text/csv;charset=utf-8,")
    text = unquote(rest.partition('"')[0])
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def token_of(link: dict[str, str]) -> str:
    return link["link"].rstrip("/").rpartition("/")[2]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ada\nGrace\n", ["Ada", "Grace"]),
        ("name\r\nAda\r\n\r\n  Grace  \r\n", ["Ada", "Grace"]),
        ("\ufeffName,e-mail\nAda,ada@example.org\n", ["Ada"]),
        ('"Lovelace, Ada",x\n', ["Lovelace, Ada"]),
        ("عائشة\n李雷\n", ["عائشة", "李雷"]),
        ("Name;E-Mail\nAda;ada@example.org\nGrace;\n", ["Ada", "Grace"]),
        ("Lovelace, Ada;x\nHopper;y\n", ["Lovelace, Ada", "Hopper"]),
        ("Ada\tx\nGrace\ty\n", ["Ada", "Grace"]),
    ],
)
def test_names_are_read_from_lines_or_a_first_column(text, names):
    assert read_names(text) == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no name"),
        ("Lovelace, Ada\nGrace\n", "at which character the lines are cut (comma)"),
        ("Ada;x,y\nGrace;z,w\n", "cut (comma, semicolon)"),
        ("\n \n", "no name"),
        ("Ada\nGrace\nAda\n", "line 3: “Ada” stands in line 1 already"),
        ("Ada\nGr\x00ace", "line 2: the name holds control characters"),
        ("x" * 121, "line 1: a name may have at most 120"),
        ("\n".join(map(str, range(5001))), "5001 names: at most 5000"),
    ],
)
def test_a_list_that_is_no_list_of_names_is_refused_by_line(text, words):
    with pytest.raises(NamesRefusedError) as refusal:
        read_names(text)
    assert any(words in problem for problem in refusal.value.args[0])


@given(st.text(max_size=400))
def test_any_text_is_names_or_refused(text):
    try:
        names = read_names(text)
    except NamesRefusedError as refusal:
        assert refusal.args[0]
    else:
        assert len(set(names)) == len(names) > 0
        assert all(name == name.strip() for name in names)


@pytest.mark.django_db
def test_a_list_of_names_gives_a_link_for_each_that_opens_on_any_device(signed_in, small_campaign):
    links = make_links(signed_in("carol"), "Ada\nGrace")
    assert [link["name"] for link in links] == ["Ada", "Grace"]
    before = Rater.objects.count()
    for _device in range(2):
        assert Client().post(f"/join/{token_of(links[0])}/").status_code == 302
    assert Rater.objects.count() == before


@pytest.mark.django_db
def test_a_file_of_names_will_do(signed_in, small_campaign):
    file = SimpleUploadedFile("names.csv", "name,team\nÉmile,x\n".encode())
    assert [link["name"] for link in make_links(signed_in("carol"), "", file=file)] == ["Émile"]


@pytest.mark.django_db
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", "Émile".encode("cp1252"), b"x" * (1024 * 1024 + 1)])
def test_a_file_that_cannot_be_read_makes_no_link(signed_in, small_campaign, content):
    file = SimpleUploadedFile("names.csv", content)
    answer = signed_in("carol").post(f"{LINKS}personal/", {"names": "", "file": file})
    assert answer.status_code == 422
    assert Invite.objects.count() == 1


@pytest.mark.django_db
def test_links_are_shown_once_and_kept_as_hashes(signed_in, small_campaign):
    carol = signed_in("carol")
    page = carol.post(f"{LINKS}personal/", {"names": "Ada"}).content.decode()
    token = page.split("/join/")[1].split("/")[0]
    assert token not in carol.get(LINKS).content.decode()
    assert Invite.objects.get(label="Ada").token_hash == hash_token(token)
    assert token not in str(list(Invite.objects.values()))


@pytest.mark.django_db
def test_a_name_that_has_a_link_gets_no_second_one_and_nobody_else_does(signed_in, small_campaign):
    carol = signed_in("carol")
    make_links(carol, "Ada")
    answer = carol.post(f"{LINKS}personal/", {"names": "Grace\nAda"})
    assert answer.status_code == 422
    assert "“Ada” has a link already" in answer.content.decode()
    assert not Invite.objects.filter(label="Grace").exists()


@pytest.mark.django_db
def test_a_revoked_personal_link_opens_no_more_and_whoever_used_it_cannot_go_on(
    signed_in, small_campaign, cast_votes
):
    (link,) = make_links(signed_in("carol"), "Ada")
    ada = Client()
    ada.post(f"/join/{token_of(link)}/")
    cast_votes(ada)
    invite = Invite.objects.get(label="Ada")
    signed_in("carol").post(f"{LINKS}{invite.pk}/revoke/")
    assert Client().post(f"/join/{token_of(link)}/").status_code == 410
    assert ada.get("/campaigns/small/battle/").status_code == 404
    assert Battle.objects.filter(vote__rater=invite.rater).count() == 1


@pytest.mark.django_db
def test_a_new_link_leads_to_the_same_place_and_kills_the_old_one(signed_in, small_campaign):
    carol = signed_in("carol")
    (link,) = make_links(carol, "Ada", expires_at="2020-01-01T00:00")
    assert Client().get(f"/join/{token_of(link)}/").status_code == 410
    invite = Invite.objects.get(label="Ada")
    carol.post(f"{LINKS}{invite.pk}/revoke/")
    page = carol.post(f"{LINKS}{invite.pk}/anew/").content.decode()
    token = page.split("/join/")[1].split("/")[0]
    ada = Client()
    assert ada.post(f"/join/{token}/").status_code == 302
    assert ada.get("/campaigns/small/battle/").status_code == 200
    assert ada.session["raters"][str(small_campaign.campaign.pk)] == invite.rater_id
    assert Client().get(f"/join/{token_of(link)}/").status_code == 410


@pytest.mark.django_db
def test_a_new_link_shuts_out_whoever_came_by_the_old_one(signed_in, small_campaign):
    carol = signed_in("carol")
    (link,) = make_links(carol, "Ada")
    thief, bystander = Client(), Client()
    thief.post(f"/join/{token_of(link)}/")
    bystander.post(f"/join/{small_campaign.token}/")
    page = thief.post("/campaigns/small/my-link/").content.decode()
    device = page.split("/join/")[1].split("/")[0]
    on_screen = thief.get("/campaigns/small/battle/")
    assert on_screen.status_code == 200
    battle = Battle.objects.filter(vote=None).latest("pk")
    carol.post(f"{LINKS}{Invite.objects.get(label='Ada').pk}/anew/")
    assert thief.get("/campaigns/small/battle/").status_code == 404
    ballot = {"outcome": "model_a", "key": "idempotency-key-1"}
    assert thief.post(f"/battles/{battle.public_id}/vote/", ballot).status_code == 404
    assert Client().get(f"/join/{device}/").status_code == 410
    assert bystander.get("/campaigns/small/battle/").status_code == 200
    assert carol.get("/campaigns/").status_code == 200


@pytest.mark.django_db
def test_a_link_to_another_device_ends_with_the_one_that_was_sent(signed_in, small_campaign):
    (link,) = make_links(signed_in("carol"), "Ada", expires_at="2099-01-01T00:00")
    ada = Client()
    ada.post(f"/join/{token_of(link)}/")
    assert ada.post("/campaigns/small/my-link/").status_code == 200
    sent, made = Invite.objects.filter(rater__isnull=False).order_by("pk")
    assert made.expires_at == sent.expires_at
    Invite.objects.filter(pk=sent.pk).update(expires_at=timezone.now())
    assert ada.post("/campaigns/small/my-link/").status_code == 404


@pytest.mark.django_db
def test_links_are_revoked_together_all_or_those_ticked(signed_in, small_campaign):
    carol = signed_in("carol")
    make_links(carol, "Ada\nGrace\nJean")
    ada = Invite.objects.get(label="Ada")
    carol.post(f"{LINKS}revoke/", {"invite": [ada.pk, small_campaign.invite.pk, "x"]})
    assert list(Invite.objects.filter(revoked_at__isnull=False)) == [ada]
    carol.post(f"{LINKS}revoke/", {"which": "all"})
    assert set(Invite.objects.filter(revoked_at=None)) == {small_campaign.invite}


@pytest.mark.django_db
def test_links_of_another_campaign_are_out_of_reach(signed_in, small_campaign, make_campaign):
    make_links(signed_in("carol"), "Ada")
    make_campaign("other")
    ada = Invite.objects.get(label="Ada")
    carol = signed_in("carol")
    for act in ("revoke", "anew"):
        assert carol.post(f"/campaigns/other/invites/{ada.pk}/{act}/").status_code == 404
    carol.post("/campaigns/other/invites/revoke/", {"invite": [ada.pk], "which": ""})
    ada.refresh_from_db()
    assert ada.revoked_at is None


@pytest.mark.django_db
def test_a_group_link_can_be_given_an_end(signed_in, small_campaign):
    soon = (timezone.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    signed_in("carol").post(f"{LINKS}new/", {"label": "class", "expires_at": soon, "max_uses": "3"})
    invite = Invite.objects.get(label="class")
    assert invite.state == "valid"
    Invite.objects.filter(pk=invite.pk).update(expires_at=timezone.now())
    invite.refresh_from_db()
    assert invite.state == "expired"


@pytest.mark.django_db
@pytest.mark.parametrize("field", [{"max_uses": "0"}, {"expires_at": "soon"}])
def test_a_group_link_with_impossible_limits_is_not_made(signed_in, small_campaign, field):
    assert signed_in("carol").post(f"{LINKS}new/", field).status_code == 422
    assert Invite.objects.count() == 1


@pytest.mark.django_db
def test_the_roster_tells_who_opened_started_and_is_done(signed_in, small_campaign, cast_votes):
    Campaign.objects.update(quota=2)
    links = {link["name"]: link for link in make_links(signed_in("carol"), "Ada\nGrace\nJean\nTony")}
    for name, votes in (("Grace", 0), ("Jean", 1), ("Tony", 2)):
        person = Client()
        person.post(f"/join/{token_of(links[name])}/")
        cast_votes(person, votes)
    stranger = Client()
    stranger.post(f"/join/{small_campaign.token}/")
    cast_votes(stranger)
    entries = roster(Campaign.objects.get())
    assert [(entry.name, entry.state, entry.votes) for entry in entries] == [
        ("Ada", "invited", 0),
        ("Grace", "opened", 0),
        ("Jean", "started", 1),
        ("Tony", "done", 2),
        ("", "started", 1),
    ]
    assert entries[0].seen_at is None
    assert all(entry.seen_at for entry in entries[1:])


@pytest.mark.django_db
def test_an_undone_vote_is_no_progress(signed_in, small_campaign, cast_votes):
    (link,) = make_links(signed_in("carol"), "Ada")
    ada = Client()
    ada.post(f"/join/{token_of(link)}/")
    cast_votes(ada)
    battle = Battle.objects.get(vote__isnull=False)
    ada.post(f"/battles/{battle.public_id}/undo/")
    (entry,) = roster(small_campaign.campaign)
    assert (entry.votes, entry.state) == (0, "started")


@pytest.mark.django_db
def test_the_roster_is_downloaded_and_a_spreadsheet_runs_none_of_it(signed_in, small_campaign):
    carol = signed_in("carol")
    (link,) = make_links(carol, "=HYPERLINK(1)")
    assert link["name"] == "'=HYPERLINK(1)"
    text = carol.get(f"{LINKS}roster.csv").content.decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["name"], row["state"], row["votes"]) == ("'=HYPERLINK(1)", "invited", "0")


def test_links_without_an_end_say_so_by_an_empty_cell():
    assert links_as_csv([], "https://x/join/") == "name,link,valid_until\r\n"


@pytest.mark.django_db
def test_no_rater_page_and_no_reader_shows_a_name_from_the_list(signed_in, small_campaign, cast_votes):
    (link,) = make_links(signed_in("carol"), "Ada Lovelace")
    ada = Client()
    ada.post(f"/join/{token_of(link)}/")
    cast_votes(ada)
    other = Client()
    other.post(f"/join/{small_campaign.token}/")
    pages = [
        person.get(path)
        for person in (ada, other)
        for path in (
            "/campaigns/small/battle/",
            "/campaigns/small/my-votes/",
            "/campaigns/small/guide/",
            "/",
            f"/join/{token_of(link)}/",
        )
    ]
    pages += [
        signed_in("ravi").get(path)
        for path in ("/campaigns/small/", "/boards/small/", "/api/v1/campaigns/small/")
    ]
    assert all("Lovelace" not in page.content.decode() for page in pages)
    assert "Lovelace" in signed_in("carol").get(LINKS).content.decode()


@pytest.mark.django_db
def test_whoever_is_just_coming_in_by_the_old_link_is_out(signed_in, small_campaign, monkeypatch):
    (link,) = make_links(signed_in("carol"), "Ada")
    looked = join_views.returning

    def look_then_reissue(*asked):
        found = looked(*asked)
        invites.reissue(Invite.objects.get(label="Ada"))
        return found

    monkeypatch.setattr(join_views, "returning", look_then_reissue)
    assert Client().post(f"/join/{token_of(link)}/").status_code == 410
    assert Invite.objects.get(label="Ada").opened_at is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    "act", [invites.reissue, lambda invite: invites.revoke(Invite.objects.filter(pk=invite.pk))]
)
def test_whoever_came_by_the_old_link_makes_none_for_another_device(signed_in, small_campaign, act):
    make_links(signed_in("carol"), "Ada")
    invite = Invite.objects.get(label="Ada")
    came_before = Rater.objects.get(pk=invite.rater_id)
    act(invite)
    with pytest.raises(own_page.LinkEndedError):
        own_page.make_link(small_campaign.campaign, came_before)
    assert not came_before.invites.exclude(pk=invite.pk).exists()


@pytest.mark.django_db
def test_a_new_link_ends_one_place_of_a_browser_and_no_other(signed_in, small_campaign, make_campaign):
    other = make_campaign(slug="other")
    carol = signed_in("carol")
    (link,) = make_links(carol, "Ada")
    ada = Client()
    ada.post(f"/join/{other.token}/")
    ada.post(f"/join/{token_of(link)}/")
    carol.post(f"{LINKS}{Invite.objects.get(label='Ada').pk}/revoke/")
    carol.post(f"{LINKS}{Invite.objects.get(label='Ada').pk}/anew/")
    assert ada.get("/campaigns/small/battle/").status_code == 404
    assert ada.get("/campaigns/other/battle/").status_code == 200
    home = ada.get("/").content.decode()
    assert "/campaigns/other/" in home and "/campaigns/small/" not in home
