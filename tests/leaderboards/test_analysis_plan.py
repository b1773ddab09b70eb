"""A plan is written, frozen, and from then on decides what boards are and whether they are registered."""

from dataclasses import asdict, replace

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Snapshot, Standing
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.plan import Plan, detectable
from arena.leaderboards.plans.reckoning import Reckoning, reckon, reckon_with, say_answer
from arena.leaderboards.plans.registration_words import chosen_margin, say_registered
from arena.raters.models import Rater
from tests.leaderboards.plans_by_hand import DRAFT, freeze, record_votes, write_and_freeze
from tests.leaderboards.test_boards import text_of

AFTER_VOTES = "frozen after votes were in"
BESIDE_A_FILE = "frozen, but votes came in a file and may have been seen before"


def plan_page(visitor, slug="joust") -> str:
    return visitor.get(reverse("analysis-plan", args=[slug])).content.decode()


def test_boards_named_by_a_plan_frozen_before_the_first_vote_are_registered(
    voted_campaign, cast_vote, cast, signed_in
):
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"))
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters)
    overall, hard, style = ensure_leaderboards(small.campaign)
    taken = {board.slug: snapshots.take_snapshot(board).snapshot for board in (overall, hard, style)}
    plan = AnalysisPlan.objects.get()
    assert taken[overall.slug].plan == plan
    assert taken[style.slug].plan == plan
    assert taken[hard.slug].plan is None
    assert taken[overall.slug].options["margin"] == 25
    assert taken[overall.slug].options["ties"] == taken[overall.slug].options["both_bad"] == "drop"
    page = signed_in("ravi").get(reverse("snapshot", args=[taken[overall.slug].pk])).content.decode()
    assert "registered under analysis plan 1" in page
    assert plan.sha256 in page


def test_votes_from_a_file_leave_every_board_exploratory_whatever_their_date(
    voted_campaign, cast_vote, cast, signed_in
):
    small, carol = voted_campaign(votes=0), signed_in("carol")
    write_and_freeze(carol)
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters, kind="recorded")
    assert snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot.plan is None
    assert f"It was {BESIDE_A_FILE}" in plan_page(carol)


def test_a_plan_frozen_after_a_vote_leaves_every_board_exploratory(
    voted_campaign, cast_vote, cast, signed_in
):
    small = voted_campaign(votes=0)
    carol = signed_in("carol")
    record_votes(small, cast_vote, [cast.alice_rater, cast.bob_rater, cast.alice_rater])
    write_and_freeze(carol)
    snapshot = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    assert snapshot.plan is None
    assert snapshot.options["margin"] == 25
    assert f"It was {AFTER_VOTES}: every board stays exploratory." in plan_page(carol)


def test_a_plan_frozen_after_votes_amends_and_ends_no_registration(registered, signed_in):
    carol, ravi = signed_in("carol"), signed_in("ravi")
    warning = "what is frozen now is an amendment"
    assert warning in plan_page(carol)
    assert warning not in plan_page(ravi)
    write_and_freeze(carol, margin="400", boards=["hard"])
    first, second = AnalysisPlan.objects.order_by("version")
    overall, hard, _style = ensure_leaderboards(registered.campaign)
    assert snapshots.take_snapshot(overall).state == "unchanged"
    assert snapshots.take_snapshot(hard).state == "unchanged"
    assert overall.snapshots.get().plan == first
    assert hard.snapshots.get().options["margin"] == 25
    page = plan_page(ravi)
    assert "Frozen: version 1" in page and "Amendments, frozen after votes were in" in page
    assert "margin: 400 points instead of 25 points" in page and second.sha256 in page
    day = f"{second.frozen_at:%Y-%m-%d}"
    board = text_of(ravi.get("/boards/joust/"))
    assert "registered under analysis plan 1" in board
    assert "hard prompts: exploratory: analysis plan 1 didn’t name this board" in board
    assert f"amended after votes were in, which changes no number here: analysis plan 2 ({day})" in board
    report = text_of(ravi.get(reverse("board-report", args=["joust"])))
    assert first.sha256 in report and second.sha256 in report
    assert "an amendment, which changes no number here" in report
    assert DRAFT["question"] in report


