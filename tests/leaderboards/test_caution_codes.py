"""Who reads the API alone is told every caution of a snapshot’s page, each under a code that stays."""

import ast
import html
import json
import re
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from arena.leaderboards.boards.caution_codes import CODES, OTHER, code_of
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import differences, replay, take_snapshot
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.raters.models import Rater
from ratings import board, style_left_out, warnings_in_words
from tests.conftest import past_triggers
from tests.leaderboards.plans_by_hand import record_votes, write_and_freeze

ROOT = Path(__file__).resolve().parents[2]
API = "/api/v1"


@pytest.fixture
def overall(voted_campaign) -> Snapshot:
    return take_snapshot(ensure_leaderboards(voted_campaign("joust").campaign)[0]).snapshot


def with_counts(snapshot: Snapshot, *, warnings=None, **counts) -> None:
    rows = Snapshot.objects.filter(pk=snapshot.pk)
    told = snapshot.warnings if warnings is None else warnings
    past_triggers(lambda: rows.update(counts=snapshot.counts | counts, warnings=told))


def told_on_page(visitor, snapshot: Snapshot) -> set[str]:
    """All cautions of the page, without the notes on links behind them."""
    page = visitor.get(reverse("snapshot", args=[snapshot.pk])).content.decode()
    lists = "".join(re.findall(r'<ul class="cautions">(.*?)</ul>', page, re.DOTALL))
    simulated = re.findall(r'class="notice simulated"><strong>(.*?)</strong>', page)
    return {html.unescape(text) for text in (*re.findall(r"<li>(.*?)(?: <a .*?)?</li>", lists), *simulated)}


def cautions_of(visitor, snapshot: Snapshot) -> dict[str, str]:
    told = visitor.get(f"{API}/snapshots/{snapshot.pk}/").json()["cautions"]
    assert {one["code"] for one in told} <= set(CODES)
    return {one["text"]: one["code"] for one in told}


def test_every_caution_of_a_snapshots_page_is_in_its_json_under_a_code(overall, signed_in):
    move = overall.counts["policy_moves"][0] | {"largest_rank_move": 3, "largest_rating_move": 12.3}
    first, second = overall.standings.order_by("pk")[:2]
    past_triggers(lambda: overall.standings.filter(pk=first.pk).update(tied_first=True))
    hub, cut, *alone = overall.standings.order_by("pk").values_list("competitor", flat=True)
    met = {
        "hub": hub,
        "leaning": 3,
        "others": 4,
        "cut": cut,
        "pieces": [2, 2],
        "alone": alone[:2],
        "through": [hub],
    }
    with_counts(
        overall,
        warnings=["Too few raters: 4, worth 3.1 equally active ones; …", "Words of an older version."],
        votes=99,
        policy_moves=[move],
        first_hangs_on={
            "leader": first.competitor_id,
            "successor": second.competitor_id,
            "votes": 1,
            "of": 600,
        },
        meetings=met,
        one_sided=0.9,
        distinct_texts=19,
        models_own_error=2,
        votes_about_blank_responses=7,
        blank_responses=2,
        left_out={"retracted": 3, "excluded_by_check": 2},
    )
    ravi = signed_in("ravi")
    told = cautions_of(ravi, overall)
    page = told_on_page(ravi, overall)
    assert len(page) >= 16
    assert page == {text for text, code in told.items() if code != "exploratory"}
    assert set(told.values()) == {
        *("simulated", "exploratory", "rank_sets", "few_votes", "too_few_raters", OTHER, "draws"),
        *(
            "order_hangs",
            "joined_by_one",
            "met_few",
            "hub",
            "one_sided",
            "same_texts",
            "own_error",
            "blank_responses",
        ),
        *("left_out_retracted", "left_out_excluded_by_check"),
    }
    assert "Exploratory: no analysis plan was frozen." in told


def test_the_json_on_the_boards_page_and_the_table_of_cautions_say_the_same(overall, signed_in):
    ravi = signed_in("ravi")
    whole = ravi.get(f"{API}/snapshots/{overall.pk}/").json()["cautions"]
    assert ravi.get("/boards/joust/joust-overall.json").json()["cautions"] == whole
    table = ravi.get(f"{API}/snapshots/{overall.pk}/cautions.json").json()
    assert [{"code": row["code"], "text": row["text"]} for row in table] == whole


def test_cautions_are_no_part_of_what_is_stored_and_replayed(overall, signed_in):
    told = signed_in("ravi").get(f"{API}/snapshots/{overall.pk}/").json()
    assert told["warnings"] == overall.warnings
    stored, again = replay(overall)
    assert differences(stored, again) == [] and stored.canonical() == again.canonical()
    assert b"rank_sets" not in stored.canonical()


def test_a_judges_and_a_panels_board_say_whose_judgment_it_is(overall, make_judge, signed_in):
    campaign = overall.leaderboard.campaign
    board_of_judge = Leaderboard.objects.create(
        campaign=campaign, slug="sage", name="Sage's", source="judge", judge=judge_of(campaign, make_judge)
    )
    judged = take_snapshot(board_of_judge).snapshot
    ravi = signed_in("ravi")
    assert "one_judge" in cautions_of(ravi, judged).values()
    Leaderboard.objects.filter(pk=board_of_judge.pk).update(source="panel", judge=None)
    assert "panel" in cautions_of(ravi, judged).values()


def judge_of(campaign, make_judge):
    class Small:
        pass

    small = Small()
    small.campaign = campaign
    return make_judge(small, "Sage", dict.fromkeys(campaign.battles.order_by("pk")[:200], "model_a"))


