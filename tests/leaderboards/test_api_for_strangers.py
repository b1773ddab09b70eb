"""The API as a stranger meets it, with docs/api.md alone: what it refuses, how it fails, what it promises."""

import re
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.judging.models import Judge
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Leaderboard

API = "/api/v1"
DOC = Path(__file__).resolve().parents[2] / "docs" / "api.md"
LISTS = ("campaigns", "leaderboards", "snapshots", "judge-cards", "calibrations", "imports")


@pytest.fixture
def joust(voted_campaign):
    """Three boards with a snapshot each."""
    small = voted_campaign("joust", votes=200)
    for board in ensure_leaderboards(small.campaign):
        assert take_snapshot(board).snapshot
    return small


# --- parameters -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LISTS)
def test_a_parameter_that_there_is_not_is_refused_and_those_that_there_are_are_named(signed_in, name):
    refused = signed_in("carol").get(f"{API}/{name}/", {"campain": "joust"})
    assert refused.status_code == 400
    (words,) = refused.json()["campain"]
    assert words.endswith("limit, offset.")


@pytest.mark.parametrize(
    ("name", "query"),
    [
        *((name, {"limit": junk}) for name in LISTS for junk in ("0", "-1", "ten", "")),
        *(("snapshots", {"offset": junk}) for junk in ("-1", "1.5", "null", "²")),
        ("leaderboards", {"style_control": "maybe"}),
        ("leaderboards", {"subset": "easy"}),
        ("leaderboards", {"source": "crowd"}),
        *(
            (name, {"judge": junk})
            for name in ("judge-cards", "calibrations")
            for junk in ("Sage", "1.5", "-1", "nan", "9" * 25)
        ),
    ],
)
def test_what_a_parameter_can_not_be_is_refused_under_its_name(signed_in, name, query):
    refused = signed_in("carol").get(f"{API}/{name}/", query)
    assert refused.status_code == 400 and refused.json().keys() == query.keys()


@pytest.mark.parametrize(("said", "count"), [("true", 1), ("False", 2), ("", 3)])
def test_boards_are_found_by_whether_style_is_controlled(joust, signed_in, said, count):
    found = signed_in("ravi").get(f"{API}/leaderboards/", {"style_control": said})
    assert found.json()["count"] == count


@pytest.mark.parametrize("name", ["judge-cards", "calibrations"])
def test_another_teams_judge_can_not_be_told_from_one_that_does_not_exist(signed_in, cast, name):
    theirs = Judge.objects.create(team=cast.other_team, name="Sage")
    answers = [
        signed_in("ravi").get(f"{API}/{name}/", {"judge": number}) for number in (theirs.pk, theirs.pk + 1)
    ]
    assert [(answer.status_code, answer.json()["count"]) for answer in answers] == [(200, 0), (200, 0)]


# --- errors and caches ------------------------------------------------------------------------------------


def test_an_address_that_there_is_not_is_told_in_json(client):
    missing = client.get(f"{API}/nothing/")
    assert missing.status_code == 404 and "/api/v1/schema/" in missing.json()["detail"]
    assert client.get("/nothing/")["Content-Type"].startswith("text/html")


def test_what_is_not_of_a_snapshot_is_kept_by_nobody(joust, signed_in, client):
    Leaderboard.objects.update(visibility="public")
    Campaign.objects.update(status="closed")
    ends = [*(f"{name}/" for name in LISTS), "leaderboards/joust-overall/", "nothing/", "snapshots/0/"]
    for visitor in (client, signed_in("carol")):
        for end in ends:
            answer = visitor.get(f"{API}/{end}")
            assert answer["Cache-Control"] == "private, no-store", end
            assert {"Authorization", "Cookie"} <= set(answer["Vary"].split(", ")), end


# --- the schema -------------------------------------------------------------------------------------------


@pytest.fixture
def schema(db, client) -> dict:
    return client.get(f"{API}/schema/", headers={"Accept": "application/vnd.oai.openapi+json"}).json()


def test_every_operation_names_the_errors_that_it_can_end_in(schema):
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            named = set(operation["responses"])
            assert {"406", "429"} <= named, path
            assert ("404" in named) or "{" not in path, path
            is_list = any(parameter["name"] == "limit" for parameter in operation.get("parameters", ()))
            assert ("400" in named) or not (is_list or "requestBody" in operation), path
            assert ("403" in named) or path.endswith("/schema/"), path


