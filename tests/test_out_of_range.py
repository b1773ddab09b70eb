"""Numbers that no column holds are the sender's mistake: 400, 404 or 422, and nothing is stored."""

import pytest
from django.db import DataError, connection, transaction
from psycopg.errors import NumericValueOutOfRange, StringDataRightTruncation

from arena.campaigns.models import Invite
from arena.endpoints.models import Endpoint
from arena.judging.models import JudgeRun
from arena.leaderboards.defaults import ensure_leaderboards
from arena.out_of_range import is_out_of_range
from arena.pagination import BoundedPagination

pytestmark = pytest.mark.django_db

HUGE = "9" * 25
LONG = "9" * 5000
REFUSED = {400, 404, 422}


@pytest.fixture
def carol(signed_in, small_campaign):
    ensure_leaderboards(small_campaign.campaign)
    return signed_in("carol")


@pytest.mark.parametrize("number", ["1001", str(2**63), HUGE])
@pytest.mark.parametrize("path", ["leaderboards", "campaigns", "snapshots"])
@pytest.mark.parametrize("name", ["limit", "offset"])
def test_the_api_gives_no_page_larger_than_its_bound(carol, monkeypatch, name, path, number):
    monkeypatch.setattr(BoundedPagination, "max_limit", 2)
    answered = carol.get(f"/api/v1/{path}/", {name: number})
    assert answered.status_code == 200
    assert len(answered.json()["results"]) <= 2


@pytest.mark.parametrize("query", [{"limit": LONG}, {"offset": LONG}, {"limit": "²"}, {"campaign": HUGE}])
def test_what_is_no_number_for_the_api_harms_nothing(carol, query):
    assert carol.get("/api/v1/leaderboards/", query).status_code in {200, *REFUSED}


def test_a_page_of_the_api_says_that_there_is_more(carol, monkeypatch):
    monkeypatch.setattr(BoundedPagination, "max_limit", 2)
    page = carol.get("/api/v1/leaderboards/", {"limit": HUGE}).json()
    assert (page["count"], len(page["results"])) == (3, 2)
    assert "offset=2" in page["next"]


@pytest.mark.parametrize("number", [HUGE, LONG, "²", "٣" * 25])
def test_no_address_with_such_a_number_fails(carol, number):
    for path in (
        f"/rubrics/new/?from={number}",
        f"/endpoints/{number}/",
        f"/judging/runs/{number}/",
        f"/judging/judgments/{number}/",
        f"/api/v1/snapshots/{number}/",
    ):
        assert carol.get(path).status_code in REFUSED, path


@pytest.mark.parametrize("number", [HUGE, LONG, "²", "-1"])
def test_a_boards_source_with_such_a_number_changes_nothing(carol, number):
    fields = {"source": f"judge:{number}", "visibility": "public"}
    page = carol.post("/boards/small/visibility/", fields, follow=True)
    assert "Nothing changed" in page.content.decode()
    assert carol.get(f"/boards/small/?source=judge:{number}").status_code in {200, *REFUSED}


@pytest.mark.parametrize("number", [str(2**63), HUGE, LONG])
@pytest.mark.parametrize("field", ["campaign", "judges", "seed", "limit", "max_calls", "budget_usd"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_run_with_such_a_number_is_not_started(carol, small_campaign, method, field, number):
    fields = {"campaign": small_campaign.campaign.pk, "judges": [1], "which": "all", "limit": 10, "seed": 1}
    answered = getattr(carol, method)("/judging/new/", fields | {field: number})
    assert answered.status_code in ({200, *REFUSED} if method == "get" else REFUSED)
    assert not JudgeRun.objects.exists()


@pytest.mark.parametrize("number", [str(2**63), HUGE, LONG])
def test_an_invite_for_so_many_is_not_made(carol, number):
    before = Invite.objects.count()
    answered = carol.post("/campaigns/small/invites/new/", {"label": "all", "max_uses": number})
    assert answered.status_code in {302, *REFUSED}
    assert Invite.objects.count() == before


@pytest.mark.parametrize("field", ["max_tokens", "concurrency", "timeout_seconds", "requests_per_minute"])
def test_an_endpoint_with_such_a_number_is_not_made(carol, field):
    fields = {
        "name": "E",
        "base_url": "https://llm.example.org/v1",
        "model_id": "m",
        "structured_mode": "prompt",
        "max_tokens_field": "max_tokens",
        "max_tokens": 1,
        "concurrency": 1,
        "timeout_seconds": 1,
    }
    assert carol.post("/endpoints/new/", fields | {field: HUGE}).status_code in REFUSED
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    ("path", "kind"), [("/judging/", "text/html"), ("/api/v1/leaderboards/", "application/json")]
)
def test_where_no_form_has_a_bound_the_answer_is_a_bad_request_with_words(carol, monkeypatch, path, kind):
    def find(*args, **kwargs):
        with transaction.atomic(), connection.cursor() as cursor:
            return cursor.execute("SELECT CAST(%s AS bigint)", [int(HUGE)])

    monkeypatch.setattr("arena.judging.views.with_counts", find)
    monkeypatch.setattr("arena.leaderboards.api.LeaderboardViewSet.get_queryset", find)
    answered = carol.get(path)
    assert answered.status_code == 400
    assert answered["Content-Type"].startswith(kind)
    assert "too large" in answered.content.decode()


def caused_by(cause: Exception) -> DataError:
    error = DataError("it failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (OverflowError("Python int too large to convert to SQLite INTEGER"), True),
        (caused_by(NumericValueOutOfRange()), True),
        (OverflowError("cannot convert float infinity to integer"), False),
        (caused_by(StringDataRightTruncation()), False),
        (DataError("it failed"), False),
        (ValueError("too large"), False),
    ],
)
def test_only_what_no_column_holds_is_the_senders_mistake(error, answer):
    assert is_out_of_range(error) is answer
