"""Logs: one JSON object a line on standard error, without secrets."""

import logging
import re
import sys
from collections.abc import Mapping
from typing import TextIO

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

SECRET_WORDS = re.compile(
    r"authorization|card|cookie|deck|discard|draw|hand_key|master|password|private|sealed|secret|seed|token"
)
HIDDEN = "[hidden]"
URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):[^/\s@]*@")
BEARER = re.compile(r"(?i)\b(bearer\s+)\S+")


def configure_logs(level: str, stream: TextIO | None = None) -> None:
    """Have structlog, and the standard library's loggers (the web server's), write to `stream`: standard error if None.

    `level`: debug, info, warning or error.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.format_exc_info,
        hide_secrets,
    ]
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(sort_keys=True, ensure_ascii=False),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Its pool tells of every connection that it lends, which is nearly all that would be said.
    logging.getLogger("psycopg").setLevel("DEBUG" if level == "debug" else max(logging.WARNING, root.level))
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Not cached: a logger would keep the level and the stream of the first configuration that it met.
        cache_logger_on_first_use=False,
    )


def logger(name: str) -> FilteringBoundLogger:
    """A logger: `log.info("table_opened", table=table_id)`. The first argument is a stable word, the rest are facts."""
    bound: FilteringBoundLogger = structlog.get_logger(name)
    return bound


def hide_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A processor: hides values whose name speaks of a secret, raw bytes, and what looks like a credential in a text.

    It is the last net, not the way to keep a secret: what is secret is not given to a logger.
    """
    return {name: value if name.startswith("_") else _shown(name, value) for name, value in event.items()}


def _shown(name: str, value: object) -> object:
    if SECRET_WORDS.search(name.lower()) or isinstance(value, bytes | bytearray | memoryview):
        return HIDDEN
    if isinstance(value, str):
        return BEARER.sub(rf"\1{HIDDEN}", URL_PASSWORD.sub(rf"\1:{HIDDEN}@", value))
    if isinstance(value, Mapping):
        return {key: _shown(str(key), each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shown("", each) for each in value]
    return value
