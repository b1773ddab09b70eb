"""docs/access.md says what every page answers to every role. A page without a row fails here.

`UPDATE_ACCESS=1 ./tiltyard test tests/test_access.py` writes the table anew; read the difference then.
"""

import os
import re
from itertools import product
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern
from django.utils import timezone

from arena.battles.gold_models import Gold
from arena.battles.models import Battle, Exclusion
from arena.corpus.generation_models import GenerationRun
from arena.corpus.label_models import LabelRun
from arena.corpus.models import Response
from arena.endpoints.models import Endpoint
from arena.exchange.export_models import Export
from arena.exchange.export_requests import request_export
from arena.exchange.models import Import
from arena.judging.calibration_models import Calibration
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.agreement import judge_card
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import SnapshotChart
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.raters.models import Membership

TABLE = Path(__file__).parent.parent / "docs" / "access.md"
WHO = ("stranger", "mallory", "alice", "ravi", "carol", "dora")
HEAD = """# Who may open what

Answers to GET / POST without data; of other methods only HEAD is offered, and OPTIONS by the API, which
describes itself. 200: shown. 302: sent on (strangers: to sign in). 404: hidden, as if it weren't there. 403:
refused by the API. 405: the method isn't offered. 409, 410, 422: understood and refused with words. A test
holds this table to the truth: a new page without a row fails, so does a changed answer.

Stranger: not signed in. Mallory: signed in, in no team. Alice: a rater of the team who has begun the
campaign. Ravi: a researcher of the team. Carol: an admin of the team. Dora: an admin of another team.

"""


WRITES = re.compile(r"(INSERT|UPDATE|DELETE|REPLACE)\b")


def routes(resolver=None, prefix: str = "") -> dict[str, URLPattern]:
    found = {}
    for entry in (resolver or get_resolver()).url_patterns:
        assert isinstance(entry.pattern, RoutePattern), f"{entry.pattern} isn't a path()"
        if isinstance(entry, URLResolver):
            found |= routes(entry, prefix + str(entry.pattern))
        else:
            found["/" + prefix + str(entry.pattern)] = entry
    return found


def answer(method: str, path: str, visitor: Client) -> str:
    """The status of one request whose effects are undone, so that the next finds the same world."""
    cookies = visitor.cookies.copy()
    with transaction.atomic():
        code = getattr(visitor, method)(path).status_code
        transaction.set_rollback(True)
    visitor.cookies = cookies
    return str(code)


@pytest.fixture
def visitors(signed_in, small_campaign) -> dict[str, Client]:
    people = {"stranger": Client()} | {who: signed_in(who) for who in WHO[1:]}
    people["alice"].post(f"/join/{small_campaign.token}/")
    for person in people.values():
        person.raise_request_exception = False
    return people


def some_battles(small, visitor: Client) -> Battle:
    """Votes for and against everyone, so that there is a board; the rater's open battle."""
    for number, outcome in enumerate(("model_a", "model_b", "tie") * 3):
        visitor.get("/campaigns/small/battle/")
        battle = Battle.objects.filter(vote=None).earliest("pk")
        ballot = {"outcome": outcome, "key": f"idempotency-key-{number}"}
        assert visitor.post(f"/battles/{battle.public_id}/vote/", ballot).status_code == 303
    return Battle.objects.filter(vote=None).earliest("pk")


