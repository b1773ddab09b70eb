"""What is worth saying about a file's rows, collected one by one and told at the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.corpus.names import name_key
from arena.corpus.style_counts import count_style
from arena.counted import counted
from arena.exchange.formats.problems import Places, Problem, Report
from arena.exchange.formats.repeats import digest_of
from arena.exchange.formats.rows import JUDGE, AnyRow, ResponseRow, Texts, VoteRow

_NAMED = 20  # names that are told
_BLANK = "kept, but never drawn for a battle"


@dataclass
class Remarks:
    rows: int = 0
    blank: Places = field(default_factory=Places)
    judged: int = 0
    equal: int = 0
    unanswered: int = 0
    given: int = 0
    differing: int = 0
    _spellings: dict[str, str] = field(default_factory=dict)
    _odd: dict[str, str] = field(default_factory=dict)
    _votes: set[bytes] = field(default_factory=set)

    def see(self, row: AnyRow, report: Report) -> None:
        self.rows += 1
        if isinstance(row, VoteRow):
            self._see_vote(row)
        elif isinstance(row, ResponseRow):
            self._see_names(row.model)
            if row.is_blank:
                self.blank.add(row.line, row.model)
                report.note(Problem(f"{row.name} is empty or blank: {_BLANK}", row.line, "response"))

    def _see_vote(self, row: VoteRow) -> None:
        self._see_names(row.model_a, row.model_b)
        self.judged += row.source == JUDGE
        if row.texts:
            self._see_texts(row.texts)
        contents = digest_of(row)
        self.equal += contents in self._votes
        self._votes.add(contents)

    def _see_names(self, *names: str) -> None:
        for name in names:
            first = self._spellings.setdefault(name_key(name), name)
            if first != name:
                self._odd.setdefault(name, first)

    def _see_texts(self, texts: Texts) -> None:
        """Empty turns, and where the file's own style counts differ from ours."""
        self.unanswered += not all(reply.strip() for reply in (*texts.replies_a, *texts.replies_b))
        sides = ((texts.response_a, texts.style_a), (texts.response_b, texts.style_b))
        for text, style in sides:
            if style is not None:
                ours = count_style(text)
                self.given += 1
                self.differing += style != (ours.headings, ours.list_items, ours.bold)

    def tell(self, report: Report) -> None:
        if self.blank.count:
            blank = counted(self.blank.count, "response")
            report.notice(f"{blank} empty or blank: {_BLANK} ({self.blank})")
        if self.judged:
            report.notice(f"{counted(self.judged, 'row')} from judges: kept as judgments, never as votes")
        if self.equal:
            report.notice(
                f"{counted(self.equal, 'row')} equal to an earlier one kept as votes of their own, for "
                "without vote_id or rater and time a repeat can't be told from a second vote"
            )
        if self.unanswered:
            report.notice(
                f"{counted(self.unanswered, 'row')} with an empty reply: the vote counts all the same"
            )
        if self.given:
            report.notice(
                f"style counts given for {counted(self.given, 'response')}, of which {self.differing:,} "
                "differ from our own count of headings, list items and bold; ours are used"
            )
        for name, first in list(self._odd.items())[:_NAMED]:
            report.notice(f"{name!r} is taken for the same model as {first!r}")
