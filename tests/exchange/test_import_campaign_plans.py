"""What was planned, labelled, calibrated and written about a campaign comes back with it."""

import json
import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from arena.battles import seals
from arena.battles.models import Battle, Vote
from arena.battles.seal_models import Seal
from arena.campaigns.models import Campaign, Guide
from arena.corpus.label_models import LabelChange, SpotCheck
from arena.corpus.labels import set_labels
from arena.corpus.models import HARD_CRITERIA, Competitor, Prompt, PromptSet
from arena.corpus.redaction import redact_prompt
from arena.endpoints.models import Endpoint
from arena.exchange.export_schema import TABLES
from arena.exchange.exports import CAMPAIGN_TIMES, SUMS, sums
from arena.exchange.formats.cells import CellError
from arena.exchange.import_campaign_plans import _read_pairs
from arena.judging.calibration import fix_labels, wordings_of
from arena.judging.calibration_models import Calibration, CalibrationLabel
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.judging.prompting import RubricText, rubric_hash
from arena.judging.starters import GENERAL
from arena.leaderboards.citation import cite
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.judged_rows import of_panel
from arena.leaderboards.fitting.snapshots import options_for
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.plan import Plan
from arena.leaderboards.plans.reckoning import reckon_with
from arena.leaderboards.plans.registration import plans_of, registered_under
from arena.leaderboards.plans.registration_words import chosen_margin, say_status
from arena.leaderboards.reading.reading_models import Reading
from arena.leaderboards.report.report_models import ReportText
from arena.raters.models import Membership, Rater, Role, Team

from .used_campaign import people_say, table

LONG_AGO = datetime(2024, 2, 29, 12, tzinfo=UTC)


def test_a_frozen_plan_comes_back_and_decides_the_same_boards(used, there_and_back, cast):
    def make():
        small = used()
        plan = AnalysisPlan.objects.create(
            campaign=small.campaign, question="Which?", margin=25.0, ties="drop", boards=["overall"]
        )
        wanted = Plan(models=3, prompts=4, raters=20, votes_each=30, tie_share=0.25, taste=0.5)
        assert plan.freeze(cast.carol, asdict(reckon_with(wanted, 25.0, 0)))
        AnalysisPlan.objects.create(campaign=small.campaign, version=2, question="And then?")
        AnalysisPlan.objects.update(created_at=LONG_AGO)
        AnalysisPlan.objects.exclude(frozen_at=None).update(frozen_at=LONG_AGO)
        return small

    names = (
        "version",
        "question",
        "margin",
        "ties",
        "both_bad",
        "boards",
        "created_at",
        "frozen_at",
        "sha256",
        "reckoned",
    )

    def say(campaign):
        return people_say(campaign), sorted(AnalysisPlan.objects.values_list(*names))

    before, after = there_and_back(make, say)
    assert after == before and len(before[1]) == 2


def test_the_pairs_of_a_plan_come_back_by_the_names_their_models_have(used, there_and_back, cast):
    def make():
        small = used()
        models = list(small.campaign.competitors.order_by("name"))[:2]
        pair = {"a": "Once called so", "b": models[1].name, "ids": [models[0].pk, models[1].pk]}
        plan = AnalysisPlan.objects.create(
            campaign=small.campaign, question="Which?", boards=["overall"], pairs=[pair]
        )
        assert plan.freeze(cast.carol)
        AnalysisPlan.objects.update(created_at=LONG_AGO, frozen_at=LONG_AGO)
        small.campaign.competitors.remove(models[0])
        return small

    def say(campaign):
        [plan] = AnalysisPlan.objects.all()
        [pair] = plan.pairs
        now = [Competitor.objects.get(pk=pk).name for pk in pair["ids"]]
        return pair["a"], pair["b"], now, plan.sha256, plan.hash_content() == plan.sha256

    before, after = there_and_back(make, say)
    assert after == before and before[-1] is True


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ("Ember", "should be an object of texts"),
        ([{"a": "A", "b": "B"}], "should be an object of texts"),
        ([{"a": "A", "b": "B", "model_a": "Nobody", "model_b": "Ember"}], "isn’t in models.jsonl"),
        ([{"a": "A", "b": "B", "model_a": "Ember", "model_b": "Ember"}], "are no pair"),
    ],
)
def test_pairs_that_no_plan_could_have_are_refused_with_their_cell(pairs, said):
    back = SimpleNamespace(models={"Ember": SimpleNamespace(pk=1)})
    with pytest.raises(CellError, match=said):
        _read_pairs(pairs, back)


