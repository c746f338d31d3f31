"""Errors that the operations survive and write to the log: here each is a broken invariant."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chalicelib.errors import Conflict
from tests.simulation.world import Fault, NoAnswer

EXPECTED = (Fault, NoAnswer, Conflict)  # what strikes may lead to


class _Reporter(logging.Handler):
    """Complains of every exception in the log that no strike explains."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._complain = complain

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, EXPECTED):
            self._complain(f"{record.getMessage()}: {type(error).__name__}: {error}")


@contextmanager
def reporting_bugs(complain: Callable[[str], None]) -> Iterator[None]:
    """Complain of errors in the log while this lasts, and keep the log off the screen."""
    logger, reporter = logging.getLogger("chalicelib"), _Reporter(complain)
    propagated, level = logger.propagate, logger.level
    logger.propagate = False
    logger.setLevel(logging.WARNING)
    logger.addHandler(reporter)
    try:
        yield
    finally:
        logger.removeHandler(reporter)
        logger.propagate = propagated
        logger.setLevel(level)
