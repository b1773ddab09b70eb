"""What a campaign's boards are to answer, written down and frozen before anybody votes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, model_is_asked_for


class AnalysisPlanQuerySet(models.QuerySet["AnalysisPlan"]):
    def frozen(self) -> AnalysisPlanQuerySet:
        return self.filter(frozen_at__isnull=False)


class AnalysisPlan(models.Model):
    """A draft may change; a frozen plan never does, and a change of mind is the next version."""

    class Ties(models.TextChoices):
        HALF = "half", _("count half a win")
        DROP = "drop", _("are left out")
        DAVIDSON = "davidson", _("are an outcome of their own (Davidson)")

    class BothBad(models.TextChoices):
        HALF = "half", _("counts as a tie")
        DROP = "drop", _("is left out")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="analysis_plans")
    version = models.PositiveIntegerField(default=1)
    question = models.TextField(_("question"), help_text=_("What shall be known when the campaign is over?"))
    margin = models.FloatField(
        _("margin, in points"),
        default=10.0,
        validators=[MinValueValidator(0.1), MaxValueValidator(1000)],
        help_text=_(
            "A smaller difference wouldn’t matter. 10 points: expected score 51.4 %, a tie counting half."
        ),
    )
    ties = models.CharField(_("ties"), max_length=8, choices=Ties.choices, default=Ties.HALF)
    both_bad = models.CharField(_("both bad"), max_length=8, choices=BothBad.choices, default=BothBad.HALF)
    boards = models.JSONField(_("boards"), default=list, help_text=_("names of the boards that answer it"))
    pairs = models.JSONField(
        _("pairs of models"),
        default=list,
        blank=True,
        help_text="of models, that its question is about: a and b as named when written, ids; empty: all",
    )
    raters = models.PositiveIntegerField(
        _("raters"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    votes = models.PositiveIntegerField(
        _("votes in all"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    hard_at_least = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="of the seven criteria, when it was frozen; unknown of plans from before",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    frozen_at = models.DateTimeField(null=True, blank=True)
    frozen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    sha256 = models.CharField(max_length=64, blank=True)
    reckoned = models.JSONField(
        null=True,
        blank=True,
        help_text="what its raters and votes find, and with what that was reckoned, when it was frozen",
    )

    objects = AnalysisPlanQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "version"], name="analysis_plans_are_numbered")
        ]

    def __str__(self) -> str:
        return f"analysis plan {self.version} of {self.campaign_id}"

    @property
    def came_from_file(self) -> bool:
        """Frozen elsewhere: no plan of this installation is older than its campaign."""
        return self.frozen_at is not None and self.frozen_at < self.campaign.created_at

    def content(self) -> dict[str, Any]:
        names = ("question", "margin", "ties", "both_bad", "boards", "raters", "votes")
        told = {name: getattr(self, name) for name in names} | {"margin": float(self.margin)}  # as it is read
        if self.pairs:
            told |= {"pairs": [[pair["a"], pair["b"]] for pair in self.pairs]}
        return told if self.hard_at_least is None else told | {"hard_at_least": self.hard_at_least}

    def canonical(self) -> str:
        """What is hashed: anybody can hash it again."""
        return json.dumps(self.content(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def hash_content(self) -> str:
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    @property
    def as_read(self) -> str:
        """What a page that shows this draft sends back: it freezes no other."""
        return f"{self.version}:{self.hash_content()}"

    def freeze(self, user: Any, reckoned: dict[str, Any] | None = None) -> bool:
        """False if it was frozen already, which stays as it was."""
        draft = AnalysisPlan.objects.filter(
            pk=self.pk, frozen_at=None, **self.content() | {"pairs": self.pairs}
        )
        self.hard_at_least = self.campaign.hard_at_least
        frozen = {
            "hard_at_least": self.hard_at_least,
            "frozen_at": timezone.now(),
            "frozen_by": user,
            "reckoned": reckoned,
            "sha256": self.hash_content(),
        }
        if not draft.update(**frozen):
            return False
        self.refresh_from_db()
        return True


@receiver(model_is_asked_for, dispatch_uid="plans that name a model")
def is_in_a_plan(model: Competitor, **_more: Any) -> bool:
    """Pairs hold their models' numbers in JSON."""
    plans = AnalysisPlan.objects.filter(campaign__team=model.team_id).exclude(pairs=[])
    return any(model.pk in pair["ids"] for pairs in plans.values_list("pairs", flat=True) for pair in pairs)
