"""What was planned, labelled, calibrated and written about a campaign comes back with it."""

from dataclasses import asdict
from datetime import UTC, datetime

from arena.battles import seals
from arena.battles.models import Battle, Vote
from arena.battles.seal_models import Seal
from arena.campaigns.models import Guide
from arena.corpus.label_models import LabelChange, SpotCheck
from arena.corpus.labels import set_labels
from arena.corpus.models import HARD_CRITERIA, Prompt, PromptSet
from arena.corpus.redaction import redact_prompt
from arena.endpoints.models import Endpoint
from arena.exchange.export_schema import TABLES
from arena.exchange.exports import CAMPAIGN_TIMES
from arena.judging.calibration import fix_labels, wordings_of
from arena.judging.calibration_models import Calibration, CalibrationLabel
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.leaderboards.fitting.judged_rows import of_panel
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.plan import Plan
from arena.leaderboards.plans.reckoning import reckon_with
from arena.leaderboards.reading.reading_models import Reading
from arena.leaderboards.report.report_models import ReportText
from arena.raters.models import Rater

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


def test_a_board_taken_after_it_came_back_stands_under_the_same_plan(used, there_and_back, cast, tmp_path):
    def make():
        small = used()
        plan = AnalysisPlan.objects.create(campaign=small.campaign, question="Which?", boards=["overall"])
        assert plan.freeze(cast.carol)
        AnalysisPlan.objects.update(frozen_at=LONG_AGO)
        return small

    def plans(campaign):
        people_say(campaign)
        return sorted(
            campaign.leaderboards.exclude(snapshots=None).values_list("name", "snapshots__plan__version"),
            key=str,
        )

    before, after = there_and_back(make, plans)
    assert after == before and {version for _name, version in before} == {1, None}
    assert {row["plan"] for row in table(tmp_path / "out", "snapshots")} == {1, None}


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


def test_runs_come_back_with_their_rules_and_judges_with_their_rubric(used, there_and_back):
    def make():
        small = used()
        team = small.campaign.team
        rubric = Rubric.objects.create(
            team=team,
            name="facts",
            version=3,
            mode="reference",
            instructions="Look",
            criteria=[],
            sha256="e" * 64,
        )
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
            rubric = Rubric.objects.create(
                team=team,
                name="facts",
                version=number + 1,
                instructions=f"Look {number} times",
                criteria=[],
                sha256=str(number) * 64,
            )
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
