"""What was taken after the final look answers nothing registered, and says so wherever it is shown."""

import pytest
from django.core.management import call_command

from arena.leaderboards.models import PairResult
from arena.leaderboards.plans.looks import final_under
from tests.leaderboards.test_boards import text_of
from tests.leaderboards.test_looks import study as study
from tests.leaderboards.test_report import built, told
from tests.leaderboards.test_report_answer import RESULT, pairs_of

API = "/api/v1"


@pytest.fixture
def looks(study):
    """An interim, the final and a later one, of a plan for 200."""
    return study.small, study(150), study(60), study(10)


def table(client, name: str, **asks):
    return client.get(f"{API}/campaigns/joust/tables/{name}.json", asks).json()


def test_the_registered_question_is_answered_by_the_final_look_and_not_by_a_later_one(looks, signed_in):
    small, _early, final, later = looks
    part = built(small).parts[RESULT]
    said = told(part)
    assert (
        f"Overall: answered by the final look, snapshot {final.pk} (final: 210 of 200 planned votes)" in said
    )
    points = {
        (p.first.name, p.second.name): p.difference for p in final.pairs.select_related("first", "second")
    }
    assert len(points) == later.pairs.count() == 10
    assert points != {(p.first.name, p.second.name): p.difference for p in later.pairs.all()}
    for a, b, difference, *_rest in pairs_of(part, "Overall").rows:
        mine = points[a, b] if (a, b) in points else -points[b, a]
        assert difference == f"{mine:+.0f}".replace("-", "−").replace("+0", "0")
    planned = next(b for b in part.blocks if b.caption == "What was planned, and what was reached")
    assert ["Votes cast", "200", "210"] in [list(row) for row in planned.rows]
    assert f"What follows is of snapshot {later.pk}, later than the final look" in said
    rows = table(signed_in("ravi"), "report-answers")
    assert {(row["board"], row["snapshot"], row["plan"], row["look"]) for row in rows} == {
        ("overall", final.pk, 1, "final")
    }


def test_pairs_of_the_final_look_stay_and_those_of_interim_ones_go(looks, signed_in):
    _small, early, final, later = looks
    ravi = signed_in("ravi")
    for snapshot, status in ((early, 404), (final, 200), (later, 200)):
        assert ravi.get(f"{API}/snapshots/{snapshot.pk}/pairs.json").status_code == status
    assert final_under(final.plan, final.leaderboard) == final


def test_pairs_that_a_version_before_did_not_keep_are_missed_and_come_back_with_a_replay(looks):
    small, _early, final, _later = looks
    kept = list(
        PairResult.objects.filter(snapshot=final).values_list("first", "second", "difference", "verdict")
    )
    PairResult.objects.filter(snapshot=final).delete()
    part = built(small).parts[RESULT]
    assert any(
        f"the pairs of the final look, snapshot {final.pk}, weren’t kept" in one for one in part.missing
    )
    call_command("replay_snapshot", final.pk)
    again = PairResult.objects.filter(snapshot=final).values_list("first", "second", "difference", "verdict")
    assert sorted(again) == sorted(kept)
    assert not any("weren’t kept" in one for one in built(small).parts[RESULT].missing)


def test_a_later_look_is_a_caution_of_its_own_on_every_page_and_in_files(looks, signed_in):
    _small, early, final, later = looks
    ravi = signed_in("ravi")
    caution = f"Later than the final look, which is snapshot {final.pk}: that one answers"
    assert caution in text_of(ravi.get("/boards/joust/"))
    codes = {}
    for snapshot in (early, final, later):
        told_ = ravi.get(f"{API}/snapshots/{snapshot.pk}/").json()["cautions"]
        codes[snapshot] = {one["code"] for one in told_} & {"interim_look", "later_look"}
    assert codes == {early: {"interim_look"}, final: set(), later: {"later_look"}}
    asks = {"a": "Ember", "b": "Inlet"}
    page = text_of(ravi.get("/boards/joust/compare/", asks))
    assert f"Read late: later than the final look, which is snapshot {final.pk}" in page
    assert "Read early" not in page
    (direct,) = table(ravi, "compare-direct", **asks)
    (line,) = [row for row in table(ravi, "compare-boards", **asks) if row["board"] == "overall"]
    assert {(row["snapshot"], row["plan"], row["look"]) for row in (direct, line)} == {
        (later.pk, 1, "later than final")
    }
