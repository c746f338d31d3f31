"""What an instance waits for: timers, messages, errors (contracts/zenbpm.md section 1.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.zenbpm import errors, instance_shapes, keys, pages
from chalicelib.api.zenbpm.pages import Order
from chalicelib.operations import event_subscriptions
from chalicelib.store.error_rows import ErrorRow
from chalicelib.store.lists import Listed
from chalicelib.store.rows import MessageRow, TimerRow

ACTIVE, COMPLETED, TERMINATED, WITHDRAWN = "active", "completed", "terminated", "withdrawn"
TIMER_STATES = {ACTIVE: None, COMPLETED: True, WITHDRAWN: False}
MESSAGE_STATES = {ACTIVE: None, COMPLETED: True, TERMINATED: False}
ERROR_STATES = {ACTIVE: True, WITHDRAWN: False}
ORDER = Order({}, default="created_at")

routes = Blueprint(__name__)


@dataclass(frozen=True, slots=True)
class TimerView:
    """A timer, with the definition that it is of."""

    row: TimerRow
    definition_key: int

    @property
    def state(self) -> str:
        """Whether it waits, has fired or was withdrawn."""
        return next(state for state, fired in TIMER_STATES.items() if fired is self.row.fired)


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message that is or was waited for, with the definition that it is of."""

    row: MessageRow
    definition_key: int

    @property
    def state(self) -> str:
        """Whether it waits, came or was withdrawn."""
        return next(state for state, came in MESSAGE_STATES.items() if came is self.row.came)


@dataclass(frozen=True, slots=True)
class ErrorView:
    """An error that is or was looked out for, with the definition that it is of."""

    row: ErrorRow
    definition_key: int

    @property
    def state(self) -> str:
        """Whether it would be caught still."""
        return ACTIVE if self.row.is_open else WITHDRAWN


@routes.route(
    "/process-instances/{process_instance_key}/event-subscriptions/timers", content_types=[]
)
@errors_as(errors.error)
@Operation(
    "getTimerSubscriptions",
    query=instance_shapes.SUBSCRIPTIONS_QUERY,
    answers={200: instance_shapes.TIMER_SUBSCRIPTION_PAGE},
    refusals=(400, 413),
)
def get_timer_subscriptions(process_instance_key: str) -> Response:
    """getTimerSubscriptions: 200 and a page, empty for a key that names nothing; 400."""
    asked = _asked(TIMER_STATES)
    states = frozenset({TIMER_STATES[asked["state"]]}) if "state" in asked else None
    listed, instance = event_subscriptions.get_timer_subscriptions(
        wiring.ports(), keys.instance_key(process_instance_key), states, pages.cut(asked, ORDER)
    )
    shown = [TimerView(row, instance.root.definition_key) for row in listed.items if instance]
    return pages.answer(instance_shapes.TIMER_SUBSCRIPTION_PAGE, asked, Listed(shown, listed.total))


@routes.route(
    "/process-instances/{process_instance_key}/event-subscriptions/messages", content_types=[]
)
@errors_as(errors.error)
@Operation(
    "getMessageSubscriptions",
    query=instance_shapes.SUBSCRIPTIONS_QUERY,
    answers={200: instance_shapes.MESSAGE_SUBSCRIPTION_PAGE},
    refusals=(400, 413),
)
def get_message_subscriptions(process_instance_key: str) -> Response:
    """getMessageSubscriptions: 200 and a page, empty for a key that names nothing; 400."""
    asked = _asked(MESSAGE_STATES)
    states = frozenset({MESSAGE_STATES[asked["state"]]}) if "state" in asked else None
    listed, instance = event_subscriptions.get_message_subscriptions(
        wiring.ports(), keys.instance_key(process_instance_key), states, pages.cut(asked, ORDER)
    )
    shown = [MessageView(row, instance.root.definition_key) for row in listed.items if instance]
    page = instance_shapes.MESSAGE_SUBSCRIPTION_PAGE
    return pages.answer(page, asked, Listed(shown, listed.total))


@routes.route(
    "/process-instances/{process_instance_key}/event-subscriptions/errors", content_types=[]
)
@errors_as(errors.error)
@Operation(
    "getErrorSubscriptions",
    query=instance_shapes.SUBSCRIPTIONS_QUERY,
    answers={200: instance_shapes.ERROR_SUBSCRIPTION_PAGE},
    refusals=(400, 413),
)
def get_error_subscriptions(process_instance_key: str) -> Response:
    """getErrorSubscriptions: 200 and a page, empty for a key that names nothing; 400."""
    asked = _asked(ERROR_STATES)
    is_open = ERROR_STATES[asked["state"]] if "state" in asked else None
    listed, instance = event_subscriptions.get_error_subscriptions(
        wiring.ports(), keys.instance_key(process_instance_key), is_open, pages.cut(asked, ORDER)
    )
    shown = [ErrorView(row, instance.root.definition_key) for row in listed.items if instance]
    return pages.answer(instance_shapes.ERROR_SUBSCRIPTION_PAGE, asked, Listed(shown, listed.total))


def _asked(states: Mapping[str, Any]) -> dict[str, Any]:
    """Read the question. Raises: Rejected for a state that such subscriptions never have."""
    asked = http.query(routes.current_request, instance_shapes.SUBSCRIPTIONS_QUERY)
    if "state" in asked and asked["state"] not in states:
        raise http.parameter_error(
            "state", "query", f"expected one of {', '.join(states)}, found {asked['state']}"
        )
    return asked