def planned(used, cast, amended=False, late=False):
    """A campaign of long ago whose plan was frozen before its votes, or after them; amended or not."""
    small = used()
    Campaign.objects.update(created_at=LONG_AGO - timedelta(days=1))
    plan = AnalysisPlan(campaign=small.campaign, question="Which?", margin=25.0, boards=["overall"])
    plan.save()
    assert plan.freeze(cast.carol)
    if not late:
        AnalysisPlan.objects.update(created_at=LONG_AGO, frozen_at=LONG_AGO)
    if amended:
        later = AnalysisPlan.objects.create(
            campaign=small.campaign, version=2, question="And?", margin=400.0, ties="drop", both_bad="drop"
        )
        assert later.freeze(cast.carol)
    return small


FILE = "its plan and votes came from a file, and what was registered where they were collected can’t be"


@pytest.mark.parametrize("late", [False, True], ids=["before the votes", "after them"])
def test_a_board_of_a_campaign_that_came_back_explores_and_tells_what_the_file_says(
    used, there_and_back, cast, tmp_path, late
):
    def say(campaign):
        ratings = people_say(campaign)
        snapshot = campaign.leaderboards.order_by("pk")[0].snapshots.get()
        return ratings, snapshot.options, snapshot.plan and snapshot.plan.version, snapshot

    before, after = there_and_back(lambda: planned(used, cast, late=late), say)
    assert after[:2] == before[:2] and after[1]["margin"] == 25.0
    assert (before[2], after[2]) == (None if late else 1, None)
    assert {row["plan"] for row in table(tmp_path / "out", "snapshots")} == ({None} if late else {1, None})
    there = (
        "votes may have been seen before the plan there too"
        if late
        else "analysis plan 1 came before the first vote there"
    )
    assert say_status(after[3]) == f"exploratory: {FILE} checked here (by the file {there})"
    assert "Exploratory." in cite(after[3])
    assert "came from a file: when it was chosen can’t be checked here" in chosen_margin(after[3]).words


def test_the_pages_of_plans_say_that_they_came_from_a_file(used, there_and_back, cast, client):
    there_and_back(lambda: planned(used, cast, amended=True), people_say)
    campaign = Campaign.objects.get()
    admin = User.objects.create_user("dana")
    Membership.objects.create(user=admin, team=campaign.team, role=Role.ADMIN)
    client.force_login(admin)
    said = "It came from a file with its campaign, and when it was frozen can’t be checked here"
    for page in ("analysis-plan", "board-plan"):
        assert said in client.get(reverse(page, args=[campaign.slug])).content.decode()
    report = client.get(reverse("board-report", args=[campaign.slug])).content.decode()
    assert "elsewhere, and when can’t be checked here: every board is exploratory" in report


def test_boards_of_judges_follow_the_same_plan_after_they_came_back(used, there_and_back, cast):
    def make():
        small = planned(used, cast, amended=True)
        judge = Judge.objects.create(team=small.campaign.team, name="weigher")
        run = JudgeRun.objects.create(campaign=small.campaign, kind="asked", status="completed")
        run.judges.add(judge)
        for battle in Battle.objects.order_by("pk"):
            Judgment.objects.create(
                run=run, judge=judge, battle=battle, outcome="model_a", resolved_at=timezone.now()
            )
        return small

    def say(campaign):
        boards = ensure_leaderboards(campaign)
        return {board.name: (plans_of(board).followed.version, options_for(board)) for board in boards}

    before, after = there_and_back(make, say)
    assert after == before and {version for version, _options in before.values()} == {1}
    assert len(before) > 3


