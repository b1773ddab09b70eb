"""What boards and their pages say of votes that are simulated, doubled, unhelpful, registered or left out."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from arena.battles.models import Battle
from arena.corpus.models import Prompt
from arena.leaderboards.agreement import campaign_agreement
from arena.leaderboards.boards import board_sources
from arena.leaderboards.boards.board_cautions import cautions_of
from arena.leaderboards.boards.board_facts import facts_of
from arena.leaderboards.boards.board_rows import first_of
from arena.leaderboards.boards.compare_page import find_duel
from arena.leaderboards.boards.compare_words import headline, net_of, replacement, score_of
from arena.leaderboards.boards.duels import Answer, answer_of
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.registration_words import say_registered
from arena.leaderboards.simulated_words import Simulated
from tests.conftest import past_triggers
from tests.leaderboards.test_boards import change_counts, text_of

PEOPLE = board_sources.Source("raters", "People", None, "private")
HELPED = board_sources.Source("combined:1", "People combined", None, "private", Leaderboard.Source.COMBINED)


@pytest.fixture
def overall(voted_campaign) -> Snapshot:
    return take_snapshot(ensure_leaderboards(voted_campaign("joust").campaign)[0]).snapshot


def with_counts(**counts):
    return SimpleNamespace(counts=counts)


def test_a_sentence_says_both_that_votes_are_simulated_and_whose_judgment_it_is():
    assert board_sources.opening_of(PEOPLE, with_counts(), simulated=False) == ""
    all_of_them = {"simulated": 600, "votes": 600}
    assert board_sources.opening_of(PEOPLE, with_counts(**all_of_them), simulated=True) == (
        "in simulated votes, "
    )
    helped = with_counts(combined={"used": True}, **all_of_them)
    expected = "in simulated votes, according to people, with the help of judges, "
    assert board_sources.opening_of(HELPED, helped, simulated=True) == expected


@pytest.mark.parametrize(
    ("counts", "opening", "tag", "said", "meaning"),
    [
        ((0, 12), "", "", "", "Tastes differ."),
        (
            *((600, 600), "in simulated votes, ", "simulated votes"),
            "All 600 votes here are simulated. They say nothing about any model.",
            "In simulated votes that says nothing about the guide.",
        ),
        (
            *((600, 612), "in mostly simulated votes, ", "mostly simulated votes"),
            "600 of the 612 votes here are simulated.",
            "In mostly simulated votes that says next to nothing about the guide.",
        ),
        (
            *((1, 612), "in partly simulated votes, ", "partly simulated votes"),
            "1 of the 612 votes here is simulated.",
            "Tastes differ. Some of these votes are simulated.",
        ),
    ],
)
def test_votes_that_are_simulated_in_part_are_told_as_such(counts, opening, tag, said, meaning):
    found = Simulated(*counts)
    snapshot = with_counts(simulated=counts[0], votes=counts[1])
    assert board_sources.opening_of(PEOPLE, snapshot, simulated=True) == opening
    assert (found.tag, found.say("any model")) == (tag, said)
    assert found.say_meaning("Tastes differ.", "the guide") == meaning


def test_the_pages_of_a_campaign_tell_the_same_of_votes_that_are_simulated_in_part(
    voted_campaign, cast, cast_vote, signed_in
):
    small = voted_campaign("joust")
    for prompt in small.prompts[:2]:
        cast_vote(small, prompt, "Ember", "Fjord", "tie", cast.alice_rater)
    take_snapshot(ensure_leaderboards(small.campaign)[0])
    campaign_agreement.compute(small.campaign)
    ravi = signed_in("ravi")
    for path in ("/boards/joust/?board=overall", "/boards/joust/agreement/", "/boards/joust/report/"):
        page = text_of(ravi.get(path))
        assert "600 of the 602 votes here are simulated." in page, path
        assert "All 600" not in page
    assert "In mostly simulated votes, " in text_of(ravi.get("/boards/joust/?board=overall"))


def test_a_board_that_fell_back_to_people_says_so():
    alone = with_counts(combined={"used": False})
    assert board_sources.opening_of(HELPED, alone, simulated=False) == "according to people alone, "


@pytest.mark.parametrize(
    ("combined", "said"),
    [
        ({"used": True, "gain": 0.004}, "the judge adds next to nothing"),
        ({"used": True, "gain": 0.12}, "the judge adds 12\u00a0% effective votes, an estimate"),
        ({"used": False, "refused": False}, "people alone: the judge doesn’t help"),
        ({"used": False, "refused": True}, "people alone: the judge can’t be used"),
        ({"used": False}, "people alone: the judge can’t be used"),
    ],
)
def test_what_a_judge_brings_is_told_in_words(overall, combined, said):
    overall.counts["combined"] = combined
    told = [" ".join(filter(None, (f.before, f.figure, f.after))) for f in facts_of(overall)]
    assert said in told


def test_unranked_models_dont_hide_that_few_raters_rank_nothing(overall):
    standings = list(overall.standings.select_related("competitor"))
    for standing in standings:
        standing.tied_first, standing.rank_lower, standing.rank_upper = True, 1, 5
    standings[0].tied_first, standings[0].rank_lower, standings[0].rank_upper = False, None, None
    overall.counts |= {"raters": 3, "effective_raters": 3.0}
    assert first_of(standings, overall).say_top() == ["3 raters are too few to rank 5 models"]
    overall.counts |= {"raters": 30, "effective_raters": 30.0}
    assert first_of(standings, overall).say_top() == [
        "nothing tells the ranked models apart in tests corrected for all pairs: all 4 are tied for first"
    ]


def say_alike(prompts):
    for number, prompt in enumerate(prompts):
        text = "say hello" if number % 2 else " Say  HELLO\n"
        Prompt.objects.filter(pk=prompt.pk).update(messages=[{"role": "user", "content": text}])


def column_of(snapshot: Snapshot):
    standings = {standing.competitor_id: standing for standing in snapshot.standings.all()}
    return SimpleNamespace(board=SimpleNamespace(title="overall"), snapshot=snapshot, standings=standings)


def test_that_prompts_of_one_text_are_one_question_is_an_early_caution(voted_campaign):
    small = voted_campaign("joust")
    say_alike(small.prompts[:6])
    snapshot = take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    assert (snapshot.counts["prompts"], snapshot.counts["distinct_texts"]) == (24, 19)
    said = [caution.text for caution in cautions_of([column_of(snapshot)])]
    assert said[0].startswith("The 24 prompts have only 19 different texts: those of one text count as one ")


def test_a_snapshot_that_took_each_id_as_a_question_says_that_its_intervals_are_too_narrow(overall):
    overall.counts |= {"prompt_texts": 19}
    del overall.counts["distinct_texts"]
    said = [caution.text for caution in cautions_of([column_of(overall)])]
    assert said[0].endswith("prompts of one text count as independent, so the intervals are too narrow.")


def test_prompts_of_different_texts_need_no_caution(overall):
    assert overall.counts["distinct_texts"] == overall.counts["prompts"]
    assert not [c for c in cautions_of([column_of(overall)]) if "different texts" in c.text]


def test_a_feature_that_style_control_left_out_is_worth_nothing_to_warn_of(overall):
    overall.counts["differing"] = {"length": 3, "bold": 0}
    overall.counts["length_unit"] = "characters"
    overall.coefficients = [{"name": "length"}]
    said = " ".join(caution.text for caution in cautions_of([column_of(overall)]))
    assert "differ in only 3 of" in said and "Bold passages" not in said


@pytest.mark.parametrize(
    ("frozen", "boards", "said"),
    [
        (timedelta(days=1), ["overall"], "exploratory: analysis plan 1 was frozen after this snapshot"),
        (
            timedelta(0),
            ["overall"],
            "exploratory: analysis plan 1 was frozen after votes were in",
        ),
        (timedelta(days=-2), ["hard"], "exploratory: analysis plan 1 didn’t name this board"),
    ],
)
def test_an_exploratory_board_says_why(overall, frozen, boards, said):
    Battle.objects.update(kind="regular", rater=None)  # as if given out here
    campaign = overall.leaderboard.campaign
    campaign.created_at = overall.cutoff - timedelta(days=9)
    campaign.save()
    at = overall.cutoff + frozen
    plan = AnalysisPlan.objects.create(campaign=campaign, question="?", boards=boards, frozen_at=at)
    assert say_registered([overall]) == [said]
    known = {"cutoff": overall.cutoff, "counts": overall.counts}
    registered = Snapshot(leaderboard=overall.leaderboard, plan=plan, **known)
    assert say_registered([registered]) == [
        "registered under analysis plan 1; interim look at 600 votes: the plan names no number, and votes may"
        " still come"
    ]
    assert say_registered([]) == []


def test_board_and_comparison_say_that_they_explore(overall, signed_in):
    ravi = signed_in("ravi")
    assert "exploratory: no analysis plan was frozen" in text_of(ravi.get("/boards/joust/"))
    assert "Exploratory: no analysis plan was frozen." in text_of(ravi.get("/boards/joust/compare/"))


def test_of_a_pair_beyond_those_kept_score_and_net_follow_from_the_difference(overall):
    kept = overall.pairs.exclude(details=None).first()
    for a, b in ((kept.first, kept.second), (kept.second, kept.first)):
        duel = find_duel(overall, a, b)
        score, net = score_of(duel), net_of(duel)
        assert score.interval and net.interval
        duel.pair.details = None
        assert (score_of(duel), net_of(duel)) == (score, net)
        assert "Not tested" in replacement(duel, "A", "B", 10, 0.05)


def test_a_pair_beyond_those_kept_that_never_met_is_told_so(overall, signed_in):
    pair = overall.pairs.first()
    names = {"a": pair.first.name, "b": pair.second.name}
    type(pair).objects.filter(pk=pair.pk).update(details=None)
    page = text_of(signed_in("ravi").get("/boards/joust/compare/", names))
    assert "this pair isn’t one of them" in page
    type(pair).objects.filter(pk=pair.pk).update(wins=0, losses=0, ties=0)
    assert "They never met" in text_of(signed_in("ravi").get("/boards/joust/compare/", names))


def test_equivalence_is_told_with_its_level_and_p(overall):
    pair = overall.pairs.first()
    duel = find_duel(overall, pair.first, pair.second)
    duel.pair.verdict, duel.pair.equivalence_adjusted = "equivalent", 0.012
    said = headline(duel, "Ember", "Fjord", PEOPLE)
    assert "at the level of 5\u00a0% with all pairs of the board, gives p = 0.012." in said
    assert said.startswith("In simulated votes, ")


def test_by_few_raters_no_model_leads_and_no_pair_is_told_apart(overall):
    few = {"raters": 3, "effective_raters": 2.9}
    past_triggers(lambda: change_counts(overall, **few))
    pair = Snapshot.objects.get(pk=overall.pk).pairs.order_by("p").first()
    duel = find_duel(pair.snapshot, pair.first, pair.second)
    assert pair.verdict == "different"
    said = headline(duel, "Ember", "Fjord", PEOPLE)
    assert said == "In simulated votes, 3 raters are too few to tell Ember and Fjord apart by."
    told = replacement(duel, "Ember", "Fjord", 10, 0.05)
    assert told.startswith("Ember in place of Fjord? Not yet: 3 raters are too few to answer that. ")
    assert first_of(overall.standings.all(), pair.snapshot).say_top() == [
        "3 raters are too few to rank 5 models"
    ]


@pytest.mark.parametrize("few", ["raters", "prompts"])
def test_by_too_few_raters_or_prompts_nothing_is_replaced_nor_kept_for_good(overall, signed_in, few):
    pair = overall.pairs.order_by("p").first()
    names = [pair.first, pair.second] if pair.difference > 0 else [pair.second, pair.first]
    ways = [names, names[::-1]]
    assert {answer_of(find_duel(overall, *way), 0.05) for way in ways} == {Answer.REPLACE, Answer.KEEP}
    past_triggers(lambda: change_counts(overall, **{few: 4, f"effective_{few}": 3.9}))
    overall.refresh_from_db()
    assert {answer_of(find_duel(overall, *way), 0.05) for way in ways} == {Answer.NOT_YET}
    ravi = signed_in("ravi")
    for a, b in ways:
        asked = {"a": a.name, "b": b.name}
        page = text_of(ravi.get("/boards/joust/compare/", asked))
        assert f"{a.name} in place of {b.name}? Not yet: 4 {few} are too few to answer that." in page
        assert "Replace:" not in page and "Don&#x27;t replace" not in page
        rows = ravi.get("/api/v1/campaigns/joust/tables/compare-boards.json", asked).json()
        first = next(row for row in rows if row["board"] == "overall")
        assert (first["a_for_b"], first["too_few"]) == ("not yet", few)


def test_agreement_in_simulated_votes_is_labelled(voted_campaign, signed_in):
    small = voted_campaign("joust")
    campaign_agreement.compute(small.campaign)
    page = text_of(signed_in("ravi").get("/boards/joust/agreement/"))
    assert "All 600 votes here are simulated. They say nothing about any rater." in page
    assert "can be read in more than one way" not in page


def test_a_judges_sentence_beside_simulated_votes_isnt_called_simulated(overall):
    past_triggers(lambda: change_counts(overall, simulated=0))
    pair = Snapshot.objects.get(pk=overall.pk).pairs.first()
    judge = board_sources.Source("judge:1", "Judge", SimpleNamespace(name="Jay"), "private", "judge")
    said = headline(find_duel(pair.snapshot, pair.first, pair.second), "Ember", "Fjord", judge)
    assert said.startswith("According to the judge Jay, ")


def test_the_unranked_come_last_on_every_database(overall):
    best = overall.standings.first()
    past_triggers(
        overall.standings.filter(pk=best.pk).update, rank_lower=None, rank_upper=None, tied_first=False
    )
    assert overall.standings.last() == best
    assert overall.standings.first().rank_lower is not None
