"""Hundreds of battles as raters get them: no name in any byte, and only the texts tell models apart."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np
import pytest
from django.contrib.staticfiles import finders

from arena.battles.models import Battle
from arena.corpus.models import Response
from tests.battles.conftest import HTMX
from tests.battles.guesser import held_out_accuracy
from tests.battles.test_blindness import HTML, bytes_of, canary_campaign, secrets  # noqa: F401

PERMUTATIONS = 2000
# The coins of a draw can't be seeded: one run in a thousand may fail.
P_MIN = 1e-3
THREE_SIGMA = 3
OTHER_PAGES = (
    "/",
    "/campaigns/small/",
    "/campaigns/small/guide/",
    "/campaigns/small/my-votes/",
    "/campaigns/small/preview/",
    "/boards/small/",
    "/api/v1/",
    "/api/v1/schema/",
    "/api/v1/campaigns/",
    "/api/v1/leaderboards/",
)
OUTCOMES = ("model_a", "model_b", "tie", "both_bad")


@dataclass
class Crawl:
    """A row of features and the model on the left, for each battle."""

    rows: list[list[float]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    text_length: list[float] = field(default_factory=list)
    answers: int = 0
    found: list[str] = field(default_factory=list)

    def search(self, answer, hidden: set[str]) -> None:
        text = bytes_of(answer)
        self.answers += 1
        self.found += [secret for secret in hidden if secret in text]


def crawl(small, sit_down, battles: int) -> Crawl:
    seen, hidden = Crawl(), secrets()
    desk = sit_down(small)
    while len(seen.left) < battles:
        begun = time.perf_counter()
        page = desk.look()
        took = time.perf_counter() - begun
        if "<article" not in page.content.decode():
            desk = sit_down(small)
            continue
        shown = re.search(r'data-battle="([^"]+)"', page.content.decode())[1]
        battle = Battle.objects.select_related("prompt", "response_a", "response_b").get(public_id=shown)
        for each in (page, *whatever_can_be_done(desk, battle, len(seen.left))):
            seen.search(each, hidden)
        seen.rows.append([*features(page, battle), took])
        seen.left.append(battle.competitor_a_id)
        seen.text_length.append(len(battle.response_a.rendered_html))
    return seen


def whatever_can_be_done(desk, battle: Battle, number: int):
    """A vote in each way that there is, what can be done beside it, and now and then every other page."""
    headers = HTML if number % 2 else HTMX
    if number % 5 == 1:
        yield desk.act(battle, "flag", {"text": "Hm."}, **headers)
    if number % 5 == 2:
        yield desk.act(battle, "vote", {"outcome": "neither"}, **headers)
    yield desk.vote(battle, OUTCOMES[number % 4], **headers)
    if number % 5 == 3:
        yield desk.vote(battle, "tie", "another-key", **headers)
        yield desk.act(battle, "reasons", {"reasons": ["facts"]}, **headers)
    if number % 5 == 4:
        yield desk.act(battle, "undo", **headers)
        yield desk.act(desk.on_screen(), "skip", **headers)
    if number % 10 == 0:
        for path in OTHER_PAGES:
            yield desk.client.get(path)
            yield desk.client.options(path)


def features(page, battle: Battle) -> list[float]:
    """All of a page but the texts, as numbers: sizes, order, ids, keys, headers."""
    words = page.content.decode()
    article = words.split("<article")[1].split("</article>")[0]
    shell = article
    for text in (battle.prompt, battle.response_a, battle.response_b):
        shell = shell.replace(text.rendered_html, "", 1)
    for response in (battle.response_a, battle.response_b):
        shell = shell.replace(escape(response.text), "", 1)
    key = re.search(r'data-key="([^"]+)"', article)[1]
    return [
        len(words) - len(article) + len(shell),
        len(shell),
        sum(map(ord, re.sub(r'data-(battle|key)="[^"]+"', "", shell))),
        battle.public_id.int % 2**52,
        battle.public_id.int >> 76,
        int.from_bytes(key.encode()[:6]),
        len(key),
        words.index("<article"),
        sum(len(name) + len(value) for name, value in page.items() if name != "Content-Length"),
        page.content.count(b"<"),
    ]


def p_of_largest_correlation(rows: np.ndarray, left: np.ndarray, seed: int = 0) -> float:
    """How often chance alone lets some feature go with some model at least as closely as it does here."""
    varies = rows[:, rows.std(axis=0) > 0]
    standard = (varies - varies.mean(axis=0)) / varies.std(axis=0)
    models = np.unique(left)

    def largest(labels: np.ndarray) -> float:
        is_model = np.stack([labels == model for model in models], axis=1).astype(float)
        centred = (is_model - is_model.mean(axis=0)) / is_model.std(axis=0)
        return float(np.abs(standard.T @ centred).max()) / len(labels)

    seen, random = largest(left), np.random.default_rng(seed)
    by_chance = [largest(random.permutation(left)) for _ in range(PERMUTATIONS)]
    return (1 + sum(each >= seen for each in by_chance)) / (1 + PERMUTATIONS)


@pytest.mark.parametrize("battles", [60, pytest.param(500, marks=pytest.mark.long)])
def test_nothing_but_the_texts_tells_who_is_on_the_left_and_no_name_is_in_any_byte(
    canary_campaign,  # noqa: F811
    sit_down,
    battles,
):
    small = canary_campaign()
    for number, pk in enumerate(Response.objects.order_by("competitor").values_list("pk", flat=True)):
        # Each model writes at a length of its own: what the texts tell, the rest must not.
        longer = "word " * (5 + 9 * (number // 12))
        Response.objects.filter(pk=pk).update(
            rendered_html=f"<p>Reply {number}. {longer}</p>", text=f"Reply *{number}*. {longer}"
        )
    seen = crawl(small, sit_down, battles)
    assert seen.found == []
    assert seen.answers > 3 * battles
    rows, left = np.array(seen.rows, float), np.array(seen.left)
    assert len(left) == battles and len(set(seen.left)) == 3
    assert p_of_largest_correlation(rows, left) > P_MIN
    # The same test finds the models at once where it is given what does tell.
    with_text = np.column_stack([rows, seen.text_length])
    assert p_of_largest_correlation(with_text, left) <= P_MIN
    # Neither do all of these together, to whoever has learned from the first half of the battles.
    share = np.unique(left, return_counts=True)[1].max() / len(left)
    unseen = len(left) - len(left) // 2
    bound = share + THREE_SIGMA * (share * (1 - share) / unseen) ** 0.5
    assert held_out_accuracy(rows, left) <= bound < held_out_accuracy(with_text, left)


def test_no_style_sheet_or_script_holds_a_name(canary_campaign, sit_down):  # noqa: F811
    page = sit_down(canary_campaign()).look().content.decode()
    paths = re.findall(r'(?:src|href)="/static/([^"]+)"', page)
    assert len(paths) > 5
    for path in paths:
        text = Path(finders.find(path)).read_text(errors="replace")
        assert [secret for secret in secrets() if secret in text] == [], path