def test_a_plan_frozen_here_before_any_vote_registers_though_an_older_one_came_along(
    make_campaign, there_and_back, cast
):
    def make():
        small = make_campaign()
        Campaign.objects.update(created_at=LONG_AGO - timedelta(days=1))
        plan = AnalysisPlan.objects.create(campaign=small.campaign, question="?", boards=["overall"])
        assert plan.freeze(cast.carol)
        return small

    there_and_back(make, lambda _campaign: None)
    campaign = Campaign.objects.get()
    overall = ensure_leaderboards(campaign)[0]
    assert registered_under(overall) is None
    plan = AnalysisPlan.objects.create(campaign=campaign, version=2, question="?", boards=["overall"])
    assert plan.freeze(cast.carol)
    assert registered_under(overall) == plan


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sha256": "0" * 64}, "line 1, column sha256: .*isn't what was frozen"),
        ({"question": "Another?"}, "line 1, column sha256: .*isn't what was frozen"),
        ({"margin": -5}, "line 1, column margin: "),
        ({"ties": "zzz"}, "line 1, column ties: "),
        ({"boards": ["best"]}, "line 1, column boards: .*overall, hard, style"),
        ({"boards": "overall"}, "line 1, column boards: "),
        ({"votes": -1}, "line 1, column votes: "),
        ({"hard_at_least": 9}, "line 1, column hard_at_least: "),
        ({"frozen_at": "2999-01-01T00:00:00+00:00"}, "line 1: .*is in the future"),
        ({"created_at": "2999-01-01T00:00:00+00:00"}, "line 1: .*is in the future"),
    ],
)
def test_a_plan_that_no_form_would_have_taken_is_refused_by_file_and_line(
    used, there_and_back, cast, tmp_path, change, said
):
    altered(there_and_back, lambda: planned(used, cast), tmp_path / "out", "analysis_plans", change)
    with pytest.raises(CommandError) as refused:
        call_command("import_campaign", str(tmp_path / "out"))
    assert re.search(said, str(refused.value)) and "analysis_plans.jsonl" in str(refused.value)
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("votes", "voted_at"),
        ("votes", "retracted_at"),
        ("battles", "drawn_at"),
        ("label_changes", "at"),
        ("prompt_sets", "published_at"),
    ],
)
def test_what_was_in_the_future_is_refused_by_file_and_line(used, there_and_back, tmp_path, name, column):
    def make():
        small = used()
        set_labels({Prompt.objects.earliest("pk").pk: {"creativity": True}}, source="hand", by="carol")
        return small

    altered(there_and_back, make, tmp_path / "out", name, {column: "2999-01-01T00:00:00+00:00"})
    with pytest.raises(CommandError, match=rf"line 1: {name}.jsonl: .*2999.* is in the future"):
        call_command("import_campaign", str(tmp_path / "out"))
    assert not Campaign.objects.exists()


def altered(there_and_back, make, folder, name, change) -> None:
    """The export with another first row of that table, and sums that go with it; nothing is here any more."""
    with transaction.atomic():
        there_and_back(make, lambda _campaign: None)
        transaction.set_rollback(True)
    rows = table(folder, name)
    assert set(change) <= set(rows[0])
    lines = [json.dumps(row) + "\n" for row in (rows[0] | change, *rows[1:])]
    (folder / "jsonl" / f"{name}.jsonl").write_text("".join(lines))
    (folder / SUMS).write_text(sums(folder))


def test_labels_are_as_they_were_on_each_day(used, there_and_back, cast):
    def make():
        small = used()
        prompt = Prompt.objects.earliest("pk")
        set_labels({prompt.pk: {"creativity": True}}, source="hand", by="carol")
        set_labels({prompt.pk: {"is_hard": False}}, source="file", by="carol")
        LabelChange.objects.filter(source="hand").update(at=LONG_AGO)
        said = dict.fromkeys(HARD_CRITERIA, True)
        SpotCheck.objects.create(prompt=prompt, checked_by=cast.carol, criteria=said)
        return small

    def say(_campaign):
        changes = LabelChange.objects.order_by("at").values_list("prompt__external_id", "was", "source", "at")
        checks = SpotCheck.objects.values_list("prompt__external_id", "criteria", "at")
        return [str(row) for row in (*changes, *checks)]

    before, after = there_and_back(make, say)
    assert after == before and len(before) == 3 and "2024, 2, 29" in before[0]
    assert not LabelChange.objects.exclude(by="").exists()


