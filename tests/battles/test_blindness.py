"""No byte that a rater gets before the reveal says, or lets them work out, which model wrote what."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape

import pytest

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, Response

CANARIES = ("quilldrake-zx81", "vostrik-70b", "Mélisande Ω")
HTML = {"Accept": "text/html"}
FIRST_PK = 7_310_000_000


@pytest.fixture
def canary_campaign(make_campaign):
    """Models with names found nowhere else, and rows with numbers that can't occur by accident."""

    def make(**fields):
        small = make_campaign(prompts=12, names=("one", "two", "three"), **fields)
        for number, (competitor, name) in enumerate(zip(small.competitors, CANARIES, strict=True)):
            moved = Competitor.objects.create(
                pk=FIRST_PK + number,
                team=competitor.team,
                name=name,
                organisation=f"org-{name}",
                family=f"family-{name}",
                licence=f"licence-{name}",
                aliases=[f"alias-{name}"],
            )
            Response.objects.filter(competitor=competitor).update(competitor=moved)
            small.campaign.competitors.remove(competitor)
            small.campaign.competitors.add(moved)
        for number, row in enumerate(Response.objects.all()):
            Response.objects.filter(pk=row.pk).update(
                id=FIRST_PK + 1000 + number, text_hash=hashlib.sha256(f"{number}".encode()).hexdigest()
            )
        for prompt in small.prompts:
            Prompt.objects.filter(pk=prompt.pk).update(
                external_id=f"external-canary-{prompt.pk}", category="category-canary"
            )
        return small

    return make


def secrets() -> set[str]:
    found = {"external-canary", "category-canary"}
    for competitor in Competitor.objects.filter(pk__gte=FIRST_PK):
        name = competitor.name
        for text in (name, competitor.name_key, name.upper(), str(competitor.pk)):
            raw = text.encode()
            found |= {text, base64.b64encode(raw).decode().rstrip("="), raw.hex()}
            found |= {hashlib.new(kind, raw).hexdigest() for kind in ("md5", "sha1", "sha256")}
    for pk, text_hash in Response.objects.values_list("pk", "text_hash"):
        found |= {str(pk), text_hash}
    return found


def bytes_of(answer) -> str:
    headers = "\n".join(f"{name}: {value}" for name, value in answer.items())
    return "\n".join((headers, answer.cookies.output(), answer.content.decode()))


def everything_a_rater_can_get(desk):
    """Every page and every answer, good and bad, with scripts and without."""
    for number in range(30):
        yield desk.look()
        yield desk.look(**{"HX-Request": "true"})
        if "<article" not in desk.look().content.decode():
            break
        battle = desk.on_screen()
        headers = HTML if number % 2 else {}
        if number % 5 == 4:
            yield desk.act(battle, "skip", **headers)
            continue
        yield desk.act(battle, "flag", {"text": "Hm."}, **headers)
        yield desk.act(battle, "vote", {"outcome": "neither"}, **headers)
        yield desk.vote(battle, "tie", **headers)
        yield desk.vote(battle, "tie", "another-key", **headers)
        if number % 3 == 0:
            yield desk.act(battle, "undo", **headers)
        yield desk.act(battle, "undo", **headers)
        yield desk.client.get("/campaigns/small/my-votes/")
        yield desk.client.get("/campaigns/small/guide/")
        chosen = {"text": "plain" if number % 2 else "formatted"}
        yield desk.client.post("/campaigns/small/battle/text/", chosen)
        yield desk.client.get("/")


@pytest.mark.parametrize("reveal", [Campaign.Reveal.NEVER, Campaign.Reveal.AFTER_CLOSE])
def test_no_name_number_or_hash_of_a_model_is_in_any_byte(canary_campaign, sit_down, reveal):
    desk = sit_down(canary_campaign(reveal=reveal))
    hidden, seen = secrets(), 0
    for answer in everything_a_rater_can_get(desk):
        seen += 1
        text = bytes_of(answer)
        assert [secret for secret in hidden if secret in text] == []
    assert seen > 100


def test_the_search_finds_a_name_once_it_is_revealed(canary_campaign, sit_down):
    """So that the test above can't pass because it looks for the wrong thing."""
    desk = sit_down(canary_campaign(reveal=Campaign.Reveal.AFTER_VOTE))
    text = bytes_of(desk.vote(desk.on_screen()))
    assert any(secret in text for secret in secrets())


def test_around_the_texts_every_battle_is_the_same_byte_for_byte(canary_campaign, sit_down):
    """What doesn't differ can tell nothing: no class, order, length or header depends on the models."""
    desk = sit_down(canary_campaign())
    shells = set()
    for _ in range(30):
        answer = desk.look()
        if "<article" not in answer.content.decode():
            break
        battle = desk.on_screen()
        article = re.search(r"<article.*?</article>", answer.content.decode(), re.DOTALL)[0]
        for text in (battle.prompt, battle.response_a, battle.response_b):
            article = article.replace(text.rendered_html, "", 1)
        for response in (battle.response_a, battle.response_b):
            article = article.replace(escape(response.text), "", 1)
        article = re.sub(r'data-(battle|key)="[^"]+"', "", article)
        headers = sorted(
            (name, value) for name, value in answer.items() if name not in ("Content-Length", "Expires")
        )
        shells.add((article, str(headers)))
        desk.vote(battle)
    assert len(shells) == 1


def test_public_ids_are_random_and_keys_are_long_enough_to_guess_nothing(desk):
    page = desk.look().content.decode()
    ids = set(re.findall(r'data-battle="([^"]+)"', page))
    keys = re.findall(r'data-key="([^"]+)"', page)
    assert all(public_id[14] == "4" for public_id in ids), "not UUID version 4"
    assert len(ids) == len(set(keys)) == 2
    assert all(len(key) >= 20 for key in keys)