@pytest.fixture
def fill_route(visitors, small_campaign, cast):
    """fill_route(route) is an address of that page about something that belongs to the team."""
    battle = some_battles(small_campaign, visitors["alice"])
    endpoint = Endpoint.objects.create(
        team=cast.team,
        name="Endpoint",
        base_url="https://llm.invalid/v1",
        model_id="m",
        key_variable="UNSET_KEY",
    )
    judge = Judge.objects.create(team=cast.team, name="Judge", endpoint=endpoint)
    run = JudgeRun.objects.create(campaign=small_campaign.campaign)
    resolved = {"outcome": "tie", "base_outcome": "tie", "resolved_at": timezone.now()}
    judgment = Judgment.objects.create(run=run, judge=judge, battle=battle, **resolved)
    card = judge_card.compute(small_campaign.campaign, judge)
    labels = Calibration.objects.create(
        campaign=small_campaign.campaign, name="First", seed=0, held_out_percent=50, least_votes=1
    )
    board = ensure_leaderboards(small_campaign.campaign)[0]
    snapshot = take_snapshot(board).snapshot
    SnapshotChart.objects.create(
        snapshot=snapshot, name="ratings", light="<svg/>", dark="<svg/>", png=b"PNG", spec={}
    )
    brought = Import.objects.create(
        team=cast.team, kind="prompts", target="x", file_name="x.csv", file_sha256="", state="previewed"
    )
    asked_for = request_export(small_campaign.campaign, Export.Layout.WHOLE, cast.ravi)
    one, other = (Response.objects.filter(prompt=battle.prompt)[number] for number in (0, 1))
    gold = Gold.objects.create(
        campaign=small_campaign.campaign,
        prompt=battle.prompt,
        response_a=one,
        response_b=other,
        expected="tie",
    )
    exclusion = Exclusion.objects.create(
        campaign=small_campaign.campaign, rater=cast.bob_rater, rule="by_hand", since=timezone.now()
    )
    AnalysisPlan.objects.create(campaign=small_campaign.campaign, question="?", frozen_at=timezone.now())
    label_run = LabelRun.objects.create(prompt_set=small_campaign.prompt_set, endpoint=endpoint)
    member = Membership.objects.get(user=cast.ravi)
    by_route = {
        "/battles/": {"public_id": battle.public_id},
        "/imports/": {"public_id": brought.public_id},
        "/exports/": {"slug": "small", "public_id": asked_for.public_id},
        "/boards/": {"campaign": "small", "slug": board.slug, "name": "ratings", "version": 1},
        "/api/v1/leaderboards/": {"slug": board.slug, "table": "standings", "kind": "csv"},
        "/api/v1/snapshots/": {"pk": snapshot.pk, "table": "standings", "kind": "csv"},
        "/snapshots/": {"pk": snapshot.pk},
        "/endpoints/": {"pk": endpoint.pk},
        "/judges/": {"pk": judge.pk},
        "/api/v1/judge-cards/": {"pk": card.pk},
        "/api/v1/calibrations/": {"pk": labels.pk},
        "/judging/runs/": {"pk": run.pk},
        "/judging/calibrations/": {"pk": labels.pk},
        "/judging/judgments/": {"pk": judgment.pk},
        "/generation/": {"pk": GenerationRun.objects.create(prompt_set=small_campaign.prompt_set).pk},
        "/models/": {"pk": small_campaign.competitors[0].pk},
        "/prompt-sets/": {"pk": small_campaign.prompt_set.pk, "kind": "csv"},
        "/label-runs/": {"pk": label_run.pk},
        "/prompts/": {"pk": small_campaign.prompts[0].pk},
        "/responses/": {"pk": small_campaign.responses[0].pk},
        "/team/": {"pk": member.pk},
        "/campaigns/<slug:slug>/golds/": {"slug": "small", "pk": gold.pk},
        "/campaigns/<slug:slug>/exclusions/": {"slug": "small", "pk": exclusion.pk},
        "/campaigns/<slug:slug>/sets/": {"slug": "small", "pk": small_campaign.prompt_set.pk},
        "/campaigns/": {"slug": "small", "pk": small_campaign.invite.pk, "kind": "csv"},
        "/api/v1/campaigns/": {"slug": "small", "table": "model-boards", "kind": "csv"},
        "/join/": {"token": small_campaign.token},
        "/accounts/": {"uidb64": "MQ", "token": "none", "key": "none"},
        "/api/v1/imports/": {"id": brought.public_id},
    }

    def fill(route: str) -> str:
        for start, values in by_route.items():
            if route.startswith(start):
                for name, value in values.items():
                    route = re.sub(rf"<(?:\w+:)?{name}>", str(value), route)
        assert "<" not in route, f"{route} needs a value: add it to fill_route"
        return route

    return fill


def table(visitors: dict[str, Client], fill) -> list[str]:
    lines = ["| page | " + " | ".join(WHO) + " |", "|---|" + "---|" * len(WHO)]
    for route in sorted(routes()):
        cells = []
        for who in WHO:
            get, post = (answer(method, fill(route), visitors[who]) for method in ("get", "post"))
            cells.append(get if get == post else f"{get} / {post}")
        lines.append(f"| `{route}` | " + " | ".join(cells) + " |")
    return lines


@pytest.mark.django_db
def test_every_page_answers_every_role_as_the_table_says(visitors, fill_route):
    found = table(visitors, fill_route)
    if os.environ.get("UPDATE_ACCESS"):
        TABLE.write_text(HEAD + "\n".join(found) + "\n")
    assert "500" not in "\n".join(found)
    assert TABLE.read_text().removeprefix(HEAD).splitlines() == found


def more_methods(visitor: Client, path: str) -> dict[str, tuple[int, bytes]]:
    found = {}
    for method in ("head", "options", "put", "patch", "delete", "trace"):
        with transaction.atomic():
            answered = getattr(visitor, method)(path)
            found[method] = answered.status_code, answered.getvalue()
            transaction.set_rollback(True)
    return found


@pytest.mark.django_db
def test_no_other_method_is_offered_to_anybody(visitors, fill_route, small_campaign):
    """HEAD says what GET says, the API's OPTIONS describes it; everything else is refused or hidden."""
    offered, told = [], []
    names = [competitor.name.encode() for competitor in small_campaign.competitors]
    for route, who in product(sorted(routes()), ("stranger", "alice", "carol", "dora")):
        shown = answer("get", fill_route(route), visitors[who])
        for method, (code, body) in more_methods(visitors[who], fill_route(route)).items():
            if method == "head":
                offered += [(method, route, who, code)] * (str(code) != shown or body != b"")
                continue
            if code in {302, 403, 404, 405}:
                continue
            if method == "options" and (route.startswith("/api/") or not body):
                told += [(route, who) for name in names if name in body]
                continue
            offered.append((method, route, who, code))
    assert offered == [], offered
    assert told == []


@pytest.mark.django_db
def test_who_asks_with_head_changes_nothing(visitors, fill_route):
    """Mail programs and chats look up links that way: no rater is made of it, and no battle drawn."""
    written = []
    for route, who in product(sorted(routes()), WHO):
        with CaptureQueriesContext(connection) as asked:
            answer("head", fill_route(route), visitors[who])
        statements = (query["sql"] for query in asked)
        written += [(route, who, sql) for sql in statements if WRITES.match(sql)]
    assert written == []
