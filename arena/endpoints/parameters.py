"""What an endpoint may send along with every call: JSON that every server and database can take. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

from arena.endpoints.replies import storable

# Known parameters nest three or four levels.
DEEPEST = 20


def read_parameters(text: str) -> Any:
    """JSON from a person; raises ValueError with words of ours."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is no valid JSON: {error}") from None
    except RecursionError:
        raise ValueError(f"the parameters nest deeper than {DEEPEST} levels") from None
    except ValueError:
        # Python reads no integer of thousands of digits.
        raise ValueError("the parameters hold a number that is too long") from None
    check_parameters(found)
    return found


def check_parameters(value: Any, depth: int = 0) -> None:
    """Raises ValueError for what can't be sent or stored."""
    if depth > DEEPEST:
        raise ValueError(f"the parameters nest deeper than {DEEPEST} levels")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"the parameters hold a number that JSON doesn't know ({value})")
    if isinstance(value, str) and value != storable(value):
        raise ValueError("the parameters hold a character that can't be stored: NUL, or half of a pair")
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list):
        for inner in value:
            check_parameters(inner, depth + 1)
