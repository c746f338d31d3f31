"""A test may ask for the lines of the log that it writes."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import logs


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    written: list[dict[str, Any]] = []
    formatter: Any = logs.logger().handlers[0].formatter

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(json.loads(formatter.format(record)))

    collector, logger = Collector(), logging.getLogger(logs.SERVICE)
    logger.addHandler(collector)
    yield written
    logger.removeHandler(collector)