def valid(schema: dict, answer, path: str) -> None:
    """OpenAPI 3.0 as JSON Schema: what may be null says so by a word of its own."""
    told = schema["paths"][path]["get"]["responses"][str(answer.status_code)]
    wanted = told["content"]["application/json"]["schema"]
    whole = {"components": schema["components"], **wanted}
    jsonschema.Draft4Validator(with_nulls(whole)).validate(answer.json())


def with_nulls(node):
    if isinstance(node, list):
        return [with_nulls(each) for each in node]
    if not isinstance(node, dict):
        return node
    told = {name: with_nulls(each) for name, each in node.items() if name != "nullable"}
    return {"anyOf": [told, {"type": "null"}]} if node.get("nullable") is True else told


def test_answers_are_as_the_schema_says(joust, make_judge, signed_in, schema, client):
    battles = joust.campaign.battles.order_by("pk")[:150]
    judge = make_judge(joust, "Sage", dict.fromkeys(battles, "model_a"))
    board = Leaderboard.objects.create(
        campaign=joust.campaign, slug="sage", name="Sage's", source="judge", judge=judge
    )
    assert take_snapshot(board).snapshot
    ravi = signed_in("ravi")
    for name in LISTS:
        valid(schema, ravi.get(f"{API}/{name}/"), f"{API}/{name}/")
        valid(schema, ravi.get(f"{API}/{name}/", {"nothing": 1}), f"{API}/{name}/")
    valid(schema, ravi.get(f"{API}/campaigns/joust/"), API + "/campaigns/{slug}/")
    for leaderboard in Leaderboard.objects.all():
        latest = f"{API}/leaderboards/{leaderboard.slug}/snapshots/latest/"
        valid(schema, ravi.get(f"{API}/leaderboards/{leaderboard.slug}/"), API + "/leaderboards/{slug}/")
        valid(schema, ravi.get(latest), API + "/leaderboards/{slug}/snapshots/latest/")
        for table in ("standings", "pairs", "categories", "coefficients", "cautions"):
            wanted = API + "/leaderboards/{slug}/snapshots/latest/{table}.{kind}"
            valid(schema, ravi.get(f"{latest}{table}.json"), wanted)
        snapshot = leaderboard.snapshots.get()
        valid(schema, ravi.get(f"{API}/snapshots/{snapshot.pk}/"), API + "/snapshots/{id}/")
        valid(schema, client.get(f"{API}/snapshots/{snapshot.pk}/"), API + "/snapshots/{id}/")
    valid(schema, client.get(f"{API}/campaigns/"), f"{API}/campaigns/")


# --- pandas -----------------------------------------------------------------------------------------------


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)


def test_csv_json_and_parquet_hold_the_same_values_by_the_documented_lines(registered, live_server):
    Leaderboard.objects.update(visibility="public")
    Campaign.objects.update(status="closed")
    # What pandas would take for nothing, for a number, or for a date, and an organisation that nobody named.
    for name, called in (("Ember", "NA"), ("Fjord", "007"), ("Grove", "2026-11-30"), ("Heron", 'Ül, "so"')):
        Competitor.objects.filter(name=name).update(name=called)
    _two_lines, second = blocks()
    csv_line, json_line = second.strip().splitlines()
    for slug in ("joust-overall", "joust-style"):
        for table in ("standings", "pairs", "categories", "cautions"):
            address = f"{live_server.url}{API}/leaderboards/{slug}/snapshots/latest/{table}."
            parquet = pd.read_parquet(f"{address}parquet")
            assert len(parquet)
            for kind, line in (("csv", csv_line), ("json", json_line)):
                names = {"pd": pd, "address": f"{address}{kind}"}
                exec(line, names)
                assert plain(names["board"]) == plain(parquet), (slug, table, kind)


def plain(frame: pd.DataFrame) -> dict[str, list]:
    """By column, null as None."""
    return {
        name: [None if pd.isna(value) else value for value in frame[name].tolist()] for name in frame.columns
    }
