"""Votes of three people and findings of judges asked elsewhere, from files to the card: counts made by hand.

Twenty pairs; what the first person found is eight times the one side, eight times the other, four ties. The
second differs on two of them, the third on none.
"""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from django.core.management import call_command

from arena.campaigns.models import Campaign
from arena.judging import calibration
from arena.judging.models import Judge, JudgeRun
from arena.leaderboards.agreement import campaign_agreement, judge_card
from arena.leaderboards.boards import board_facts
from arena.leaderboards.boards.board_cautions import say_blank
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.report import report
from arena.leaderboards.report.report_models import ReportText
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.sentences import say_left_out, say_no_style
from arena.management.commands.take_snapshots import describe

pytestmark = pytest.mark.django_db

A, B, TIE = "model_a", "model_b", "tie"
FIRST = [A] * 8 + [B] * 8 + [TIE] * 4
# One of each kind of difference: a win told the other way, a win told as a tie.
SECOND = [B, *FIRST[1:8], TIE, *FIRST[9:]]
# Takes the other side of five wins.
SAGE = [B] * 5 + FIRST[5:]
PEOPLE = {"annotator-1": FIRST, "annotator-2": SECOND, "annotator-3": FIRST}


@pytest.fixture
def bring(tmp_path, capsys):
    """bring(turned=True) imports all; then the models change sides from pair to pair, else they never do."""

    def write(name: str, header: str, rows) -> str:
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([header.split(","), *rows])
        return str(tmp_path / name)

    def votes(name: str, sides, found_by) -> str:
        rows = [
            (f"{who} {n}", f"p{n}", *sides[n], outcome, who)
            for who, outcomes in found_by.items()
            for n, outcome in enumerate(outcomes)
        ]
        return write(name, "vote_id,prompt_id,model_a,model_b,winner,rater", rows)

    def make(*, turned: bool) -> Campaign:
        sides = [("Birch", "Ash") if turned and n % 2 else ("Ash", "Birch") for n in range(20)]
        prompts = [(f"p{n}", f"Question {n}?", ("cooking", "law")[n % 2]) for n in range(20)]
        call_command("import_prompts", write("p.csv", "id,prompt,category", prompts), "--set", "Twenty")
        texts = [(f"p{n}", model, f"{model} on {n}.") for n, both in enumerate(sides) for model in both]
        call_command("import_responses", write("r.csv", "prompt_id,model,response", texts), "--set", "Twenty")
        call_command("publish_set", "Twenty")
        call_command("create_campaign", "recorded", "--set", "Twenty")
        call_command("import_votes", votes("people.csv", sides, PEOPLE), "--campaign", "recorded")
        judges = votes("judges.csv", sides, {"sage": SAGE, "echo": FIRST})
        call_command("import_votes", judges, "--campaign", "recorded", "--judges")
        capsys.readouterr()
        return Campaign.objects.get()

    return make


def card(campaign: Campaign, name: str) -> dict:
    return judge_card.compute(campaign, Judge.objects.get(name=name)).figures


def shares(found: dict) -> tuple[int, int]:
    return found["every"]["successes"], found["every"]["n"]


def test_people_are_held_against_each_other_by_kappa_and_their_majority_is_counted(bring):
    campaign = bring(turned=True)
    each_two = {tuple(two["names"]): two for two in card(campaign, "sage")["agreement"]["each_two"]}
    told = {names: (shares(two), two["kappa"]["estimate"]) for names, two in each_two.items()}
    # Agreement .9; by chance .4 x .35 + .4 x .4 + .2 x .25 = .35.
    differing = ((18, 20), pytest.approx((0.9 - 0.35) / (1 - 0.35)))
    assert told == {
        ("annotator-1", "annotator-2"): differing,
        ("annotator-1", "annotator-3"): ((20, 20), pytest.approx(1.0)),
        ("annotator-2", "annotator-3"): differing,
    }
    labels = calibration.fix_labels(campaign, "Majority", seed=1, least_votes=3)
    assert Counter(labels.labels.values_list("outcome", flat=True)) == {A: 8, B: 8, TIE: 4}
    assert labels.left_out == {}


def test_each_recorded_judge_has_a_card_with_its_agreement_and_no_calls(bring):
    campaign = bring(turned=True)
    assert JudgeRun.objects.get().kind == JudgeRun.Kind.RECORDED
    sage, echo = card(campaign, "sage"), card(campaign, "echo")
    # With the first and third person 15 each; with the second one win more and one win less.
    assert shares(sage["agreement"]["votes"]) == (45, 60)
    assert shares(sage["agreement"]["majority"]) == (15, 20)
    # By chance .4 x .15 + .4 x .65 + .2 x .2 = .36.
    kappa = sage["agreement"]["majority"]["kappa"]["estimate"]
    assert kappa == pytest.approx((0.75 - 0.36) / (1 - 0.36))
    assert shares(echo["agreement"]["majority"]) == (20, 20)
    assert sage["swap"] is sage["cost"] is sage["contradictions"] is None
    assert {one["category"] for one in sage["agreement"]["categories"]} == {"cooking", "law"}
    between = campaign_agreement.figures_of(campaign)["between"]
    assert [(set(one["judges"]), shares(one["figures"])) for one in between] == [({"sage", "echo"}, (15, 20))]


@pytest.mark.parametrize("turned", [True, False])
def test_the_card_says_when_sides_are_confounded_with_models(bring, signed_in, turned):
    campaign = bring(turned=turned)
    figures = card(campaign, "sage")
    assert figures["sides"]["confounded"] is not turned
    judge = Judge.objects.get(name="sage")
    page = signed_in("ravi").get(f"/judges/{judge.pk}/card/").content.decode()
    assert ("Sides are confounded with models" in page) is not turned
    assert "whether it was asked in both orders isn&#x27;t known" in page


