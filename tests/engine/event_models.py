"""What events are about beside timers, errors, messages and signals, for the processes of tests."""

from __future__ import annotations

from xml.sax.saxutils import escape

from tests.engine.models import _boundary, _event, _extensions, _timer

_ANY_ERROR = "<errorEventDefinition/>"


def boundary_escalation(
    id_: str, on: str, escalation: str | None = None, *, interrupting: bool = True
) -> str:
    """Return a boundary escalation event; without an escalation it catches all."""
    return _boundary(id_, on, _escalation(escalation), interrupting=interrupting)


def escalation_throw(id_: str, escalation: str) -> str:
    return f'<intermediateThrowEvent id="{id_}">{_escalation(escalation)}</intermediateThrowEvent>'


def escalation_end(id_: str, escalation: str) -> str:
    return f'<endEvent id="{id_}">{_escalation(escalation)}</endEvent>'


def timer(**timer: str) -> str:
    """Return what an event is about: `duration`, `date` or `cycle`."""
    return _timer(**timer)


def message(reference: str) -> str:
    """Return what an event is about: a message."""
    return f'<messageEventDefinition messageRef="{reference}"/>'


def signal(reference: str) -> str:
    """Return what an event is about: a signal."""
    return f'<signalEventDefinition signalRef="{reference}"/>'


def several(tag: str, id_: str, *definitions: str, attributes: str = "") -> str:
    """Return an event of several definitions."""
    return f'<{tag} id="{id_}" {attributes}>{"".join(definitions)}</{tag}>'


def conditional(condition: str, names: str | None = None, changes: str | None = None) -> str:
    """Return what an event is about: a condition in FEEL, and which changes it asks for."""
    asks = {"variableNames": names, "variableEvents": changes}
    attributes = "".join(f' {name}="{text}"' for name, text in asks.items() if text)
    extension = f"<zeebe:conditionalFilter{attributes}/>" if attributes else ""
    return (
        f"<conditionalEventDefinition>{_extensions(extension)}"
        f"<condition>={escape(condition)}</condition></conditionalEventDefinition>"
    )


def conditional_catch(id_: str, condition: str, *, extensions: str = "") -> str:
    return _event("intermediateCatchEvent", id_, conditional(condition), extensions)


def boundary_condition(
    id_: str,
    on: str,
    condition: str,
    names: str | None = None,
    changes: str | None = None,
    *,
    interrupting: bool = True,
) -> str:
    return _boundary(id_, on, conditional(condition, names, changes), interrupting=interrupting)


def error(reference: str | None = None) -> str:
    """Return what an event is about: an error."""
    return f'<errorEventDefinition errorRef="{reference}"/>' if reference else _ANY_ERROR


def escalation(reference: str | None = None) -> str:
    """Return what an event is about: an escalation."""
    return _escalation(reference)


def _escalation(reference: str | None) -> str:
    attribute = "" if reference is None else f' escalationRef="{reference}"'
    return f"<escalationEventDefinition{attribute}/>"


def undone(activity: str, handler: str) -> str:
    """Return an activity with its compensation handler, which is another activity."""
    id_, by = (part.split('id="')[1].split('"')[0] for part in (activity, handler))
    event = f'<boundaryEvent id="{id_}_c" attachedToRef="{id_}"><compensateEventDefinition/>'
    association = f'<association id="{id_}_a" sourceRef="{id_}_c" targetRef="{by}"/>'
    handler = handler.replace('id="', 'isForCompensation="true" id="', 1)
    return f"{activity}{event}</boundaryEvent>{handler}{association}"


def compensation(activity: str | None = None) -> str:
    """Return what an event is about: compensation, of all or of one activity."""
    attribute = "" if activity is None else f' activityRef="{activity}"'
    return f"<compensateEventDefinition{attribute}/>"


def compensation_throw(id_: str, activity: str | None = None) -> str:
    return f'<intermediateThrowEvent id="{id_}">{compensation(activity)}</intermediateThrowEvent>'


def compensation_end(id_: str, activity: str | None = None) -> str:
    return f'<endEvent id="{id_}">{compensation(activity)}</endEvent>'


def cancel_end(id_: str) -> str:
    return f'<endEvent id="{id_}"><cancelEventDefinition/></endEvent>'


def boundary_cancel(id_: str, on: str) -> str:
    return _boundary(id_, on, "<cancelEventDefinition/>")


def link_throw(id_: str, name: str) -> str:
    definition = f'<linkEventDefinition name="{name}"/>'
    return f'<intermediateThrowEvent id="{id_}">{definition}</intermediateThrowEvent>'


def link_catch(id_: str, name: str) -> str:
    definition = f'<linkEventDefinition name="{name}"/>'
    return f'<intermediateCatchEvent id="{id_}">{definition}</intermediateCatchEvent>'


def event_sub_of(id_: str, *definitions: str, inside: str, attributes: str = "") -> str:
    """Return an event subprocess whose start event has several definitions, and one element."""
    first = several("startEvent", f"{id_}_start", *definitions, attributes=attributes)
    inner = inside.split('id="')[1].split('"', maxsplit=1)[0]
    flow = f'<sequenceFlow id="{id_}_f" sourceRef="{id_}_start" targetRef="{inner}"/>'
    return f'<subProcess id="{id_}" triggeredByEvent="true">{first}{inside}{flow}</subProcess>'
