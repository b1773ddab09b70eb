"""Researchers read battles chosen for a reason, and what they find is tallied by model."""

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from arena.battles.models import Battle, BattleNote
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.reading.read_battles import choose
from arena.leaderboards.reading.reader_page import failures_by_model, reasons_by_model
from arena.leaderboards.reading.reading_models import Reading


@pytest.fixture
def read(small_campaign, cast_vote, cast):
    """Votes on p0 (Ember over Fjord twice, shown both ways round), p1 (Fjord over Ember), p2 (both bad)."""
    small, alice, bob = small_campaign, cast.alice_rater, cast.bob_rater
    p0, p1, p2, _p3 = small.prompts
    cast_vote(small, p0, "Ember", "Fjord", "model_a", alice)
    cast_vote(small, p0, "Fjord", "Ember", "model_b", bob)
    cast_vote(small, p1, "Ember", "Fjord", "model_b", alice)
    cast_vote(small, p2, "Ember", "Grove", "both_bad", alice)
    return small


def prompts_of(pairs) -> list[str]:
    from arena.corpus.models import Prompt

    return [Prompt.objects.get(pk=pair.prompt).external_id for pair in pairs]


def pk_of(small, name: str) -> int:
    return next(c.pk for c in small.competitors if c.name == name)


def test_losses_come_with_the_most_agreed_first_whichever_side_was_shown_first(read):
    fjord, ember = pk_of(read, "Fjord"), pk_of(read, "Ember")
    lost = choose(read.campaign, "losses", fjord, None, 0)
    assert prompts_of(lost) == ["p0"]
    assert lost[0].lost_by(fjord) == 2
    assert prompts_of(choose(read.campaign, "losses", ember, None, 0)) == ["p1"]
    assert choose(read.campaign, "losses", None, None, 0) == []


def test_both_bad_and_one_opponent_narrow_the_choice(read):
    ember, grove = pk_of(read, "Ember"), pk_of(read, "Grove")
    assert prompts_of(choose(read.campaign, "both_bad", None, None, 0)) == ["p2"]
    assert prompts_of(choose(read.campaign, "random", ember, grove, 0)) == ["p2"]
    assert prompts_of(choose(read.campaign, "losses", ember, grove, 0)) == []


def test_a_random_order_is_the_same_for_the_same_seed(read):
    first = prompts_of(choose(read.campaign, "random", None, None, 7))
    assert sorted(first) == ["p0", "p1", "p2"]
    assert prompts_of(choose(read.campaign, "random", None, None, 7)) == first
    assert len({tuple(prompts_of(choose(read.campaign, "random", None, None, s))) for s in range(20)}) > 1


def test_pairs_on_which_people_and_judges_disagree_are_found_across_battles(read, cast):
    judge = Judge.objects.create(team=cast.team, name="Judge")
    run = JudgeRun.objects.create(campaign=read.campaign)
    voted = Battle.objects.get(prompt=read.prompts[1])
    turned = Battle.objects.create(
        campaign=read.campaign,
        kind=Battle.Kind.RECORDED,
        prompt=voted.prompt,
        competitor_a=voted.competitor_b,
        competitor_b=voted.competitor_a,
        response_a=voted.response_b,
        response_b=voted.response_a,
        drawn_at=voted.drawn_at,
    )
    judgment = Judgment.objects.create(
        run=run, judge=judge, battle=turned, outcome="model_a", resolved_at=voted.drawn_at
    )
    assert choose(read.campaign, "disputed", None, None, 0) == []
    judgment.outcome = "model_b"
    judgment.save()
    assert prompts_of(choose(read.campaign, "disputed", None, None, 0)) == ["p1"]


def test_an_unknown_choice_is_refused(read, signed_in):
    with pytest.raises(ValueError, match="no way 'best'"):
        choose(read.campaign, "best", None, None, 0)
    ravi = signed_in("ravi")
    address = reverse("battle-reader", args=["small"])
    assert ravi.get(address, {"pick": "best"}).status_code == 422
    response = ravi.get(address, {"pick": "losses"})
    assert response.status_code == 422
    page = response.content.decode()
    # Beside the choice that lacks a model, and not below the other choices.
    assert (
        page.index('id="choose-model"')
        < page.index("Choose the model that lost.")
        < page.index('id="choose-against"')
    )
    assert page.count("Choose the model that lost.") == 1


