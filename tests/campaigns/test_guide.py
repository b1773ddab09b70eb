from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.battles.models import Battle
from arena.campaigns import models
from arena.campaigns.guide_history import changes
from arena.campaigns.guide_texts import STARTING_TEXTS
from arena.campaigns.models import Guide

EDIT = "/campaigns/small/guide/edit/"


@pytest.mark.django_db
def test_a_changed_guide_is_a_new_version_and_the_old_one_stays(signed_in, small_campaign):
    carol = signed_in("carol")
    for _time in range(2):
        carol.post(EDIT, {"text": "New words.\r\nTwo lines."})
    assert list(Guide.objects.order_by("version").values_list("version", "text")) == [
        (1, "Which response helps more?"),
        (2, "New words.\nTwo lines."),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_preview_is_rendered_and_stores_nothing(signed_in, small_campaign, headers):
    page = signed_in("carol").post(EDIT, {"text": "Choose **well**.", "act": "preview"}, headers=headers)
    assert "<strong>well</strong>" in page.content.decode()
    assert ("<html" in page.content.decode()) == (not headers)
    assert Guide.objects.count() == 1


@pytest.mark.django_db
def test_an_empty_guide_is_refused(signed_in, small_campaign):
    assert signed_in("carol").post(EDIT, {"text": " \n "}).status_code == 422
    assert Guide.objects.count() == 1


@pytest.fixture
def rendered(monkeypatch) -> list[str]:
    """The texts that were rendered, by a renderer of a later day."""
    texts: list[str] = []

    def render(text: str) -> str:
        texts.append(text)
        return f'<p class="of-today">{text}</p>'

    monkeypatch.setattr(models, "render", render)
    models._rendered.cache_clear()
    yield texts
    models._rendered.cache_clear()


@pytest.mark.django_db
def test_a_guide_published_long_ago_is_shown_as_the_renderer_makes_it_now(
    client, signed_in, small_campaign, rendered
):
    """Each version is rendered once, however many pages show it; its text and hash are what they were."""
    before = Guide.objects.values("text", "sha256").get()
    assert client.post(f"/join/{small_campaign.token}/").status_code == 302
    pages = ["/campaigns/small/battle/", "/campaigns/small/guide/", f"/join/{small_campaign.token}/"]
    for path in pages * 2:
        assert f'<p class="of-today">{before["text"]}</p>' in client.get(path).content.decode()
    Guide.publish(small_campaign.campaign, "Look again.")
    for path in pages * 2:
        assert '<p class="of-today">Look again.</p>' in client.get(path).content.decode()
    assert rendered == [before["text"], "Look again."]
    assert Guide.objects.values("text", "sha256").earliest("version") == before


@pytest.mark.django_db
@pytest.mark.parametrize("name", STARTING_TEXTS)
def test_a_starting_text_is_put_into_the_form(signed_in, small_campaign, name):
    page = signed_in("carol").get(f"{EDIT}?start={name}").content.decode()
    first_line = str(STARTING_TEXTS[name].text).splitlines()[0]
    assert first_line in page.split("<textarea")[1]


@pytest.mark.django_db
def test_an_earlier_version_is_taken_up_again(signed_in, small_campaign):
    carol = signed_in("carol")
    carol.post(EDIT, {"text": "New words."})
    assert (
        "Which response helps more?" in carol.get(f"{EDIT}?version=1").content.decode().split("<textarea")[1]
    )
    assert carol.get(f"{EDIT}?version=9").status_code == 404
    assert carol.get(f"{EDIT}?version=x").status_code == 404


@pytest.mark.django_db
def test_each_version_is_listed_with_the_votes_cast_under_it(signed_in, small_campaign, client):
    client.post(f"/join/{small_campaign.token}/")
    client.get("/campaigns/small/battle/")
    battle = Battle.objects.earliest("pk")
    client.post(f"/battles/{battle.public_id}/vote/", {"outcome": "tie", "key": "k" * 20})
    carol = signed_in("carol")
    carol.post(EDIT, {"text": "New words."})
    table = carol.get(EDIT).content.decode().split('class="versions"')[1]
    rows = [row.split("</td>")[1] for row in table.split("<tr>")[2:]]
    assert [row.endswith(f">{votes}") for row, votes in zip(rows, (0, 1), strict=True)] == [True, True]


@pytest.mark.django_db
def test_what_changed_between_two_versions_is_shown(signed_in, small_campaign):
    carol = signed_in("carol")
    carol.post(EDIT, {"text": "Which response helps you more?"})
    page = carol.get("/campaigns/small/guide/changes/?old=1&new=2").content.decode()
    assert "<del>Which response helps more?</del>" in page
    assert "<ins>Which response helps you more?</ins>" in page
    assert carol.get("/campaigns/small/guide/changes/?old=1&new=").status_code == 404


@given(st.text(), st.text())
def test_the_changes_hold_every_line_that_isn_t_in_both(old, new):
    lines = changes(old, new)
    added = [line.text for line in lines if line.kind == "added"]
    taken = [line.text for line in lines if line.kind == "taken"]
    assert set(new.splitlines()) - set(old.splitlines()) <= set(added)
    assert set(old.splitlines()) - set(new.splitlines()) <= set(taken)
    assert (lines == []) == (old.splitlines() == new.splitlines())


@pytest.mark.parametrize("text", STARTING_TEXTS.values(), ids=STARTING_TEXTS)
def test_a_starting_text_breaks_no_line_within_a_sentence(text):
    """A line end is shown as one."""
    for line in str(text.text).strip().splitlines():
        assert line == "" or line.startswith("#") or line[-1] in ".?!:"


def in_the_box(answer) -> str:
    box = answer.content.decode().split("<textarea")[1].split("</textarea>")[0]
    return unescape(box.split(">", 1)[1]).strip()


@pytest.mark.django_db
@pytest.mark.parametrize("begin", ["start code", "version 1"])
def test_what_was_typed_is_replaced_only_once_that_is_confirmed(signed_in, small_campaign, begin):
    carol, typed = signed_in("carol"), "My own words,\r\nnot saved."
    asked = carol.post(EDIT, {"text": typed, "begin": begin})
    assert in_the_box(asked) == typed.replace("\r\n", "\n")
    assert "What you have written isn’t saved." in asked.content.decode()
    assert f'name="replace" value="{begin}"' in asked.content.decode()
    wanted = str(STARTING_TEXTS["code"].text) if begin == "start code" else "Which response helps more?"
    assert in_the_box(carol.post(EDIT, {"text": typed, "replace": begin})) == wanted.strip()
    assert Guide.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["", "  ", "Which response helps more?", str(STARTING_TEXTS["facts"].text)])
def test_where_nothing_would_be_lost_a_starting_text_comes_at_once(signed_in, small_campaign, text):
    answer = signed_in("carol").post(EDIT, {"text": text.replace("\n", "\r\n"), "begin": "start code"})
    assert in_the_box(answer) == str(STARTING_TEXTS["code"].text).strip()


@pytest.mark.django_db
@pytest.mark.parametrize("begin", ["start nothing", "version 9", "version x", "other", "start"])
def test_a_text_that_is_not_offered_is_not_found(signed_in, small_campaign, begin):
    assert signed_in("carol").post(EDIT, {"text": "Words.", "begin": begin}).status_code == 404


@pytest.mark.django_db
def test_no_link_on_the_guides_page_loses_what_was_typed(signed_in, small_campaign):
    carol = signed_in("carol")
    carol.post(EDIT, {"text": "New words."})
    page = carol.get(EDIT).content.decode()
    assert "?start=" not in page and "?version=" not in page
    assert page.count('form="guide-text" name="begin"') == len(STARTING_TEXTS) + 1
