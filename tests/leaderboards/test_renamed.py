"""A model may be renamed: a snapshot from before names it as it is called now, and says so everywhere."""

import csv
import io
from html import unescape

import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils import timezone

from arena.corpus.models import Competitor
from arena.corpus.rename_models import Rename
from arena.leaderboards.boards.renamed_models import named_then
from arena.leaderboards.citation import cite
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Snapshot
from tests.leaderboards.test_boards import text_of

pytestmark = pytest.mark.usefixtures("charts_left_undrawn")
FORM = {"organisation": "", "family": "", "licence": "", "aliases": "", "endpoint": ""}
FORM |= {"role": "contender", "status": "active"}


def told(now: str, then: str) -> str:
    return f"{now} was called {then} when this snapshot was taken (renamed on {timezone.now():%Y-%m-%d})."


@pytest.fixture
def joust(voted_campaign):
    small = voted_campaign("joust")
    for leaderboard in ensure_leaderboards(small.campaign)[:3]:
        assert take_snapshot(leaderboard).snapshot
    return small


@pytest.fixture
def rename(signed_in):
    carol = signed_in("carol")

    def go(was: str, name: str) -> None:
        model = Competitor.objects.get(name=was)
        assert carol.post(f"/models/{model.pk}/", FORM | {"name": name}).status_code == 302

    return go


@pytest.fixture
def swapped(joust, rename):
    """Ember has Fjord's name, and Fjord has Ember's."""
    rename("Ember", "Between")
    rename("Fjord", "Ember")
    rename("Between", "Fjord")
    return joust


BOTH = ("Ember", "Fjord"), ("Fjord", "Ember")


def test_two_models_that_exchange_names_are_named_on_every_page_of_the_board(swapped, signed_in):
    ravi, snapshot = signed_in("ravi"), Snapshot.objects.get(leaderboard__slug="joust-overall")
    boards = reverse("board", args=["joust"])
    pages = [boards, reverse("snapshot", args=[snapshot.pk]), f"{boards}charts/?board=overall"]
    pages += [f"{boards}compare/?a=Ember&b=Fjord", f"{boards}model/?name=Grove", f"{boards}report/"]
    for page in pages:
        words = unescape(text_of(ravi.get(page)))
        for now, then in BOTH:
            assert words.count(told(now, then)) == 1, (page, now)


def test_a_page_about_other_models_alone_says_nothing_of_it(swapped, signed_in):
    words = text_of(signed_in("ravi").get("/boards/joust/compare/?a=Grove&b=Heron"))
    assert "was called" not in words and "Grove" in words


def test_programs_and_files_are_told_too(swapped, signed_in):
    ravi, snapshot = signed_in("ravi"), Snapshot.objects.get(leaderboard__slug="joust-overall")
    whole = ravi.get(f"/api/v1/snapshots/{snapshot.pk}/").json()
    renamed = {one["text"] for one in whole["cautions"] if one["code"] == "renamed"}
    assert renamed == {told(*both) for both in BOTH}
    day = f"{timezone.now():%Y-%m-%d}"
    for table in ("standings", "pairs", "categories", "cautions"):
        answer = ravi.get(f"/api/v1/snapshots/{snapshot.pk}/{table}.csv").content.decode()
        rows = list(csv.DictReader(io.StringIO(answer, newline="")))
        for words in {row["renamed"] for row in rows} or {""}:
            assert set(words.split("; ")) == {f"{now} was {then} ({day})" for now, then in BOTH}, table
    assert f"Ember was Fjord ({day})" in whole["citation"]


def test_its_citation_differs_from_the_one_before(joust, rename):
    before = cite(Snapshot.objects.get(leaderboard__slug="joust-overall"))
    rename("Ember", "Coal")
    after = cite(Snapshot.objects.get(leaderboard__slug="joust-overall"))
    assert "renamed" not in before
    assert "Models renamed since: Coal was Ember" in after


