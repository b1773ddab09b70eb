"""What the battle page shows: battles without a name, how far the rater is, what was just recorded."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from arena.battles.ballots import can_undo
from arena.battles.draw import LEASES, hand_out
from arena.battles.models import Battle, Outcome, Vote
from arena.battles.reasons import Reason, Why, why
from arena.campaigns.models import Campaign
from arena.corpus.leak_checks import Shown as Texts
from arena.corpus.models import Response
from arena.raters.models import Rater

NO_REASONS = Why()
AT_AN_END = ("quota", "finished", "ended", "enough", "closed")
NO_BATTLE = str(UUID(int=0))
FIRST_WORDS, NAME_BEGINS, NAME_ENDS = 24, 17, 12  # characters
RECORDED_AS: dict[str, str | Promise] = {
    Outcome.MODEL_A: _("A"),
    Outcome.MODEL_B: _("B"),
    Outcome.TIE: _("tie"),
    Outcome.BOTH_BAD: _("both bad"),
}


def path_of(act: str, public_id: str) -> str:
    return _path_of_none(act, get_script_prefix()).replace(NO_BATTLE, public_id)


@cache
def _path_of_none(act: str, _prefix: str) -> str:
    return reverse(f"battle-{act}", args=[NO_BATTLE])


class Text:
    """A response as raters of a campaign see it, in either form."""

    def __init__(self, response: Response, texts: Texts) -> None:
        self._response, self._texts = response, texts

    @property
    def rendered(self) -> SafeString:
        return self._response.html_under(self._texts.leak_policy)

    @property
    def written(self) -> str:
        """Where a word of it is masked, that takes a few queries."""
        return self._texts.text(self._response)


@dataclass(frozen=True)
class Shown:
    """All that a page may know of a battle."""

    public_id: str
    key: str
    prompt: SafeString
    a: Text
    b: Text

    @property
    def vote_path(self) -> str:
        return path_of("vote", self.public_id)

    @property
    def skip_path(self) -> str:
        return path_of("skip", self.public_id)

    @classmethod
    def of(cls, battle: Battle) -> Shown:
        if not (battle.prompt and battle.response_a and battle.response_b):
            raise ValueError(f"battle {battle.public_id} lacks its prompt or a response and can't be shown")
        texts = Texts(battle.campaign.leak_policy)
        return cls(
            str(battle.public_id),
            secrets.token_urlsafe(16),
            battle.prompt.html,
            Text(battle.response_a, texts),
            Text(battle.response_b, texts),
        )


@dataclass(frozen=True)
class Recorded:
    public_id: UUID
    outcome: str | Promise
    can_undo: bool
    name_a: str = ""
    name_b: str = ""
    prompt: str = ""
    why: Why = NO_REASONS

    @property
    def undo_path(self) -> str:
        return path_of("undo", str(self.public_id))


@dataclass(frozen=True)
class Screen:
    campaign: Campaign
    done: int
    battles: list[Shown]
    recorded: Recorded | None
    state: str

    @property
    def current(self) -> Shown | None:
        return self.battles[0] if self.battles else None

    @property
    def reasons(self) -> list[tuple[int, Reason]]:
        """Each with the key that gives it."""
        return list(enumerate(Reason, start=1))

    @property
    def may_take_along(self) -> bool:
        """Whoever has voted and is at an end is offered a link to their votes."""
        return self.done > 0 and self.state in AT_AN_END

    @property
    def offers_undo(self) -> bool:
        return can_undo(self.campaign)

    @property
    def ahead(self) -> list[Shown]:
        return self.battles[1:]


def look(
    campaign: Campaign,
    rater: Rater,
    *,
    beyond_quota: bool = False,
    done: int | None = None,
    vote: Vote | None = None,
) -> Screen:
    """`done` and `vote` spare two queries to whoever has just cast the vote."""
    if done is None:
        done = Vote.objects.of(rater, campaign).standing().count()
    wanted = LEASES
    if campaign.quota and not beyond_quota:
        wanted = min(LEASES, campaign.quota - done)
    battles = [Shown.of(battle) for battle in hand_out(campaign, rater, wanted)]
    fresh = vote
    if vote is None or campaign.reveals_each_vote:  # names and prompt come with it in one query
        vote = last_vote(campaign, rater)
    said = NO_REASONS if fresh or vote is None else why(vote.battle)
    return Screen(
        campaign, done, battles, recorded(campaign, vote, said), state_of(campaign, battles, done, wanted)
    )


def state_of(campaign: Campaign, battles: list[Shown], done: int, wanted: int) -> str:
    if not campaign.is_open:
        return "closed" if campaign.status == Campaign.Status.CLOSED else "paused"
    if battles:
        return "battle"
    if wanted < 1:
        return "quota"
    if campaign.has_ended(timezone.now()):
        return "ended"
    if campaign.target_votes or campaign.target_raters:
        return "enough"
    return "finished" if done else "empty"


def last_vote(campaign: Campaign, rater: Rater) -> Vote | None:
    """None too when it is undone: the vote before it has become final."""
    votes = Vote.objects.of(rater, campaign).select_related(
        "retraction", "battle__prompt", "battle__competitor_a", "battle__competitor_b"
    )
    vote = votes.order_by("-pk").first()
    return None if vote is None or hasattr(vote, "retraction") else vote


def recorded(campaign: Campaign, vote: Vote | None, said: Why = NO_REASONS) -> Recorded | None:
    """The line about the last vote; it names the two models only where each vote reveals them.

    The names then stand under the next battle, so the first words of their own prompt go with them.
    """
    if vote is None:
        return None
    battle, outcome = vote.battle, RECORDED_AS[vote.outcome]
    if campaign.reveals_each_vote:
        names = short_name(battle.competitor_a.name), short_name(battle.competitor_b.name)
        return Recorded(battle.public_id, outcome, False, *names, first_words(battle), said)
    return Recorded(battle.public_id, outcome, can_undo(campaign), why=said)


def short_name(name: str) -> str:
    """What fits into the bar; in "My votes" it stands whole. Names of one family differ at their end."""
    return name if len(name) <= NAME_BEGINS + NAME_ENDS + 1 else f"{name[:NAME_BEGINS]}…{name[-NAME_ENDS:]}"


def first_words(battle: Battle) -> str:
    text = battle.prompt.text if battle.prompt else ""
    return Truncator(" ".join(text.split())).chars(FIRST_WORDS)