def test_calibrations_come_back_with_their_parts(used, there_and_back):
    def make():
        small = used(prompts=20)  # hardly two votes on a pair: nearly each has a label
        fix_labels(small.campaign, "first", seed=7)
        return small

    def say(_campaign):
        labels = CalibrationLabel.objects.order_by("battle__public_id")
        told = labels.values_list("battle__public_id", "part", "outcome", "votes", "agreeing")
        return list(Calibration.objects.values_list("name", "seed", "sha256", "created_at")), list(told)

    before, after = there_and_back(make, say)
    assert after == before and len(before[1]) > 1


def rubric_of(team: Team, version: int, text: RubricText) -> Rubric:
    fields = {"mode": text.mode, "instructions": text.instructions, "sha256": rubric_hash(text)}
    criteria = [asdict(criterion) for criterion in text.criteria]
    return Rubric.objects.create(team=team, name="facts", version=version, criteria=criteria, **fields)


def test_runs_come_back_with_their_rules_and_judges_with_their_rubric(used, there_and_back):
    def make():
        small = used()
        team = small.campaign.team
        rubric = rubric_of(team, 3, RubricText("Look", GENERAL.criteria, "reference"))
        judge = Judge.objects.create(team=team, name="weigher", rubric=rubric, parameters={"top_p": 0.5})
        run = JudgeRun.objects.create(
            campaign=small.campaign,
            seed=11,
            own_family_pairs=4,
            verbosity_rule=True,
            family_policy="warn",
            started_at=LONG_AGO,
            finished_at=LONG_AGO,
        )
        run.judges.add(judge)
        battle = Battle.objects.earliest("pk")
        Judgment.objects.create(run=run, judge=judge, battle=battle, outcome="tie", resolved_at=LONG_AGO)
        return small

    runs = ("seed", "own_family_pairs", "verbosity_rule", "family_policy", "created_at", "started_at")
    judges = ("name", "parameters", "rubric__name", "rubric__version", "rubric__mode", "rubric__sha256")

    def say(_campaign):
        return [list(JudgeRun.objects.values_list(*runs)), list(Judge.objects.values_list(*judges))]

    before, after = there_and_back(make, say)
    assert after == before
    assert JudgeRun.objects.get().kind == JudgeRun.Kind.RECORDED  # nobody here can be asked on


def test_wordings_of_one_model_come_back_as_one_voice(used, there_and_back):
    """Three versions of a rubric on one endpoint, a judge on another, and one recorded elsewhere."""

    def make():
        small = used()
        team = small.campaign.team
        same, other = (
            Endpoint.objects.create(team=team, name=name, base_url=f"https://{name}.example", model_id=name)
            for name in ("same", "other")
        )
        for number, endpoint in enumerate((same, same, same, other, None)):
            text = RubricText(f"Look {number} times", GENERAL.criteria)
            rubric = rubric_of(team, number + 1, text)
            Judge.objects.create(team=team, name=f"judge {number}", rubric=rubric, endpoint=endpoint)
        judges = list(Judge.objects.order_by("name"))
        for chosen in (judges[:3], judges[3:]):
            run = JudgeRun.objects.create(campaign=small.campaign, kind="recorded", status="completed")
            run.judges.set(chosen)
            for place, battle in enumerate(Battle.objects.order_by("pk")[:2]):
                for judge in chosen:
                    outcome = "model_a" if (place + len(judge.name + judge.name[-1])) % 2 else "tie"
                    Judgment.objects.create(
                        run=run, judge=judge, battle=battle, outcome=outcome, resolved_at=LONG_AGO
                    )
        return small

    def say(_campaign):
        judges = list(Judge.objects.order_by("name"))
        voices = [[one.name for one in judges if one.voice == judge.voice] for judge in judges]
        wordings = [[judge.name for judge in wordings_of(run)] for run in JudgeRun.objects.order_by("pk")]
        panel = of_panel(Judgment.objects.all(), Judgment.objects.all()).order_by(
            "judge__name", "battle__public_id"
        )
        told = list(panel.values_list("judge__name", "battle__public_id", "outcome"))
        versions = list(Rubric.objects.order_by("version").values_list("name", "version", "sha256"))
        return voices, wordings, told, versions

    before, after = there_and_back(make, say)
    assert after == before
    three = ["judge 0", "judge 1", "judge 2"]
    assert before[:2] == ([three, three, three, ["judge 3"], ["judge 4"]], [three, []])
    assert {name for name, *_rest in before[2]} == {"judge 2", "judge 3", "judge 4"}


