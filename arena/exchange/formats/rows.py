"""What a file may hold, row by row, whatever its format: prompts, responses, votes."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from arena.corpus.names import name_key
from arena.exchange.formats.cells import CellError, Turn
from arena.exchange.formats.columns import CRITERIA

# The longest ids, names, labels, raters and vote ids, in characters.
ID, NAME, SHORT, PSEUDONYM, VOTE_ID = 200, 200, 120, 120, 80

# Every spelling that is understood, in any case. Besides these, the name of the model that won.
WINNERS: dict[str, str] = {
    "model_a": "model_a",
    "a": "model_a",
    "left": "model_a",
    "model_b": "model_b",
    "b": "model_b",
    "right": "model_b",
    "tie": "tie",
    "draw": "tie",
    "both_bad": "both_bad",
    "bothbad": "both_bad",
    "both bad": "both_bad",
    "tie (bothbad)": "both_bad",
    "tie (both bad)": "both_bad",
}
# What only a judge, asked in both orders, can find.
FINDINGS: dict[str, str] = {
    "tie_unstable": "tie_unstable",
    "tie (inconsistent)": "tie_unstable",
    "tie_verbose": "tie_verbose",
    "no_verdict": "no_verdict",
}
PERSON, JUDGE, SIMULATED = "person", "judge", "simulated"


def content_id(turns: tuple[Turn, ...]) -> str:
    """The id of a prompt that came without one: the same turns have the same id everywhere."""
    plain = json.dumps([[turn.role, turn.content] for turn in turns])
    return f"c-{hashlib.sha256(plain.encode()).hexdigest()[:24]}"


@dataclass(frozen=True)
class PromptRow:
    line: int
    id: str
    turns: tuple[Turn, ...]
    category: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    reference: str = ""
    hard: bool | None = None
    criteria: tuple[bool | None, ...] = (None,) * len(CRITERIA)

    @property
    def key(self) -> object:
        return self.id

    @property
    def name(self) -> str:
        return f"prompt {self.id!r}"


@dataclass(frozen=True)
class ResponseRow:
    line: int
    prompt_id: str
    model: str
    text: str
    sample: int = 1
    tokens: int | None = None
    org: str = ""
    prompt: str = ""  # the prompt's text, where the file has no id for it

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def key(self) -> object:
        return self.prompt_id, self.prompt, name_key(self.model), self.sample

    @property
    def name(self) -> str:
        return f"sample {self.sample} of {self.model!r} for prompt {self.prompt_id!r}"


@dataclass(frozen=True)
class Texts:
    """What a vote was about, where the file says so."""

    prompt: tuple[Turn, ...]
    replies_a: tuple[str, ...]
    replies_b: tuple[str, ...]
    language: str = ""
    criteria: tuple[bool | None, ...] = (None,) * len(CRITERIA)
    tokens_a: int | None = None
    tokens_b: int | None = None
    # headings, list items and bold runs as the file counts them
    style_a: tuple[int, int, int] | None = None
    style_b: tuple[int, int, int] | None = None

    @property
    def response_a(self) -> str:
        return "\n\n".join(self.replies_a)

    @property
    def response_b(self) -> str:
        return "\n\n".join(self.replies_b)


@dataclass(frozen=True)
class VoteRow:
    line: int
    model_a: str
    model_b: str
    outcome: str
    prompt_id: str = ""
    rater: str = ""
    vote_id: str = ""
    dwell_ms: int | None = None
    voted_at: datetime | None = None
    label: str = ""  # the winner in the file's own words
    format: str = ""  # none is our own
    source: str = PERSON
    is_source_told: bool = True  # by the file, and not only assumed
    is_simulated: bool = False  # a person's vote that a program drew
    flip: str = ""  # of a judge asked in both orders: none, soft, hard
    address: str = ""  # a network address, to be made a pseudonym and never kept
    texts: Texts | None = None

    @property
    def key(self) -> object:
        """What can't happen twice; None when a second row may as well be a second vote."""
        if self.vote_id:
            return self.vote_id
        if self.rater and self.voted_at:
            return self.rater, self.voted_at, self.prompt_id, name_key(self.model_a), name_key(self.model_b)
        return None

    @property
    def name(self) -> str:
        return f"vote {self.vote_id!r}" if self.vote_id else f"the vote of {self.rater!r} at {self.voted_at}"


AnyRow = PromptRow | ResponseRow | VoteRow


def outcome_of(winner: str, model_a: str, model_b: str, source: str = PERSON) -> str:
    if not winner:
        raise CellError("winner", "is empty; use model_a, model_b, tie or both_bad")
    word = " ".join(winner.casefold().split())
    if source == JUDGE and word in FINDINGS:
        return FINDINGS[word]
    found = {WINNERS.get(word)}
    found |= {
        side
        for side, name in (("model_a", model_a), ("model_b", model_b))
        if name_key(name) == name_key(winner)
    }
    found.discard(None)
    if not found:
        raise CellError("winner", f"{winner!r} is unknown; use model_a, model_b, tie or both_bad")
    if len(found) > 1:
        raise CellError("winner", f"{winner!r} is a model's name and a side as well; use model_a or model_b")
    outcome = str(found.pop())
    if source == JUDGE and outcome == "both_bad":
        raise CellError("winner", f"{winner!r} is nothing a judge can find; use model_a, model_b or tie")
    return outcome


def rivals(model_a: str, model_b: str, column_b: str = "model_b") -> tuple[str, str]:
    if name_key(model_a) == name_key(model_b):
        raise CellError(column_b, f"{model_b!r} can't fight itself")
    return model_a, model_b
