"""Each test is in a sampled trace, and may ask for the lines that it writes."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import logs
from chalicelib.telemetry import xray
from tests.telemetry.told import TRACE, Seen


@pytest.fixture(autouse=True)
def traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(xray.TRACE, TRACE)


@pytest.fixture
def lines() -> Iterator[Seen]:
    written: Seen = []
    formatter: Any = logs.logger().handlers[0].formatter

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(json.loads(formatter.format(record)))

    collector, logger = Collector(), logging.getLogger(logs.SERVICE)
    logger.addHandler(collector)
    yield written
    logger.removeHandler(collector)
