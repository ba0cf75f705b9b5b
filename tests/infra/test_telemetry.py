"""Logs are JSON lines, and a secret that slips into one is hidden."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from infra.telemetry import HIDDEN, configure_logs, logger


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    text = io.StringIO()
    configure_logs("info", text)
    yield text
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_has_event_facts_level_logger_and_time(stream: io.StringIO) -> None:
    logger("play").info("table_opened", table="t1", seats=5)
    [line] = lines(stream)
    assert str(line.pop("at")).endswith("Z")
    assert line == {"event": "table_opened", "table": "t1", "seats": 5, "level": "info", "logger": "play"}


def test_lines_below_the_level_are_dropped(stream: io.StringIO) -> None:
    logger("play").debug("noise")
    logging.getLogger("uvicorn").debug("noise")
    assert lines(stream) == []


def test_the_web_servers_own_loggers_write_the_same_form(stream: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").warning("listening on %s", "127.0.0.1")
    [line] = lines(stream)
    assert (line["event"], line["level"], line["logger"]) == ("listening on 127.0.0.1", "warning", "uvicorn.error")


def test_an_exception_stands_in_its_line(stream: io.StringIO) -> None:
    try:
        raise ValueError("redis://:hunter2@cache/0 is away")
    except ValueError:
        logger("live").exception("lost")
    [line] = lines(stream)
    assert "ValueError: redis://:[hidden]@cache/0 is away" in str(line["exception"])


def test_secrets_are_hidden_by_name_by_type_and_by_look(stream: io.StringIO) -> None:
    logger("x").info(
        "Bearer abc.def.ghi",
        server_seed="00ff",
        Authorization="Basic x",
        raw=b"bytes",
        url="postgresql://khrap:hunter2@db/khrap",
        nested={"cards": ["As"], "seat": 1, "urls": ["redis://u:p@h"]},
    )
    [line] = lines(stream)
    assert line["event"] == f"Bearer {HIDDEN}"
    assert [line[name] for name in ("server_seed", "Authorization", "raw")] == [HIDDEN] * 3
    assert line["url"] == f"postgresql://khrap:{HIDDEN}@db/khrap"
    assert line["nested"] == {"cards": HIDDEN, "seat": 1, "urls": [f"redis://u:{HIDDEN}@h"]}
