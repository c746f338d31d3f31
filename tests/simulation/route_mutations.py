"""What guards and orderings of message routing are taken away, and by whom it is to be noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from greenlet import getcurrent

from chalicelib.delivery import routing as messages
from chalicelib.delivery.routing import Owed
from chalicelib.operations import endpoints
from chalicelib.ports import Ports, Table, Write
from chalicelib.store import entries
from chalicelib.store.route_conditions import RouteGuard
from tests.simulation.replacing import replaced
from tests.simulation.run_mutations import AnyGuard, Named

Mutant = AbstractContextManager[None]

IDLE: dict[Named, str] = {}

NOTICED_BY: dict[AnyGuard, tuple[str, ...]] = {
    RouteGuard.ENTER: ("routed-start", "routed-parts"),
    RouteGuard.SETTLE: ("routed-count", "routed-start"),
    RouteGuard.GROUP: ("routed-count", "routed-count-against-timeout"),
    RouteGuard.ROUTE: ("routes-declared-at-once",),
    RouteGuard.SOURCE: ("routes-declared-at-once",),
}


@contextmanager
def routed_promised_late() -> Iterator[None]:
    """Tell of what follows only after it is written down."""
    owed: dict[object, list[Callable[[], None]]] = {}
    promise, commit = messages.promise, entries.commit

    def hold(ports: Ports, following: Sequence[Owed]) -> None:
        owed.setdefault(getcurrent(), []).append(partial(promise, ports, following))

    def commit_then_pay(store: Table, writes: Sequence[Write], token: str) -> int | None:
        refused = commit(store, writes, token)
        for pay in owed.pop(getcurrent(), []):
            if refused is None:
                pay()
        return refused

    with replaced(messages, promise=hold), replaced(entries, commit=commit_then_pay):
        yield


def endpoints_unmarked() -> Mutant:
    """Start an instance, or correlate, each time that a message comes to its endpoint."""
    return replaced(endpoints, _once=lambda *_: None)


ORDERINGS: tuple[tuple[str, Callable[[], Mutant], tuple[str, ...]], ...] = (
    ("promise before commit, of what is routed", routed_promised_late, ("routed-start",)),
    ("the mark of a routed start", endpoints_unmarked, ("routed-start",)),
    ("the mark of a routed correlation", endpoints_unmarked, ("routed-correlation",)),
)
