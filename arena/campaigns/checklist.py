"""The way from prompt sets and models to an open arena, step by step, as the campaign's page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from arena.campaigns.guide_texts import is_starting_text
from arena.campaigns.models import Campaign
from arena.campaigns.opening import missing_by_step
from arena.corpus.models import Competitor, Prompt, PromptSet, Response, is_fit_to_fight
from arena.instants import say_moment
from arena.percent import percent

TITLES: dict[str, Promise] = {
    "prompts": gettext_lazy("Prompt sets"),
    "models": gettext_lazy("Models and their responses"),
    "guide": gettext_lazy("Guide for raters"),
    "admission": gettext_lazy("Who may rate"),
    "reveal": gettext_lazy("When names are revealed"),
    "texts": gettext_lazy("How responses are shown"),
    "targets": gettext_lazy("Targets and end"),
    "quality": gettext_lazy("Repeats, gold, leaks and hard prompts"),
    "plan": gettext_lazy("Analysis plan"),
    "links": gettext_lazy("Links for raters"),
}
MEANINGS: dict[str, Promise] = {
    Campaign.Status.DRAFT: gettext_lazy("Nobody can vote yet. Everything can still be changed."),
    Campaign.Status.OPEN: gettext_lazy("Raters can vote."),
    Campaign.Status.PAUSED: gettext_lazy(
        "Nobody can vote until it is opened again. Links stay valid, votes stay, nothing is revealed."
    ),
    Campaign.Status.CLOSED: gettext_lazy("Voting is over. Votes and boards stay."),
}


@dataclass(frozen=True)
class Step:
    """`missing` keeps the campaign from opening; `advice` is only worth knowing."""

    name: str
    facts: list[str]
    missing: list[str]
    advice: list[str]

    @property
    def title(self) -> Promise:
        return TITLES[self.name]

    @property
    def state(self) -> str:
        if self.name == "plan" and not self.facts:
            return "optional"
        return "missing" if self.missing else "advice" if self.advice else "done"


@dataclass(frozen=True)
class ModelOnList:
    """A model with the number of the campaign's prompts for which it has a response fit to be drawn.

    `redacted` prompts have lost theirs: that is on purpose and nothing to ask for again.
    """

    competitor: Competitor
    answered: int
    prompts: int
    redacted: int = 0
    drawable: int = 0  # its responses that may be shown, now or once their prompts are published

    @property
    def lacks(self) -> int:
        return self.prompts - self.answered - self.redacted


def steps(campaign: Campaign, models: Sequence[ModelOnList]) -> list[Step]:
    """`models` come from `models_of()`: counting their responses takes a while."""
    missing = missing_by_step(campaign)
    said = {
        "prompts": (prompt_facts(campaign), []),
        "models": model_facts(models),
        "guide": guide_facts(campaign),
        "admission": ([str(campaign.get_admission_display()), quota_fact(campaign)], []),
        "reveal": ([str(campaign.get_reveal_display())], []),
        "texts": ([texts_fact(campaign)], []),
        "targets": (target_facts(campaign), []),
        "quality": (quality_facts(campaign), []),
        "plan": (plan_facts(campaign), []),
        "links": link_facts(campaign),
    }
    return [Step(name, *said[name][:1], missing.get(name, []), said[name][1]) for name in TITLES]


def prompt_facts(campaign: Campaign) -> list[str]:
    sets = campaign.prompt_sets.annotate(count=Count("prompts")).order_by("name", "-version")
    return [
        ngettext("%(name)s: %(n)s prompt", "%(name)s: %(n)s prompts", one.count)
        % {"name": one, "n": one.count}
        for one in sets
    ]


def model_facts(models: Sequence[ModelOnList]) -> tuple[list[str], list[str]]:
    facts = [model_fact(one) for one in models]
    lacking = [one for one in models if one.lacks]
    if not models or not lacking:
        return facts, []
    words = ngettext(
        "%(n)s model lacks responses to some prompts: it meets others on those that it has.",
        "%(n)s models lack responses to some prompts: they meet others on those that they have.",
        len(lacking),
    )
    return facts, [words % {"n": len(lacking)}]


def model_fact(one: ModelOnList) -> str:
    numbers = {
        "name": one.competitor.name,
        "answered": one.answered,
        "prompts": one.prompts,
        "redacted": one.redacted,
    }
    if one.redacted:
        return _("%(name)s: %(answered)s of %(prompts)s, %(redacted)s redacted") % numbers
    return _("%(name)s: %(answered)s of %(prompts)s") % numbers


def models_of(campaign: Campaign) -> list[ModelOnList]:
    """All its models, the fewest responses last."""
    fit = is_fit_to_fight(campaign.leak_policy)
    redacted = Q(tombstone__isnull=False, prompt__tombstone__isnull=True)
    there = Response.objects.filter(
        fit | redacted, is_blank=False, prompt__prompt_set__in=campaign.prompt_sets.values("pk")
    )
    rows = (
        there.order_by()
        .values_list("competitor")
        .annotate(
            known=Count("prompt", distinct=True),
            answered=Count("prompt", distinct=True, filter=fit),
            drawable=Count("pk", filter=fit),
        )
    )
    found = {pk: counted for pk, *counted in rows}
    prompts = prompts_to_answer(campaign)
    models = []
    for one in campaign.competitors.order_by("name"):
        known, answered, drawable = found.get(one.pk, (0, 0, 0))
        is_drawn = one.status == Competitor.Status.ACTIVE
        models.append(ModelOnList(one, answered, prompts, known - answered, drawable if is_drawn else 0))
    return sorted(models, key=lambda one: one.lacks)


def prompts_to_answer(campaign: Campaign) -> int:
    """Redacted ones are never drawn, so nothing is lacking there."""
    sets = campaign.prompt_sets.values("pk")
    return Prompt.objects.filter(prompt_set__in=sets, tombstone__isnull=True).count()


def counts(campaign: Campaign, models: Sequence[ModelOnList]) -> dict[str, int]:
    """Prompts, models, and the responses that may be shown."""
    return {
        "prompts": models[0].prompts if models else prompts_to_answer(campaign),
        "responses": sum(one.drawable for one in models),
        "unpublished": campaign.prompt_sets.exclude(status__in=PromptSet.FROZEN).count(),
        "competitors": len(models),
    }


def guide_facts(campaign: Campaign) -> tuple[list[str], list[str]]:
    guide = campaign.current_guide
    if guide is None:
        return [], []
    facts = [_("version %(version)s") % {"version": guide.version}]
    if is_starting_text(guide.text):
        return facts, [_("It is the starting text still: fit it to your prompts before the first vote.")]
    return facts, []


def quota_fact(campaign: Campaign) -> str:
    if campaign.quota is None:
        return _("as many battles as they like")
    words = ngettext("%(n)s battle asked of each", "%(n)s battles asked of each", campaign.quota)
    return words % {"n": campaign.quota}


def texts_fact(campaign: Campaign) -> str:
    if campaign.plain_text:
        return _("as plain text, as they were written")
    return _("formatted; a rater can choose plain text")


def target_facts(campaign: Campaign) -> list[str]:
    facts = []
    if campaign.target_votes:
        words = ngettext(
            "%(n)s vote per prompt and pair", "%(n)s votes per prompt and pair", campaign.target_votes
        )
        facts.append(words % {"n": campaign.target_votes})
    if campaign.target_raters:
        words = ngettext("%(n)s rater per prompt", "%(n)s raters per prompt", campaign.target_raters)
        facts.append(words % {"n": campaign.target_raters})
    if campaign.ends_at:
        facts.append(_("until %(when)s") % {"when": in_words(campaign.ends_at)})
    return facts or [_("none: it goes on until you close it")]


def in_words(moment: datetime) -> str:
    return say_moment(moment)


def quality_facts(campaign: Campaign) -> list[str]:
    return [
        _("%(share)s of battles are repeats") % {"share": percent(campaign.repeat_share, None)},
        _("%(share)s are gold battles") % {"share": percent(campaign.gold_share, None)},
        _("a response that names its model: %(policy)s") % {"policy": campaign.get_leak_policy_display()},
        _("hard from %(n)s of seven criteria") % {"n": campaign.hard_at_least},
    ]


def plan_facts(campaign: Campaign) -> list[str]:
    """Nothing without a plan: it may be done without."""
    latest = campaign.analysis_plans.order_by("-version").first()
    if latest is None:
        return []
    words = _("version %(n)s is frozen") if latest.frozen_at else _("version %(n)s is a draft: freeze it")
    return [words % {"n": latest.version}]


def link_facts(campaign: Campaign) -> tuple[list[str], list[str]]:
    usable = campaign.invites.usable()
    personal = usable.filter(rater__isnull=False).values("rater").distinct().count()
    group = usable.filter(rater=None).count()
    if personal or group:
        words = (
            ngettext("%(n)s group link", "%(n)s group links", group) % {"n": group},
            ngettext("%(n)s personal link", "%(n)s personal links", personal) % {"n": personal},
        )
        return list(words), []
    if campaign.admission == Campaign.Admission.INVITE and not campaign.is_closed:
        return [], [_("No link is valid, so nobody can come: make one.")]
    return [_("none")], []
