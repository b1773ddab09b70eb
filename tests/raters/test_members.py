from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection

from arena.raters.models import Membership, Team

pytestmark = pytest.mark.django_db


def test_an_admin_adds_a_researcher_who_sets_a_password_by_the_link_once(signed_in, client):
    page = signed_in("carol").post("/team/add/", {"username": "nora", "role": "researcher"}).content.decode()
    path = "/accounts/reset/" + page.split("/accounts/reset/")[1].split("<")[0]
    form = client.get(path, follow=True)
    secret = {"new_password1": "gauntlet-and-plume-4", "new_password2": "gauntlet-and-plume-4"}
    assert client.post(form.redirect_chain[-1][0], secret, follow=True).status_code == 200
    assert User.objects.get(username="nora").check_password(secret["new_password1"])
    assert "used already" in client.get(path, follow=True).content.decode()


def test_an_existing_account_gets_a_role_and_no_password_link(signed_in, cast):
    page = signed_in("carol").post("/team/add/", {"username": "mallory", "role": "rater"}).content.decode()
    assert "/accounts/reset/" not in page
    assert Membership.objects.get(user=cast.mallory).role == "rater"


def test_an_account_of_another_team_is_left_to_the_operator(signed_in, cast):
    page = signed_in("carol").post("/team/add/", {"username": "dora", "role": "admin"}, follow=True)
    assert "belongs to another team; ask the operator" in page.content.decode()
    assert Membership.objects.get(user=cast.dora).team == cast.other_team
    User.objects.filter(pk=cast.carol.pk).update(is_superuser=True)
    signed_in("carol").post("/team/add/", {"username": "dora", "role": "rater"})
    assert Membership.objects.get(user=cast.dora, team=cast.team).role == "rater"


@pytest.mark.parametrize("is_superuser", [False, True])
@pytest.mark.parametrize("name", ["carol", "ravi"])
def test_who_is_in_the_team_is_not_added_again_with_another_role(signed_in, cast, name, is_superuser):
    User.objects.filter(pk=cast.carol.pk).update(is_superuser=is_superuser)
    before = Membership.objects.get(user__username=name).role
    page = signed_in("carol").post("/team/add/", {"username": name, "role": "rater"}, follow=True)
    assert "change the role in the list" in page.content.decode()
    assert Membership.objects.get(user__username=name).role == before


def test_a_refused_addition_leaves_no_account(signed_in, cast):
    before = User.objects.count()
    signed_in("carol").post("/team/add/", {"username": "dora", "role": "emperor"})
    signed_in("carol").post("/team/add/", {"username": "no spaces", "role": "rater"})
    assert User.objects.count() == before


def test_the_last_admin_can_neither_leave_nor_step_down(signed_in, cast):
    mine = Membership.objects.get(user=cast.carol)
    carol = signed_in("carol")
    carol.post(f"/team/{mine.pk}/role/", {"role": "rater"})
    carol.post(f"/team/{mine.pk}/remove/")
    mine.refresh_from_db()
    assert mine.role == "admin"


def test_an_unknown_role_changes_nothing(signed_in, cast):
    membership = Membership.objects.get(user=cast.ravi)
    signed_in("carol").post(f"/team/{membership.pk}/role/", {"role": "emperor"})
    membership.refresh_from_db()
    assert membership.role == "researcher"


def test_another_teams_members_are_out_of_reach(signed_in, cast):
    carol = signed_in("carol")
    theirs = Membership.objects.get(user=cast.dora)
    assert carol.post(f"/team/{theirs.pk}/role/", {"role": "rater"}).status_code == 404
    assert carol.post(f"/team/{theirs.pk}/remove/").status_code == 404
    assert "dora" not in carol.get("/team/").content.decode()


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory"])
def test_only_admins_see_the_team(signed_in, who):
    assert signed_in(who).get("/team/").status_code == 404


def test_strangers_are_sent_to_sign_in(client, db):
    assert client.get("/team/")["Location"].startswith("/accounts/login/")


def test_whoever_lost_the_first_link_gets_another(signed_in, client):
    carol = signed_in("carol")
    carol.post("/team/add/", {"username": "nora", "role": "rater"})
    nora = Membership.objects.get(user__username="nora")
    page = carol.post(f"/team/{nora.pk}/link/").content.decode()
    path = "/accounts/reset/" + page.split("/accounts/reset/")[1].split("<")[0]
    assert "new_password1" in client.get(path, follow=True).content.decode()


def test_an_admin_cannot_take_over_an_account_that_has_a_password(signed_in, cast):
    ravi = Membership.objects.get(user=cast.ravi)
    answer = signed_in("carol").post(f"/team/{ravi.pk}/link/", follow=True).content.decode()
    assert "only the operator" in answer
    assert "/accounts/reset/" not in answer


def test_another_teams_member_gets_no_link_from_here(signed_in, cast):
    dora = Membership.objects.get(user=cast.dora)
    assert signed_in("carol").post(f"/team/{dora.pk}/link/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_remove_each_other_at_once_leave_one(signed_in, cast):
    ravi = Membership.objects.get(user=cast.ravi)
    Membership.objects.filter(pk=ravi.pk).update(role="admin")
    carol = Membership.objects.get(user=cast.carol)
    requests = [(signed_in("carol"), ravi), (signed_in("ravi"), carol)]

    def remove(visitor, member) -> None:
        try:
            visitor.post(f"/team/{member.pk}/remove/")
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda request: remove(*request), requests))
    assert Membership.objects.filter(team=cast.team, role="admin").count() == 1


def test_an_admin_renames_the_team(signed_in, cast):
    carol = signed_in("carol")
    page = carol.get("/team/").content.decode()
    assert "Rename the team" in page
    assert carol.post("/team/name/", {"name": "Institute of Tilts"}).status_code == 302
    page = carol.get("/team/").content.decode()
    assert "<h1><bdi>Institute of Tilts</bdi></h1>" in page
    assert "The team is called Institute of Tilts from now on." in page


def test_a_team_without_a_name_is_refused_and_keeps_its_own(signed_in, cast):
    carol = signed_in("carol")
    before = Team.default().name
    answer = carol.post("/team/name/", {"name": " "})
    assert answer.status_code == 422
    assert f"<h1><bdi>{before}</bdi></h1>" in answer.content.decode()
    assert Team.default().name == before


@pytest.mark.parametrize(("who", "status"), [("ravi", 404), ("mallory", 404), (None, 302)])
def test_nobody_else_renames_a_team(signed_in, cast, client, who, status):
    before = Team.default().name
    sent = (signed_in(who) if who else client).post("/team/name/", {"name": "Mine"})
    assert sent.status_code == status
    assert Team.default().name == before