def test_a_registered_board_says_interim_or_final_in_json_tables_and_list(
    voted_campaign, cast_vote, cast, signed_in
):
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), votes="200", boards=["overall"])
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    ravi, taken = signed_in("ravi"), []
    for numbers in (range(150), range(150, 210), range(210, 220)):
        record_votes(small, cast_vote, raters, numbers=numbers)
        taken.append(take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot)
    early, final, later = (one.pk for one in taken)
    looks = {
        early: ("interim look", 150, 200, None),
        final: ("final", 210, 200, final),
        later: ("later than final", 220, 200, final),
    }
    listed = {row["id"]: row["look"] for row in ravi.get(f"{API}/snapshots/").json()["results"]}
    for pk, look in looks.items():
        told = ravi.get(f"{API}/snapshots/{pk}/").json()
        assert tuple(told["look"].values()) == look
        assert listed[pk] == told["look"]
        (row, *_rest) = ravi.get(f"{API}/snapshots/{pk}/standings.json").json()
        assert (row["look"], row["votes_cast"], row["planned_votes"]) == look[:3]
        codes = [caution["code"] for caution in told["cautions"]]
        assert "registered" in codes and ("interim_look" in codes) == (pk == early)
    hard = take_snapshot(ensure_leaderboards(small.campaign)[1]).snapshot
    told = ravi.get(f"{API}/snapshots/{hard.pk}/").json()
    assert told["look"] is None and told["plan"] is None
    assert any(text.startswith("Exploratory: ") for text in cautions_of(ravi, hard))
    assert ravi.get(f"{API}/snapshots/{hard.pk}/standings.json").json()[0]["look"] is None


def test_votes_taken_back_leave_the_final_look_the_final_one(voted_campaign, cast_vote, cast, signed_in):
    from arena.battles.models import Retraction, Vote

    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), votes="200", boards=["overall"])
    record_votes(small, cast_vote, [cast.alice_rater, cast.bob_rater, cast.alice_rater], numbers=range(200))
    leaderboard = ensure_leaderboards(small.campaign)[0]
    final = take_snapshot(leaderboard).snapshot
    Retraction.objects.create(vote=Vote.objects.latest("pk"), at=timezone.now())
    after = take_snapshot(leaderboard).snapshot
    assert after.counts["votes"] == 199
    ravi = signed_in("ravi")
    for pk, kind in ((final.pk, "final"), (after.pk, "later than final")):
        told = ravi.get(f"{API}/snapshots/{pk}/").json()["look"]
        assert (told["kind"], told["final_snapshot"]) == (kind, final.pk)


def test_a_closed_campaigns_last_look_becomes_final_for_whoever_kept_the_answer(
    voted_campaign, cast_vote, cast, signed_in, client
):
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), votes="200", boards=["overall"])
    record_votes(small, cast_vote, [cast.alice_rater, cast.bob_rater, cast.alice_rater], numbers=range(150))
    snapshot = take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    small.campaign.reveal = "after_vote"
    small.campaign.save()
    small.campaign.leaderboards.update(visibility="public")
    paths = [f"{API}/snapshots/{snapshot.pk}/{end}" for end in ("", "standings.csv", "cautions.parquet")]
    known = {path: client.get(path)["ETag"] for path in paths}
    for path, etag in known.items():
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 304, path
    small.campaign.status, small.campaign.closed_at = "closed", timezone.now()
    small.campaign.save()
    for path, etag in known.items():
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 200, path
    assert client.get(paths[0]).json()["look"]["kind"] == "final"


# --- codes ------------------------------------------------------------------------------------------------


def test_the_documentation_has_every_code():
    told = (ROOT / "docs" / "api.md").read_text()
    missing = [code for code in CODES if f"`{code}`" not in told]
    assert not missing


def test_every_warning_of_a_fit_has_a_code_of_its_own():
    """As the code writes them, for raters and for prompts: a sentence worded anew would lose its code."""
    tree = ast.parse((ROOT / "ratings" / "warnings_in_words.py").read_text())
    said = [
        written(node.value, unit)
        for node in ast.walk(tree)
        if isinstance(node, ast.Yield) and node.value is not None
        for unit in ("rater", "prompt")
    ]
    assert len(said) >= 28
    assert [sentence for sentence in said if code_of(sentence) == OTHER] == []
    known = {code_of(sentence) for sentence in said}
    assert {"one_rater", "too_few_prompts", "models_with_few_raters", "models_unranked"} <= known
    assert code_of(board.PLAIN_AFTER_ALL) == "style_not_controlled"
    assert code_of(f"{style_left_out.STYLE_WARNING} length: …") == "style_feature_left_out"


def written(node: ast.expr, unit: str) -> str:
    names = {"name": unit, "by": "by too few raters" if unit == "rater" else "on too few prompts"}
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part, unit) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        inner = node.value
        if isinstance(inner, ast.Attribute) and inner.attr == "name":
            return unit
        if isinstance(inner, ast.Name):
            return names.get(inner.id) or str(getattr(warnings_in_words, inner.id, "…"))
    return "…"


@pytest.mark.parametrize(
    ("file", "phrase", "code"),
    [
        ("ratings/combined_board.py", "further battles were judged by a model", "judged_by_model"),
        ("ratings/combined_board.py", "of the judge's votes were left out", "judge_votes_left_out"),
        ("arena/leaderboards/fitting/combined.py", "People's votes alone, for ", "judge_not_used"),
    ],
)
def test_a_combined_boards_warnings_have_codes(file, phrase, code):
    assert phrase in (ROOT / file).read_text()
    assert code_of(f"12 {phrase} …") == code


def test_codes_are_each_of_one_thing():
    assert len(set(CODES)) == len(CODES)
    assert json.dumps(CODES).isascii() and all(re.fullmatch("[a-z_]+", code) for code in CODES)
