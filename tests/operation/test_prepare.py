from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User

from arena.campaigns.models import Campaign, Invite
from arena.operation import prepare
from arena.raters.models import Membership, Role


@pytest.fixture
def said(db, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path / "static"
    return []


def start(said: list[str], demo: bool = False) -> str:
    said.clear()
    prepare.prepare(said.append, demo=demo)
    said.extend(prepare.ways_in(8000))
    return "\n".join(said)


def test_the_first_start_makes_an_admin_and_prints_how_to_set_the_password(said, client):
    words = start(said)
    admin = User.objects.get()
    assert admin.is_superuser
    assert not admin.has_usable_password()
    assert Membership.objects.get(user=admin).role == Role.ADMIN
    link = re.search(r"http://localhost:8000(/accounts/reset/\S+)", words)[1]
    form = client.get(link, follow=True)
    new = {"new_password1": "lance-and-shield-7", "new_password2": "lance-and-shield-7"}
    client.post(form.request["PATH_INFO"], new)
    assert client.login(username="admin", password="lance-and-shield-7")


def test_a_later_start_makes_nothing_twice_and_prints_no_key_again(said, small_campaign):
    Invite.objects.all().delete()
    first = start(said)
    assert "Collecting static files" in first
    assert "/join/" in first
    admin = User.objects.get(is_superuser=True)
    admin.set_password("lance-and-shield-7")
    admin.save()
    assert start(said) == "Tiltyard: http://localhost:8000/\nCtrl-C ends it."
    assert User.objects.filter(is_superuser=True).count() == 1
    assert Invite.objects.count() == 1


def test_the_printed_invite_admits_a_rater(said, small_campaign, client):
    Invite.objects.all().delete()
    link = re.search(r"http://localhost:8000(/join/\S+)", start(said))[1]
    assert client.get(link).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"status": Campaign.Status.DRAFT},
        {"status": Campaign.Status.CLOSED},
        {"admission": Campaign.Admission.LOGIN},
    ],
)
def test_only_open_campaigns_that_admit_by_link_get_one(said, small_campaign, change):
    Invite.objects.all().delete()
    Campaign.objects.update(**change)
    assert "/join/" not in start(said)
    assert not Invite.objects.exists()


def test_links_carry_the_public_address_where_there_is_one(said, settings):
    settings.PUBLIC_URL = "https://arena.example.org"
    assert "https://arena.example.org/accounts/reset/" in start(said)


def test_static_files_are_collected_again_when_one_changed(said, settings, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "one.css").write_text("a")
    settings.STATICFILES_DIRS = [source]
    start(said)
    assert (settings.STATIC_ROOT / "one.css").read_text() == "a"
    assert "Collecting" not in start(said)
    (source / "one.css").write_text("changed")
    assert "Collecting" in start(said)
    assert (settings.STATIC_ROOT / "one.css").read_text() == "changed"