def test_its_end_its_report_and_who_was_suspended_come_back(used, there_and_back):
    def make():
        small = used()
        type(small.campaign).objects.update(ends_at=LONG_AGO, names_shown_at=LONG_AGO)
        ReportText.objects.create(campaign=small.campaign, capability="Explaining.", baselines="None.")
        Rater.objects.filter(pk=Vote.objects.earliest("pk").rater_id).update(is_active=False)
        Guide.publish(small.campaign, "Choose the better one, please.")
        Guide.objects.update(created_at=LONG_AGO)
        PromptSet.objects.update(published_at=LONG_AGO)
        small.campaign.refresh_from_db()
        return small

    def say(campaign):
        text = campaign.report_text
        return (
            [getattr(campaign, name) for name in CAMPAIGN_TIMES],
            [text.capability, text.sourcing, text.baselines],
            Rater.objects.filter(is_active=False, battles__isnull=False).distinct().count(),
            list(campaign.guides.values_list("version", "created_at")),
            list(PromptSet.objects.values_list("published_at", flat=True)),
        )

    before, after = there_and_back(make, say)
    assert after == before and before[0] == [LONG_AGO, LONG_AGO] and before[2] == 1


def test_readings_and_seals_are_in_the_export_and_stay_there(
    used, there_and_back, tmp_path, cast, monkeypatch
):
    def make():
        small = used()
        battle = Vote.objects.earliest("pk").battle
        Reading.objects.create(battle=battle, reader=cast.ravi, side="a", failure="wrong", comment="=no")
        # All of this is one open transaction, for whose end a seal on PostgreSQL would wait.
        monkeypatch.setattr(seals, "_settled", seals._highest)
        assert seals.seal_votes()
        return small

    before, after = there_and_back(make, lambda _campaign: (Reading.objects.count(), Seal.objects.count()))
    assert (before, after) == ((1, 1), (0, 0))
    (reading,) = table(tmp_path / "out", "readings")
    assert (reading["failure"], reading["comment"]) == ("wrong", "=no") and reading["reader"].startswith("r-")
    (seal,) = table(tmp_path / "out", "seals")
    numbers = {row["number"] for row in table(tmp_path / "out", "votes")}
    assert {seal["first_vote"], seal["last_vote"]} <= numbers and seal["votes"] == len(numbers)


def test_a_redacted_prompt_is_marked(used, there_and_back, tmp_path):
    def make():
        small = used()
        redact_prompt(Prompt.objects.earliest("pk"), reason="a name", by="carol")
        return small

    there_and_back(make, lambda _campaign: None)
    assert [row["redacted"] for row in table(tmp_path / "out", "prompts")].count(True) == 1


def test_the_readme_says_what_is_not_in_it(used, there_and_back, tmp_path):
    there_and_back(used, lambda _campaign: None)
    words = (tmp_path / "out" / "README.md").read_text()
    assert "Invite" in words and "Vote.idempotency_key" in words
    assert all(f"`{one.name}`" in words for one in TABLES)
