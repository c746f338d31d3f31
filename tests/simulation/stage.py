"""All that the actors of one run share, and how clients are told from those who only serve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from chalicelib.delivery import bells
from chalicelib.ports import Ports
from tests.simulation.ledger import Ledger
from tests.simulation.ports import LightTable, WatchedQueues
from tests.simulation.run_ports import StruckFirings
from tests.simulation.watch import Watch
from tests.simulation.world import NoAnswer, World

REPEATS_MAX = 4  # of a request that got no answer; then the client gives up
REPEAT_AFTER_MS = 500

T = TypeVar("T")


@dataclass(slots=True)
class Stage:
    """All that the actors of one run share."""

    world: World
    ports: Ports
    inner: LightTable  # as it is, for who looks on
    queues: WatchedQueues
    ledger: Ledger
    watch: Watch
    firings: StruckFirings
    definition_key: int
    clients: int = 0  # who have not yet asked for all they want
    is_scheduling: bool = False  # of scheduled jobs: a message may still make a row
    is_routing: bool = False  # of messages in channels
    calls_to_end: int = 0  # those that could be struck before all was played
    is_over: bool = False  # the play is done: who waits for work goes home

    def client(self, name: str, act: Callable[[], None], after_ms: int = 0) -> None:
        """Let a client act; the play is not over before all clients have done so."""
        self.clients += 1

        def live() -> None:
            try:
                act()
            finally:
                self.clients -= 1

        jitter_ms = self.world.plan.jitter_ms() if after_ms else 0
        self.world.spawn(name, live, max(0, after_ms + jitter_ms))

    def is_played(self) -> bool:
        """Say whether all was asked for, and every instance and every row came to its end."""
        watch = self.watch
        if self.clients or self.world.echoes or watch.open_roots or watch.runs.open_rows:
            return False
        return watch.routes.is_played and not (self.is_scheduling and watch.messages)

    def is_quiet(self) -> bool:
        """Say whether no message and no schedule is left."""
        return self.watch.is_quiet()

    def repeat(self, name: str, operation: Callable[[], T]) -> T | None:
        """Ask until there is an answer, as often as a patient client does; None without one.

        Raises: Rejected.
        """
        for attempt in range(REPEATS_MAX):
            try:
                return self.world.request(name, operation)
            except NoAnswer as silence:
                self.world.note(f"no answer: {silence}")
                self.world.pause(REPEAT_AFTER_MS * 2**attempt)
        return None

    def job_queue(self, type_: str) -> str:
        """Return the queue of a job type."""
        return bells.queue_of(bells.BPMN, type_, None)
