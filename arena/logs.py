"""Log lines are JSON, one a line, so that no text of a user can forge another. No link in them works."""

from __future__ import annotations

import logging
import re
from collections.abc import MutableMapping
from typing import Any

import structlog

# Where addresses hold what admits whoever knows it. Some servers and messages write the slash as %2F.
SECRET_PLACES = ("join", "accounts/reset", "accounts/tokens")
_SLASH = "(?:/|%2[Ff])"
_SECRET = re.compile(
    f"({_SLASH}(?:{'|'.join(place.replace('/', _SLASH) for place in SECRET_PLACES)}){_SLASH})[^\\s\"'?#&<>]+"
)


def without_secrets(text: str) -> str:
    """/join/… in place of /join/k8Kw…/: whoever reads a log can't come in by it."""
    return _SECRET.sub(r"\1…", text)


def _hide_secrets(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = without_secrets(value)
    return event


class JsonFormatter(structlog.stdlib.ProcessorFormatter):
    def __init__(self) -> None:
        super().__init__(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                _hide_secrets,
                structlog.processors.JSONRenderer(sort_keys=True),
            ],
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
        )

    def format(self, record: logging.LogRecord) -> str:
        record.msg = record.getMessage()
        record.args = ()
        return super().format(record)
