"""What an import would do: the rows it would add, or why it may not. Checking writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.corpus.models import Competitor, PromptSet
from arena.corpus.names import name_key
from arena.exchange.formats.how import AS_FOUND, How
from arena.exchange.formats.problems import Problem, RefusedError, Report
from arena.exchange.models import ASKS
from arena.raters.models import Rater, Team

BATCH = 500  # rows of one INSERT


class Chosen:
    """Those rows of a file that are to be stored, read from it anew whenever they are gone through.

    `again` gives every row of a file that has no errors, in the same order each time.
    """

    def __init__(self, again: Callable[[], Iterable[Any]], wanted: bytearray) -> None:
        self._again, self._wanted = again, wanted

    def __len__(self) -> int:
        return self._wanted.count(1)

    def __iter__(self) -> Iterator[Any]:
        for row, is_wanted in zip(self._again(), self._wanted, strict=True):
            if is_wanted:
                yield row


@dataclass(frozen=True)
class Plan:
    kind: str
    team: Team
    target: str
    file_name: str
    file_sha256: str
    description: str
    rows: Chosen | tuple[Any, ...]
    errors: tuple[Problem, ...]
    error_count: int
    notices: tuple[str, ...]
    skipped: int
    personal: Mapping[str, Any] = field(default_factory=dict)
    how: How = AS_FOUND
    admission: str = Rater.Admission.RECORDED  # of the raters that a file of votes names
    archive: Path | bytes | None = None  # of a whole campaign
    place: Path | None = None  # where an uploaded archive is unpacked
    most_unpacked: int = 0  # bytes of an archive
    contents: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_sound(self) -> bool:
        return not self.error_count

    @property
    def asks_whose(self) -> Mapping[str, Any]:
        """What makes it doubtful that people cast the votes. Of simulated raters it was said."""
        is_told = self.admission != Rater.Admission.RECORDED
        return {} if is_told else self.contents.get(ASKS, {})

    @property
    def count(self) -> int:
        """Rows that it would add."""
        return self.contents.get("rows", 0) if self.archive is not None else len(self.rows)

    @property
    def steps(self) -> int:
        """What progress is measured by: of a campaign's files more rows are read than are new."""
        return self.contents.get("reads", 0) if self.archive is not None else self.count


def latest_set(team: Team, name: str) -> PromptSet | None:
    return PromptSet.objects.filter(team=team, name=name).order_by("-version").first()


def needed_set(team: Team, name: str) -> PromptSet:
    prompt_set = latest_set(team, name)
    if prompt_set is None:
        known = PromptSet.objects.filter(team=team).order_by("name").values_list("name", flat=True).distinct()
        listed = ", ".join(known[:10]) or _("none")
        raise RefusedError(
            _("There is no prompt set “%(name)s”; import its prompts first. Known: %(known)s")
            % {"name": name, "known": listed}
        )
    return prompt_set


def competitors_by_key(team: Team) -> dict[str, Competitor]:
    return {competitor.name_key: competitor for competitor in Competitor.objects.filter(team=team)}


def new_names(names: Iterable[str], known: Mapping[str, object]) -> dict[str, str]:
    """The first spelling of every name that isn't known, by its key."""
    found: dict[str, str] = {}
    for name in names:
        key = name_key(name)
        if key not in known:
            found.setdefault(key, name)
    return found


def remark_on_new_models(new: Mapping[str, str], report: Report) -> None:
    if new:
        names = ", ".join(list(new.values())[:10]) + (", …" if len(new) > 10 else "")
        words = ngettext("%(count)s new model: %(names)s", "%(count)s new models: %(names)s", len(new))
        report.promise(words % {"count": len(new), "names": names})


def remark_on_known(count: int, report: Report) -> None:
    if count:
        report.skipped += count
        words = ngettext(
            "%(count)s row is already there and was skipped",
            "%(count)s rows are already there and were skipped",
            count,
        )
        report.notice(words % {"count": f"{count:,}"})