def test_a_reading_counts_for_the_model_on_that_side_and_said_again_replaces_itself(read, signed_in):
    battle = Battle.objects.filter(prompt=read.prompts[0]).earliest("pk")
    ravi = signed_in("ravi")
    address = reverse("battle-read", args=[battle.public_id])
    for failure in ("wrong", "padded"):
        assert (
            ravi.post(address, {"side": "b", "failure": failure, "comment": "It says 7."}).status_code == 302
        )
    kinds, lines, battles_read = failures_by_model(read.campaign)
    assert (kinds, battles_read) == (["padded or repetitive"], 1)
    assert [(line.name, line.counts) for line in lines] == [("Fjord", [1])]
    page = ravi.get(reverse("battle-reader", args=["small"])).content.decode()
    assert "Kept: padded or repetitive." in page
    assert "It says 7." in page


@pytest.mark.parametrize("wrong", [{"side": "c"}, {"failure": "dull"}, {"comment": "x" * 501}])
def test_a_wrong_reading_is_refused_with_words(read, signed_in, wrong):
    battle = Battle.objects.earliest("pk")
    data = {"side": "a", "failure": "none", "comment": ""} | wrong
    response = signed_in("ravi").post(reverse("battle-read", args=[battle.public_id]), data)
    assert response.status_code == 422
    assert next(iter(wrong)) in response.content.decode()
    assert not Reading.objects.exists()


def test_reasons_are_tallied_for_the_winner_and_flags_for_both(read, cast):
    battle = Battle.objects.get(prompt=read.prompts[1])
    BattleNote.objects.create(battle=battle, rater=cast.alice_rater, kind="reason", text="clear")
    BattleNote.objects.create(battle=battle, rater=cast.alice_rater, kind="flag", text="odd")
    reasons, lines = reasons_by_model(read.campaign)
    assert reasons == ["clear"]
    assert [(line.name, line.counts, line.flags) for line in lines] == [("Ember", [0], 1), ("Fjord", [1], 1)]


def test_the_battles_leave_as_csv_that_a_spreadsheet_cannot_run(read, signed_in):
    response = read.responses[0]
    response.text = "=1+1"
    response.save()
    answer = signed_in("ravi").get(reverse("battle-reader-csv", args=["small"]), {"pick": "random"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    by_prompt = {row["prompt_id"]: row for row in rows}
    assert by_prompt["p0"]["response_a"] == "'=1+1"
    assert (by_prompt["p0"]["votes_a"], by_prompt["p0"]["votes_b"]) == ("2", "0")
    assert (by_prompt["p1"]["model_b"], by_prompt["p1"]["votes_b"]) == ("Fjord", "1")
    assert by_prompt["p2"]["both_bad"] == "1"


def test_raters_and_strangers_read_nothing(read, signed_in):
    for name in ("alice", "mallory", "dora"):
        assert signed_in(name).get(reverse("battle-reader", args=["small"])).status_code == 404


def test_a_page_of_battles_takes_no_more_queries_for_more_battles(read, cast_vote, cast, signed_in):
    def queries() -> int:
        with CaptureQueriesContext(connection) as context:
            signed_in("ravi").get(reverse("battle-reader", args=["small"]))
        return len(context)

    before = queries()
    for prompt in read.prompts:
        cast_vote(read, prompt, "Fjord", "Grove", "tie", cast.bob_rater)
    assert queries() == before


@pytest.mark.parametrize("first", ["Ember", "Fjord"])
def test_who_won_is_told_by_name_whichever_side_was_shown_first(
    small_campaign, cast_vote, cast, signed_in, first
):
    """Ids of responses and sides of battles run the same way in one case and the other way in the other."""
    second = "Fjord" if first == "Ember" else "Ember"
    for prompt in small_campaign.prompts[:2]:
        cast_vote(small_campaign, prompt, first, second, "model_a", cast.alice_rater)
    judge = Judge.objects.create(team=cast.team, name="Judge")
    run = JudgeRun.objects.create(campaign=small_campaign.campaign)
    for battle in Battle.objects.all():
        Judgment.objects.create(
            run=run, judge=judge, battle=battle, outcome="model_b", resolved_at=battle.drawn_at
        )
    page = signed_in("ravi").get(reverse("battle-reader", args=["small"])).content.decode()
    assert page.count(f"People: {first}: 1 · Judges: {second}: 1</p>") == 2
    assert page.count(f"A: {first} <span") == page.count(f"B: {second} <span") == 2
    assert "Model A" not in page


def test_a_table_of_flags_alone_does_not_claim_to_say_why(read, cast, signed_in):
    battle = Battle.objects.filter(prompt=read.prompts[0]).first()
    BattleNote.objects.create(battle=battle, rater=cast.alice_rater, kind=BattleNote.Kind.FLAG, text="broken")
    page = signed_in("ravi").get("/boards/small/battles/").content.decode()
    assert "How often raters flagged it" in page and "Why raters preferred it" not in page