def test_the_last_plan_frozen_before_the_first_vote_registers(voted_campaign, cast_vote, cast, signed_in):
    small, carol = voted_campaign(votes=0), signed_in("carol")
    write_and_freeze(carol)
    write_and_freeze(carol, margin="30")
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters)
    snapshot = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    assert (snapshot.plan.version, snapshot.options["margin"]) == (2, 30)
    assert "Earlier versions" in plan_page(carol) and "Amendments" not in plan_page(carol)


def test_a_snapshot_fitted_under_a_later_plan_says_so_and_the_next_one_is_registered(registered, signed_in):
    """As they were taken while a later plan took the place of the first."""
    carol = signed_in("carol")
    write_and_freeze(carol, margin="400")
    overall = ensure_leaderboards(registered.campaign)[0]
    old = overall.snapshots.get()
    taken = Snapshot.objects.create(
        leaderboard=overall,
        plan=None,
        options=old.options | {"margin": 400.0},
        **{name: getattr(old, name) for name in ("cutoff", "counts", "vote_digest", "code_version", "seed")},
    )
    assert say_registered([taken])[0] == (
        "exploratory: it follows analysis plan 2, which was frozen after votes were in"
    )
    assert chosen_margin(taken).is_late
    assert snapshots.take_snapshot(overall).snapshot.plan.version == 1


def test_a_comparison_says_who_chose_its_margin_and_when(registered, voted_campaign, signed_in):
    ravi, carol = signed_in("ravi"), signed_in("carol")
    told = text_of(ravi.get("/boards/joust/compare/", {"a": "Ember", "b": "Inlet"}))
    assert "The margin of 25 points is that of analysis plan 1" in told
    assert "Not yet: 3 raters are too few" in told
    assert "Read early: interim look at 240 of 600 planned votes." in told
    late = voted_campaign("late", votes=600)
    overall = ensure_leaderboards(late.campaign)[0]
    snapshots.take_snapshot(overall)
    usual = text_of(ravi.get("/boards/late/compare/", {"a": "Ember", "b": "Inlet"}))
    assert "The margin of 10 points is the usual one: no plan named it." in usual
    assert "as if it had been named beforehand" in usual
    write_and_freeze(carol, "late")
    snapshots.take_snapshot(overall)
    told = text_of(ravi.get("/boards/late/compare/", {"a": "Ember", "b": "Inlet"}))
    assert (
        "Exploratory: the margin of 25 points is that of analysis plan 1" in told
        and f", {BESIDE_A_FILE}." in told
    )
    assert "as if it had been named beforehand" not in told


def test_whether_votes_of_a_file_came_before_the_plan_is_said_to_be_unknown_on_every_page(
    voted_campaign, cast_vote, cast, signed_in
):
    small, carol = voted_campaign(votes=0), signed_in("carol")
    write_and_freeze(carol)
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters, kind="recorded")
    snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0])
    pages = ("", "compare/?a=Ember&b=Inlet", "report/", "plan/")
    for page in (*(f"/boards/joust/{page}" for page in pages), reverse("analysis-plan", args=["joust"])):
        told = text_of(carol.get(page))
        assert BESIDE_A_FILE in told or "what came from" in told, page
        assert "after votes were in" not in told, page


def test_a_draft_changes_no_number(voted_campaign, signed_in):
    small = voted_campaign(votes=300)
    signed_in("carol").post(reverse("analysis-plan-save", args=["joust"]), DRAFT)
    snapshot = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    assert snapshot.options["margin"] == 10
    assert snapshot.plan is None


def test_a_frozen_plan_never_changes_and_a_change_of_mind_is_the_next_version(voted_campaign, signed_in):
    voted_campaign(votes=0)
    carol = signed_in("carol")
    write_and_freeze(carol)
    first = AnalysisPlan.objects.get()
    carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | {"margin": "50"})
    carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | {"margin": "60"})
    second = AnalysisPlan.objects.get(version=2)
    assert second.frozen_at is None
    assert second.margin == 60
    first.refresh_from_db()
    assert first.margin == 25
    assert not first.freeze(None)


