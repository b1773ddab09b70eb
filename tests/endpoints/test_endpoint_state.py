"""What an endpoint's page tells of its server, and what an admin can do about it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.raters.models import Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(cast):
    return Endpoint.objects.create(
        team=Team.default(),
        name="Mine",
        base_url="https://a.example.org/v1",
        model_id="gpt-4o",
        concurrency=8,
    )


@pytest.fixture
def shown(signed_in, endpoint):
    def show() -> str:
        return signed_in("carol").get(f"/endpoints/{endpoint.pk}/").content.decode().replace("&#x27;", "'")

    return show


def attempt(endpoint, number, **fields) -> CallAttempt:
    call = Call.objects.create(key=f"k{number}", endpoint=endpoint, state="parsed")
    fields = {"request": {"model": "gpt-4o"}, "started_at": timezone.now()} | fields
    return CallAttempt.objects.create(call=call, number=1, **fields)


def test_an_endpoint_that_was_never_asked_says_what_to_do(shown):
    text = shown()
    assert "Nothing was sent here yet but tests" in text
    assert "any public host with https is allowed" in text
    assert "spending unknown: no prices" in text


def test_requests_failures_tokens_and_spending_are_told(shown, endpoint):
    Endpoint.objects.update(input_price=1, output_price=2)
    attempt(endpoint, 1, tokens_in=120, tokens_out=30, cost_usd="0.25", finished_at=timezone.now())
    attempt(endpoint, 2, error_kind="server_error", error_text="the server answered 500: <oops>")
    text = shown()
    for words in (
        "<strong>2</strong> requests",
        "<strong>1</strong> failed",
        "<strong>120</strong> tokens in",
    ):
        assert words in text
    assert "<strong>$0.2500</strong> spent" in text
    assert "the server answered 500: &lt;oops&gt;" in text


def test_a_rest_is_told_with_its_reason_and_ended_on_demand(shown, endpoint, signed_in):
    later = timezone.now() + timedelta(minutes=5)
    Endpoint.objects.update(paused_until=later, rest_reason="the latest 10 requests failed", slots=1)
    assert "no call goes out: the latest 10 requests failed" in " ".join(shown().split())
    signed_in("carol").post(f"/endpoints/{endpoint.pk}/wake/")
    endpoint.refresh_from_db()
    assert (endpoint.paused_until, endpoint.rest_reason, endpoint.slots) == (None, "", None)
    assert "Try again now" not in shown()


def test_a_slowed_endpoint_says_how_many_calls_go_out(shown, signed_in):
    Endpoint.objects.update(slots=2)
    assert "2 of 8 calls go out at once" in shown()
    assert "2 of 8" in signed_in("carol").get("/endpoints/").content.decode()


def test_refused_parameters_are_named_and_sent_again_on_demand(shown, endpoint, signed_in):
    Endpoint.objects.update(refused_parameters=["temperature", "seed"])
    assert "<code>temperature, seed</code>" in shown()
    signed_in("carol").post(f"/endpoints/{endpoint.pk}/send-all/")
    endpoint.refresh_from_db()
    assert endpoint.refused_parameters == []


def test_an_alias_is_warned_of_and_its_meaning_named(shown, signed_in):
    Endpoint.objects.update(answering_model="gpt-4o-2024-08-06")
    assert "gpt-4o is an alias: today it means gpt-4o-2024-08-06" in shown()
    assert "alias, now gpt-4o-2024-08-06" in signed_in("carol").get("/endpoints/").content.decode()


def test_a_dated_name_that_answers_as_itself_is_no_alias(shown):
    Endpoint.objects.update(model_id="gpt-4o-2024-08-06", answering_model="gpt-4o-2024-08-06")
    assert "is an alias:" not in shown()


def test_a_model_that_changed_behind_its_name_is_an_error(shown, endpoint):
    for number, name in enumerate(("gpt-4o-2024-05-13", "gpt-4o-2024-08-06")):
        attempt(endpoint, number, answering_model=name)
    attempt(endpoint, 9, answering_model="old", request={"model": "asked-before"})
    text = shown()
    assert "The model behind this name has changed" in text
    assert text.index("gpt-4o-2024-08-06</code>") < text.index("gpt-4o-2024-05-13</code>")
    assert "<code>old</code>" not in text


def test_what_was_learnt_of_one_model_is_forgotten_with_it(endpoint, signed_in):
    Endpoint.objects.update(answering_model="gpt-4o-2024-08-06", refused_parameters=["temperature"])
    fields = {"name": "Mine", "base_url": "https://a.example.org/v1", "model_id": "o4", "concurrency": 8}
    fields |= {"structured_mode": "prompt", "max_tokens": 9, "max_tokens_field": "max_tokens"}
    answered = signed_in("carol").post(f"/endpoints/{endpoint.pk}/", fields | {"timeout_seconds": 9})
    assert answered.status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.answering_model, endpoint.refused_parameters) == ("", [])


@pytest.mark.parametrize("act", ["wake", "send-all"])
@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_others_change_nothing(endpoint, signed_in, who, act):
    later = timezone.now() + timedelta(minutes=5)
    Endpoint.objects.update(paused_until=later, refused_parameters=["seed"])
    assert signed_in(who).post(f"/endpoints/{endpoint.pk}/{act}/").status_code == 404
    endpoint.refresh_from_db()
    assert (endpoint.paused_until, endpoint.refused_parameters) == (later, ["seed"])