def test_a_file_that_was_fetched_before_isnt_taken_for_the_same(joust, rename, signed_in):
    ravi, snapshot = signed_in("ravi"), Snapshot.objects.get(leaderboard__slug="joust-overall")
    address = f"/api/v1/snapshots/{snapshot.pk}/coefficients.csv"
    before = ravi.get(address)["ETag"]
    assert ravi.get(address, HTTP_IF_NONE_MATCH=before).status_code == 304
    rename("Ember", "Coal")
    assert ravi.get(address, HTTP_IF_NONE_MATCH=before).status_code == 200


def test_a_model_that_has_its_name_of_then_again_is_not_named(joust, rename):
    rename("Ember", "Coal")
    rename("Coal", "Ember")
    assert named_then(Snapshot.objects.get(leaderboard__slug="joust-overall")) is None
    assert Rename.objects.count() == 2


def test_a_snapshot_taken_after_the_rename_says_nothing_and_a_change_between_both_does(
    joust, rename, signed_in, cast_vote, cast
):
    rename("Ember", "Coal")
    before = Snapshot.objects.get(leaderboard__slug="joust-overall")
    cast_vote(joust, joust.prompts[0], "Fjord", "Grove", "model_a", cast.alice_rater)
    after = take_snapshot(before.leaderboard).snapshot
    assert named_then(after) is None and named_then(before)
    ravi = signed_in("ravi")
    assert "was called" not in text_of(ravi.get(reverse("snapshot", args=[after.pk])))
    moved = text_of(ravi.get(reverse("snapshot-diff", args=["joust", "joust-overall"])))
    assert f"Coal was called Ember when snapshot {before.pk} was taken" in moved
    history = text_of(ravi.get("/boards/joust/model/?name=Coal"))
    assert f"Called Ember until {timezone.now():%Y-%m-%d}." in history


def test_who_renamed_what_is_kept_and_never_changed(joust, rename):
    rename("Ember", "Coal")
    kept = Rename.objects.get()
    assert (kept.was, kept.became, kept.by) == ("Ember", "Coal", "carol")
    for change in (lambda: Rename.objects.update(was="Coal"), lambda: Rename.objects.all().delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_whoever_saves_a_name_leaves_the_one_before(joust):
    model = Competitor.objects.get(name="Ember")
    model.licence = "MIT"
    model.save()
    assert not Rename.objects.exists()
    model.name = "Coal"
    model.save(update_fields=["name"])
    assert list(Rename.objects.values_list("was", "became", "by")) == [("Ember", "Coal", "")]


def test_a_model_without_a_past_is_renamed_without_a_trace_and_can_be_removed(rename, cast, signed_in):
    new = Competitor.objects.create(team=cast.team, name="Typo")
    rename("Typo", "Type")
    assert not Rename.objects.exists()
    signed_in("carol").post(f"/models/{new.pk}/remove/")
    assert not Competitor.objects.filter(pk=new.pk).exists()


def test_the_form_says_beforehand_that_boards_will_tell(joust, cast, signed_in):
    carol, words = signed_in("carol"), "every board that names it says what it was called before"
    assert words in text_of(carol.get(f"/models/{Competitor.objects.get(name='Ember').pk}/"))
    new = Competitor.objects.create(team=cast.team, name="New")
    assert words not in text_of(carol.get(f"/models/{new.pk}/"))


def test_an_export_holds_the_names_of_before_and_its_snapshots_their_cautions(joust, rename, tmp_path):
    import json

    rename("Ember", "Coal")
    call_command("export_campaign", "joust", "--out", str(tmp_path / "out"))
    lines = (tmp_path / "out/jsonl/models.jsonl").read_text().splitlines()
    renames = {row["name"]: row["renames"] for row in map(json.loads, lines)}
    assert [(one["was"], one["became"]) for one in renames.pop("Coal")] == [("Ember", "Coal")]
    assert not any(renames.values())
    snapshots = map(json.loads, (tmp_path / "out/jsonl/snapshots.jsonl").read_text().splitlines())
    assert all(told("Coal", "Ember") in [c["text"] for c in row["cautions"]] for row in snapshots)