def test_the_report_names_what_a_file_doesnt_say_of_its_judges(bring):
    campaign = bring(turned=True)
    protocol = report.build(campaign, [], "").parts[2]
    words = "Of the judges echo and sage, whose judgments came in a file: which models they were"
    assert [one for one in protocol.missing if one.startswith(words)]
    ReportText.objects.create(campaign=campaign, protocol="Both were one model, asked in May in one order.")
    protocol = report.build(campaign, [], "").parts[2]
    assert not protocol.missing and "asked in May" in " ".join(block.text for block in protocol.blocks)


# --- whether orders were held against each other ----------------------------------------------------------


def findings(tmp_path, header: str, *rows: str) -> None:
    file = tmp_path / "findings.csv"
    file.write_text("\n".join([f"vote_id,model_a,model_b,winner,rater{header}", *rows]) + "\n")
    call_command("import_votes", str(file), "--campaign", "told", "--judges")


def run_pages(client) -> tuple[str, str]:
    """The list, and the page of the one run."""
    run = JudgeRun.objects.get()
    return tuple(
        client.get(path).content.decode().replace("&#x27;", "'")
        for path in ("/judging/", f"/judging/runs/{run.pk}/")
    )


UNKNOWN_ORDER = "Whether the judge contradicts itself when the order is changed isn't known"


def test_findings_that_dont_say_it_claim_no_check_of_the_order_anywhere(tmp_path, signed_in):
    findings(tmp_path, "", "1,Ash,Birch,model_a,sage", "2,Birch,Ash,model_a,sage", "3,Ash,Birch,tie,sage")
    carol = signed_in("carol")
    runs, run = run_pages(carol)
    assert '<td class="number wide">not known</td>' in runs
    assert UNKNOWN_ORDER in run and "unstable (" not in run and "calls" not in run
    board = Leaderboard.objects.create(
        campaign=Campaign.objects.get(),
        slug="by-sage",
        name="By sage",
        source="judge",
        judge=Judge.objects.get(),
    )
    snapshot = take_snapshot(board).snapshot
    assert carol.get(f"/api/v1/snapshots/{snapshot.pk}/").json()["counts"]["unstable"] is None
    assert "No judge yet" not in runs
    assert "No judge can be asked yet" in runs


@pytest.mark.parametrize(
    ("header", "rows", "told"),
    [
        (",flip", ("1,Ash,Birch,model_a,sage,none", "2,Ash,Birch,tie_unstable,sage,hard"), "(1 of 2 with"),
        # That one is told apart means that both orders were asked throughout.
        ("", ("1,Ash,Birch,model_a,sage", "2,Ash,Birch,tie_unstable,sage"), "(1 of 2 with"),
        # Of a row without the mark nothing is known.
        (",flip", ("1,Ash,Birch,model_a,sage,none", "2,Ash,Birch,model_b,sage,"), "(0 of 1 with"),
    ],
)
def test_findings_that_say_how_the_orders_came_out_are_told(tmp_path, signed_in, header, rows, told):
    findings(tmp_path, header, *rows)
    runs, run = run_pages(signed_in("carol"))
    assert told in run and UNKNOWN_ORDER not in run
    assert "not known" not in runs


def board_by_sage(tmp_path, header: str, *rows: str):
    findings(tmp_path, header, *rows)
    board = Leaderboard.objects.create(
        campaign=Campaign.objects.get(),
        slug="by-sage",
        name="By sage",
        source="judge",
        judge=Judge.objects.get(),
    )
    return take_snapshot(board).snapshot


ALWAYS_ASH = [f"{n},Ash,Birch,{('model_a', 'model_b', 'tie')[n % 3]},sage" for n in range(12)]


def test_a_judges_file_in_which_one_model_stands_first_says_that_the_order_isnt_known(tmp_path, signed_in):
    snapshot = board_by_sage(tmp_path, "", *ALWAYS_ASH)
    page = signed_in("carol").get("/boards/told/?board=overall").content.decode().replace("\u00a0", " ")
    said = (
        "In 100 % of the judgments the file always names the same model of the two first (pairs with fewer"
        " than 5 are left out). Whether the judge was asked in both orders isn’t known"
    )
    assert said in page
    assert "always stood first" not in page
    assert "Fewer than 100 judgments" in page and "no judgment names its prompt" in page
    strip = " ".join(fact.after for fact in board_facts.facts_of(snapshot))
    assert "both bad" not in strip and "orders that disagree" not in strip and "ties count" in strip


def test_of_a_judge_known_to_be_asked_in_both_orders_no_side_is_spoken_of(tmp_path, signed_in):
    snapshot = board_by_sage(tmp_path, ",flip", *(f"{row},none" for row in ALWAYS_ASH))
    page = signed_in("carol").get("/boards/told/?board=overall").content.decode()
    assert snapshot.counts["one_sided"] == 1
    assert "model of the two" not in page
    strip = " ".join(fact.after for fact in board_facts.facts_of(snapshot))
    assert "orders that disagree" in strip and "both bad" not in strip


def test_what_a_judges_board_counts_are_judgments(tmp_path):
    words = say_left_out({"hardness_unknown": 1040, "not_in_part": 1}, judged=True)
    assert words == [
        "1,040 judgments are about prompts of which nobody has said whether they are hard; they are not in.",
        "1 judgment is outside this part.",
    ]
    assert say_blank(4, 1, judged=True).startswith("4 judgments are about one empty response")
    assert say_no_style(974, [], judged=True).startswith("There is no style to control for: in 974 judgments")
    run = SnapshotRun.objects.get(snapshot=board_by_sage(tmp_path, "", *ALWAYS_ASH))
    assert ", 12 judgments, 2 models" in describe(run)