def test_a_plan_that_changed_since_it_was_read_is_not_frozen(voted_campaign, signed_in):
    voted_campaign(votes=0)
    signed_in("carol").post(reverse("analysis-plan-save", args=["joust"]), DRAFT)
    read = AnalysisPlan.objects.get()
    AnalysisPlan.objects.update(question="Something else?")
    assert not read.freeze(None)
    assert AnalysisPlan.objects.get().frozen_at is None


@pytest.mark.parametrize("meanwhile", ["saved otherwise", "frozen, and the next one drafted"])
def test_a_press_freezes_no_draft_but_the_one_that_its_page_showed(voted_campaign, signed_in, meanwhile):
    voted_campaign(votes=0)
    carol = signed_in("carol")
    save(carol)
    shown = AnalysisPlan.objects.get().as_read
    assert f'name="as_read" value="{shown}"' in plan_page(carol)
    if meanwhile != "saved otherwise":
        freeze(carol, though_it_cannot_answer="1")
    changed = {"margin": "50"} if meanwhile == "saved otherwise" else {}
    save(carol, **changed)
    late = freeze(carol, follow=True, though_it_cannot_answer="1", as_read=shown)
    draft = AnalysisPlan.objects.first()
    assert f"the draft of version {draft.version} isn’t the one that you were shown" in text_of(late)
    assert draft.frozen_at is None
    assert freeze(carol, as_read="", though_it_cannot_answer="1").status_code == 302
    draft.refresh_from_db()
    assert draft.frozen_at is None
    freeze(carol, though_it_cannot_answer="1")
    draft.refresh_from_db()
    assert draft.frozen_at


@pytest.mark.parametrize(
    "wrong", [{"question": ""}, {"margin": "0"}, {"margin": "nan"}, {"ties": "maybe"}, {"boards": ["best"]}]
)
def test_a_wrong_plan_is_refused_with_words(voted_campaign, signed_in, wrong):
    voted_campaign(votes=0)
    response = signed_in("carol").post(reverse("analysis-plan-save", args=["joust"]), DRAFT | wrong)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()
    assert not AnalysisPlan.objects.exists()


def test_researchers_read_a_plan_and_admins_alone_write_it(voted_campaign, signed_in):
    voted_campaign(votes=0)
    ravi = signed_in("ravi")
    assert (
        "An admin of the team can write one"
        in ravi.get(reverse("analysis-plan", args=["joust"])).content.decode()
    )
    assert ravi.post(reverse("analysis-plan-save", args=["joust"]), DRAFT).status_code == 404


@pytest.fixture
def plain_campaign(make_campaign):
    """Three models that have answered sixty prompts."""
    return make_campaign("joust", prompts=60)


def save(carol, **changes) -> None:
    assert carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | changes).status_code == 302


def test_a_plan_that_can_answer_its_question_says_so_and_what_that_hangs_on(plain_campaign, signed_in):
    carol = signed_in("carol")
    save(carol, raters="60", votes="6000", margin="60")
    page = plan_page(carol)
    assert "This plan can answer its question: 60 raters with 100 votes each find" in page
    assert "its margin is 60 points" in page
    assert "87 points (0.5 in log-odds)" in page
    assert "assumed: nobody has voted enough to measure it" in page
    assert "(power)" in page and "80\u00a0%" in page and "(confidence)" in page and "95\u00a0%" in page
    assert "I know that it can’t answer" not in page
    freeze(carol)
    assert AnalysisPlan.objects.get().frozen_at
    assert "This plan can answer its question" in plan_page(carol)


def test_a_plan_that_cannot_answer_its_question_says_what_it_would_take(plain_campaign, signed_in):
    carol = signed_in("carol")
    save(carol, raters="20", votes="400", margin="100")
    found = reckon(AnalysisPlan.objects.get())
    assert found.points > 100
    more = found.plan
    assert detectable(replace(more, votes_each=found.votes_needed)).points <= 100
    assert detectable(replace(more, votes_each=found.votes_needed - 1)).points > 100
    assert detectable(replace(more, prompts=found.prompts_needed)).points <= 100
    page = plan_page(carol)
    assert "This plan can’t answer its own question: its margin is 100 points, but 20 raters with 20" in page
    assert f"You need {found.votes_needed - 20} more votes a rater or {found.raters_needed - 20} more" in page
    save(carol, raters="1", votes="1")
    assert "can’t tell any two models apart" in plan_page(carol)


