"""Fixtures that more than one room needs."""

from __future__ import annotations

import gc
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from chalicelib import logs
from chalicelib.local.emulator import Emulator, bound
from tests.sharing import Sharing

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

GARBAGE = (20_000, 20, 20)  # by Python's own thresholds a seventh of the time goes into looking


def pytest_collection_finish() -> None:
    """Look for garbage among all that was imported and collected now and then only."""
    gc.collect()
    gc.set_threshold(*GARBAGE)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Sharing:
    """Deal the tests out to processes."""
    return Sharing(config, log)


@pytest.fixture(scope="session")
def emulated_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the endpoint of the emulated AWS of this process, started when first asked for.

    Tests share it, so each names what it makes after itself.
    """
    emulator = Emulator(bound(), tmp_path_factory.mktemp("emulated-aws"))
    try:
        emulator.start()
        yield emulator.endpoint
    finally:
        emulator.stop()


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """Collect what is logged, as it would be written, from INFO on.

    An emulated AWS that another test started in this process has set a level for all of it.
    """
    written: list[dict[str, Any]] = []
    formatter: Any = logs.logger().handlers[0].formatter
    loggers = (logging.getLogger(logs.SERVICE), logging.getLogger("chalicelib"))
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.INFO)

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(json.loads(formatter.format(record)))

    collector = Collector()
    loggers[0].addHandler(collector)
    yield written
    loggers[0].removeHandler(collector)
    for each, level in zip(loggers, levels, strict=True):
        each.setLevel(level)
