"""How a board was fitted, in the words of the pages: its intervals and its options."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.percent import percent

UNITS = {"rater": gettext_lazy("rater"), "prompt": gettext_lazy("prompt")}


def interval_words(method: str) -> str:
    """How intervals come about, from the fit's own name for it."""
    clustered = re.search(r"cluster-robust(?: \((?P<kind>\w+)\))? by (?P<names>[a-z ]+)$", method)
    words = _("robust, votes taken as independent")
    if clustered:
        names = _clusters(clustered["names"].split(" and "))
        words = _("robust, clustered by %(names)s") % {"names": names}
        words += f" ({clustered['kind']})" if clustered["kind"] else ""
    weight = re.search(r"lam = ([0-9.]+)", method)
    if weight:
        words = _("%(words)s; the judge is relied on to %(lam)s (λ: 0 not at all, 1 wholly)") % {
            "words": words,
            "lam": weight[1],
        }
    return words


def option_words(name: str, value: Any) -> str:
    """What stands behind its label; what a snapshot has no value for is a dash."""
    return "–" if value is None and name not in UNSET else WORDS[name](value)


def option_label(name: str) -> str:
    return str(LABELS[name])


def _clusters(names: list[str]) -> str:
    return _(" and ").join(str(UNITS[name]) for name in names)


def _one_of(words: dict[str, Any]) -> Callable[[Any], str]:
    return lambda value: str(words[value])


def _yes_or_no(value: Any) -> str:
    return _("yes") if value else _("no")


def _plain(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


TIES = {
    "half": gettext_lazy("count half"),
    "drop": gettext_lazy("are left out"),
    "davidson": gettext_lazy("are an outcome of their own"),
}
BOTH_BAD = {"half": gettext_lazy("counts as a tie"), "drop": gettext_lazy("is left out")}
UNSTABLE = {
    "half": gettext_lazy("count as a tie"),
    "drop": gettext_lazy("are left out"),
    "average": gettext_lazy("count by their average"),
}
INTERVALS = {
    "robust": gettext_lazy("robust"),
    "iid": gettext_lazy("votes taken as independent"),
    "bootstrap": gettext_lazy("bootstrap, from the spread of the resamples"),
    "percentile": gettext_lazy("bootstrap, percentiles of the resamples"),
}
TRANSFORMS = {
    "relative": gettext_lazy("over the sum of the two, in typical differences"),
    "fastchat": gettext_lazy("as FastChat scales them"),
    "none": gettext_lazy("as they are"),
}
LABELS = {
    "ties": gettext_lazy("ties"),
    "both_bad": gettext_lazy("both bad"),
    "unstable": gettext_lazy("orders that disagree"),
    "style": gettext_lazy("style control"),
    "style_transform": gettext_lazy("differences of style"),
    "position": gettext_lazy("advantage of side a fitted"),
    "interval": gettext_lazy("intervals"),
    "cluster": gettext_lazy("clusters"),
    "bootstrap": gettext_lazy("resamples"),
    "seed": gettext_lazy("seed"),
    "confidence": gettext_lazy("confidence"),
    "anchor": gettext_lazy("anchor, a model whose rating is fixed"),
    "anchor_rating": gettext_lazy("mean of the well-measured models"),
    "min_votes": gettext_lazy("votes for a rank"),
    "margin": gettext_lazy("margin, in points"),
    "check": gettext_lazy("checked by other software"),
}
UNSET = {"anchor", "cluster"}
"""For these, nothing is a choice."""
WORDS: dict[str, Callable[[Any], str]] = {
    "ties": _one_of(TIES),
    "both_bad": _one_of(BOTH_BAD),
    "unstable": _one_of(UNSTABLE),
    "style": _yes_or_no,
    "style_transform": _one_of(TRANSFORMS),
    "position": _yes_or_no,
    "interval": _one_of(INTERVALS),
    "cluster": lambda value: _("all that are known") if value is None else _clusters(value),
    "bootstrap": _plain,
    "seed": lambda value: f"{value}",
    "confidence": lambda value: percent(value, None),
    "anchor": lambda value: _("none") if value is None else _("model number %(n)s") % {"n": value},
    "anchor_rating": _plain,
    "min_votes": _plain,
    "margin": _plain,
    "check": _yes_or_no,
}