@pytest.mark.parametrize(
    ("raters", "prompts", "margin", "words"),
    [
        (6, 400, 50, "No number of votes by so few raters is enough: their tastes stay."),
        (6, 400, 50, "You need 28 more raters."),
        (200, 6, 50, "No number of votes or raters is enough: 6 prompts are too few."),
        (
            4,
            4,
            20,
            "Neither votes, nor raters, nor prompts alone are enough: it takes more of two of them.",
        ),
    ],
)
def test_where_no_number_of_votes_is_enough_it_says_what_the_limit_is(raters, prompts, margin, words):
    plan = Plan(models=3, prompts=prompts, raters=raters, votes_each=500, tie_share=0.25, taste=0.5)
    assert words in say_answer(reckon_with(plan, margin, 0))


def test_freezing_a_plan_that_cannot_answer_takes_a_word_and_its_boards_repeat_it(
    voted_campaign, cast_vote, cast, signed_in
):
    small, carol = voted_campaign(votes=0), signed_in("carol")
    save(carol)
    assert "I know that it can’t answer its question" in plan_page(carol)
    refused = freeze(carol, follow=True).content.decode()
    assert "Nothing was frozen: this plan can’t answer its question" in refused
    assert AnalysisPlan.objects.get().frozen_at is None
    write_and_freeze(carol)
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters)
    for board in ensure_leaderboards(small.campaign)[:3]:
        snapshots.take_snapshot(board)
    points = AnalysisPlan.objects.get().reckoned["points"]
    frozen = carol.get(reverse("board-plan", args=["joust"])).content.decode()
    assert "This plan can’t answer its own question" in frozen and "(power)" in frozen
    small.campaign.competitors.remove(small.competitors[0])
    for page in ("board", "board-compare", "board-report"):
        shown = carol.get(reverse(page, args=["joust"]) + "?board=overall").content.decode()
        told = "whose margin is 25 points, and which would have found differences of about"
        assert shown.count(f"registered under analysis plan 1, {told}") == 1
        assert f"about {points:.0f} or more" in shown


def test_without_numbers_of_raters_and_votes_nobody_can_say_what_a_plan_finds(plain_campaign, signed_in):
    carol = signed_in("carol")
    save(carol, raters="", votes="")
    assert "Nobody can say yet" in plan_page(carol)
    freeze(carol)
    assert AnalysisPlan.objects.get().reckoned is None


@pytest.mark.parametrize("wrong", [{"raters": 0}, {"points": "many"}, {"models": True}, {"luck": 3}])
def test_what_was_never_reckoned_is_refused(wrong):
    plan = Plan(models=3, prompts=60, raters=20, votes_each=50, tie_share=0.25, taste=0.5)
    told = asdict(reckon_with(plan, 50.0, 0))
    assert asdict(Reckoning.read(told)) == told
    with pytest.raises((TypeError, ValueError)):
        Reckoning.read(told | wrong)
    with pytest.raises(TypeError):
        Reckoning.read({})


@pytest.mark.parametrize("model", [Snapshot, Standing])
@pytest.mark.parametrize("act", ["update", "delete"])
def test_snapshots_and_standings_are_append_only(voted_campaign, model, act):
    snapshots.take_snapshot(ensure_leaderboards(voted_campaign(votes=300).campaign)[0])
    rows = model.objects.all()
    field = "seed" if model is Snapshot else "rating"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        rows.update(**{field: 1}) if act == "update" else rows._raw_delete(rows.db)


@pytest.mark.django_db
def test_a_margin_given_as_a_whole_number_is_hashed_as_it_is_read_back(plain_campaign, cast):
    campaign = plain_campaign.campaign
    plan = AnalysisPlan.objects.create(campaign=campaign, question="?", margin=50, boards=["overall"])
    assert plan.freeze(cast.carol)
    read = AnalysisPlan.objects.get()
    assert read.sha256 == read.hash_content() == plan.sha256
