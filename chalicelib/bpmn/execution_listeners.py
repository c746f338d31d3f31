"""Listeners: jobs that are done before an element begins, or after it has ended.

Those of a process come before whatever starts it. A user task that people claim has listeners of
its own: one of its creation is one of its beginning, one of its completion comes before the outputs
are mapped. Source: contracts/bpmn.md 3.2 (executionListeners, taskListeners).
"""

from __future__ import annotations

from chalicelib.bpmn.expressions import value_of
from chalicelib.bpmn.extensions import Extensions, extensions_of, headers_of, retries_of
from chalicelib.bpmn.model import COMPLETING, END, NAME_MAX, START, EventType, Kind, Listener
from chalicelib.bpmn.reading import Reading
from chalicelib.bpmn.refusals import each, refusal, unsupported
from chalicelib.xml_tree import Node, shown

TASK_EVENTS = {"creating": START, "create": START, COMPLETING: COMPLETING, "complete": COMPLETING}
LISTENERS_MAX = 20  # of one element; each is a job of its own
WITHOUT_END = frozenset(
    {
        *(Kind.EXCLUSIVE_GATEWAY, Kind.PARALLEL_GATEWAY, Kind.INCLUSIVE_GATEWAY),
        *(Kind.COMPLEX_GATEWAY, Kind.EVENT_BASED_GATEWAY),
    }
)
# End events that do not leave: they throw, or end what is around them.
NOT_LEAVING = frozenset({EventType.ERROR, EventType.TERMINATE, EventType.CANCEL})


def listeners_of(
    node: Node, kind: Kind, event_type: EventType, extensions: Extensions, reading: Reading
) -> tuple[Listener, ...]:
    """Read the listeners of an element, in order, those around a process with its start events.

    Raises: Rejected, also for one that cannot be run where it stands.
    """
    own = _read(node, extensions, reading)
    ends = any(listener.event == END for listener in own)
    if ends and (kind in WITHOUT_END or (kind is Kind.END_EVENT and event_type in NOT_LEAVING)):
        raise unsupported(node, f"executionListener of eventType {shown(END)} on {node.name}")
    process = node.parent
    if kind is Kind.START_EVENT and process is not None and process.name == "process":
        around = _read(process, extensions_of(process), reading)
        if any(listener.event == END for listener in around):
            raise unsupported(process, f"executionListener of eventType {shown(END)} on process")
        own = (*around, *own)
    if kind is Kind.USER_TASK and reading.user_task_type is None:
        own = (*own, *_read_of_task(node, extensions, reading))
    if len(own) > LISTENERS_MAX:
        raise refusal(node, f"expected at most {LISTENERS_MAX} listeners, found {len(own)}")
    return own


def _read(node: Node, extensions: Extensions, reading: Reading) -> tuple[Listener, ...]:
    found = _children(extensions, "executionListener")
    return tuple(each(lambda child: _listener(node, child, reading), found))


def _read_of_task(node: Node, extensions: Extensions, reading: Reading) -> tuple[Listener, ...]:
    found = _children(extensions, "taskListener")
    return tuple(each(lambda child: _task_listener(node, child, reading), found))


def _children(extensions: Extensions, name: str) -> list[Node]:
    """Return the elements of a name in the container that is named after many of them."""
    container = extensions.get(f"{name}s")
    return [child for child in container.children if child.name == name] if container else []


def _task_listener(node: Node, child: Node, reading: Reading) -> Listener:
    event = TASK_EVENTS.get(child.get("eventType") or "")
    if event is None:
        raise unsupported(node, f"taskListener of eventType {shown(child.get('eventType') or '')}")
    return _made(node, child, reading, event)


def _listener(node: Node, child: Node, reading: Reading) -> Listener:
    event = child.get("eventType")
    if event not in (START, END):
        raise unsupported(node, f"executionListener of eventType {shown(event or '')}")
    return _made(node, child, reading, event)


def _made(node: Node, child: Node, reading: Reading, event: str) -> Listener:
    text = child.raw("type")
    if text is None or not text.strip():
        raise refusal(node, f"{child.name}: expected an attribute type, found none")
    if len(text) > NAME_MAX and not text.lstrip().startswith("="):
        raise refusal(node, f"{child.name}: expected a type of at most {NAME_MAX} characters")
    return Listener(
        event,
        value_of(text, node, f"attribute type of {child.name}"),
        retries_of(node, child, reading),
        headers_of(child.first("headers") or child.first("taskHeaders")),
    )
