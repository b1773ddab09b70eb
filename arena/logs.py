"""Log lines are JSON, one a line, so that no user's text can forge a second one."""

import logging

import structlog


class JsonFormatter(structlog.stdlib.ProcessorFormatter):
    def __init__(self) -> None:
        super().__init__(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
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
