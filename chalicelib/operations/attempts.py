"""Trying again while another writer is first, and what may not fail once a write stands."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from datetime import datetime

from chalicelib.delivery.horizon import DEADLINE
from chalicelib.engine.facts import Fact
from chalicelib.errors import Unavailable
from chalicelib.ports import Ports

FIRST_PAUSE_S = 0.020  # before the second attempt, doubling (design section 3)
PAUSE_MAX_S = 1.0

logger = logging.getLogger(__name__)


def attempts(ports: Ports, until: datetime | None = None) -> Iterator[int]:
    """Yield 0, 1, 2 …, with a pause of full jitter before each but the first, until a time.

    Shapes: `until` None is DEADLINE from now; whoever comes to the end raises Conflict.
    """
    end = until or ports.clock.now() + DEADLINE
    number, pause_s = 0, FIRST_PAUSE_S
    while True:
        yield number
        if ports.clock.now() >= end:
            return
        ports.clock.sleep(ports.chance.share() * pause_s)
        number, pause_s = number + 1, min(2 * pause_s, PAUSE_MAX_S)


def tell(ports: Ports, facts: Iterable[Fact]) -> None:
    """Tell what is committed; that it could not be told does not undo it."""
    with unfailing("what happened is told to nobody"):
        ports.journal.tell(tuple(facts))


@contextmanager
def unfailing(what: str) -> Iterator[None]:
    """Let what follows a commit not fail the request any more: messages make up for it.

    This and `answering` are the only places that catch every exception besides the doors:
    the caller's command stands, so an error of what comes after must not say otherwise.
    """
    try:
        yield
    except Unavailable as error:
        logger.info("left to its message: %s: %s", what, error)
    except Exception:
        logger.exception("failed after a commit, left to its message: %s", what)


@contextmanager
def answering(done: Sized) -> Iterator[None]:
    """Let a fault fail the request only while nothing is claimed, or begun: that is answered."""
    try:
        yield
    except Exception:
        if not len(done):
            raise
        logger.exception("failed after %d were claimed or begun, which are answered", len(done))
