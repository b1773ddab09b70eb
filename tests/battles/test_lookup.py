"""Texts come again: whoever has learned whose a text is would know it the next time. So nobody learns it."""

from __future__ import annotations

import pytest

from arena.campaigns.models import Campaign

NAMES = ("Quilldrake", "Vostrik", "Wendelmere", "Oxbridge")


def learn(desk, known: dict[int, str], votes: int) -> list[set[int]]:
    """Votes, and writes down whose each text was as far as the answers say it; the texts of each battle."""
    seen = []
    for _ in range(votes):
        if "<article" not in desk.look().content.decode():
            break
        battle = desk.on_screen()
        seen.append({battle.response_a_id, battle.response_b_id})
        assert not seen[-1] & known.keys(), "a text came again whose name this rater has seen"
        words = desk.vote(battle, "tie").content.decode()
        for side in ("a", "b"):
            name = getattr(battle, f"competitor_{side}").name
            if name in words:
                known[getattr(battle, f"response_{side}_id")] = name
    return seen


@pytest.mark.parametrize("reveal", [Campaign.Reveal.AFTER_CLOSE, Campaign.Reveal.NEVER])
def test_two_raters_who_share_all_they_were_told_know_whose_no_text_is(make_campaign, sit_down, reveal):
    small = make_campaign(prompts=8, names=NAMES, reveal=reveal)
    known: dict[int, str] = {}
    battles = [texts for _ in range(2) for texts in learn(sit_down(small), known, 40)]
    assert len(battles) == 80
    assert known == {}


def test_by_default_names_come_with_the_close():
    assert Campaign().reveal == Campaign.Reveal.AFTER_CLOSE


def test_where_votes_reveal_nobody_meets_a_text_whose_name_they_have_seen(make_campaign, sit_down):
    small = make_campaign(prompts=12, names=NAMES, reveal=Campaign.Reveal.AFTER_VOTE)
    known: dict[int, str] = {}
    battles = learn(sit_down(small), known, 40)
    # Two battles of different texts on each prompt, and then it is over.
    assert len(battles) >= len(small.prompts)
    assert len(known) == 2 * len(battles) == len(set().union(*battles))
