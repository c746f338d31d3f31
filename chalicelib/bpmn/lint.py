"""What a model that can be run may still be wrong about: warnings, which refuse nothing.

Five are looked for: a wait that nothing bounds, what grows towards a limit or is close to one, a
condition that no variable can make true, or that hides those behind it, events that wait for the
same in one place, and listeners that nobody asks. Conditions
are looked at in `flow_lint.py`, more in `ad_hoc_lint.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chalicelib.bpmn.ad_hoc_lint import ad_hoc_warnings
from chalicelib.bpmn.crowds import WRITES_SURE, counted, crowds
from chalicelib.bpmn.extensions import extensions_of
from chalicelib.bpmn.flow_lint import flow_warnings, is_fixed, names_in
from chalicelib.bpmn.model import (
    Element,
    EventType,
    IoMapping,
    Kind,
    ManyDefinition,
    Process,
)
from chalicelib.bpmn.refusals import Fault, described
from chalicelib.xml_tree import Node, shown

WAITED = frozenset({EventType.MESSAGE, EventType.SIGNAL, EventType.CONDITIONAL})
CATCHING = frozenset({Kind.INTERMEDIATE_CATCH_EVENT, Kind.RECEIVE_TASK})
GROWING = ("append(", "concatenate(", "insert before(")


def warnings_of(xml: bytes, processes: Sequence[Process], item_bytes: int) -> list[Fault]:
    """Return what to look at again in the processes of a file, in its order.

    Shapes: `item_bytes` is how large what is stored as one item may be.
    """
    from chalicelib.xml_reader import read  # noqa: PLC0415 (it loads lxml)

    nodes = _by_id(read(xml))
    found: list[Fault] = []
    for process in processes:
        told = [*_waits(process), *_growing(process, item_bytes), *flow_warnings(process)]
        told += [*ad_hoc_warnings(process, item_bytes), *_unheard(process, nodes)]
        told += [*_alike(process), *_crowded(process)]
        for id_, text in told:
            node = nodes.get(id_)
            named = f'flow "{id_}"' if node is None else described(node)
            found.append(Fault(0 if node is None else node.line, f"{named}: {text}"))
    return sorted(found, key=lambda fault: fault.line)


def _by_id(root: Node) -> Mapping[str, Node]:
    """Return all nodes that have an id; of two the first, as drawings come after models."""
    found: dict[str, Node] = {}
    left = [root]
    while left:
        node = left.pop()
        if (id_ := node.get("id")) is not None:
            found.setdefault(id_, node)
        left += reversed(node.children)
    return found


def _unheard(process: Process, nodes: Mapping[str, Node]) -> Iterator[tuple[str, str]]:
    """Yield user tasks that are jobs, and have listeners that only tasks of people have."""
    for element in process.elements.values():
        is_job = element.job is not None and not element.job.managed
        node = nodes.get(element.id)
        if element.kind is not Kind.USER_TASK or not is_job or node is None:
            continue
        if "taskListeners" in extensions_of(node):
            yield (
                element.id,
                "its task listeners are never asked: expected a task of people (zeebe:userTask and "
                "no taskDefinition), found a job for workers",
            )


# --- waits -------------------------------------------------------------------------------------


def _waits(process: Process) -> Iterator[tuple[str, str]]:
    for element in process.elements.values():
        if _may_wait_for_ever(process, element) and not _is_bounded(process, element):
            yield (
                element.id,
                "it waits without a timeout: expected a timer on it, beside it behind a gateway, "
                "or around it",
            )


def _may_wait_for_ever(process: Process, element: Element) -> bool:
    if element.instantiates or not (element.incoming or element.outgoing):
        return False
    if element.kind is Kind.EVENT_BASED_GATEWAY:
        behind = [process.elements[process.flows[id_].target] for id_ in element.outgoing]
        return all(each.event_type is not EventType.TIMER for each in behind)
    types = {part.event_type for part in element.parts or (element,)}
    if element.kind not in CATCHING or not types <= WAITED | {EventType.TIMER}:
        return False
    if _is_behind_gateway(process, element):
        return False
    return types <= WAITED or (element.is_parallel and bool(types & WAITED))


def _is_behind_gateway(process: Process, element: Element) -> bool:
    sources = (process.elements[process.flows[id_].source] for id_ in element.incoming)
    return any(each.kind is Kind.EVENT_BASED_GATEWAY for each in sources)


def _is_bounded(process: Process, element: Element) -> bool:
    """Say whether a timer ends the wait, or tells of it, on the element or around it."""
    place: Element | None = element
    while place is not None:
        events = (process.elements[id_] for id_ in place.boundary_events)
        if any(event.timer is not None for event in events):
            return True
        if _has_timed_subprocess(process, place.scope):
            return True
        place = process.elements.get(place.scope)
    return False


def _has_timed_subprocess(process: Process, scope: str) -> bool:
    starts = (
        process.elements.get(each.start or "")
        for each in process.elements.values()
        if each.scope == scope and each.triggered_by_event
    )
    return any(start is not None and start.timer is not None for start in starts)


# --- events beside each other ------------------------------------------------------------------


def _alike(process: Process) -> Iterator[tuple[str, str]]:
    """Yield events on one activity, or that start event subprocesses of one scope, which wait for
    what another there does and which only one of them gets."""
    triggered: dict[str, list[str]] = {}
    for element in process.elements.values():
        yield from _repeated(process, element.boundary_events)
        if element.triggered_by_event and element.start is not None:
            triggered.setdefault(element.scope, []).append(element.start)
    for starts in triggered.values():
        yield from _repeated(process, starts)


def _repeated(process: Process, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    first: dict[tuple[str, ...], str] = {}
    for id_ in ids:
        event = process.elements[id_]
        for part in event.parts or (event,):
            waited = _waited(part)
            other = id_ if waited is None else first.setdefault(waited, id_)
            if other != id_:
                yield id_, f"it waits for the same as {shown(other)}, and only one of them gets it"


def _waited(event: Element) -> tuple[str, ...] | None:
    """Return what only one of several that wait for it gets; None if all do."""
    name = event.event_name
    match event.event_type:
        case EventType.MESSAGE if name is not None and name.correlation_key is not None:
            return "message", name.name.text, name.correlation_key.text
        case EventType.ERROR:
            return "error", event.error_code or ""
        case EventType.ESCALATION:
            return "escalation", event.escalation_code or ""
        case EventType.CANCEL:
            return ("cancel",)
        case _:
            return None


# --- limits ------------------------------------------------------------------------------------


def _crowded(process: Process) -> Iterator[tuple[str, str]]:
    for crowd in crowds(process.elements, process.flows, process.id):
        if crowd.most > WRITES_SURE:
            yield (
                crowd.id,
                f"up to {WRITES_SURE} writes to wait for all its events at once are sure to fit, "
                + counted(crowd.most),
            )


def _growing(process: Process, item_bytes: int) -> Iterator[tuple[str, str]]:
    for element in process.elements.values():
        name = None if element.many is None else _added_to(element.many)
        if name is not None:
            yield (
                element.id,
                f"every round adds to {shown(name)}: the variables of one scope may have "
                f"{item_bytes} bytes at most",
            )
        for target in _appended(element):
            yield (
                element.id,
                f"{shown(target)} grows each time: the variables of one scope may have "
                f"{item_bytes} bytes at most",
            )


def _added_to(many: ManyDefinition) -> str | None:
    """Return what the results of a multi-instance activity are added to, if the model does not
    say how many there are."""
    rounds = many.input_collection or many.cardinality
    return None if rounds is not None and is_fixed(rounds) else many.output_collection


def _appended(element: Element) -> Iterator[str]:
    """Yield the variables that an element makes of themselves and more."""
    made: list[tuple[str, str]] = [
        (mapping.target, mapping.source.text)
        for mapping in element.outputs
        if isinstance(mapping, IoMapping) and mapping.source is not None and mapping.source.is_feel
    ]
    if element.script is not None:
        made.append((element.script.result_variable, element.script.expression))
    for target, text in made:
        if any(word in text for word in GROWING) and target.split(".")[0] in names_in(text):
            yield target
