"""The canonical columns, what else they may be called, and which of them a file must have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from arena.exchange.formats.problems import RefusedError

CRITERIA = (
    "specificity",
    "domain_knowledge",
    "complexity",
    "problem_solving",
    "creativity",
    "technical_accuracy",
    "real_world",
)

# canonical name -> other names for it
PROMPT_COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("prompt_id",),
    "prompt": ("text",),
    "messages": (),
    "category": (),
    "language": ("lang",),
    "tags": (),
    "hard": ("is_hard",),
    "reference": (),
    **dict.fromkeys(CRITERIA, ()),
}
RESPONSE_COLUMNS: dict[str, tuple[str, ...]] = {
    "prompt_id": (),
    "model": ("competitor",),
    "response": ("text",),
    "prompt": (),
    "sample": (),
    "tokens": (),
    "org": ("organisation", "organization"),
}
VOTE_COLUMNS: dict[str, tuple[str, ...]] = {
    "vote_id": (),
    "prompt_id": (),
    "model_a": (),
    "model_b": (),
    "winner": ("outcome",),
    "rater": ("judge", "llm_judge", "judge_model"),
    "dwell_ms": (),
    "voted_at": ("tstamp", "timestamp"),
    "source": (),
    "flip": (),
    "kind": (),
    "retracted_at": (),
    "excluded": (),
}
# Of each group one column must be there.
REQUIRED: dict[str, tuple[tuple[str, ...], ...]] = {
    "prompts": (("prompt", "messages"),),
    "responses": (("prompt_id", "prompt"), ("model",), ("response",)),
    "votes": (("model_a",), ("model_b",), ("winner",)),
}
# What else a file may be that lacks these.
_HINTS: dict[tuple[str, tuple[str, ...]], str] = {
    ("responses", ("model",)): (
        ". Name the model whose responses these all are, or say which columns hold one model's responses each"
    ),
    ("responses", ("response",)): (
        ". Say which column holds the response, or which columns hold one model's responses each"
    ),
}
COLUMNS = {"prompts": PROMPT_COLUMNS, "responses": RESPONSE_COLUMNS, "votes": VOTE_COLUMNS}


def fold(header: str) -> str:
    """` Model A ` and `model_a` are the same header."""
    return "_".join(header.replace("\ufeff", " ").replace("-", " ").replace("_", " ").split()).casefold()


def likely_models(headers: Iterable[str]) -> tuple[str, ...]:
    """Columns that may hold one model's responses each: beside a prompt, and called like nothing of ours."""
    headers = tuple(headers)
    ours = {
        fold(name) for columns in COLUMNS.values() for pair in columns.items() for name in (pair[0], *pair[1])
    }
    folded = {fold(header) for header in headers}
    if folded & {"model", "competitor", "response"} or not folded & {"prompt", "prompt_id", "text", "id"}:
        return ()
    return tuple(header for header in headers if header.strip() and fold(header) not in ours)


@dataclass
class ColumnMap:
    """From the names in a file to the canonical ones: by `chosen` (ours -> the file's), else by name."""

    kind: str
    given: frozenset[str] = frozenset()  # columns that every row has the same, told beside the file
    chosen: Mapping[str, str] | None = None
    elsewhere: frozenset[str] = frozenset()  # headers that are read otherwise
    unknown: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)
    _known: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, aliases in COLUMNS[self.kind].items():
            self._names |= {fold(alias): name for alias in (name, *aliases)}
        if self.chosen is not None:
            self._known = {header: name for name, header in self.chosen.items()}

    def canonical(self, header: str) -> str | None:
        if header not in self._known:
            by_name = self._names.get(fold(header)) if self.chosen is None else None
            self._known[header] = None if header in self.elsewhere else by_name
            if self._known[header] is None and header.strip() and header not in self.elsewhere:
                self.unknown.append(header)
        return self._known[header]

    def check(self, headers: Iterable[str], line: int | None = None) -> None:
        """Refuse columns of which one is missing or two are the same."""
        headers = list(headers)
        found: dict[str, str] = {}
        for header in headers:
            name = self.canonical(header)
            if name is None:
                continue
            if name in found:
                raise RefusedError(
                    f"{found[name]!r} and {header!r} both mean the column {name}; keep one", line
                )
            found[name] = header
        for group in REQUIRED[self.kind]:
            if not (found.keys() | self.given) & set(group):
                wanted = " or ".join(group)
                listed = ", ".join(header.strip() for header in headers[:20] if header.strip()) or "none"
                hint = _HINTS.get((self.kind, group), "")
                raise RefusedError(f"the column {wanted} is missing; found: {listed}{hint}", line)
