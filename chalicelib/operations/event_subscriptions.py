"""What the events of an instance wait for, or did: timers, messages and errors, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from chalicelib.engine.state import Instance
from chalicelib.operations import scopes
from chalicelib.ports import Ports
from chalicelib.store import instances, rows
from chalicelib.store.error_rows import ErrorRow, error_rows
from chalicelib.store.lists import Cut, Listed
from chalicelib.store.rows import MessageRow, TimerRow

Row = TypeVar("Row", TimerRow, MessageRow, ErrorRow)


def get_timer_subscriptions(
    ports: Ports, key: int, states: frozenset[bool | None] | None, cut: Cut
) -> tuple[Listed[TimerRow], Instance | None]:
    """Return a page of the timers set in an instance, the newest first, and the instance.

    Shapes: `states` are as a row has them: None waits, True has fired, False was withdrawn.
    """

    def read(instance: Instance) -> Iterable[TimerRow]:
        found = rows.timer_rows(ports.table, instance.key).values()
        return (row for row in found if states is None or row.fired in states)

    return _page(ports, key, cut, read)


def get_message_subscriptions(
    ports: Ports, key: int, states: frozenset[bool | None] | None, cut: Cut
) -> tuple[Listed[MessageRow], Instance | None]:
    """Return a page of the messages an instance waited for, the newest first, and the instance.

    Shapes: `states` are as a row has them: None waits, True came, False was withdrawn.
    """

    def read(instance: Instance) -> Iterable[MessageRow]:
        found = rows.message_rows(ports.table, instance.key).values()
        return (row for row in found if states is None or row.came in states)

    return _page(ports, key, cut, read)


def get_error_subscriptions(
    ports: Ports, key: int, is_open: bool | None, cut: Cut
) -> tuple[Listed[ErrorRow], Instance | None]:
    """Return a page of the errors that an instance would catch or would have, the newest first,
    and the instance."""

    def read(instance: Instance) -> Iterable[ErrorRow]:
        process = scopes.definition_of(ports, instance).process
        found = error_rows(ports.table, instance.root, process)
        return (row for row in found if is_open in (None, row.is_open))

    return _page(ports, key, cut, read)


def _page(
    ports: Ports, key: int, cut: Cut, read: Callable[[Instance], Iterable[Row]]
) -> tuple[Listed[Row], Instance | None]:
    """Return a page of an instance's rows, or of those of one scope; none for an unknown key."""
    instance = instances.load(ports.table, key)
    if instance is None:
        return Listed([], 0), None
    found = [row for row in read(instance) if key in (instance.key, row.scope)]
    return cut.page_by_time(found), instance
