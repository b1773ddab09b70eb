"""A new renderer renders what is stored anew, a prompt with all its responses at once."""

from __future__ import annotations

import time

import pytest
from django.core.management import call_command

from arena.corpus import render_again as again
from arena.corpus import render_tasks
from arena.corpus.leak_checks import check_unchecked
from arena.corpus.models import Competitor, Prompt, Response
from arena.corpus.render import RENDERER_VERSION, render, render_turns

pytestmark = pytest.mark.django_db


@pytest.fixture
def old(small_campaign):
    """Four prompts and their twelve responses, as the first version left them."""
    assert RENDERER_VERSION > 1
    return small_campaign


def versions() -> dict[int, set[int]]:
    """Of each prompt and its responses."""
    found = {prompt.pk: {prompt.renderer_version} for prompt in Prompt.objects.all()}
    for response in Response.objects.all():
        found[response.prompt_id].add(response.renderer_version)
    return found


def test_every_text_is_rendered_as_it_would_be_today_and_only_once(old):
    assert again.render_again() == again.Progress(16, None)
    for response in Response.objects.all():
        assert response.rendered_html == render(response.text)
    for prompt in Prompt.objects.all():
        assert prompt.rendered_html == render_turns(prompt.messages)
    assert set().union(*versions().values()) == {RENDERER_VERSION}
    assert again.render_again() == again.Progress(0, None)


def test_at_any_moment_a_prompt_and_its_responses_are_all_old_or_all_new(old, monkeypatch):
    monkeypatch.setattr(again, "_BATCH", 1)
    after, turns = 0, 0
    while after is not None:
        assert all(len(each) == 1 for each in versions().values())
        assert sum(each == {RENDERER_VERSION} for each in versions().values()) == turns
        after, turns = again.render_again(after, until=time.monotonic()).after, turns + 1
    assert turns == 5, "four prompts, and the turn that found no other"


def test_where_one_text_cannot_be_written_none_of_its_prompt_is(old, monkeypatch):
    last = Response.objects.filter(prompt=old.prompts[0]).latest("pk")

    def stumble(rows, row):
        if row == last:
            raise RuntimeError("the power went off")
        return rows.filter(pk=row.pk)

    monkeypatch.setattr(again, "_unchanged", stumble)
    with pytest.raises(RuntimeError, match="power"):
        again.render_again()
    assert all(each == {1} for each in versions().values())


def test_what_was_never_rendered_is_left_to_whoever_renders_it_first(old):
    Response.objects.update(renderer_version=0, rendered_html="")
    Prompt.objects.update(renderer_version=0)
    assert again.render_again().rendered == 0


def test_a_masked_text_is_masked_again(old):
    ember = Competitor.objects.get(name="Ember")
    response = Response.objects.get(competitor=ember, prompt=old.prompts[0])
    Response.objects.filter(pk=response.pk).update(text="This is **Ember** speaking.")
    check_unchecked()
    Response.objects.filter(pk=response.pk).update(masked_html="<p>by an old renderer</p>")
    again.render_again()
    response.refresh_from_db()
    assert "<strong>" in response.masked_html and "speaking" in response.masked_html
    assert "Ember" not in response.masked_html
    assert "Ember" in response.rendered_html


def test_what_is_redacted_while_it_is_rendered_stays_redacted(old, monkeypatch):
    gone = Response.objects.filter(prompt=old.prompts[1]).latest("pk")

    def slow(text: str) -> str:
        now = {"rendered_html": "<p>redacted</p>", "text": "", "renderer_version": RENDERER_VERSION}
        Response.objects.filter(pk=gone.pk).update(**now)
        return render(text)

    monkeypatch.setattr(again, "render", slow)
    assert again.render_again().rendered == 15
    gone.refresh_from_db()
    assert gone.rendered_html == "<p>redacted</p>"


def test_what_is_looked_at_for_leaks_meanwhile_is_rendered_in_the_next_attempt(old, monkeypatch):
    monkeypatch.setattr(again, "render", lambda text: check_unchecked() * "" + render(text))
    assert again.render_again().rendered == 16
    assert set().union(*versions().values()) == {RENDERER_VERSION}


def test_the_consumer_goes_on_where_it_stopped_and_rests_when_all_is_done(old, monkeypatch):
    monkeypatch.setattr(again, "_BATCH", 1)
    monkeypatch.setattr(render_tasks, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(render_tasks, "_after", 0)
    for turn in range(1, 5):
        render_tasks.render_again_by_the_minute.call_local()
        assert sum(each == {RENDERER_VERSION} for each in versions().values()) == turn
    render_tasks.render_again_by_the_minute.call_local()
    monkeypatch.setattr(render_tasks, "render_again", lambda *_args, **_options: pytest.fail("not resting"))
    render_tasks.render_again_by_the_minute.call_local()


def test_the_command_says_what_it_did(old, capsys):
    call_command("render_texts")
    assert "Rendered anew: 16 texts, by version" in capsys.readouterr().out
    call_command("render_texts")
    assert "Nothing to do" in capsys.readouterr().out
