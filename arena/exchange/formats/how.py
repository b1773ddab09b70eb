"""How a file is to be read, where what it says of itself isn't enough."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from arena.exchange.formats.known import AUTO


@dataclass(frozen=True)
class How:
    format: str = AUTO
    judges: bool = False  # the raters of the file are judges
    people: bool = False  # they are people, whatever they are called
    model: str = ""  # whose responses they all are
    columns: Mapping[str, str] | None = None  # ours -> the file's; None goes by their names
    model_columns: tuple[str, ...] = ()  # each holds the responses of the model it is named after
    encoding: str = ""
    delimiter: str = ""

    def as_json(self) -> dict[str, Any]:
        """What differs from the default."""
        plain = asdict(self) | {"model_columns": list(self.model_columns)}
        return {name: value for name, value in plain.items() if value != _DEFAULT[name]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "How":
        known = {name: value for name, value in stored.items() if name in _DEFAULT}
        return cls(**known | {"model_columns": tuple(stored.get("model_columns", ()))})


AS_FOUND = How()
_DEFAULT = asdict(AS_FOUND) | {"model_columns": []}
