"""A campaign that was in use comes back: drawn battles, repeats, golds, exclusions, redactions."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from arena.battles import draw, exclusions, pairing
from arena.battles.gold_models import Gold
from arena.battles.models import Battle, BattleNote, Exclusion, Vote
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.corpus.redaction import redact_prompt, redact_response
from arena.exchange.exports import SUMS, sums
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.raters.models import Rater

from .used_campaign import people_say, table, vote


def battle_like(battle: Battle, **fields) -> Battle:
    copied = ("campaign", "prompt", "rater", "competitor_a", "competitor_b", "response_a", "response_b")
    return Battle.objects.create(
        **{name: getattr(battle, name) for name in copied} | {"drawn_at": timezone.now()} | fields
    )


def pairs_drawn(campaign: Campaign) -> dict:
    counts = PairCount.objects.filter(campaign=campaign).select_related("low", "high")
    return {(count.low.name, count.high.name): count.battles for count in counts}


def test_drawing_goes_on_from_what_was_drawn_before(used, there_and_back, monkeypatch):
    monkeypatch.setattr(pairing, "EXPLORE", 0)  # every draw heeds the counts
    before, after = there_and_back(used, pairs_drawn)
    assert after == before and sum(before.values()) == 6 * 4
    campaign = Campaign.objects.get()
    PromptSet.objects.update(status=PromptSet.Status.PUBLISHED)
    Campaign.objects.update(status=Campaign.Status.OPEN)
    least = min(before.values())
    rater = Rater.objects.create(team=campaign.team, pseudonym="new", admission="link")
    (battle,) = draw.draw(campaign, rater)
    names = tuple(Competitor.objects.filter(pk__in=battle.pair).order_by("pk").values_list("name", flat=True))
    assert before[names] == least, "not a pair that had met least"
    assert pairs_drawn(campaign) == before | {names: least + 1}


def test_the_campaign_is_set_up_as_it_was(used, there_and_back):
    settings = {
        "quota": 9,
        "repeat_share": 0.25,
        "target_votes": 3,
        "hard_at_least": 5,
        "leak_policy": "mask",
        "plain_text": True,
    }
    names = (*settings, "reveal", "description", "name")

    def make():
        small = used()
        Campaign.objects.update(**settings)
        small.campaign.refresh_from_db()
        return small

    before, after = there_and_back(make, lambda campaign: [getattr(campaign, name) for name in names])
    assert after == before and after[0] == 9
    assert Campaign.objects.get().status == Campaign.Status.DRAFT


def test_exclusions_come_back_with_their_reasons_and_move_the_same_boards(
    used, there_and_back, tmp_path, cast
):
    def make():
        small = used()
        bob, alice = Rater.objects.get(pseudonym="rater 3"), Rater.objects.get(pseudonym="rater 1")
        votes = Vote.objects.filter(rater__pseudonym="rater 0").order_by("pk")
        exclusions.exclude_rater(small.campaign, bob, cast.carol, "asleep")
        exclusions.exclude_vote(small.campaign, votes[0].battle.public_id, cast.carol, "=told me")
        mistake = exclusions.exclude_rater(small.campaign, alice, cast.carol, "too fast")
        exclusions.revoke(mistake, cast.carol, "she reads fast")
        never_voted = Rater.objects.create(team=small.campaign.team, pseudonym="barred", admission="link")
        exclusions.exclude_rater(small.campaign, never_voted, cast.carol, "knows a model")
        return small

    before, after = there_and_back(make, people_say)
    assert after == before
    assert before[0][1]["excluded_by_hand"] == 4 + 1
    told = table(tmp_path / "out", "exclusions")
    assert [row["reason"] for row in told] == ["asleep", "=told me", "too fast", "knows a model"]
    assert [bool(row["revoked_at"]) for row in told] == [False, False, True, False]
    assert {row["decided_by"] for row in told} == {"person"} and "carol" not in json.dumps(told)
    left_out = [row for row in table(tmp_path / "out", "votes") if row["excluded"] == "by_hand"]
    assert len(left_out) == 4 + 1
    fields = ("reason", "rule", "rule_version", "revoked_because")
    assert [list(row) for row in Exclusion.objects.order_by("pk").values_list(*fields)] == [
        [row[name] for name in fields] for row in told
    ]


def test_its_votes_alone_leave_out_what_boards_leave_out(used, there_and_back, tmp_path, capsys, cast):
    def make():
        small = used()
        first, second, third = Vote.objects.filter(rater__pseudonym="rater 0").order_by("pk")[:3]
        exclusions.exclude_vote(small.campaign, first.battle.public_id, cast.carol, "told me")
        for voted in (second, third):
            repeat = battle_like(voted.battle, kind=Battle.Kind.REPEAT, repeat_of=voted.battle)
            vote(repeat, "tie")
        return small

    before, _after = there_and_back(make, people_say)
    call_command(
        "import_votes", str(tmp_path / "out" / "parquet" / "votes.parquet"), "--campaign", "from-votes"
    )
    told = capsys.readouterr().out
    assert "1 row skipped that were left out of the boards where they come from" in told
    assert "2 rows skipped about gold battles and repeats" in told
    alone = people_say(Campaign.objects.get(slug="from-votes"))
    assert [row[1] for row in alone[0][2]] == [row[1] for row in before[0][2]]


def test_repeats_and_golds_come_back_and_are_never_rated(used, there_and_back, tmp_path):
    def make():
        small = used()
        first = Vote.objects.earliest("pk").battle
        repeat = battle_like(first, kind=Battle.Kind.REPEAT, repeat_of=first)
        vote(repeat, "tie")
        prompt = small.prompts[0]
        good, bad = Response.objects.filter(prompt=prompt).order_by("pk")[:2]
        gold = Gold.objects.create(
            campaign=small.campaign, prompt=prompt, response_a=good, response_b=bad, expected="model_a"
        )
        shown = battle_like(
            first,
            kind=Battle.Kind.GOLD,
            gold=gold,
            prompt=prompt,
            competitor_a=bad.competitor,
            competitor_b=good.competitor,
            response_a=bad,
            response_b=good,
        )
        vote(shown, "model_b")
        return small

    before, after = there_and_back(make, people_say)
    assert after == before and before[0][1]["repeated"] == 1
    repeat = Battle.objects.get(kind=Battle.Kind.REPEAT)
    assert repeat.repeat_of.prompt == repeat.prompt and repeat.repeat_of.kind == Battle.Kind.REGULAR
    gold, shown = Gold.objects.get(), Battle.objects.get(kind=Battle.Kind.GOLD)
    assert shown.gold == gold and shown.response_a == gold.response_b
    assert {gold.response_a.competitor.name, gold.response_b.competitor.name} == {"Ember", "Fjord"}
    assert table(tmp_path / "out", "golds")[0]["expected"] == gold.expected == "model_a"


def test_what_was_redacted_stays_so_and_moves_no_board(used, there_and_back, tmp_path):
    def make():
        small = used()
        redact_response(Response.objects.earliest("pk"), reason="names a person", by="carol")
        redact_prompt(Prompt.objects.latest("pk"), reason="names a person", by="carol")
        return small

    before, after = there_and_back(make, people_say)
    assert after == before
    response = Response.objects.earliest("pk")
    assert response.text == "" and response.characters > 0 and not response.is_blank
    assert response.text_hash == response.tombstone["sha256"]
    assert Prompt.objects.latest("pk").tombstone["reason"] == "names a person"
    assert not Response.objects.fit_to_fight("flag").filter(pk=response.pk).exists()


def test_a_leak_that_an_admin_dismissed_stays_dismissed_and_others_are_looked_for_again(used, there_and_back):
    def make():
        small = used()
        first, second = Response.objects.order_by("pk")[:2]
        Response.objects.filter(pk=first.pk).update(leak=Response.Leak.DISMISSED, leak_words=["Ember"])
        Response.objects.filter(pk=second.pk).update(leak=Response.Leak.FOUND, leak_words=["Fjord"])
        return small

    there_and_back(make, lambda _campaign: None)
    leaks = Response.objects.order_by("pk").values_list("leak", "leak_words")
    # Responses leave by model: Ember's to all prompts are first.
    assert list(leaks[:2]) == [("dismissed", ["Ember"]), ("unchecked", [])]
    assert set(Response.objects.values_list("leak", flat=True)) == {"dismissed", "unchecked"}


def test_a_soft_flip_leans_to_the_same_side(used, there_and_back):
    def make():
        small = used()
        judge = Judge.objects.create(team=small.campaign.team, name="weigher")
        run = JudgeRun.objects.create(campaign=small.campaign, kind=JudgeRun.Kind.RECORDED)
        for battle in Battle.objects.order_by("pk")[:2]:
            Judgment.objects.create(
                run=run,
                judge=judge,
                battle=battle,
                outcome="tie_unstable",
                base_outcome="tie_unstable",
                flip="soft",
                leaning="model_b",
                resolved_at=timezone.now(),
            )
        return small

    told = ("outcome", "flip", "leaning", "resolved_at")
    before, after = there_and_back(make, lambda _campaign: list(Judgment.objects.values_list(*told)))
    assert after == before and len(before) == 2


def test_a_campaign_with_settings_of_another_version_is_refused(used, there_and_back, tmp_path):
    there_and_back(used, lambda _campaign: None)
    file = tmp_path / "out" / "campaign.json"
    file.write_text(file.read_text().replace('"after_close"', '"next_week"'))
    (tmp_path / "out" / SUMS).write_text(sums(tmp_path / "out"))
    PromptSet.objects.update(name="another")
    with pytest.raises(CommandError, match=r"campaign.json: .*reveal.*next_week"):
        call_command("import_campaign", str(tmp_path / "out"), "--campaign", "again")
    assert Campaign.objects.count() == 1


def test_what_raters_gave_as_reasons_comes_back(used, there_and_back):
    def make():
        small = used()
        battle = Vote.objects.earliest("pk").battle
        BattleNote.objects.create(battle=battle, rater=battle.rater, kind="reason", text="clear")
        return small

    def notes(_campaign):
        return sorted(BattleNote.objects.values_list("kind", "text", "at", "battle__public_id"))

    before, after = there_and_back(make, notes)
    assert after == before and ("reason", "clear") in {note[:2] for note in before}


def test_an_export_from_before_a_setting_comes_back_with_its_default(used, there_and_back, tmp_path):
    with transaction.atomic():
        there_and_back(used, lambda campaign: campaign.name)
        transaction.set_rollback(True)
    file = tmp_path / "out" / "campaign.json"
    about = json.loads(file.read_text())
    assert about.pop("plain_text") is False
    file.write_text(json.dumps(about))
    (tmp_path / "out" / SUMS).write_text(sums(tmp_path / "out"))
    call_command("import_campaign", str(tmp_path / "out"))
    assert Campaign.objects.get().plain_text is False
