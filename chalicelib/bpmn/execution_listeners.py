"""Listeners: jobs that are done before an element begins, when it has ended, and around a process.

A multi-instance body has those that come before all of its iterations, a user task that people
claim has those of its own life. Where a listener could never be called, it is refused.

Source: contracts/bpmn.md 3.2 (executionListeners, taskListeners); Camunda 8 documentation,
"Execution listeners", "User task listeners".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from chalicelib.bpmn.expressions import value_of
from chalicelib.bpmn.extensions import Extensions, extensions_of, headers_of, retries_of
from chalicelib.bpmn.model import (
    ASSIGNING,
    BEFORE_ALL,
    CANCEL,
    CANCELING,
    COMPLETING,
    CREATING,
    END,
    NAME_MAX,
    START,
    UPDATING,
    EventType,
    Kind,
    Listener,
    Value,
)
from chalicelib.bpmn.reading import Reading
from chalicelib.bpmn.refusals import Faults, each, refusal, unsupported
from chalicelib.bpmn.user_tasks import is_managed
from chalicelib.xml_tree import Node, shown

TASK_EVENTS: Mapping[str, str] = {
    **{word: word for word in (CREATING, ASSIGNING, UPDATING, COMPLETING, CANCELING)},
    # The words of the first modelers that had task listeners.
    **{"create": CREATING, "assignment": ASSIGNING, "update": UPDATING},
    **{"complete": COMPLETING, "cancel": CANCELING},
}
LISTENERS_MAX = 20  # of one element; each is a job of its own
GATEWAYS = frozenset(
    {
        *(Kind.EXCLUSIVE_GATEWAY, Kind.PARALLEL_GATEWAY, Kind.INCLUSIVE_GATEWAY),
        *(Kind.COMPLEX_GATEWAY, Kind.EVENT_BASED_GATEWAY),
    }
)


def listeners_of(
    node: Node, kind: Kind, event_type: EventType, extensions: Extensions, reading: Reading
) -> tuple[Listener, ...]:
    """Read the listeners of an element, in order.

    Raises: Rejected, also for one that cannot be run where it stands.
    """
    faults, events = Faults(), _events_of(node, kind, event_type)
    own = faults.tried((), _read, node, extensions, reading, events)
    if kind is Kind.USER_TASK and is_managed(extensions, reading):
        own = (*own, *faults.tried((), _read_of_task, node, extensions, reading))
    faults.check()
    return _counted(node, own)


def listeners_of_process(process: Node, reading: Reading) -> tuple[Listener, ...]:
    """Read the listeners of a process, in order. Raises: Rejected, likewise."""
    own = _read(process, extensions_of(process), reading, (START, END, CANCEL))
    return _counted(process, own)


def _events_of(node: Node, kind: Kind, event_type: EventType) -> Collection[str]:
    """Return the events that listeners of an element can be called at.

    An error that is thrown ends what it is thrown in, so nobody leaves its event; where a gateway
    leads is the next element's beginning. No token enters what only ties a handler to an activity.
    """
    if kind is Kind.BOUNDARY_EVENT and event_type is EventType.COMPENSATION:
        return ()
    if kind in GATEWAYS or (kind is Kind.END_EVENT and event_type is EventType.ERROR):
        return (START,)
    if node.first("multiInstanceLoopCharacteristics") is not None:
        return (START, END, BEFORE_ALL)
    return (START, END)


def _counted(node: Node, listeners: tuple[Listener, ...]) -> tuple[Listener, ...]:
    if len(listeners) > LISTENERS_MAX:
        raise refusal(node, f"expected at most {LISTENERS_MAX} listeners, found {len(listeners)}")
    return listeners


def _read(
    node: Node, extensions: Extensions, reading: Reading, events: Collection[str]
) -> tuple[Listener, ...]:
    headers = headers_of(extensions.get("taskHeaders"))

    def event_of(child: Node) -> str:
        event = child.get("eventType") or ""
        if event not in events:
            what = f"executionListener of eventType {shown(event)} on {node.name}"
            raise unsupported(node, what)
        return event

    def listener(child: Node) -> Listener:
        return _made(node, child, reading, event_of, headers)

    return tuple(each(listener, _children(extensions, "executionListener")))


def _read_of_task(node: Node, extensions: Extensions, reading: Reading) -> tuple[Listener, ...]:
    headers = headers_of(extensions.get("taskHeaders"))

    def event_of(child: Node) -> str:
        text = child.get("eventType") or ""
        event = TASK_EVENTS.get(text)
        if event is None:
            raise unsupported(node, f"taskListener of eventType {shown(text)}")
        return event

    def listener(child: Node) -> Listener:
        return _made(node, child, reading, event_of, headers)

    return tuple(each(listener, _children(extensions, "taskListener")))


def _children(extensions: Extensions, name: str) -> list[Node]:
    """Return the elements of a name in the container that is named after many of them."""
    container = extensions.get(f"{name}s")
    return [child for child in container.children if child.name == name] if container else []


def _made(
    node: Node,
    child: Node,
    reading: Reading,
    event_of: Callable[[Node], str],
    around: Mapping[str, str],
) -> Listener:
    """Return a listener; of two headers of one key its own counts, not its element's."""
    faults = Faults()
    listener = Listener(
        faults.tried("", event_of, child),
        faults.tried(Value(""), _type, node, child),
        # What a profile says of `retries` it says of a task's own jobs.
        faults.tried(None, retries_of, node, child, replace(reading, retries_are_literal=False)),
        {**around, **headers_of(child.first("headers") or child.first("taskHeaders"))},
    )
    faults.check()
    return listener


def _type(node: Node, child: Node) -> Value:
    text = child.raw("type")
    if text is None or not text.strip():
        raise refusal(node, f"{child.name}: expected an attribute type, found none")
    if len(text) > NAME_MAX and not text.lstrip().startswith("="):
        raise refusal(
            node,
            f"{child.name}: expected a type of at most {NAME_MAX} characters, found {len(text)}",
        )
    return value_of(text, node, f"attribute type of {child.name}")
